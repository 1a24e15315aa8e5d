//! The registry of client libraries: how each retries when nobody configures it.

use crate::clients::spec::{Beyond, Jitter, Policy, Quota, Retry, RetryAfter, WithOwn};
use limiters::Nanos;

/// A client library's defaults.
pub struct Library {
    /// Name in scenarios.
    pub name: &'static str,
    /// How it retries, in one line.
    pub summary: &'static str,
    /// Where that is written, as read in 2026.
    pub source: &'static str,
    /// The retry loop.
    pub retry: fn() -> Retry,
}

const MS: Nanos = 1_000_000;
const S: Nanos = 1_000 * MS;
const FOR_EVER: Nanos = Nanos::MAX;

/// Statuses that say that the request itself is wrong or not paid for; no library here retries them.
const TERMINAL: [u16; 4] = [402, 400, 403, 422];

/// `tries` tries with exponential waits from `base`, doubled up to `longest`.
fn doubling(tries: u64, base: Nanos, longest: Nanos, jitter: Jitter, retry_after: RetryAfter) -> Retry {
    Retry {
        policy: Policy::Exponential,
        max_attempts: tries,
        base,
        multiplier: 2.0,
        max_delay: longest,
        jitter,
        retry_after,
        terminal: TERMINAL.to_vec(),
        quota: None,
    }
}

/// `tries` tries with the same wait each time.
fn steady(tries: u64, wait: Nanos, retry_after: RetryAfter, terminal: &[u16]) -> Retry {
    let policy = if wait == 0 { Policy::Immediate } else { Policy::Fixed };
    let plain = doubling(tries, wait, wait, Jitter::None, retry_after);
    Retry { policy, multiplier: 1.0, terminal: terminal.to_vec(), ..plain }
}

/// Every library preset.
pub const LIBRARIES: &[Library] = &[
    Library {
        name: "openai-sdk",
        summary: "3 tries, 0.5·2ⁿ s up to 8 s less up to 25 %; Retry-After obeyed up to 120 s, above that it gives up",
        source: "github.com/openai/openai-python, src/openai/_base_client.py and _constants.py",
        retry: || {
            let hint = RetryAfter { beyond: Beyond::GiveUp, ..RetryAfter::obeyed(120 * S) };
            doubling(3, 500 * MS, 8 * S, Jitter::Down(25), hint)
        },
    },
    Library {
        name: "anthropic-sdk",
        summary: "3 tries, 0.5·2ⁿ s up to 8 s less up to 25 %; Retry-After obeyed up to 60 s, above that its own wait",
        source: "github.com/anthropics/anthropic-sdk-python, src/anthropic/_base_client.py",
        retry: || doubling(3, 500 * MS, 8 * S, Jitter::Down(25), RetryAfter::obeyed(60 * S)),
    },
    Library {
        name: "google-genai",
        summary: "5 tries where switched on, 2ⁿ s up to 60 s plus up to 1 s; Retry-After ignored",
        source: "github.com/googleapis/python-genai, google/genai/_api_client.py",
        retry: || doubling(5, S, 60 * S, Jitter::Additive(S), RetryAfter::IGNORED),
    },
    Library {
        name: "aws-standard",
        summary: "3 tries, anything up to 2ⁿ s, at most 20 s; Retry-After ignored; retries paid from a quota of 500, 5 each",
        source: "docs.aws.amazon.com/sdkref/latest/guide/feature-retry-behavior.html and botocore/retries/standard.py",
        retry: || Retry {
            quota: Some(Quota { capacity: 500, per_retry: 5 }),
            ..doubling(3, S, 20 * S, Jitter::Full, RetryAfter::IGNORED)
        },
    },
    Library {
        name: "litellm",
        summary: "3 tries, 0.5·2ⁿ s up to 8 s plus up to 0.75 s; Retry-After obeyed up to 60 s, with the same jitter",
        source: "github.com/BerriAI/litellm, litellm/utils.py (_calculate_retry_after)",
        retry: || {
            let hint = RetryAfter { with_own: WithOwn::BeforeJitter, ..RetryAfter::obeyed(60 * S) };
            doubling(3, 500 * MS, 8 * S, Jitter::Additive(750 * MS), hint)
        },
    },
    Library {
        name: "langgraph",
        summary: "3 tries, 0.5·2ⁿ s up to 128 s plus up to 1 s; Retry-After ignored",
        source: "github.com/langchain-ai/langgraph, langgraph/types.py (RetryPolicy)",
        retry: || doubling(3, 500 * MS, 128 * S, Jitter::Additive(S), RetryAfter::IGNORED),
    },
    Library {
        name: "vercel-ai",
        summary: "3 tries, 2·2ⁿ s without jitter; Retry-After obeyed up to 60 s",
        source: "github.com/vercel/ai, packages/ai/src/util/retry-with-exponential-backoff.ts",
        retry: || doubling(3, 2 * S, FOR_EVER, Jitter::None, RetryAfter::obeyed(60 * S)),
    },
    Library {
        name: "gemini-cli",
        summary: "10 tries, 5·2ⁿ s up to 30 s, 30 % less or more; waits the longer of its own time and the server's",
        source: "github.com/google-gemini/gemini-cli, packages/core/src/utils/retry.ts",
        retry: || {
            let hint = RetryAfter { with_own: WithOwn::Longer, ..RetryAfter::obeyed(FOR_EVER) };
            doubling(10, 5 * S, 30 * S, Jitter::PlusMinus(30), hint)
        },
    },
    Library {
        name: "tenacity-bare",
        summary: "tries for ever without a wait: @retry with nothing in its brackets",
        source: "tenacity.readthedocs.io, \"Basic Retry\"",
        retry: || steady(0, 0, RetryAfter::IGNORED, &[]),
    },
    Library {
        name: "urllib3",
        summary: "11 tries, only where the server says Retry-After, which is obeyed up to 6 h",
        source: "urllib3.readthedocs.io, urllib3.util.Retry: no status is retried by default but 413, 429 and 503 with the header",
        retry: || {
            let hint = RetryAfter { required: true, ..RetryAfter::obeyed(21_600 * S) };
            steady(11, 0, hint, &TERMINAL)
        },
    },
    Library {
        name: "client-go",
        summary: "11 tries, only where the server says Retry-After, and then after that",
        source: "github.com/kubernetes/client-go, rest/with_retry.go",
        retry: || {
            let hint = RetryAfter { required: true, ..RetryAfter::obeyed(FOR_EVER) };
            steady(11, 0, hint, &TERMINAL)
        },
    },
    Library {
        name: "curl-retry-10",
        summary: "11 tries, 2ⁿ s up to 600 s; Retry-After obeyed: curl --retry 10",
        source: "curl.se/docs/manpage.html, --retry",
        retry: || doubling(11, S, 600 * S, Jitter::None, RetryAfter::obeyed(FOR_EVER)),
    },
    Library {
        name: "code-loop",
        summary: "tries for ever, 0.2 s apart, whatever the answer: a loop in somebody's code",
        source: "no library: while True with a sleep",
        retry: || steady(0, 200 * MS, RetryAfter::IGNORED, &[]),
    },
    Library {
        name: "none",
        summary: "one try",
        source: "no library",
        retry: || Retry { policy: Policy::None, ..steady(1, 0, RetryAfter::IGNORED, &[]) },
    },
];

/// The library called `name`.
pub fn library(name: &str) -> Option<&'static Library> {
    LIBRARIES.iter().find(|library| library.name == name)
}
