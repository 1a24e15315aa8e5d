//! What a scenario says about traffic, already checked: plain values without positions or text.

use limiters::{Nanos, Rate};
use std::num::NonZeroU32;
use std::path::PathBuf;

/// One pattern of requests.
///
/// Times in it count from t = 0. A `start` and an `end` are both included, an `end` of `None` is the scenario's duration,
/// and a request at or after the duration is dropped, whatever `end` says.
#[derive(Clone, Debug, PartialEq)]
pub struct Pattern {
    /// When requests come.
    pub shape: Shape,
    /// Whose they are.
    pub keys: Keys,
    /// Permits each asks for under the meter `requests`.
    pub cost: Amount,
    /// Tokens sent; `None` where the pattern does not say, and then `cost` stands for them under a token meter.
    pub input_tokens: Option<Amount>,
    /// Tokens received.
    pub output_tokens: Option<Amount>,
    /// Price of a request in micro-dollars.
    pub price: Option<Amount>,
}

/// When the requests of a pattern come. Equations: [`PATTERNS`](crate::PATTERNS).
#[allow(missing_docs)] // the fields are a scenario's own keys, see scenarios/README.md
#[derive(Clone, Debug, PartialEq)]
pub enum Shape {
    /// At start + k/rate for k = 1, 2 … up to and including `end`.
    Constant { rate: Rate, start: Nanos, end: Option<Nanos> },
    /// Independent exponential gaps.
    Poisson { rate: Rate, start: Nanos, end: Option<Nanos> },
    /// `requests` at `at`, evenly over `spread`, again every `every`; `every` is at least 1 ns and at least `spread`.
    Burst { at: Nanos, requests: u64, spread: Nanos, every: Option<Nanos> },
    /// Constant rate while on, silence while off, beginning with on. `on` is at least 1 ns; `off` may be 0.
    OnOff { rate: Rate, on: Phase, off: Phase, start: Nanos, end: Option<Nanos> },
    /// A rate that goes in a straight line from `from` to `to`; `None` is a rate of zero.
    Ramp { from: Option<Rate>, to: Option<Rate>, start: Nanos, end: Option<Nanos> },
    /// rate(t) = mean + amplitude · sin(2π · (t + phase) / period), t from t = 0 and not from `start`; amplitude at most
    /// mean (`None` is 0), period at least 1 ns.
    Sine { mean: Rate, amplitude: Option<Rate>, period: Nanos, phase: Nanos, start: Nanos, end: Option<Nanos> },
    /// Heavy-tailed gaps with mean 1/rate; `shape` finite and above 1 (smaller is burstier).
    Pareto { rate: Rate, shape: f64, start: Nanos, end: Option<Nanos> },
    /// A recorded file.
    Trace(Trace),
}

/// How long an on or off phase lasts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Phase {
    /// Always this long.
    Constant(Nanos),
    /// Exponentially distributed with this mean.
    Exponential(Nanos),
}

/// Whose requests they are. Equal names are one key, whichever patterns they come from.
#[derive(Clone, Debug, PartialEq)]
pub enum Keys {
    /// All of one key.
    One(String),
    /// `count` keys named `PREFIX-1` … `PREFIX-count`, drawn with Zipf exponent `zipf`: key k has a share proportional to
    /// k^-zipf (0 is uniform). `count` is at least 1, `zipf` finite and at least 0.
    Many {
        /// What the names begin with.
        prefix: String,
        /// How many keys there are.
        count: u64,
        /// The exponent.
        zipf: f64,
    },
}

/// A whole amount for each request: permits, tokens or micro-dollars.
///
/// `Constant` and `Uniform` are taken as they are. The others are drawn as real numbers, rounded to the nearest whole
/// number (halves up), then raised to 1 where a request cannot have nothing (cost and input tokens; output tokens and
/// prices may be 0) and lowered to `max`.
#[derive(Clone, Debug, PartialEq)]
pub enum Amount {
    /// Always this much.
    Constant(u64),
    /// Evenly from `min` to `max`, both included; `min` at most `max`.
    Uniform {
        /// Least.
        min: u64,
        /// Most.
        max: u64,
    },
    /// Lognormal with this median (above 0) and 90th percentile (at least the median), at most `max`.
    Lognormal {
        /// Half are below.
        median: f64,
        /// Nine in ten are below.
        p90: f64,
        /// Larger draws count as this.
        max: Option<u64>,
    },
    /// Exponential with this mean (above 0, before `max` cuts it), at most `max`.
    Exponential {
        /// The mean.
        mean: f64,
        /// Larger draws count as this.
        max: Option<u64>,
    },
    /// Pareto with smallest value `min` and exponent `shape` (both above 0), at most `max`.
    Pareto {
        /// Smallest.
        min: f64,
        /// Smaller is heavier; the mean is finite above 1.
        shape: f64,
        /// Larger draws count as this.
        max: Option<u64>,
    },
}

