//! Every table of a scenario file and every key in it: one list, from which the parser, the JSON Schema and the tables of
//! scenarios/README.md are made.

use limiters::Meter;

/// What a key takes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Takes {
    Text,
    /// A list of texts.
    Texts,
    /// `true` or `false`.
    Flag,
    /// A whole number in this range.
    Whole {
        min: u64,
        max: u64,
    },
    /// A decimal above this (`or_equal`: or equal to it).
    Decimal {
        above: f64,
        or_equal: bool,
    },
    /// Permits, at least this many, or money under the meter `spend`.
    Permits {
        min: u64,
    },
    /// The same, or both limit and window as one rate.
    Limit,
    Duration {
        zero: bool,
    },
    /// A duration, or `{ mean = … }` for an exponential one.
    Phase,
    Rate {
        zero: bool,
    },
    /// A constant or a distribution of whole numbers, at least this.
    Amount {
        min: u64,
    },
    /// The same in money.
    Price,
    Choice(&'static [&'static str]),
    /// A wall-clock instant with its zone.
    Timestamp,
    /// The name of a trace format.
    Format,
    /// The name of a client or a client library.
    Retries,
    /// A table from roles to column names.
    Columns,
    /// true, false, or a number of requests.
    Spread,
    /// A table from models to prices of their tokens.
    Prices,
    /// A table from keys to lists of values.
    Sweep,
    /// A constant or a distribution of lengths of time.
    Time,
    /// A length of time, or `{ uniform = … }`.
    Start,
    /// What a call costs.
    Cost,
    /// A whole number from this, or this word.
    WholeOr(u64, &'static str),
    /// A length of time, or this word.
    TimeOr(&'static str),
    /// The name of a client preset.
    Client,
    /// The name of a library preset.
    Library,
    /// How waits are spread.
    Jitter,
    /// A list of HTTP statuses.
    Statuses,
    /// A limit of calls as a rate.
    Calls,
    /// A list of `{ from, to }`.
    Outages,
    /// `{ steps, wait }`.
    Requests,
}

impl Takes {
    /// What it takes, in words that finish "takes …".
    pub fn words(self) -> String {
        match self {
            Takes::Text => "text".into(),
            Takes::Texts => "a list of texts".into(),
            Takes::Flag => "true or false".into(),
            Takes::Whole { min, max: u64::MAX } => format!("a whole number from {min}"),
            Takes::Whole { min, max } => format!("a whole number from {min} to {max}"),
            Takes::Decimal { above, or_equal: false } => format!("a number above {above}"),
            Takes::Decimal { above, or_equal: true } => format!("a number from {above}"),
            Takes::Permits { min } => format!("a whole number from {min}, or money such as \"$5\" where spend is metered"),
            Takes::Limit => {
                "a whole number from 1, a rate such as \"100/min\" that gives the window too, or money such as \"$5\" where \
                 spend is metered"
                    .into()
            }
            Takes::Duration { zero: true } => "a length of time such as \"60s\"".into(),
            Takes::Duration { zero: false } => "a length of time above zero such as \"60s\"".into(),
            Takes::Phase => "a length of time such as \"2s\", or { mean = \"2s\" } for an exponential one".into(),
            Takes::Rate { zero: false } => "a rate such as \"2/s\" or \"100/min\", or permits per second".into(),
            Takes::Rate { zero: true } => "a rate such as \"2/s\", or permits per second; 0 too".into(),
            Takes::Amount { min } => format!(
                "a whole number from {min}, or one of {{ min, max }}, {{ median, p90 }}, {{ mean }}, {{ min, shape }} (the \
                 last three also with max)"
            ),
            Takes::Price => "money such as \"$0.008\", or a distribution of it such as { median = \"$0.07\", p90 = \"$0.20\" }".into(),
            Takes::Choice(words) => format!("one of {}", words.join(", ")),
            Takes::Timestamp => "an instant with its zone such as \"2026-01-01T12:00:00Z\"".into(),
            Takes::Format => "the name of a trace format, see `workbench list`".into(),
            Takes::Retries => "the name of a client or library, see `workbench list clients`".into(),
            Takes::Time => {
                "a length of time, or a distribution of it such as { median = \"5.7s\", p90 = \"22s\" } (also with max)".into()
            }
            Takes::Start => "a length of time, or { uniform = \"10s\" } for each at a time drawn from 0 to that".into(),
            Takes::Cost => "money such as \"$0.008\", a distribution of it, { price = NAME }, tokens at a price such as \
                            { input-tokens = 1000, output-tokens = 200, price = NAME }, or a growing context such as \
                            { context = 20000, grows = 1750, output-tokens = 252, compact-at = 200000, compact-to = 25000, \
                            price = NAME }; names of prices: `workbench list prices`"
                .into(),
            Takes::WholeOr(min, word) => format!("a whole number from {min}, or \"{word}\""),
            Takes::TimeOr(word) => format!("a length of time such as \"60s\", or \"{word}\""),
            Takes::Client => "the name of a client preset, see `workbench list clients`".into(),
            Takes::Library => "the name of a library's defaults, see `workbench list clients`".into(),
            Takes::Jitter => "none, full, equal, decorrelated, down-25, plus-minus-30 (any percentage), or \
                              { additive = \"1s\" }"
                .into(),
            Takes::Statuses => "a list of HTTP statuses such as [402, 403]".into(),
            Takes::Calls => "a rate of calls such as \"100/min\", which is also how many may come at once".into(),
            Takes::Outages => "a list of times such as [{ from = \"10min\", to = \"12min\" }]".into(),
            Takes::Requests => {
                "{ steps = …, wait = … }: steps of one request, and the time until the next request".into()
            }
            Takes::Columns => "a table such as { time = \"TIMESTAMP\", cost = [\"in\", \"out\"] }".into(),
            Takes::Spread => "true, false, or a whole number of requests from 1".into(),
            Takes::Prices => "a table such as { \"gpt-5.2-codex\" = \"gpt-5\", \"claude-*\" = \"5/25/0.50/6.25\" }".into(),
            Takes::Sweep => "a table with a list of values, such as { burst = [10, 50, 100] }".into(),
        }
    }
}

/// A key of a table.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Key {
    pub name: &'static str,
    pub takes: Takes,
    /// What holds when it is not written; `None` when it must be.
    pub default: Option<&'static str>,
    pub doc: &'static str,
}

