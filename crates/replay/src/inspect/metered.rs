//! Requests with what one meter counts of each, to be gone through as often as needed: in columns where there are few,
//! else in the packed rows of their file, unpacked some thousand at a time.

use super::Loaded;
use limiters::{Meter, Nanos};
use std::borrow::Cow;
use std::sync::Arc;
use traffic::TrafficError;
use traffic::traces::{Columns, Pass, Recorded};

/// So many requests are held in columns, 24 MiB for all; more stay packed. A search goes through them a thousand times, which
/// takes a sixth longer where each time unpacks them.
const HELD: u64 = 1 << 20;
/// Requests handed out at once at most.
const BLOCK: usize = 16_384;

/// Requests in time order, under one meter.
#[derive(Clone, Debug)]
pub struct Metered {
    rows: Rows,
    len: u64,
    keys: usize,
    sums: Sums,
}

#[derive(Clone, Debug)]
enum Rows {
    Packed(Arc<Recorded>, Meter),
    Held(Arc<Columns>),
}

/// What is known of all requests together.
#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    total: u64,
    largest: u64,
    ends: Option<(Nanos, Nanos)>,
}

/// One request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    /// Absolute time.
    pub at: Nanos,
    /// Whose.
    pub key: u64,
    /// What the meter counts of it.
    pub amount: u64,
}

/// Some requests, in columns of the same length.
#[derive(Clone, Copy, Debug)]
pub struct Block<'a> {
    /// Absolute times, never going back.
    pub at: &'a [Nanos],
    /// Whose they are.
    pub key: &'a [u64],
    /// What the meter counts of each.
    pub amount: &'a [u64],
}

impl Metered {
    /// The requests of a file under `meter`. Memory: 24 bytes a request for few of them, nothing for many. Reads them once.
    ///
    /// # Errors
    /// When the file does not say how much that is, or its rows cannot be read back.
    pub fn of(file: &Loaded, meter: Meter) -> Result<Metered, String> {
        Metered::within(file, meter, HELD)
    }

    /// The same with no more than `held` requests in columns.
    ///
    /// # Errors
    /// As [`of`](Metered::of).
    pub fn within(file: &Loaded, meter: Meter, held: u64) -> Result<Metered, String> {
        let (tokens, prices) = file.has;
        let (known, what) = match meter {
            Meter::Requests => (true, ""),
            Meter::Spend => (prices, "what a request costs; name a column with --column price=…"),
            _ => (tokens, "how many tokens a request has; name columns with --column input-tokens=…"),
        };
        if !known {
            return Err(format!("{}: nothing in the file says {what}", file.path));
        }
        let packed = Rows::Packed(Arc::clone(&file.recorded), meter);
        let asked = Metered { rows: packed, len: file.rows(), keys: file.keys(), sums: Sums::default() };
        let asked = if asked.len <= held { asked.held() } else { asked.summed() };
        asked.map_err(|error| error.to_string())
    }

    /// These requests of `keys` keys. Columns have the same length and times never go back.
    pub fn new(columns: Columns, keys: usize) -> Metered {
        let mut sums = Sums::default();
        sums.add(Block { at: &columns.at, key: &columns.key, amount: &columns.amount });
        Metered { len: columns.at.len() as u64, rows: Rows::Held(Arc::new(columns)), keys, sums }
    }

    /// The same in columns.
    fn held(&self) -> Result<Metered, TrafficError> {
        let mut columns = Columns::default();
        self.each(|block| {
            columns.at.extend_from_slice(block.at);
            columns.key.extend_from_slice(block.key);
            columns.amount.extend_from_slice(block.amount);
        })?;
        Ok(Metered::new(columns, self.keys))
    }

    fn summed(mut self) -> Result<Metered, TrafficError> {
        let mut sums = Sums::default();
        self.each(|block| sums.add(block))?;
        self.sums = sums;
        Ok(self)
    }

