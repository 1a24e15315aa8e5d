//! A block of rows in few bytes: each column as its least value and, for every row, the difference to it in as many bytes
//! as the largest difference needs. Nothing for a column that is constant.
//!
//! Whole bytes rather than bits or variable lengths: packing must keep up with parsing, and unpacking with the limiters.
//! All arithmetic wraps, so every value of 64 bits comes back as it was, whatever its neighbours.

use super::super::chunk::{AMOUNTS, USUAL};
use limiters::Nanos;
use std::io;

/// Rows by column, unpacked. All columns have the same length.
#[derive(Debug, Default)]
pub struct Block {
    pub at: Vec<Nanos>,
    pub key: Vec<u64>,
    /// Cost, input tokens, output tokens, micro-dollars.
    pub amounts: [Vec<u64>; AMOUNTS],
    /// Amounts that nobody looks at; their columns stay as they are.
    pub unwanted: [bool; AMOUNTS],
    /// Where the columns are read from.
    bytes: Vec<u8>,
}

/// Bytes in front of a block: how many rows, and how many bytes follow.
pub const HEADER: usize = 8;

/// Packs blocks, with memory that is used again.
#[derive(Debug, Default)]
pub struct Packer {
    scratch: Vec<u64>,
}

impl Packer {
    /// Appends a block of at least one row to `out`. An amount without values is the usual one in every row.
    pub fn pack(&mut self, out: &mut Vec<u8>, at: &[Nanos], keys: &[u32], amounts: [&[u64]; AMOUNTS]) {
        let begin = out.len();
        out.extend_from_slice(&(at.len() as u32).to_le_bytes());
        out.extend_from_slice(&[0; 4]);
        out.extend_from_slice(&at[0].to_le_bytes());
        self.scratch.clear();
        self.scratch.extend(at.windows(2).map(|pair| pair[1].wrapping_sub(pair[0])));
        // Steps back are small negative numbers, not huge ones.
        let base = self.scratch.iter().map(|step| *step as i64).min().unwrap_or(0) as u64;
        put(out, &self.scratch, base);
        self.scratch.clear();
        self.scratch.extend(keys.iter().map(|key| u64::from(*key)));
        put(out, &self.scratch, least(&self.scratch));
        for (column, usual) in amounts.into_iter().zip(USUAL) {
            match column {
                [] => put(out, &[], usual),
                values => put(out, values, least(values)),
            }
        }
        let length = (out.len() - begin - HEADER) as u32;
        out[begin + 4..begin + HEADER].copy_from_slice(&length.to_le_bytes());
    }
}

fn least(values: &[u64]) -> u64 {
    values.iter().copied().min().unwrap_or(0)
}

/// Appends a column: its base, the width of differences to it, and these.
fn put(out: &mut Vec<u8>, values: &[u64], base: u64) {
    let bits = values.iter().fold(0, |bits, value| bits | value.wrapping_sub(base));
    let width = (u64::BITS - bits.leading_zeros()).div_ceil(8) as usize;
    out.extend_from_slice(&base.to_le_bytes());
    out.push(width as u8);
    let from = out.len();
    out.resize(from + width * values.len(), 0);
    let out = &mut out[from..];
    match width {
        0 => {}
        1 => put_wide::<1>(out, values, base),
        2 => put_wide::<2>(out, values, base),
        3 => put_wide::<3>(out, values, base),
        4 => put_wide::<4>(out, values, base),
        5 => put_wide::<5>(out, values, base),
        6 => put_wide::<6>(out, values, base),
        7 => put_wide::<7>(out, values, base),
        _ => put_wide::<8>(out, values, base),
    }
}

fn put_wide<const WIDTH: usize>(out: &mut [u8], values: &[u64], base: u64) {
    for (to, value) in out.chunks_exact_mut(WIDTH).zip(values) {
        to.copy_from_slice(&value.wrapping_sub(base).to_le_bytes()[..WIDTH]);
    }
}

/// Rows and bytes that follow a header.
pub fn header(mut bytes: &[u8]) -> io::Result<(usize, usize)> {
    let rows = u32::from_le_bytes(take_array(&mut bytes)?);
    Ok((rows as usize, u32::from_le_bytes(take_array(&mut bytes)?) as usize))
}

impl Block {
    /// How many rows there are.
    pub fn len(&self) -> usize {
        self.at.len()
    }

    /// Forgets all rows and keeps the memory.
    pub fn clear(&mut self) {
        self.at.clear();
    }

    /// Makes it the `rows` rows whose `length` bytes are next in `from`.
    ///
    /// # Errors
    /// When they cannot be read or are no block.
    pub fn read(&mut self, rows: usize, length: usize, from: &mut impl io::Read) -> io::Result<()> {
        let mut bytes = std::mem::take(&mut self.bytes);
        bytes.resize(length, 0);
        let read = from.read_exact(&mut bytes).and_then(|()| self.unpack(rows, &bytes));
        self.bytes = bytes;
        read
    }

