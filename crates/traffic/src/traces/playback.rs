//! A recorded file as a source of requests.

use super::checks::show;
use super::recorded::Recorded;
use crate::{Source, TrafficError};
use limiters::{Batch, Nanos, Request};

/// Plays a recorded file, as often as the scenario asks, within the scenario's time.
#[derive(Debug)]
pub struct Playback {
    trace: Recorded,
    /// What is added to a row's time, in the first playing.
    offset: Nanos,
    /// The first instant that is too late.
    end: Nanos,
    next: usize,
    playing: u64,
    expected: u64,
}

impl Playback {
    pub(super) fn new(trace: Recorded, start: Nanos, duration: Nanos) -> Result<(Playback, u64), TrafficError> {
        let failed = |message| {
            let path = Some(trace.path.clone());
            Err(TrafficError { path, line: None, column: None, value: None, message })
        };
        if let Some(first) = trace.start.filter(|first| *first < start) {
            let before = trace.columns.at.iter().filter(|at| **at < start).count();
            return failed(format!(
                "{before} rows lie before the scenario's start, the first by {}; set start to the trace's first instant or leave it out",
                show(start - first)
            ));
        }
        let offset = if trace.start.is_some() { 0 } else { start };
        let end = start.checked_add(duration);
        let last = trace.duration() + trace.start.unwrap_or(0);
        let (Some(end), Some(_)) = (end, last.checked_add(offset)) else {
            return failed("the trace ends after the year 2554 with this start and duration".to_owned());
        };
        let mut playback = Playback { trace, offset, end, next: 0, playing: 0, expected: 0 };
        let cut = playback.cut();
        playback.expected = playback.trace.rows * playback.trace.repeat - cut;
        if playback.expected == 0 {
            let message = format!("no row lies before the scenario's end, {} after its start", show(duration));
            let path = Some(playback.trace.path.clone());
            return Err(TrafficError { path, line: None, column: None, value: None, message });
        }
        Ok((playback, cut))
    }

    /// Requests at or after the end.
    fn cut(&self) -> u64 {
        let period = self.trace.span + 1;
        let times = &self.trace.columns.at;
        let mut cut = 0;
        for playing in (0..self.trace.repeat).rev() {
            let shift = self.offset + playing * period;
            let late = if self.trace.sorted {
                times.len() - times.partition_point(|at| at + shift < self.end)
            } else {
                times.iter().filter(|at| *at + shift >= self.end).count()
            };
            if late == 0 {
                break;
            }
            cut += late as u64;
        }
        cut
    }
}

impl Source for Playback {
    fn fill(&mut self, batch: &mut Batch, max: usize) -> Result<usize, TrafficError> {
        let columns = &self.trace.columns;
        let mut count = 0;
        while count < max && self.playing < self.trace.repeat {
            let Some(&at) = columns.at.get(self.next) else {
                (self.next, self.playing) = (0, self.playing + 1);
                continue;
            };
            let index = self.next;
            self.next += 1;
            let at = at + self.offset + self.playing * (self.trace.span + 1);
            if at >= self.end {
                if self.trace.sorted {
                    self.playing = self.trace.repeat;
                }
                continue;
            }
            batch.push(&Request {
                at,
                key: columns.key[index].into(),
                requests: columns.cost.get(index),
                input_tokens: columns.input_tokens.get(index),
                output_tokens: columns.output_tokens.get(index),
                microusd: columns.microusd.get(index),
                ..Request::default()
            });
            count += 1;
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
        !(self.trace.columns.input_tokens.is_usual() && self.trace.columns.output_tokens.is_usual())
    }

    fn has_prices(&self) -> bool {
        !self.trace.columns.microusd.is_usual()
    }

    fn key_name(&self, key: u64) -> String {
        self.trace.names.name(key)
    }
}