/// A recorded file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Trace {
    /// The file, resolved against the scenario's folder; `-` is standard input.
    pub path: PathBuf,
    /// A name from the registry of formats; guessed from the content when absent.
    pub format: Option<String>,
    /// Which column or field is what; names as the format's documentation gives them: `time`, `key`, `cost`,
    /// `input-tokens`, `output-tokens`, `price`. Several columns of a cost are summed.
    pub columns: Vec<(String, Vec<String>)>,
    /// Unit of numeric times: `ns`, `us`, `ms`, `s`; guessed and said when absent.
    pub time_unit: Option<String>,
    /// Gaps are multiplied by this, as (numerator, denominator).
    pub time_scale: Option<(u64, u64)>,
    /// How many times the file is played, one after another; at least 1.
    pub repeat: u64,
    /// Feed rows as they come, for a clamp to correct, instead of sorting them by time.
    pub as_is: bool,
    /// How keys are made equal.
    pub key_normalise: KeyNormalise,
    /// Addresses are grouped by their first so many bits (IPv6), when given.
    pub key_prefix: Option<u8>,
    /// Broken rows are counted and left out instead of being an error.
    pub skip_bad_rows: bool,
    /// More skipped rows than this are an error after all.
    pub max_bad_rows: Option<u64>,
    /// Only rows of which this expression holds count; see [`Where`](crate::traces::Where).
    pub filter: Option<String>,
    /// Parts of a row that together are its key: `key` (or `client`), `user`, `method`, `path` (without its query),
    /// `status`, and columns of the file. Empty: the format's own key.
    pub key_by: Vec<String>,
    /// Whether rows are totals that are spread evenly over their interval; when absent, rows that look like totals are an
    /// error.
    pub spread: Option<bool>,
    /// Over how many requests each total is spread, where no column says so; only with `spread`.
    pub spread_over: Option<NonZeroU32>,
    /// Prices of calls that the file has a model and tokens of, but no price: the model's name, or what it begins with
    /// before a `*`, and the price as [`Price::given`](crate::prices::Price::given) takes it. Models without one have the
    /// listed price.
    pub prices: Box<[(String, String)]>,
    /// Who says all this, and how errors name it.
    pub said: Said,
    /// Refused calls are tried again as this client or library does, in a closed loop; a name that
    /// [`retry_as`](crate::clients::retry_as) knows.
    pub retry_as: Option<String>,
    /// How long after a call's first row another row may be part of it.
    pub retry_within: Option<Nanos>,
    /// Rows that others play, by their place among the good rows, in order.
    pub left_out: Option<std::sync::Arc<[u64]>>,
}

/// Who describes a recorded file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Said {
    /// A scenario: errors name its keys.
    #[default]
    Scenario,
    /// Flags of a command line, which are the keys with two dashes.
    Flags,
}

impl Said {
    /// How a price of a model is given.
    pub(crate) fn prices(self) -> &'static str {
        match self {
            Said::Scenario => "prices = { \"MODEL\" = \"PRICE\" }",
            Said::Flags => "--prices MODEL=PRICE",
        }
    }
}

impl Trace {
    /// Whether its keys are made of several parts.
    pub(crate) fn joins_keys(&self) -> bool {
        self.key_by.len() > 1 || self.columns.iter().any(|(role, columns)| role == "key" && columns.len() > 1)
    }

    /// A setting as whoever said it writes it: `time-unit` or `--time-unit`.
    pub(crate) fn setting(&self, key: &str) -> String {
        match self.said {
            Said::Scenario => key.to_owned(),
            Said::Flags => format!("--{key}"),
        }
    }

    /// How to say which column plays `role`.
    pub(crate) fn choose(&self, role: &str, column: &str) -> String {
        match self.said {
            Said::Scenario => format!("columns = {{ {role} = {column} }}"),
            Said::Flags => format!("--column {role}={}", column.trim_matches('"')),
        }
    }

    /// What said that the columns `names` play `role`.
    pub(crate) fn chosen(&self, role: &str, names: &[String]) -> String {
        match self.said {
            Said::Scenario => "columns".to_owned(),
            Said::Flags => format!("--column {role}={}", names.join("+")),
        }
    }
}

/// How keys are made equal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum KeyNormalise {
    /// As written.
    #[default]
    None,
    /// `host:port`, `[v6]:port` and every spelling of an address are the address.
    Address,
}
