//! A recorded file as a source of requests.

use super::checks::show;
use super::packed::Merge;
use super::recorded::{Recorded, unreadable};
use crate::{Source, TrafficError};
use limiters::{Batch, Nanos, Request};
use std::sync::Arc;

/// Plays a recorded file, as often as the scenario asks, within the scenario's time.
#[derive(Debug)]
pub struct Playback {
    trace: Arc<Recorded>,
    /// What is added to a row's time, in the first playing.
    offset: Nanos,
    /// The first instant that is too late.
    end: Nanos,
    rows: Merge,
    playing: u64,
    expected: u64,
}

impl Playback {
    pub(super) fn new(trace: Arc<Recorded>, start: Nanos, duration: Nanos) -> Result<(Playback, u64), TrafficError> {
        let path = trace.path.clone();
        let failed = |message: String| TrafficError::of_file(&path, message);
        if let Some(first) = trace.start.filter(|first| *first < start) {
            let before = match before(&trace, start) {
                Ok(before) => before,
                Err(error) => return Err(failed(unreadable(&error))),
            };
            return Err(failed(format!(
                "{before} rows lie before the scenario's start, the first by {}; set start to the trace's first instant or leave it out",
                show(start - first)
            )));
        }
        let offset = if trace.start.is_some() { 0 } else { start };
        let end = start.checked_add(duration);
        let last = trace.duration() + trace.start.unwrap_or(0);
        let (Some(end), Some(_)) = (end, last.checked_add(offset)) else {
            return Err(failed("the trace ends after the year 2554 with this start and duration".to_owned()));
        };
        let rows = Merge::new(&trace.packed);
        let mut playback = Playback { trace, offset, end, rows, playing: 0, expected: 0 };
        let cut = match playback.cut() {
            Ok(cut) => cut,
            Err(error) => return Err(failed(unreadable(&error))),
        };
        playback.expected = playback.trace.rows * playback.trace.repeat - cut;
        if playback.expected == 0 {
            let message = format!("no row lies before the scenario's end, {} after its start", show(duration));
            return Err(failed(message));
        }
        Ok((playback, cut))
    }

    /// Requests at or after the end.
    fn cut(&self) -> std::io::Result<u64> {
        let period = self.trace.span + 1;
        let mut cut = 0;
        for playing in (0..self.trace.repeat).rev() {
            let shift = self.offset + playing * period;
            let late = late(&self.trace, self.end.saturating_sub(shift))?;
            if late == 0 {
                break;
            }
            cut += late;
        }
        Ok(cut)
    }
}

/// Rows whose scaled time is at least `end`.
fn late(trace: &Recorded, end: Nanos) -> std::io::Result<u64> {
    match trace.scale.least(end) {
        Some(from) => trace.packed.count_from(from),
        None => Ok(0),
    }
}

/// Rows whose scaled time is before `start`.
fn before(trace: &Recorded, start: Nanos) -> std::io::Result<u64> {
    Ok(trace.rows - late(trace, start)?)
}

impl Source for Playback {
    fn fill(&mut self, batch: &mut Batch, max: usize) -> Result<usize, TrafficError> {
        let trace = &self.trace;
        let mut count = 0;
        while count < max && self.playing < trace.repeat {
            let next = self
                .rows
                .next(&trace.packed, max - count)
                .map_err(|error| TrafficError::of_file(&trace.path, unreadable(&error)))?;
            let Some((block, range)) = next else {
                (self.rows, self.playing) = (Merge::new(&trace.packed), self.playing + 1);
                continue;
            };
            let shift = self.offset + self.playing * (trace.span + 1);
            for index in range {
                let at = trace.scale.of(block.at[index]) + shift;
                if at >= self.end {
                    if trace.sorted {
                        self.playing = trace.repeat;
                        break;
                    }
                    continue;
                }
                let [requests, input_tokens, output_tokens, microusd] = block.amounts.each_ref().map(|of| of[index]);
                batch.push(&Request {
                    at,
                    key: block.key[index],
                    requests,
                    input_tokens,
                    output_tokens,
                    microusd,
                    ..Request::default()
                });
                count += 1;
            }
        }
        Ok(count)
    }

    fn expected(&self) -> Option<u64> {
        Some(self.expected)
    }

    fn in_order(&self) -> bool {
        self.trace.sorted
    }

    fn has_tokens(&self) -> bool {
        self.trace.has_tokens()
    }

    fn has_prices(&self) -> bool {
        self.trace.has_prices()
    }

    fn key_name(&self, key: u64) -> String {
        self.trace.names.name(key)
    }
}
