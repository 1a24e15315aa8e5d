//! Playing packed rows: run after run, or merged by time.

use super::super::chunk::AMOUNTS;
use super::Packed;
use super::block::Block;
use limiters::Nanos;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io;
use std::ops::Range;

/// Goes through packed rows once. Of runs that overlap the one with the earliest row is due; of equal times the one that
/// was earlier in the file. A run is unpacked from when it is due first, a block at a time, until its end.
#[derive(Debug, Default)]
pub struct Merge {
    /// The run that is due.
    current: Option<Cursor>,
    /// When the next row of each other run comes that was begun or not; 0 where runs are not merged.
    others: BinaryHeap<Reverse<(Nanos, usize)>>,
    /// Runs that were begun, by their number.
    begun: Vec<Option<Cursor>>,
    /// Cursors of runs that ended, for their memory.
    spare: Vec<Cursor>,
    /// Amounts that are not unpacked.
    unwanted: [bool; AMOUNTS],
}

/// A place in a run.
#[derive(Debug, Default)]
struct Cursor {
    run: usize,
    /// Where the next block begins.
    position: u64,
    block: Block,
    /// The next row in the block.
    next: usize,
}

impl Merge {
    /// Before the first row.
    pub fn new(packed: &Packed) -> Merge {
        let runs = packed.runs.list().iter().enumerate();
        let heads = runs.map(|(index, run)| Reverse((if packed.overlap { run.earliest } else { 0 }, index)));
        let begun = packed.runs.list().iter().map(|_| None).collect();
        Merge { others: heads.collect(), begun, ..Merge::default() }
    }

    /// The same where nobody looks at some amounts, which need not be unpacked.
    pub fn without(packed: &Packed, unwanted: [bool; AMOUNTS]) -> Merge {
        Merge { unwanted, ..Merge::new(packed) }
    }

    /// The next rows, between 1 and `max` of them, as a part of a block; `None` at the end.
    ///
    /// # Errors
    /// When the temporary file cannot be read.
    pub fn next(&mut self, packed: &Packed, max: usize) -> io::Result<Option<(&Block, Range<usize>)>> {
        if !self.advance(packed)? {
            return Ok(None);
        }
        let Some(cursor) = &mut self.current else { return Ok(None) };
        let from = cursor.next;
        let rest = &cursor.block.at[from..];
        let mut count = rest.len().min(max);
        if packed.overlap
            && let Some(Reverse(other)) = self.others.peek()
        {
            // The first row is due; after it, all that come before the next row of any other run.
            count = count.min(1 + rest[1..].partition_point(|at| (*at, cursor.run) < *other));
        }
        cursor.next += count;
        Ok(Some((&cursor.block, from..from + count)))
    }

    /// Swaps the next block of rows into `taken`; `false` at the end. For runs that are not merged.
    ///
    /// # Errors
    /// When the temporary file cannot be read.
    pub fn take(&mut self, packed: &Packed, taken: &mut Block) -> io::Result<bool> {
        debug_assert!(!packed.overlap, "rows of other runs may come between those of a block");
        if !self.advance(packed)? {
            return Ok(false);
        }
        let Some(cursor) = &mut self.current else { return Ok(false) };
        debug_assert_eq!(cursor.next, 0, "blocks are taken as a whole");
        std::mem::swap(&mut cursor.block, taken);
        cursor.block.clear();
        cursor.block.unwanted = self.unwanted;
        Ok(true)
    }

    /// Makes `current` the run that is due, with a row at hand; `false` at the end.
    fn advance(&mut self, packed: &Packed) -> io::Result<bool> {
        loop {
            let Some(mut cursor) = self.current.take() else {
                let Some(Reverse((_, run))) = self.others.pop() else { return Ok(false) };
                let begun = self.begun[run].take();
                let fresh = || Cursor { run, ..self.spare.pop().unwrap_or_default() }.at_beginning(self.unwanted);
                self.current = Some(begun.unwrap_or_else(fresh));
                // What was begun has a row at hand, which is due.
                if self.current.as_mut().is_some_and(|cursor| cursor.next < cursor.block.len()) {
                    return Ok(true);
                }
                continue;
            };
            if cursor.next == cursor.block.len() {
                match packed.runs.read(cursor.run, cursor.position, &mut cursor.block)? {
                    Some(position) => (cursor.position, cursor.next) = (position, 0),
                    None => {
                        self.spare.push(cursor);
                        continue;
                    }
                }
            }
            let head = (if packed.overlap { cursor.block.at[cursor.next] } else { 0 }, cursor.run);
            match self.others.peek() {
                Some(Reverse(other)) if *other < head => {
                    self.others.push(Reverse(head));
                    let run = cursor.run;
                    self.begun[run] = Some(cursor);
                }
                _ => {
                    self.current = Some(cursor);
                    return Ok(true);
                }
            }
        }
    }
}

impl Cursor {
    fn at_beginning(mut self, unwanted: [bool; AMOUNTS]) -> Cursor {
        self.block.clear();
        self.block.unwanted = unwanted;
        Cursor { position: 0, next: 0, ..self }
    }
}
