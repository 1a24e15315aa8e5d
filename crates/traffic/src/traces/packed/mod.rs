//! The rows of a file in little memory, and in order of time again: packed in runs, each sorted stably, and merged.
//!
//! Rows that come in order are packed as they come. From the first row on that lies before another, rows wait until there
//! are enough for a run, which is sorted; runs that overlap are merged as they are played, equal times in file order. So
//! memory holds the rows of one run, the packed runs up to a budget, and of each run that is being merged one block; the
//! rest is in a temporary file.

mod block;
mod merge;
mod runs;
mod settle;
#[cfg(test)]
mod tests;

pub(super) use block::Block;
pub(super) use merge::Merge;

use super::chunk::{AMOUNTS, Chunk, Sparse, USUAL};
use block::Packer;
use limiters::Nanos;
use runs::Runs;
use std::path::PathBuf;

/// How much of a recorded file is held where.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Rows that one thread hands to the other at once: each time costs both a call of the system.
    pub chunk: usize,
    /// Rows of a packed block. One of each run is unpacked at a time.
    pub block: usize,
    /// Rows of a run.
    pub run: usize,
    /// Bytes of packed runs in memory.
    pub memory: usize,
    /// Where the temporary file goes; `None` for the system's folder.
    pub folder: Option<PathBuf>,
}

impl Default for Limits {
    /// A run of half a million rows waits in 6 to 22 MB; a block being merged needs 100 kB, and there are 350 runs in a
    /// shuffled file of 5 GB.
    fn default() -> Limits {
        Limits { chunk: 16_384, block: 2048, run: 1 << 19, memory: 128 << 20, folder: None }
    }
}

/// All rows of a file.
#[derive(Debug)]
pub(super) struct Packed {
    limits: Limits,
    runs: Runs,
    /// Whether runs overlap and are to be merged; else they are played one after another.
    overlap: bool,
    /// Whether each amount differs from its usual value in some row.
    varies: [bool; AMOUNTS],
}

impl Packed {
    /// Whether runs overlap and are merged.
    pub fn overlaps(&self) -> bool {
        self.overlap
    }

    /// Whether an amount differs from its usual value in some row.
    pub fn varies(&self, amount: usize) -> bool {
        self.varies[amount]
    }

    /// How many rows lie at or after `from`. Runs that lie on one side of it are not unpacked.
    ///
    /// # Errors
    /// When the temporary file cannot be read.
    pub fn count_from(&self, from: Nanos) -> std::io::Result<u64> {
        let mut count = 0;
        let mut block = block::Block::default();
        for (index, run) in self.runs.list().iter().enumerate() {
            if run.earliest >= from {
                count += run.rows;
            } else if run.latest >= from {
                let mut position = 0;
                while let Some(next) = self.runs.read(index, position, &mut block)? {
                    count += block.at.iter().filter(|at| **at >= from).count() as u64;
                    position = next;
                }
            }
        }
        Ok(count)
    }
}

/// Packs rows as they come.
#[derive(Debug)]
pub(super) struct Packing {
    limits: Limits,
    /// Whether rows are sorted.
    sort: bool,
    runs: Runs,
    packer: Packer,
    /// The run that is being packed.
    open: Vec<u8>,
    rows: u64,
    ends: (Nanos, Nanos),
    /// Rows that wait to be sorted, once one came that needs it.
    waiting: Option<Waiting>,
    order: Vec<u32>,
    part: Waiting,
    varies: [bool; AMOUNTS],
}

/// Rows that are not packed, in columns.
#[derive(Debug, Default)]
struct Waiting {
    at: Vec<Nanos>,
    key: Vec<u32>,
    amounts: [Sparse; AMOUNTS],
}

const NO_ENDS: (Nanos, Nanos) = (Nanos::MAX, 0);

impl Packing {
    /// No rows yet; they are sorted by time if `sort`.
    pub fn new(limits: &Limits, sort: bool) -> Packing {
        Packing {
            limits: limits.clone(),
            sort,
            runs: Runs::new(limits),
            packer: Packer::default(),
            open: Vec::new(),
            rows: 0,
            ends: NO_ENDS,
            waiting: None,
            order: Vec::new(),
            part: Waiting::default(),
            varies: [false; AMOUNTS],
        }
    }

