//! What is asked of a guard: one request with everything that can be metered, and batches of them in columns.

use crate::Nanos;

/// A call that wants to pass, with every amount that a guard can meter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Request {
    /// When it is asked, in nanoseconds.
    pub at: Nanos,
    /// Whose limit it counts against; a dense number that traffic hands out, or a hash.
    pub key: u64,
    /// Permits under the meter `requests`; 1 unless the traffic says otherwise.
    pub requests: u64,
    /// Tokens sent to a model.
    pub input_tokens: u64,
    /// Tokens a model answered with.
    pub output_tokens: u64,
    /// Input tokens read from a cache, not part of `input_tokens`.
    pub cache_read_tokens: u64,
    /// Input tokens written to a cache, not part of `input_tokens`.
    pub cache_write_tokens: u64,
    /// Price of the call in micro-dollars.
    pub microusd: u64,
    /// Hash of what is called with which arguments, for [`LoopBreaker`](crate::LoopBreaker); 0 when unknown.
    pub call: u64,
}

/// What a guard counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Meter {
    /// Permits: 1 a request, or the cost the traffic gives.
    #[default]
    Requests,
    /// Tokens sent.
    InputTokens,
    /// Tokens received.
    OutputTokens,
    /// Tokens sent and received; cached ones are not counted.
    Tokens,
    /// Micro-dollars.
    Spend,
}

impl Meter {
    /// Every meter with its name in scenarios.
    pub const ALL: [(Meter, &'static str); 5] = [
        (Meter::Requests, "requests"),
        (Meter::InputTokens, "input-tokens"),
        (Meter::OutputTokens, "output-tokens"),
        (Meter::Tokens, "tokens"),
        (Meter::Spend, "spend"),
    ];

    /// The meter's name in scenarios.
    pub fn name(self) -> &'static str {
        Meter::ALL.iter().find(|(meter, _)| *meter == self).map_or("", |(_, name)| name)
    }

    /// The amount of `request` that this meter counts.
    #[inline]
    pub fn of(self, request: &Request) -> u64 {
        match self {
            Meter::Requests => request.requests,
            Meter::InputTokens => request.input_tokens,
            Meter::OutputTokens => request.output_tokens,
            Meter::Tokens => request.input_tokens.saturating_add(request.output_tokens),
            Meter::Spend => request.microusd,
        }
    }
}

/// Requests in time order, in columns, so that a limiter reads only what it meters. All columns have the same length,
/// but for the optional ones, which may be empty when every value is 0.
#[derive(Clone, Debug, Default)]
pub struct Batch {
    /// [`Request::at`].
    pub at: Vec<Nanos>,
    /// [`Request::key`].
    pub key: Vec<u64>,
    /// [`Request::requests`].
    pub requests: Vec<u64>,
    /// [`Request::input_tokens`]; optional.
    pub input_tokens: Vec<u64>,
    /// [`Request::output_tokens`]; optional.
    pub output_tokens: Vec<u64>,
    /// [`Request::microusd`]; optional.
    pub microusd: Vec<u64>,
    /// [`Request::call`]; optional.
    pub call: Vec<u64>,
}

impl Batch {
    /// How many requests there are.
    pub fn len(&self) -> usize {
        self.at.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.at.is_empty()
    }

    /// Forgets all requests and keeps the memory.
    pub fn clear(&mut self) {
        for column in [
            &mut self.at,
            &mut self.key,
            &mut self.requests,
            &mut self.input_tokens,
            &mut self.output_tokens,
            &mut self.microusd,
            &mut self.call,
        ] {
            column.clear();
        }
    }

    /// Adds a request at the end. Optional columns are filled from their first value that is not 0.
    pub fn push(&mut self, request: &Request) {
        let before = self.len();
        self.at.push(request.at);
        self.key.push(request.key);
        self.requests.push(request.requests);
        for (column, value) in [
            (&mut self.input_tokens, request.input_tokens),
            (&mut self.output_tokens, request.output_tokens),
            (&mut self.microusd, request.microusd),
            (&mut self.call, request.call),
        ] {
            if value != 0 || !column.is_empty() {
                column.resize(before, 0);
                column.push(value);
            }
        }
    }

    /// The request at `index`; cache tokens are not kept in batches.
    pub fn get(&self, index: usize) -> Request {
        let optional = |column: &Vec<u64>| column.get(index).copied().unwrap_or(0);
        Request {
            at: self.at[index],
            key: self.key[index],
            requests: self.requests[index],
            input_tokens: optional(&self.input_tokens),
            output_tokens: optional(&self.output_tokens),
            microusd: optional(&self.microusd),
            call: optional(&self.call),
            ..Request::default()
        }
    }

    /// The amounts that `meter` counts, one a request. `scratch` is used where they are not a column of their own.
    pub fn amounts<'a>(&'a self, meter: Meter, scratch: &'a mut Vec<u64>) -> &'a [u64] {
        let column = match meter {
            Meter::Requests => return &self.requests,
            Meter::InputTokens => &self.input_tokens,
            Meter::OutputTokens => &self.output_tokens,
            Meter::Spend => &self.microusd,
            Meter::Tokens => {
                scratch.clear();
                scratch.extend((0..self.len()).map(|i| meter.of(&self.get(i))));
                return scratch;
            }
        };
        if column.len() == self.len() {
            return column;
        }
        scratch.clear();
        scratch.resize(self.len(), 0);
        scratch
    }
}