pub(crate) const fn must(name: &'static str, takes: Takes, doc: &'static str) -> Key {
    Key { name, takes, default: None, doc }
}

pub(crate) const fn may(name: &'static str, takes: Takes, default: &'static str, doc: &'static str) -> Key {
    Key { name, takes, default: Some(default), doc }
}

/// A table.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Section {
    /// As its header is written, brackets included; empty for the top of the file.
    pub header: &'static str,
    pub doc: &'static str,
    /// Its own keys, then those it shares.
    pub keys: &'static [&'static [Key]],
}

impl Section {
    pub fn keys(&self) -> impl Iterator<Item = &'static Key> + use<> {
        self.keys.iter().copied().flatten()
    }

    pub fn key(&self, name: &str) -> Option<&'static Key> {
        self.keys().find(|key| key.name == name)
    }
}

const METERS: [&str; Meter::ALL.len()] = {
    let mut names = [""; Meter::ALL.len()];
    let mut index = 0;
    while index < names.len() {
        names[index] = Meter::ALL[index].1;
        index += 1;
    }
    names
};

const SCOPES: &[&str] = &["global", "per-key"];
pub(super) const ANY: u64 = u64::MAX;
pub(super) const LENGTH: Takes = Takes::Duration { zero: false };
pub(super) const INSTANT: Takes = Takes::Duration { zero: true };
pub(super) const RATE: Takes = Takes::Rate { zero: false };

pub(crate) const TOP: Section = Section {
    header: "",
    doc: "The top of the file, above the first table.",
    keys: &[&[
        may("summary", Takes::Text, "none", "what the scenario shows, in one sentence"),
        may("analysis", Takes::Text, "none", "what to learn from it; Markdown"),
        may(
            "start",
            Takes::Timestamp,
            "a wall-clock trace's first instant, else 1970-01-01T00:00:00Z",
            "wall-clock time of t = 0; fixed windows align to the wall clock",
        ),
        may(
            "duration",
            LENGTH,
            "the traces' span; needed where a pattern is not a trace",
            "requests before it count, one exactly at it does not",
        ),
        may("seed", Takes::Whole { min: 0, max: ANY }, "0", "every random draw follows from it"),
        may("bin", LENGTH, "chosen from the duration", "width of a step in the timeline"),
        may("patience", LENGTH, "endless", "a delayed request that would wait longer counts as refused"),
        may(
            "limiters",
            Takes::Texts,
            "the registered algorithms, then every [[limiter]]",
            "labels of the only limiters to run",
        ),
    ]],
};

