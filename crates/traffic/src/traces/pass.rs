//! Going through a recorded file: as often as one likes, and by several threads at once.

use super::packed::{Block, Merge};
use super::playback::Playback;
use super::recorded::{COST, INPUT_TOKENS, MICROUSD, OUTPUT_TOKENS, Recorded, unreadable};
use crate::TrafficError;
use limiters::{Meter, Nanos};
use std::sync::Arc;

/// Some requests in time order, in columns of the same length.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Columns {
    /// When each is asked, in nanoseconds; a time never lies before another.
    pub at: Vec<Nanos>,
    /// Whose it is.
    pub key: Vec<u64>,
    /// What a meter counts of it.
    pub amount: Vec<u64>,
}

/// One way through all requests of a file, as often as it is repeated, with what one meter counts of each.
#[derive(Debug)]
pub struct Pass<'a> {
    trace: &'a Recorded,
    meter: Meter,
    rows: Merge,
    /// The block that is taken apart.
    block: Block,
    playing: u64,
    /// Rows that stay out of order are clamped, as they would be in front of a limiter.
    latest: Nanos,
}

impl Recorded {
    /// The same file, ready to be gone through many times: where its rows came out of order, they are merged once.
    ///
    /// # Errors
    /// When there is no room for that.
    pub fn settled(self) -> Result<Recorded, TrafficError> {
        let path = self.path.clone();
        let failed = |message: String| TrafficError::of_file(&path, message);
        Ok(Recorded { packed: self.packed.settled().map_err(failed)?, ..self })
    }

    /// One way through all requests, as often as the file is repeated, with what `meter` counts of each. Their times are
    /// absolute, or count from 0 where the file does not tell the time of day.
    pub fn pass(&self, meter: Meter) -> Pass<'_> {
        Pass::new(self, meter)
    }

    /// How often the file is played.
    pub fn repeats(&self) -> u64 {
        self.repeat
    }

    /// Whether some request has tokens.
    pub fn has_tokens(&self) -> bool {
        self.packed.varies(INPUT_TOKENS) || self.packed.varies(OUTPUT_TOKENS)
    }

    /// Whether some request has a price.
    pub fn has_prices(&self) -> bool {
        self.packed.varies(MICROUSD)
    }

    /// All requests as a source, as often as the file is repeated.
    ///
    /// # Errors
    /// When the temporary file with the rows cannot be read.
    pub fn source(self: &Arc<Recorded>) -> Result<Playback, TrafficError> {
        let (playback, _) = Playback::new(Arc::clone(self), self.start.unwrap_or(0), self.duration())?;
        Ok(playback)
    }
}

/// Requests handed out at once, about: enough for what happens once each time to cost nothing.
const ROWS: usize = 2048;

impl<'a> Pass<'a> {
    pub(super) fn new(trace: &'a Recorded, meter: Meter) -> Pass<'a> {
        let rows = begin(trace, meter);
        Pass { trace, meter, rows, block: Block::default(), playing: 0, latest: 0 }
    }

    /// Replaces what is in `columns` by the next requests, some thousand where there are so many; `false` at the end.
    /// Time O(1) a request; memory is a block of each run that is being merged.
    ///
    /// # Errors
    /// When the temporary file with the rows cannot be read.
    pub fn next(&mut self, columns: &mut Columns) -> Result<bool, TrafficError> {
        columns.at.clear();
        columns.key.clear();
        columns.amount.clear();
        let trace = self.trace;
        while self.playing < trace.repeat {
            let read = if trace.packed.overlaps() { self.merge(columns) } else { self.take(columns) };
            let more = read.map_err(|error| TrafficError::of_file(&trace.path, unreadable(&error)))?;
            if more {
                self.place(&mut columns.at);
                return Ok(true);
            }
            self.playing += 1;
            self.rows = begin(trace, self.meter);
        }
        Ok(false)
    }

    /// The next rows where runs are merged, copied.
    fn merge(&mut self, columns: &mut Columns) -> std::io::Result<bool> {
        let Columns { at, key, amount } = columns;
        while at.len() < ROWS {
            let Some((block, range)) = self.rows.next(&self.trace.packed, ROWS - at.len())? else { break };
            at.extend_from_slice(&block.at[range.clone()]);
            key.extend_from_slice(&block.key[range.clone()]);
            match column(self.meter) {
                Some(column) => amount.extend_from_slice(&block.amounts[column][range]),
                None => amount.extend(tokens(block).skip(range.start).take(range.len())),
            }
        }
        Ok(!at.is_empty())
    }

    /// The next block where they are not: its columns themselves.
    fn take(&mut self, columns: &mut Columns) -> std::io::Result<bool> {
        let block = &mut self.block;
        if !self.rows.take(&self.trace.packed, block)? {
            return Ok(false);
        }
        std::mem::swap(&mut columns.at, &mut block.at);
        std::mem::swap(&mut columns.key, &mut block.key);
        match column(self.meter) {
            Some(column) => std::mem::swap(&mut columns.amount, &mut block.amounts[column]),
            None => columns.amount.extend(tokens(block)),
        }
        Ok(true)
    }

    /// Makes times of the file those at which they are played.
    fn place(&mut self, at: &mut [Nanos]) {
        let (trace, shift) = (self.trace, self.playing * (self.trace.span + 1));
        if shift > 0 || !trace.scale.keeps() {
            at.iter_mut().for_each(|at| *at = trace.scale.of(*at) + shift);
        }
        if !trace.sorted {
            for at in at {
                self.latest = self.latest.max(*at);
                *at = self.latest;
            }
        }
    }
}

/// The column of packed rows that a meter counts; `None` where it counts two.
fn column(meter: Meter) -> Option<usize> {
    match meter {
        Meter::Requests => Some(COST),
        Meter::InputTokens => Some(INPUT_TOKENS),
        Meter::OutputTokens => Some(OUTPUT_TOKENS),
        Meter::Spend => Some(MICROUSD),
        Meter::Tokens => None,
    }
}

fn tokens(block: &Block) -> impl Iterator<Item = u64> + '_ {
    let [input, output] = [INPUT_TOKENS, OUTPUT_TOKENS].map(|column| &block.amounts[column]);
    input.iter().zip(output).map(|(input, output)| input.saturating_add(*output))
}

/// Before the first row; amounts that the meter does not count are not unpacked.
fn begin(trace: &Recorded, meter: Meter) -> Merge {
    let counted = |amount| match column(meter) {
        Some(column) => column == amount,
        None => amount == INPUT_TOKENS || amount == OUTPUT_TOKENS,
    };
    Merge::without(&trace.packed, [COST, INPUT_TOKENS, OUTPUT_TOKENS, MICROUSD].map(|amount| !counted(amount)))
}