    /// Adds the rows of `chunk`, whose keys have these numbers; `in_order` if none lies before a row before it.
    ///
    /// # Errors
    /// When there is no room: a text that says where, and what to do.
    pub fn push(&mut self, chunk: &Chunk, keys: &[u32], in_order: bool) -> Result<(), String> {
        for (varies, amount) in self.varies.iter_mut().zip(&chunk.amounts) {
            *varies |= !amount.values().is_empty();
        }
        if self.sort && !in_order && self.waiting.is_none() {
            self.close()?;
            self.waiting = Some(Waiting::default());
        }
        match &mut self.waiting {
            Some(waiting) => {
                waiting.append(chunk, keys);
                if waiting.at.len() >= self.limits.run { self.sort() } else { Ok(()) }
            }
            None => {
                if chunk.at.is_empty() {
                    return Ok(());
                }
                for from in (0..chunk.at.len()).step_by(self.limits.block) {
                    let rows = from..chunk.at.len().min(from + self.limits.block);
                    let amounts = chunk.amounts.each_ref().map(|of| of.values().get(rows.clone()).unwrap_or_default());
                    self.pack(&chunk.at[rows.clone()], &keys[rows.clone()], amounts);
                }
                if self.rows >= self.limits.run as u64 { self.close() } else { Ok(()) }
            }
        }
    }

    /// The packed rows, once all were added.
    ///
    /// # Errors
    /// As [`push`](Packing::push).
    pub fn finish(mut self) -> Result<Packed, String> {
        self.sort()?;
        self.close()?;
        let Packing { limits, waiting, runs, varies, .. } = self;
        Ok(Packed { overlap: waiting.is_some(), limits, runs, varies })
    }

    fn pack(&mut self, at: &[Nanos], keys: &[u32], amounts: [&[u64]; AMOUNTS]) {
        self.packer.pack(&mut self.open, at, keys, amounts);
        self.rows += at.len() as u64;
        let (earliest, latest) = at.iter().fold(self.ends, |(low, high), at| (low.min(*at), high.max(*at)));
        self.ends = (earliest, latest);
    }

    /// Ends the run that is being packed.
    fn close(&mut self) -> Result<(), String> {
        if self.rows > 0 {
            self.runs.push(&mut self.open, self.rows, self.ends)?;
        }
        (self.rows, self.ends) = (0, NO_ENDS);
        Ok(())
    }

    /// Makes a run of the rows that wait.
    fn sort(&mut self) -> Result<(), String> {
        let Some(mut waiting) = self.waiting.take() else { return Ok(()) };
        let mut order = std::mem::take(&mut self.order);
        order.clear();
        order.extend(0..waiting.at.len() as u32);
        order.sort_by_key(|index| waiting.at[*index as usize]);
        let mut part = std::mem::take(&mut self.part);
        for places in order.chunks(self.limits.block) {
            part.gather(&waiting, places);
            self.pack(&part.at, &part.key, part.amounts.each_ref().map(Sparse::values));
        }
        waiting.clear();
        (self.waiting, self.order, self.part) = (Some(waiting), order, part);
        self.close()
    }
}

impl Waiting {
    fn append(&mut self, chunk: &Chunk, keys: &[u32]) {
        let before = self.at.len();
        self.at.extend_from_slice(&chunk.at);
        self.key.extend_from_slice(keys);
        for ((column, more), usual) in self.amounts.iter_mut().zip(&chunk.amounts).zip(USUAL) {
            column.append(more, usual, before, chunk.at.len());
        }
    }

    /// Becomes the rows at `places` of `all`.
    fn gather(&mut self, all: &Waiting, places: &[u32]) {
        self.clear();
        self.at.extend(places.iter().map(|place| all.at[*place as usize]));
        self.key.extend(places.iter().map(|place| all.key[*place as usize]));
        for (column, all) in self.amounts.iter_mut().zip(&all.amounts) {
            column.gather(all, places);
        }
    }

    fn clear(&mut self) {
        self.at.clear();
        self.key.clear();
        self.amounts.iter_mut().for_each(Sparse::clear);
    }
}