    /// Makes it the `rows` rows of these bytes.
    ///
    /// # Errors
    /// When they are no block.
    pub fn unpack(&mut self, rows: usize, mut bytes: &[u8]) -> io::Result<()> {
        let mut at = u64::from_le_bytes(take_array(&mut bytes)?);
        take(&mut bytes, rows.saturating_sub(1), &mut self.at)?;
        // Steps become times.
        for value in &mut self.at {
            (*value, at) = (at, at.wrapping_add(*value));
        }
        self.at.push(at);
        take(&mut bytes, rows, &mut self.key)?;
        for (column, unwanted) in self.amounts.iter_mut().zip(self.unwanted) {
            if unwanted {
                pass_over(&mut bytes, rows)?;
            } else {
                take(&mut bytes, rows, column)?;
            }
        }
        Ok(())
    }
}

/// A column of `count` values: its base, the width of differences to it, and these.
fn pass_over<'a>(bytes: &mut &'a [u8], count: usize) -> io::Result<(u64, u8, &'a [u8])> {
    let base = u64::from_le_bytes(take_array(bytes)?);
    let [width] = take_array(bytes)?;
    let differences = bytes.split_off(..usize::from(width) * count).ok_or_else(altered)?;
    Ok((base, width, differences))
}

/// Reads a column of `count` values.
fn take(bytes: &mut &[u8], count: usize, values: &mut Vec<u64>) -> io::Result<()> {
    let (base, width, differences) = pass_over(bytes, count)?;
    values.clear();
    match width {
        0 => values.resize(count, base),
        1 => take_wide::<1>(differences, base, values),
        2 => take_wide::<2>(differences, base, values),
        3 => take_wide::<3>(differences, base, values),
        4 => take_wide::<4>(differences, base, values),
        5 => take_wide::<5>(differences, base, values),
        6 => take_wide::<6>(differences, base, values),
        7 => take_wide::<7>(differences, base, values),
        8 => take_wide::<8>(differences, base, values),
        _ => return Err(altered()),
    }
    Ok(())
}

fn take_wide<const WIDTH: usize>(bytes: &[u8], base: u64, values: &mut Vec<u64>) {
    // Chunks whose length the compiler knows: a few rows at once are widened, without a check for each.
    let (chunks, _) = bytes.as_chunks::<WIDTH>();
    values.extend(chunks.iter().map(|bytes| {
        let mut value = [0; 8];
        value[..WIDTH].copy_from_slice(bytes);
        u64::from_le_bytes(value).wrapping_add(base)
    }));
}

fn take_array<const LENGTH: usize>(bytes: &mut &[u8]) -> io::Result<[u8; LENGTH]> {
    bytes.split_off(..LENGTH).and_then(|bytes| bytes.try_into().ok()).ok_or_else(altered)
}

/// Only another program can have done it.
pub fn altered() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "it was altered while it was in use")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn wide() -> impl Strategy<Value = u64> {
        prop_oneof![0..4u64, any::<u64>(), (0..64u32).prop_map(|power| 1 << power), Just(u64::MAX)]
    }

    proptest! {
        #[test]
        fn blocks_come_back(
            rows in prop::collection::vec((wide(), any::<u32>(), wide(), wide(), wide()), 1..60),
            given in any::<[bool; 3]>(),
        ) {
            let at: Vec<u64> = rows.iter().map(|row| row.0).collect();
            let keys: Vec<u32> = rows.iter().map(|row| row.1).collect();
            let amounts = rows.iter().fold([const { Vec::new() }; 3], |mut all, row| {
                all.iter_mut().zip([row.2, row.3, row.4]).for_each(|(column, value): (&mut Vec<u64>, _)| column.push(value));
                all
            });
            let passed = |index: usize| if given[index] { &amounts[index][..] } else { &[] };
            let mut bytes = vec![7; 3];
            Packer::default().pack(&mut bytes, &at, &keys, [passed(0), passed(1), passed(2), &[]]);
            let (count, length) = header(&bytes[3..]).unwrap();
            prop_assert_eq!((count, length), (rows.len(), bytes.len() - 3 - HEADER));
            let mut block = Block::default();
            block.unpack(count, &bytes[3 + HEADER..]).unwrap();
            prop_assert_eq!(block.len(), rows.len());
            prop_assert_eq!(&block.at, &at);
            prop_assert!(block.key.iter().zip(&keys).all(|(read, key)| *read == u64::from(*key)));
            for index in 0..3 {
                let usual = vec![USUAL[index]; rows.len()];
                prop_assert_eq!(&block.amounts[index], if given[index] { &amounts[index] } else { &usual });
            }
            prop_assert_eq!(&block.amounts[3], &vec![USUAL[3]; rows.len()]);
            prop_assert!(block.unpack(count, &bytes[3 + HEADER..bytes.len() - 1]).is_err());
            block.read(count, length, &mut &bytes[3 + HEADER..]).unwrap();
            prop_assert_eq!(&block.at, &at);
            prop_assert!(block.read(count, length, &mut &bytes[4 + HEADER..]).is_err());
        }
    }

    #[test]
    fn constant_columns_take_no_room() {
        let mut bytes = Vec::new();
        let at: Vec<u64> = (0..1000).map(|n| 1_767_225_600_000_000_000 + n * 20_000_000).collect();
        Packer::default().pack(&mut bytes, &at, &[3; 1000], [&[2; 1000], &[], &[], &[]]);
        assert_eq!(bytes.len(), HEADER + 8 + 6 * 9);
    }
}
