//! Keys as dense numbers with their names, made equal as the scenario asks.

use super::names::{Looks, Names};
use crate::spec::KeyNormalise;
use std::net::{IpAddr, Ipv6Addr};

/// Stands between the parts of a key that is made of several columns; hardly a text has it.
pub(super) const PART: u8 = 0x1f;

/// Every key of a file, numbered from 0 in the order of their first rows.
#[derive(Debug)]
pub(super) struct Keys {
    written: Names,
    /// What is written made equal, where that is asked for.
    normal: Option<Normal>,
    prefix: Option<u8>,
    /// Whether keys are made of several parts.
    joined: bool,
    looks: Looks,
}

#[derive(Debug, Default)]
struct Normal {
    names: Names,
    /// The number of each name as it is written.
    of: Vec<u32>,
}

impl Keys {
    /// No keys yet; `joined` ones are made of several parts.
    pub fn new(normalise: KeyNormalise, prefix: Option<u8>, joined: bool) -> Keys {
        let as_written = normalise == KeyNormalise::None && prefix.is_none();
        let normal = (!as_written).then(Normal::default);
        Keys { written: Names::default(), normal, prefix, joined, looks: Looks::default() }
    }

    /// Appends the numbers of `keys`, in their order; `None` when there are more keys than numbers, which are 2³² − 1.
    pub fn number_all<'a>(
        &mut self,
        keys: impl Iterator<Item = &'a [u8]> + Clone,
        numbers: &mut Vec<u32>,
    ) -> Option<()> {
        let from = numbers.len();
        self.written.number_all(keys, numbers, &mut self.looks)?;
        if let Some(Normal { names, of }) = &mut self.normal {
            while of.len() < self.written.len() {
                let name = address_name(self.written.name(of.len()), self.prefix);
                of.push(names.number(&name)?);
            }
            numbers[from..].iter_mut().for_each(|number| *number = of[*number as usize]);
        }
        Some(())
    }

    fn names(&self) -> &Names {
        self.normal.as_ref().map_or(&self.written, |normal| &normal.names)
    }

    pub fn len(&self) -> usize {
        self.names().len()
    }

    /// How many ways of writing keys were seen.
    pub fn written(&self) -> usize {
        self.written.len()
    }

    /// The name of a key for people.
    pub fn name(&self, number: u64) -> String {
        let bytes = usize::try_from(number).map_or(&b""[..], |number| self.names().name(number));
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
        // In two parts: what was said of a key holds in the next.
        let mut numbers = Vec::new();
        for part in keys.chunks(keys.len().div_ceil(2).max(1)) {
            all.number_all(part.iter().map(|key| key.as_bytes()), &mut numbers).unwrap();
        }
        assert_eq!(numbers.len(), keys.len());
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
