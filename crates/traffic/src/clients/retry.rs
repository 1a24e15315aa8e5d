//! How long a client library waits before it tries again.

use crate::clients::law::share;
use crate::clients::spec::{Beyond, Jitter, Policy, Retry, WithOwn};
use limiters::Nanos;

/// A call that did not succeed, as its client sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Failure {
    /// HTTP status.
    pub status: u16,
    /// The Retry-After header as a wait.
    pub retry_after: Option<Nanos>,
}

/// What a retry loop does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// It tries again after this wait.
    Again {
        /// Nanoseconds from when the failure was known.
        wait: Nanos,
        /// Whether the wait is at least the server's.
        obeys: bool,
    },
    /// It has tried often enough, or the server's wait is too long for it.
    GiveUp,
    /// It never retries this status.
    Terminal,
}

impl Retry {
    /// What follows a failure after `tries` tries (at least 1) the last of which waited `previous`; `bits` are 64 random bits
    /// for the jitter.
    pub fn after(&self, tries: u64, previous: Nanos, failure: Failure, bits: u64) -> Next {
        if self.terminal.contains(&failure.status) {
            return Next::Terminal;
        }
        if self.policy == Policy::None || (self.max_attempts != 0 && tries >= self.max_attempts) {
            return Next::GiveUp;
        }
        let hint = &self.retry_after;
        let server = match failure.retry_after {
            _ if hint.longest == 0 => None,
            Some(wait) if wait > hint.longest && hint.beyond == Beyond::GiveUp => return Next::GiveUp,
            Some(wait) => (wait <= hint.longest).then_some(wait),
            None if hint.required => return Next::GiveUp,
            None => None,
        };
        let own = |v| self.spread(v, previous, bits);
        let wait = match (server, hint.with_own) {
            (None, _) => own(self.plain(tries - 1)),
            (Some(wait), WithOwn::Instead) => wait,
            (Some(wait), WithOwn::Longer) => wait.max(own(self.plain(tries - 1))),
            (Some(wait), WithOwn::BeforeJitter) => own(wait),
        };
        Next::Again { wait, obeys: failure.retry_after.is_some_and(|server| wait >= server) }
    }

    /// The wait before retry number `n` (from 0) without jitter: `min(longest, base · multiplier^n)`.
    pub(super) fn plain(&self, n: u64) -> Nanos {
        match self.policy {
            Policy::None | Policy::Immediate => 0,
            Policy::Fixed => self.base.min(self.max_delay),
            Policy::Exponential => {
                // Whole for whole multipliers as long as the wait is below 104 days; conversion saturates.
                let grown = self.base as f64 * self.multiplier.powi(n.min(10_000) as i32);
                (grown as u64).min(self.max_delay)
            }
        }
    }

    fn spread(&self, v: Nanos, previous: Nanos, bits: u64) -> Nanos {
        let percent = |p: u64| (u128::from(v) * u128::from(p) / 100) as u64;
        match self.jitter {
            Jitter::None => v,
            Jitter::Full => share(bits, v),
            Jitter::Equal => v - v / 2 + share(bits, v / 2),
            Jitter::Decorrelated => {
                let most = previous.max(self.base).saturating_mul(3);
                (self.base + share(bits, most - self.base)).min(self.max_delay)
            }
            Jitter::Down(p) => v - share(bits, percent(p.min(100))),
            Jitter::PlusMinus(p) => (v - percent(p.min(100))).saturating_add(share(bits, percent(p.min(100)) * 2)),
            Jitter::Additive(most) => v.saturating_add(share(bits, most)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clients::library;

    const S: Nanos = 1_000_000_000;
    const REFUSED: Failure = Failure { status: 429, retry_after: None };

    fn waits(name: &str, failure: Failure, bits: u64, upto: u64) -> Vec<Next> {
        let retry = (library(name).unwrap().retry)();
        (1..=upto).map(|tries| retry.after(tries, retry.base, failure, bits)).collect()
    }

    fn again(wait: Nanos) -> Next {
        Next::Again { wait, obeys: false }
    }

    #[test]
    fn libraries_wait_as_their_sources_say() {
        // Bits of zero are the shortest wait of full jitter and the longest of down-25.
        assert_eq!(waits("openai-sdk", REFUSED, 0, 3), [again(S / 2), again(S), Next::GiveUp]);
        assert_eq!(waits("openai-sdk", REFUSED, u64::MAX, 1), [again(S * 3 / 8)]);
        assert_eq!(waits("vercel-ai", REFUSED, 9, 3), [again(2 * S), again(4 * S), Next::GiveUp]);
        assert_eq!(waits("aws-standard", REFUSED, u64::MAX, 3), [again(S), again(2 * S), Next::GiveUp]);
        assert_eq!(waits("code-loop", REFUSED, 5, 2), [again(S / 5), again(S / 5)]);
        assert_eq!(waits("client-go", REFUSED, 5, 1), [Next::GiveUp]);
        assert_eq!(waits("gemini-cli", REFUSED, u64::MAX, 4)[3], again(30 * S * 13 / 10));
        assert_eq!(waits("tenacity-bare", REFUSED, 0, 1_000)[999], again(0));
    }

    #[test]
    fn retry_after_is_obeyed_as_far_as_each_goes() {
        let told = |seconds| Failure { status: 429, retry_after: Some(seconds * S) };
        let obeyed = |seconds| Next::Again { wait: seconds * S, obeys: true };
        assert_eq!(waits("openai-sdk", told(120), 0, 1), [obeyed(120)]);
        assert_eq!(waits("openai-sdk", told(121), 0, 1), [Next::GiveUp]);
        assert_eq!(waits("anthropic-sdk", told(61), 0, 1), [again(S / 2)]);
        assert_eq!(waits("google-genai", told(3), 0, 1), [again(S)]);
        assert_eq!(waits("client-go", told(3), 0, 1), [obeyed(3)]);
        assert_eq!(waits("gemini-cli", told(2), u64::MAX / 2, 1), [Next::Again { wait: 5 * S, obeys: true }]);
        assert_eq!(waits("litellm", told(2), u64::MAX, 1), [Next::Again { wait: 2 * S + S * 3 / 4, obeys: true }]);
    }

    #[test]
    fn terminal_statuses_are_never_retried() {
        assert_eq!(waits("openai-sdk", Failure { status: 402, retry_after: None }, 0, 1), [Next::Terminal]);
    }

    #[test]
    fn decorrelated_waits_stay_between_base_and_the_longest() {
        let mut retry = (library("aws-standard").unwrap().retry)();
        (retry.jitter, retry.max_attempts) = (Jitter::Decorrelated, 0);
        let mut previous = retry.base;
        for tries in 1..200u64 {
            let bits = tries.wrapping_mul(0x9e37_79b9_7f4a_7c15);
            let Next::Again { wait, .. } = retry.after(tries, previous, REFUSED, bits) else { panic!("gave up") };
            assert!(wait >= retry.base && wait <= retry.max_delay.min(previous * 3), "{wait} after {previous}");
            previous = wait;
        }
    }
}
