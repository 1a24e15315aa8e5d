//! The tables of traffic and every key in them: part of the list in `keys.rs`.

use super::keys::{ANY, INSTANT, Key, LENGTH, RATE, Section, Takes, may, must};

const SPAN: &[Key] = &[
    may("start", INSTANT, "0s", "first instant of the pattern"),
    may("end", LENGTH, "duration", "last instant of the pattern"),
];

const WHO_AND_WHAT: &[Key] = &[
    may("key", Takes::Text, "all", "whose requests they are; with `keys`, what the keys' names begin with"),
    may("keys", Takes::Whole { min: 1, max: 100_000_000 }, "one key", "how many keys share the requests"),
    may("zipf", Takes::Decimal { above: 0.0, or_equal: true }, "0: all alike", "Zipf exponent of the keys' shares"),
    may("cost", Takes::Amount { min: 1 }, "1", "permits of a request"),
    may("input-tokens", Takes::Amount { min: 1 }, "cost", "tokens sent"),
    may("output-tokens", Takes::Amount { min: 0 }, "none", "tokens received"),
    may("price", Takes::Price, "none", "money a request costs"),
];

macro_rules! pattern {
    ($name:literal, $doc:literal, $keys:expr $(, $more:expr)*) => {
        Section { header: concat!("[[traffic.", $name, "]]"), doc: $doc, keys: &[$keys $(, $more)*] }
    };
}

/// What every pattern but a trace takes beside its own keys.
pub(crate) const SHARED: Section =
    Section { header: "[[traffic.…]]", doc: "Every pattern but a trace takes these too.", keys: &[WHO_AND_WHAT] };

/// The patterns of traffic.
pub(crate) const PATTERNS: &[(&str, Section)] = &[
    (
        "constant",
        pattern!(
            "constant",
            "Requests at start + k/rate for k = 1, 2 … up to and including end.",
            &[must("rate", RATE, "requests per time")],
            SPAN,
            WHO_AND_WHAT
        ),
    ),
    (
        "poisson",
        pattern!(
            "poisson",
            "Independent requests: exponential gaps.",
            &[must("rate", RATE, "mean requests per time")],
            SPAN,
            WHO_AND_WHAT
        ),
    ),
    (
        "burst",
        pattern!(
            "burst",
            "Many requests at once, and again if wanted.",
            &[
                must("at", INSTANT, "when the burst begins"),
                must("requests", Takes::Whole { min: 1, max: ANY }, "how many"),
                may("spread", INSTANT, "0s", "time over which they are spread evenly"),
                may("every", LENGTH, "once", "time from one burst to the next"),
            ],
            WHO_AND_WHAT
        ),
    ),
    (
        "on-off",
        pattern!(
            "on-off",
            "A constant rate while on, silence while off; on first.",
            &[
                must("rate", RATE, "requests per time while on"),
                must("on", Takes::Phase, "how long it is on"),
                must("off", Takes::Phase, "how long it is off"),
            ],
            SPAN,
            WHO_AND_WHAT
        ),
    ),
    (
        "ramp",
        pattern!(
            "ramp",
            "A rate that goes in a straight line from one value to another.",
            &[
                must("from", Takes::Rate { zero: true }, "rate at start"),
                must("to", Takes::Rate { zero: true }, "rate at end"),
            ],
            SPAN,
            WHO_AND_WHAT
        ),
    ),
    (
        "sine",
        pattern!(
            "sine",
            "A rate of mean + amplitude · sin(2π · (t + phase) / period).",
            &[
                must("mean", RATE, "the mean rate"),
                may("amplitude", Takes::Rate { zero: true }, "0", "at most the mean"),
                must("period", LENGTH, "time of one swing"),
                may("phase", INSTANT, "0s", "how far into the swing it begins"),
            ],
            SPAN,
            WHO_AND_WHAT
        ),
    ),
    (
        "pareto",
        pattern!(
            "pareto",
            "Heavy-tailed gaps: long silences between dense groups.",
            &[
                must("rate", RATE, "mean requests per time"),
                must("shape", Takes::Decimal { above: 1.0, or_equal: false }, "tail exponent; nearer to 1 is burstier"),
            ],
            SPAN,
            WHO_AND_WHAT
        ),
    ),
    (
        "trace",
        pattern!(
            "trace",
            "A recorded file, .gz and .zst too.",
            &[
                must("path", Takes::Text, "the file, seen from the scenario's folder; `-` is standard input"),
                may("format", Takes::Format, "guessed from the content, and said", "name of a trace format"),
                may(
                    "columns",
                    Takes::Columns,
                    "the format's own",
                    "which column or field is time, key, cost …; several are summed"
                ),
                may(
                    "where",
                    Takes::Text,
                    "all rows",
                    "only rows of which this holds count, such as 'path ~ \"^/api/\" and status != 304'"
                ),
                may(
                    "key-by",
                    Takes::Texts,
                    "the format's own key",
                    "what together is the key: key, user, method, path (without its query), status, or columns of the file"
                ),
                may(
                    "spread",
                    Takes::Spread,
                    "false; rows that look like totals are an error",
                    "true: each row is a total of a minute, an hour, a day … and is spread evenly over it, a number: as so many \
                     requests, where no column says how many; false: each is one request, whatever it looks like"
                ),
                may(
                    "prices",
                    Takes::Prices,
                    "the listed price of the model that a call names",
                    "prices for calls without one of their own, by model (or its beginning and *): a listed name, or dollars for a \
                     million tokens sent/received/cache read/cache written"
                ),
                may("time-unit", Takes::Choice(&["ns", "us", "ms", "s"]), "guessed, and said", "unit of numeric times"),
                may("time-scale", Takes::Decimal { above: 0.0, or_equal: false }, "1.0", "gaps are multiplied by it"),
                may("repeat", Takes::Whole { min: 1, max: 1_000_000 }, "1", "how many times the file is played"),
                may(
                    "order",
                    Takes::Choice(&["sort", "as-is"]),
                    "sort",
                    "as-is: rows out of order stay so, and the clock is clamped"
                ),
                may(
                    "key-normalise",
                    Takes::Choice(&["none", "address"]),
                    "none",
                    "address: every spelling of an address, with or without port, is one key"
                ),
                may(
                    "key-prefix",
                    Takes::Whole { min: 1, max: 128 },
                    "none",
                    "IPv6 addresses are grouped by so many first bits"
                ),
                may("skip-bad-rows", Takes::Flag, "false", "count broken rows and leave them out"),
                may(
                    "max-bad-rows",
                    Takes::Whole { min: 0, max: ANY },
                    "no maximum",
                    "more broken rows than this are an error after all"
                ),
                may(
                    "retry-as",
                    Takes::Retries,
                    "none; openai-sdk for sessions",
                    "client or library: refused rows (429, 503) become calls of a client that reacts, tried again as it does"
                ),
                may(
                    "retry-within",
                    Takes::Duration { zero: true },
                    "the client's own waits and 1 s, or 1 min for ever",
                    "how long behind a call's first row another row of its key may be part of it"
                ),
            ]
        ),
    ),
];
