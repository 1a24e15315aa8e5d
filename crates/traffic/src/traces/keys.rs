//! Keys as dense numbers with their names, made equal as the scenario asks.

use crate::spec::KeyNormalise;
use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};

/// Stands between the parts of a key that is made of several columns; hardly a text has it.
pub(super) const PART: u8 = 0x1f;

type Map<K> = HashMap<K, u32, foldhash::fast::RandomState>;

/// Every key of a file, numbered from 0 in the order of their first rows.
#[derive(Debug, Default)]
pub(super) struct Keys {
    names: Vec<Box<[u8]>>,
    written: Numbers,
    /// Numbers of names, where these are not what is written.
    normal: Numbers,
    normalise: KeyNormalise,
    prefix: Option<u8>,
    /// Whether keys are made of several parts.
    joined: bool,
}

/// Numbers of byte strings. Short ones, as most keys are, lie in the table itself: one look into memory instead of two.
#[derive(Debug, Default)]
struct Numbers {
    short: Map<u128>,
    long: Map<Box<[u8]>>,
}

impl Numbers {
    /// Up to 15 bytes and their number.
    fn packed(key: &[u8]) -> Option<u128> {
        let mut packed = [0; 16];
        packed[..15].get_mut(..key.len())?.copy_from_slice(key);
        packed[15] = key.len() as u8;
        Some(u128::from_le_bytes(packed))
    }

    /// The number of `key`, or `new` when it had none before.
    #[inline]
    fn get_or_insert(&mut self, key: &[u8], new: u32) -> u32 {
        if let Some(packed) = Numbers::packed(key) {
            return *self.short.entry(packed).or_insert(new);
        }
        match self.long.get(key) {
            Some(number) => *number,
            None => *self.long.entry(key.into()).or_insert(new),
        }
    }

    fn set(&mut self, key: &[u8], number: u32) {
        match Numbers::packed(key) {
            Some(packed) => self.short.insert(packed, number),
            None => self.long.insert(key.into(), number),
        };
    }

    fn len(&self) -> usize {
        self.short.len() + self.long.len()
    }
}

impl Keys {
    /// No keys yet; `joined` ones are made of several parts.
    pub fn new(normalise: KeyNormalise, prefix: Option<u8>, joined: bool) -> Keys {
        Keys { normalise, prefix, joined, ..Keys::default() }
    }

    /// The number of a key; `None` when there are more than 2³² keys.
    #[inline]
    pub fn number(&mut self, written: &[u8]) -> Option<u32> {
        let new = u32::try_from(self.names.len()).ok()?;
        if self.normalise == KeyNormalise::None && self.prefix.is_none() {
            let number = self.written.get_or_insert(written, new);
            if number == new {
                self.names.push(written.into());
            }
            return Some(number);
        }
        const UNKNOWN: u32 = u32::MAX;
        let number = self.written.get_or_insert(written, UNKNOWN);
        if number != UNKNOWN {
            return Some(number);
        }
        let name = address_name(written, self.prefix);
        let number = self.normal.get_or_insert(&name, new);
        if number == new {
            self.names.push(name);
        }
        self.written.set(written, number);
        Some(number)
    }

    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// How many ways of writing keys were seen.
    pub fn written(&self) -> usize {
        self.written.len()
    }

    /// The name of a key for people.
    pub fn name(&self, number: u64) -> String {
        let name = usize::try_from(number).ok().and_then(|number| self.names.get(number));
        let bytes = name.map_or(&b""[..], |name| name);
        let text = String::from_utf8_lossy(bytes);
        if self.joined { text.replace(char::from(PART), ", ") } else { text.into_owned() }
    }
}

/// The one name of an address, however it is written: without a port, IPv6 in its shortest form, IPv4 out of IPv6, and
/// cut to its first `prefix` bits when it is IPv6. A host's name loses its port only.
fn address_name(written: &[u8], prefix: Option<u8>) -> Box<[u8]> {
    let Ok(text) = std::str::from_utf8(written) else { return written.into() };
    let host = without_port(text.trim());
    match host.parse::<IpAddr>().map(|address| address.to_canonical()) {
        Ok(IpAddr::V6(address)) => match prefix {
            Some(bits) if bits < 128 => {
                let mask = u128::MAX.checked_shl(128 - u32::from(bits)).unwrap_or(0);
                format!("{}/{bits}", Ipv6Addr::from_bits(address.to_bits() & mask)).into_bytes().into()
            }
            _ => address.to_string().into_bytes().into(),
        },
        Ok(address) => address.to_string().into_bytes().into(),
        Err(_) => host.as_bytes().into(),
    }
}

fn without_port(text: &str) -> &str {
    if let Some(rest) = text.strip_prefix('[')
        && let Some((inside, after)) = rest.split_once(']')
        && (after.is_empty() || after.strip_prefix(':').is_some_and(is_port))
    {
        return inside;
    }
    match text.split_once(':') {
        Some((host, port)) if is_port(port) && !host.is_empty() => host,
        _ => text,
    }
}

fn is_port(text: &str) -> bool {
    text.parse::<u16>().is_ok() && text.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(keys: &[&str], normalise: KeyNormalise, prefix: Option<u8>) -> Vec<String> {
        let mut all = Keys::new(normalise, prefix, false);
        for key in keys {
            all.number(key.as_bytes());
        }
        (0..all.len() as u64).map(|number| all.name(number)).collect()
    }

    const SPELLINGS: [&str; 5] =
        ["203.0.113.7:51001", "203.0.113.7:51002", "[2001:db8::1]:443", "2001:db8::1", "::ffff:203.0.113.7"];

    #[test]
    fn an_address_is_one_key_however_it_is_written() {
        assert_eq!(names(&SPELLINGS, KeyNormalise::Address, None), ["203.0.113.7", "2001:db8::1"]);
        assert_eq!(names(&SPELLINGS, KeyNormalise::None, None).len(), 5);
        let odd = ["2001:DB8:0:0::1", "2001:db8::1", "[2001:db8::1]", "host:80", "host", "a:b", "::1", ":80", ""];
        assert_eq!(names(&odd, KeyNormalise::Address, None), ["2001:db8::1", "host", "a:b", "::1", ":80", ""]);
    }

    #[test]
    fn a_prefix_groups_ipv6_only() {
        let keys = ["2001:db8::1", "2001:db8::ffff:1", "2001:db8:0:1::1", "203.0.113.7", "203.0.113.8"];
        let grouped = ["2001:db8::/64", "2001:db8:0:1::/64", "203.0.113.7", "203.0.113.8"];
        assert_eq!(names(&keys, KeyNormalise::Address, Some(64)), grouped);
        assert_eq!(names(&keys[..2], KeyNormalise::None, Some(0)), ["::/0"]);
    }

    #[test]
    fn the_empty_key_is_a_key() {
        assert_eq!(names(&["", "", "a"], KeyNormalise::None, None), ["", "a"]);
    }
}