    /// The requests before the absolute time `end`. Reads them once.
    ///
    /// # Errors
    /// When they cannot be read back.
    pub fn until(&self, end: Nanos) -> Result<Metered, TrafficError> {
        let mut len = 0;
        self.each(|block| len += block.at.partition_point(|&at| at < end) as u64)?;
        Metered { len, ..self.clone() }.summed()
    }

    /// How many requests there are.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// How many keys there are; each request's is below.
    pub fn keys(&self) -> usize {
        self.keys
    }

    /// What all requests ask for together, at most 2⁶⁴ − 1.
    pub fn total(&self) -> u64 {
        self.sums.total
    }

    /// The largest amount of one request.
    pub fn largest(&self) -> u64 {
        self.sums.largest
    }

    /// The times of the first and of the last request; `None` without requests.
    pub fn ends(&self) -> Option<(Nanos, Nanos)> {
        self.sums.ends
    }

    /// Goes through all requests once. Several threads may do so at the same time.
    pub fn pass(&self) -> Requests<'_> {
        let mut requests = match &self.rows {
            Rows::Packed(file, meter) => {
                Requests { pass: Some(file.pass(*meter)), columns: Cow::default(), next: 0, end: 0, left: self.len }
            }
            Rows::Held(columns) => {
                Requests { pass: None, columns: Cow::Borrowed(columns), next: 0, end: 0, left: self.len }
            }
        };
        requests.begin();
        requests
    }

    /// Shows all requests, block by block.
    ///
    /// # Errors
    /// When they cannot be read back.
    pub fn each(&self, mut see: impl FnMut(Block<'_>)) -> Result<(), TrafficError> {
        let mut requests = self.pass();
        while let Some(block) = requests.next_block()? {
            see(block);
        }
        Ok(())
    }
}

impl Sums {
    fn add(&mut self, block: Block<'_>) {
        let (Some(&first), Some(&last)) = (block.at.first(), block.at.last()) else { return };
        self.ends = Some((self.ends.map_or(first, |(first, _)| first), last));
        self.total = block.amount.iter().fold(self.total, |sum, amount| sum.saturating_add(*amount));
        self.largest = block.amount.iter().copied().fold(self.largest, u64::max);
    }
}

/// The requests still to come of one way through them.
pub struct Requests<'a> {
    /// Where they are unpacked from; `None` where all are in the columns.
    pass: Option<Pass<'a>>,
    columns: Cow<'a, Columns>,
    /// The next request in the columns, and where those that count end.
    next: usize,
    end: usize,
    /// Requests that are to come after those in the columns.
    left: u64,
}

impl Requests<'_> {
    /// The next requests, one at least; `None` at the end.
    ///
    /// # Errors
    /// When they cannot be read back.
    pub fn next_block(&mut self) -> Result<Option<Block<'_>>, TrafficError> {
        if self.next == self.end && !self.refill()? {
            return Ok(None);
        }
        let range = self.next..self.end.min(self.next + BLOCK);
        self.next = range.end;
        let Columns { at, key, amount } = &*self.columns;
        Ok(Some(Block { at: &at[range.clone()], key: &key[range.clone()], amount: &amount[range] }))
    }

    /// The next request; `None` at the end.
    ///
    /// # Errors
    /// As [`next_block`](Requests::next_block).
    #[inline]
    pub fn next_row(&mut self) -> Result<Option<Row>, TrafficError> {
        if self.next == self.end && !self.refill()? {
            return Ok(None);
        }
        let (index, columns) = (self.next, &*self.columns);
        self.next += 1;
        Ok(Some(Row { at: columns.at[index], key: columns.key[index], amount: columns.amount[index] }))
    }

    #[cold]
    fn refill(&mut self) -> Result<bool, TrafficError> {
        let Some(pass) = self.pass.as_mut().filter(|_| self.left > 0) else { return Ok(false) };
        let more = pass.next(self.columns.to_mut())?;
        if more {
            self.begin();
        }
        Ok(more)
    }

    /// Before the first request in the columns.
    fn begin(&mut self) {
        let count = (self.columns.at.len() as u64).min(self.left);
        self.left -= count;
        (self.next, self.end) = (0, count as usize);
    }
}