pub(crate) const QUOTA: Section = Section {
    header: "[quota]",
    doc: "One promise, which every algorithm translates into its own parameters.",
    keys: &[&[
        must("limit", Takes::Limit, "permits per window"),
        may("window", LENGTH, "needed, unless `limit` is a rate", "length of the window"),
        may(
            "burst",
            Takes::Permits { min: 1 },
            "limit",
            "permits that may pass at one instant after a silence; windows have no use for it",
        ),
        may("key", Takes::Choice(SCOPES), "global", "one limit for everybody, or one for each key"),
        may("meter", Takes::Choice(&METERS), "requests", "what a permit is"),
    ]],
};

pub(crate) const LIMITER: Section = Section {
    header: "[[limiter]]",
    doc: "A variant that runs beside the registered algorithms. It also takes every parameter of its algorithm.",
    keys: &[&[
        may(
            "algorithm",
            Takes::Text,
            "needed, unless `all-of` is there",
            "name of a registered algorithm, or loop-breaker",
        ),
        may(
            "all-of",
            Takes::Texts,
            "none",
            "a stack: labels of limiters that must all admit; refused by one, charged to none",
        ),
        may("label", Takes::Text, "the algorithm's name", "what tables, files and expectations call it"),
        may("limit", Takes::Limit, "the quota's", "permits per window"),
        may("window", LENGTH, "the quota's", "length of the window"),
        may("burst", Takes::Permits { min: 1 }, "the quota's", "permits that may pass at one instant after a silence"),
        may("key", Takes::Choice(SCOPES), "the quota's", "one limit for everybody, or one for each key"),
        may("meter", Takes::Choice(&METERS), "the quota's", "what a permit is"),
        may("nodes", Takes::Whole { min: 1, max: 1_000 }, "1", "replicas with a state each"),
        may(
            "routing",
            Takes::Choice(&["round-robin", "key-hash", "random"]),
            "round-robin",
            "which node sees a request",
        ),
        may("restart-at", INSTANT, "never", "time at which the limiter forgets everything"),
        may("compare", Takes::Flag, "true", "false: serve in a stack only, do not run alone"),
        may(
            "accounting",
            Takes::Choice(&["immediate", "post", "reserve"]),
            "immediate",
            "when a call is charged: its true amount when it is asked; when it is over, so that calls in flight overshoot; \
             an estimate when it is asked, settled when it is over",
        ),
        may("estimate", Takes::Permits { min: 1 }, "the true amount", "what accounting = \"reserve\" holds for a call"),
        may("status", Takes::Whole { min: 400, max: 599 }, "429", "what a refused client is answered"),
        may(
            "retry-after",
            Takes::Choice(&["none", "next-permit", "window-reset", "full", "queue-aware"]),
            "next-permit; none where spend is metered",
            "when a refused client is told to come back; queue-aware tells each its own place in a virtual queue",
        ),
        may("charge-on-reject", Takes::Flag, "false", "refused requests are charged too"),
        may(
            "calendar",
            Takes::Choice(&["day", "month"]),
            "none",
            "spend-cap only: its budget is given anew each day or month",
        ),
        may("zone", Takes::Text, "UTC", "the time zone of `calendar`, such as \"Europe/Berlin\""),
        may("identical", Takes::Whole { min: 1, max: 1_000_000 }, "5", "loop-breaker only: identical calls that pass"),
        may(
            "among",
            Takes::Whole { min: 1, max: 1_000_000 },
            "identical",
            "loop-breaker only: among so many last calls",
        ),
        may("cooldown", LENGTH, "10min", "loop-breaker only: time until one probe passes"),
        may("sweep", Takes::Sweep, "none", "one variant for each value of a key; several keys: for each combination"),
    ]],
};

pub(crate) const EXPECT: Section = Section {
    header: "[[expect]]",
    doc: "What must come out; a run that breaks it exits with 1. It also takes every numeric column of summary.csv.",
    keys: &[&[
        must("limiter", Takes::Text, "label of the limiter"),
        may(
            "comparison",
            Takes::Choice(&["equal-quota", "variant", "equal-guarantee"]),
            "the limiter's row at its own quota",
            "which of the limiter's rows",
        ),
        may("within", LENGTH, "needed with `peak`", "length of the interval that `peak` asks about"),
    ]],
};

/// Keys of a distribution, in any amount.
pub(crate) const DISTRIBUTION: &[&str] = &["min", "max", "median", "p90", "mean", "shape"];

/// Every table, in the order the documentation shows them.
pub(crate) fn sections() -> impl Iterator<Item = &'static Section> {
    const FIRST: &[Section] = &[TOP, QUOTA, LIMITER];
    const LAST: &[Section] = &[EXPECT];
    let patterns = super::pattern_keys::PATTERNS.iter().map(|(_, section)| section);
    let clients = super::client_keys::sections();
    FIRST.iter().chain(patterns).chain(clients).chain(LAST)
}
