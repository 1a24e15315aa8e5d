//! One open-loop pattern as a source: arrival times beside keys, costs, tokens and prices, filled column by column.

use crate::amounts::AmountDraw;
use crate::arrivals::{Arrivals, open};
use crate::draw::{Stream, Streams};
use crate::keys::{KeyDraw, KeySpace};
use crate::spec::Pattern;
use crate::{Settings, TrafficError};
use limiters::Batch;

/// More requests than this are not made in one call, so that columns stay in cache.
const CHUNK: usize = 1 << 16;

pub(crate) struct PatternSource {
    arrivals: Box<dyn Arrivals>,
    keys: KeyDraw,
    key_rng: Stream,
    cost: AmountDraw,
    input_tokens: Option<AmountDraw>,
    output_tokens: Option<AmountDraw>,
    price: Option<AmountDraw>,
    /// Cost stands for input tokens.
    cost_is_tokens: bool,
}

impl PatternSource {
    /// `None` for a trace.
    pub fn new(
        pattern: &Pattern,
        settings: &Settings,
        streams: Streams,
        space: &mut KeySpace,
    ) -> Result<Option<PatternSource>, TrafficError> {
        let Some(arrivals) = open(&pattern.shape, settings, streams)? else { return Ok(None) };
        let amount = |of: &Option<_>, name, purpose, least| {
            of.as_ref().map(|of| AmountDraw::new(of, name, least, streams.of(purpose))).transpose()
        };
        Ok(Some(PatternSource {
            arrivals,
            keys: KeyDraw::new(&pattern.keys, space)?,
            key_rng: streams.of("keys"),
            cost: AmountDraw::new(&pattern.cost, "cost", 1, streams.of("cost"))?,
            input_tokens: amount(&pattern.input_tokens, "input-tokens", "input-tokens", 1)?,
            output_tokens: amount(&pattern.output_tokens, "output-tokens", "output-tokens", 0)?,
            price: amount(&pattern.price, "price", "price", 0)?,
            cost_is_tokens: settings.tokens && pattern.input_tokens.is_none(),
        }))
    }

    pub fn fill(&mut self, batch: &mut Batch, max: usize) -> usize {
        let before = batch.len();
        let made = self.arrivals.fill(&mut batch.at, max.min(CHUNK));
        self.keys.fill(&mut self.key_rng, &mut batch.key, made);
        self.cost.fill(&mut batch.requests, made);
        for (draw, column) in [
            (&mut self.input_tokens, &mut batch.input_tokens),
            (&mut self.output_tokens, &mut batch.output_tokens),
            (&mut self.price, &mut batch.microusd),
        ] {
            match draw {
                Some(draw) => {
                    column.resize(before, 0);
                    draw.fill(column, made);
                }
                None if column.is_empty() => {}
                None => column.resize(before + made, 0),
            }
        }
        if !batch.call.is_empty() {
            batch.call.resize(before + made, 0);
        }
        if self.cost_is_tokens {
            batch.input_tokens.resize(before, 0);
            batch.input_tokens.extend_from_slice(&batch.requests[before..]);
        }
        made
    }

    pub fn expected(&self) -> u64 {
        self.arrivals.expected()
    }

    pub fn has_tokens(&self) -> bool {
        self.cost_is_tokens || self.input_tokens.is_some() || self.output_tokens.is_some()
    }

    pub fn has_prices(&self) -> bool {
        self.price.is_some()
    }
}
