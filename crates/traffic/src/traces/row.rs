//! One request as a log has it, before it is asked of any limiter.

use limiters::Nanos;

/// One row of a recorded file. Byte fields are as the file has them and empty where it has none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Row {
    /// When it was asked, from the Unix epoch or from the scenario's start (see [`Clock`](super::Clock)).
    pub at: Nanos,
    /// Whose request it is; an empty key is a key of its own.
    pub key: Vec<u8>,
    /// Permits under the meter `requests`; 1 where the file does not say.
    pub cost: u64,
    /// Tokens sent.
    pub input_tokens: u64,
    /// Tokens received.
    pub output_tokens: u64,
    /// Input tokens read from a cache, not part of `input_tokens`.
    pub cache_read_tokens: u64,
    /// Input tokens written to a cache, not part of `input_tokens`.
    pub cache_write_tokens: u64,
    /// Price in micro-dollars.
    pub microusd: u64,
    /// HTTP status; 0 where the file does not say.
    pub status: u16,
    /// HTTP method.
    pub method: Vec<u8>,
    /// Path and query that were asked for.
    pub path: Vec<u8>,
    /// Authenticated user.
    pub user: Vec<u8>,
    /// How many requests a total stands for; `None` where the file does not say.
    pub(super) requests: Option<u64>,
    /// The end of the interval of a total.
    pub(super) end: Option<Nanos>,
    /// Whether the cost comes from the file, and so is part of a total.
    pub(super) cost_is_total: bool,
    /// Values of the columns that a filter or the key asks for, in the order they are asked for.
    pub(super) own: Vec<Vec<u8>>,
    /// Number of the session whose round it is, from 1, where a session asks its rounds one after the other; else 0. Such
    /// rows come in the order of their rounds, at the times at which they would be asked if nothing delayed them.
    pub session: u32,
    /// How long its answer took, where the file says so.
    pub takes: Option<Nanos>,
}

impl Row {
    /// Makes it a row that says nothing, and keeps the memory.
    pub(super) fn reset(&mut self) {
        for field in [&mut self.key, &mut self.method, &mut self.path, &mut self.user] {
            field.clear();
        }
        self.own.iter_mut().for_each(Vec::clear);
        (self.at, self.cost, self.status) = (0, 1, 0);
        (self.requests, self.end, self.cost_is_total) = (None, None, false);
        (self.session, self.takes) = (0, None);
        (self.input_tokens, self.output_tokens) = (0, 0);
        (self.cache_read_tokens, self.cache_write_tokens, self.microusd) = (0, 0, 0);
    }

    /// Puts the value of a column that is asked for.
    pub(super) fn put_own(&mut self, slot: usize, value: &[u8]) {
        if self.own.len() <= slot {
            self.own.resize_with(slot + 1, Vec::new);
        }
        self.own[slot].extend_from_slice(value);
    }
}
