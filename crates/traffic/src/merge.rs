//! All sources of a run as one stream in time order.

use crate::draw::Streams;
use crate::keys::KeySpace;
use crate::pattern::PatternSource;
use crate::spec::{Pattern, Shape, Trace};
use crate::{Note, Settings, Source, TrafficError};
use limiters::{Batch, Nanos};
use std::collections::HashMap;

/// How many requests a source makes ahead while several are merged.
const AHEAD: usize = 1024;

/// No request comes at this time, for the end of a run is at most this and not part of it.
const OVER: Nanos = Nanos::MAX;

/// The merged requests of several sources: in time order, equal times in the order of the sources, cut at the end of the run.
///
/// With one source, batches are filled by it directly. With more, each run of requests of one source costs O(sources).
pub struct Traffic {
    lanes: Vec<Lane>,
    /// When the next request of each lane comes, `OVER` after its last; filled on the first call.
    heads: Vec<Nanos>,
    started: bool,
    keys: KeySpace,
    /// The only source numbers its keys itself.
    own_keys: bool,
    until: Nanos,
    tokens: bool,
}

struct Lane {
    input: Input,
    made: Batch,
    next: usize,
    /// Numbers of a foreign source's keys among all keys.
    numbers: Vec<u64>,
    over: bool,
}

enum Input {
    Pattern(Box<PatternSource>),
    Foreign(Box<dyn Source>),
}

impl Traffic {
    /// The traffic of a scenario's patterns. `open_trace` opens the recorded files among them, with absolute times.
    ///
    /// A pattern's luck depends on the seed, its kind and its place among the patterns of that kind, and on nothing else.
    ///
    /// # Errors
    ///
    /// A value out of its range (named with its pattern), or whatever `open_trace` says.
    pub fn open(
        patterns: &[Pattern],
        settings: &Settings,
        mut open_trace: impl FnMut(&Trace, &Pattern) -> Result<Box<dyn Source>, TrafficError>,
    ) -> Result<Traffic, TrafficError> {
        let mut keys = KeySpace::new(patterns)?;
        let mut inputs = Vec::new();
        let mut seen: HashMap<&'static str, u64> = HashMap::new();
        for pattern in patterns {
            if let Shape::Trace(trace) = &pattern.shape {
                inputs.push(Input::Foreign(open_trace(trace, pattern)?));
                continue;
            }
            let kind = pattern.shape.name();
            let index = seen.entry(kind).or_default();
            let streams = Streams { seed: settings.seed, kind, index: *index };
            let source = PatternSource::new(pattern, settings, streams, &mut keys)
                .map_err(|error| error.within(&format!("[[traffic.{kind}]] number {}", *index + 1)))?;
            *index += 1;
            inputs.extend(source.map(|source| Input::Pattern(Box::new(source))));
        }
        Ok(Traffic::of(inputs, keys, settings.end()?, settings.tokens))
    }

    /// The traffic of `sources`, without the requests at or after `until`. Where `tokens` is set, the cost of a source that
    /// [knows no tokens](Source::has_tokens) stands for input tokens.
    pub fn new(sources: Vec<Box<dyn Source>>, until: Nanos, tokens: bool) -> Traffic {
        Traffic::of(sources.into_iter().map(Input::Foreign).collect(), KeySpace::default(), until, tokens)
    }

    fn of(inputs: Vec<Input>, keys: KeySpace, until: Nanos, tokens: bool) -> Traffic {
        let own_keys = matches!(inputs[..], [Input::Foreign(_)]);
        let lane = |input| Lane { input, made: Batch::default(), next: 0, numbers: Vec::new(), over: false };
        let lanes = inputs.into_iter().map(lane).collect();
        Traffic { lanes, heads: Vec::new(), started: false, keys, own_keys, until, tokens }
    }

    /// The number of a key by name, a new one if the traffic has none of it: for clients beside the traffic whose keys may be
    /// the same.
    ///
    /// # Panics
    ///
    /// When requests have been handed out already.
    pub fn key_number(&mut self, name: &str) -> u64 {
        assert!(!self.started, "keys are named before the first request");
        self.own_keys = false;
        self.keys.number(name)
    }

    /// How many keys have a number: all of them when only patterns are merged, those seen so far with recorded files; `None`
    /// when the only source numbers its keys itself.
    pub fn key_count(&self) -> Option<u64> {
        (!self.own_keys).then(|| self.keys.len())
    }
}

impl Lane {
    /// Appends requests before `until` to `batch`, with the numbers of `keys` unless the source keeps its own.
    fn fill(
        &mut self,
        batch: &mut Batch,
        max: usize,
        until: Nanos,
        tokens: bool,
        keys: Option<&mut KeySpace>,
    ) -> Result<usize, TrafficError> {
        let source = match &mut self.input {
            Input::Pattern(source) => return Ok(source.fill(batch, max)),
            Input::Foreign(source) => source,
        };
        let before = batch.len();
        while !self.over && batch.len() == before {
            self.over = source.fill(batch, max)? == 0;
            if source.in_order() {
                let kept = before + batch.at[before..].partition_point(|at| *at < until);
                self.over |= kept < batch.len();
                truncate(batch, kept);
            } else {
                retain(batch, before, until);
            }
        }
        if let Some(keys) = keys {
            for key in &mut batch.key[before..] {
                while self.numbers.len() as u64 <= *key {
                    let name = source.key_name(self.numbers.len() as u64);
                    self.numbers.push(keys.number(&name));
                }
                *key = self.numbers[*key as usize];
            }
        }
        if tokens && !source.has_tokens() {
            batch.input_tokens.resize(before, 0);
            batch.input_tokens.extend_from_slice(&batch.requests[before..]);
        }
        Ok(batch.len() - before)
    }

