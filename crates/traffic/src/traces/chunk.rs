//! Rows on their way from the thread that parses to the one that packs: some thousand at once, in columns.

use super::row::Row;
use limiters::Nanos;

/// A chunk whose keys have so many bytes is full too, so that long keys do not pile up. A key more must fit into 32 bits.
const KEY_BYTES: usize = 1 << 20;

/// What a row may count, and what it counts where the file does not say.
pub(super) const AMOUNTS: usize = 4;
/// Cost, input tokens, output tokens, micro-dollars.
pub(super) const USUAL: [u64; AMOUNTS] = [1, 0, 0, 0];

/// Values that are mostly the same: nothing is kept until one differs.
#[derive(Debug, Default)]
pub(super) struct Sparse(Vec<u64>);

impl Sparse {
    #[inline]
    fn push(&mut self, value: u64, usual: u64, before: usize) {
        if value != usual || !self.0.is_empty() {
            if self.0.len() < before {
                self.0.resize(before, usual);
            }
            self.0.push(value);
        }
    }

    /// Adds `more`, which are `count` values, behind the `before` that there are.
    pub fn append(&mut self, more: &Sparse, usual: u64, before: usize, count: usize) {
        if more.0.is_empty() && self.0.is_empty() {
            return;
        }
        self.0.resize(before, usual);
        self.0.extend_from_slice(&more.0);
        self.0.resize(before + count, usual);
    }

    /// Adds the values of `all` at `places`.
    pub fn gather(&mut self, all: &Sparse, places: &[u32]) {
        if !all.0.is_empty() {
            self.0.extend(places.iter().map(|place| all.0[*place as usize]));
        }
    }

    /// Every value; nothing when all are the usual one.
    pub fn values(&self) -> &[u64] {
        &self.0
    }

    pub fn clear(&mut self) {
        self.0.clear();
    }
}

/// Some rows in file order.
#[derive(Debug, Default)]
pub(super) struct Chunk {
    pub at: Vec<Nanos>,
    /// All keys, one behind the other, and where each ends.
    keys: Vec<u8>,
    ends: Vec<u32>,
    pub amounts: [Sparse; AMOUNTS],
    /// Rows with status 429, and with 503.
    pub refused: [u64; 2],
    /// Bytes of the file up to here, before decompression.
    pub bytes_read: u64,
}

impl Chunk {
    #[inline]
    pub fn push(&mut self, row: &Row) {
        let before = self.at.len();
        self.at.push(row.at);
        self.keys.extend_from_slice(&row.key);
        self.ends.push(self.keys.len() as u32);
        let amounts = [row.cost, row.input_tokens, row.output_tokens, row.microusd];
        for ((column, amount), usual) in self.amounts.iter_mut().zip(amounts).zip(USUAL) {
            column.push(amount, usual, before);
        }
        self.refused[0] += u64::from(row.status == 429);
        self.refused[1] += u64::from(row.status == 503);
    }

    /// Whether it has `rows` rows, or long keys.
    pub fn is_full(&self, rows: usize) -> bool {
        self.at.len() >= rows || self.keys.len() >= KEY_BYTES
    }

    /// The key of each row.
    pub fn keys(&self) -> impl Iterator<Item = &[u8]> + Clone {
        let mut start = 0;
        self.ends.iter().map(move |&end| &self.keys[std::mem::replace(&mut start, end as usize)..end as usize])
    }

    /// Forgets all rows and keeps the memory.
    pub fn clear(&mut self) {
        self.at.clear();
        self.keys.clear();
        self.ends.clear();
        self.amounts.iter_mut().for_each(Sparse::clear);
        (self.refused, self.bytes_read) = ([0; 2], 0);
    }
}