    /// Makes requests ahead when there are none, and gives the time of the next.
    fn head(&mut self, until: Nanos, tokens: bool, keys: &mut KeySpace) -> Result<Nanos, TrafficError> {
        if self.next == self.made.len() {
            let mut made = std::mem::take(&mut self.made);
            made.clear();
            let filled = self.fill(&mut made, AHEAD, until, tokens, Some(keys));
            (self.made, self.next) = (made, 0);
            filled?;
        }
        Ok(self.made.at.get(self.next).copied().unwrap_or(OVER))
    }
}

impl Source for Traffic {
    fn fill(&mut self, batch: &mut Batch, max: usize) -> Result<usize, TrafficError> {
        let (until, tokens) = (self.until, self.tokens);
        if max == 0 {
            return Ok(0);
        }
        if let [lane] = &mut self.lanes[..] {
            self.started = true;
            return lane.fill(batch, max, until, tokens, if self.own_keys { None } else { Some(&mut self.keys) });
        }
        if !self.started {
            self.started = true;
            for lane in &mut self.lanes {
                self.heads.push(lane.head(until, tokens, &mut self.keys)?);
            }
        }
        let before = batch.len();
        while batch.len() - before < max
            && let Some((index, other)) = earliest(&self.heads)
        {
            let lane = &mut self.lanes[index];
            let most = lane.made.len().min(lane.next + max - (batch.len() - before));
            // The head itself is due; after it, all that come before the head of any other lane.
            let later = |at: &Nanos| (*at, index) > other;
            let rest = &lane.made.at[lane.next + 1..most];
            let run = lane.next + 1 + rest.iter().position(later).unwrap_or(rest.len());
            append(batch, &lane.made, lane.next, run);
            lane.next = run;
            // Stays so if the source fails.
            self.heads[index] = OVER;
            self.heads[index] = lane.head(until, tokens, &mut self.keys)?;
        }
        Ok(batch.len() - before)
    }

    fn key_name(&self, key: u64) -> String {
        match &self.lanes[..] {
            [Lane { input: Input::Foreign(source), .. }] if self.own_keys => source.key_name(key),
            _ => self.keys.name(key),
        }
    }

    fn expected(&self) -> Option<u64> {
        self.lanes.iter().try_fold(0u64, |sum, lane| {
            Some(sum.saturating_add(match &lane.input {
                Input::Pattern(source) => source.expected(),
                Input::Foreign(source) => source.expected()?,
            }))
        })
    }

    fn in_order(&self) -> bool {
        self.lanes.iter().all(|lane| match &lane.input {
            Input::Pattern(_) => true,
            Input::Foreign(source) => source.in_order(),
        })
    }

    fn has_tokens(&self) -> bool {
        self.lanes.iter().any(|lane| match &lane.input {
            Input::Pattern(source) => source.has_tokens(),
            Input::Foreign(source) => source.has_tokens() || self.tokens,
        })
    }

    fn has_prices(&self) -> bool {
        self.lanes.iter().any(|lane| match &lane.input {
            Input::Pattern(source) => source.has_prices(),
            Input::Foreign(source) => source.has_prices(),
        })
    }

    fn notes(&self) -> Vec<Note> {
        let notes = |lane: &Lane| match &lane.input {
            Input::Pattern(_) => Vec::new(),
            Input::Foreign(source) => source.notes(),
        };
        self.lanes.iter().flat_map(notes).collect()
    }
}

/// The lane whose head is due, and the head that comes next among the others; of equal times the first lane.
fn earliest(heads: &[Nanos]) -> Option<(usize, (Nanos, usize))> {
    let (mut due, mut next) = ((OVER, usize::MAX), (OVER, usize::MAX));
    for (index, at) in heads.iter().enumerate() {
        if *at < due.0 {
            (due, next) = ((*at, index), due);
        } else if *at < next.0 {
            next = (*at, index);
        }
    }
    (due.0 < OVER).then_some((due.1, next))
}

#[inline]
fn append(batch: &mut Batch, made: &Batch, from: usize, to: usize) {
    let before = batch.at.len();
    batch.at.extend_from_slice(&made.at[from..to]);
    batch.key.extend_from_slice(&made.key[from..to]);
    batch.requests.extend_from_slice(&made.requests[from..to]);
    for (column, made) in [
        (&mut batch.input_tokens, &made.input_tokens),
        (&mut batch.output_tokens, &made.output_tokens),
        (&mut batch.microusd, &made.microusd),
        (&mut batch.call, &made.call),
    ] {
        match (made.is_empty(), column.is_empty()) {
            (true, true) => {}
            (true, false) => column.resize(before + to - from, 0),
            (false, _) => {
                column.resize(before, 0);
                column.extend_from_slice(&made[from..to]);
            }
        }
    }
}

/// Every column, and a compile error when there is a new one.
fn columns(batch: &mut Batch) -> [&mut Vec<u64>; 7] {
    let Batch { at, key, requests, input_tokens, output_tokens, microusd, call } = batch;
    [at, key, requests, input_tokens, output_tokens, microusd, call]
}

fn truncate(batch: &mut Batch, len: usize) {
    columns(batch).into_iter().for_each(|column| column.truncate(len));
}

/// Drops requests at or after `until` among those from `before` on.
fn retain(batch: &mut Batch, before: usize, until: Nanos) {
    let mut kept = before;
    for index in before..batch.len() {
        if batch.at[index] < until {
            for column in columns(batch) {
                if !column.is_empty() {
                    column[kept] = column[index];
                }
            }
            kept += 1;
        }
    }
    truncate(batch, kept);
}
