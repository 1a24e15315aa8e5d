//! nginx's `limit_req`: a leaky bucket in thousandths of a request and whole milliseconds, rounded as nginx rounds.
//!
//! Rule: `excess = max(0, excess − floor(rate · ms / 1000) + 1000)`, in thousandths of a request, with ms the whole
//! milliseconds since the last request that was accepted; refused iff `excess > burst · 1000`. What is accepted starts at
//! once while `excess <= delay · 1000` and else waits floor((excess − delay · 1000) · 1000 / rate) ms; `nodelay` is a delay
//! as large as the burst. The rate is cut to thousandths of a request per second: 7r/m is 0.116 a second. Each accepted request
//! loses the fraction of a thousandth that it leaked, so the true rate is a little lower still. A cost of c counts as c
//! requests at one instant.
//!
//! Bound without delays, closed interval of length τ: burst + 1 + floor(rate · ceil(τ / 1 ms) / 10⁶). Proof: the first request of
//! the interval leaves an excess of at least 0, each later one adds 1000 less what leaked, and the last leaves at most
//! burst · 1000; the leaks of an interval sum to at most rate · ms / 1000, and it holds at most ceil(τ / 1 ms) steps of the clock.
//!
//! Source: nginx, `ngx_http_limit_req_module`; its documentation of `limit_req` and `limit_req_zone`.

use crate::{Algorithm, AnyRule, Kind, Level, Nanos, Outcome, Param, ParamError, Rate, Rule, Settings};

/// The entry among the limiters of servers.
pub const ALGORITHM: Algorithm = Algorithm {
    name: "nginx-limit-req",
    summary: "nginx's limit_req with its own rounding: thousandths of a request, whole milliseconds",
    source: "nginx, ngx_http_limit_req_module",
    params: &[
        Param {
            name: "rate",
            kind: Kind::Rate,
            doc: "nginx's rate; whole per s or min there (the quota's limit per window)",
        },
        Param { name: "queue", kind: Kind::Permits { min: 0 }, doc: "nginx's burst (the quota's burst less 1)" },
        Param {
            name: "undelayed",
            kind: Kind::Permits { min: 0 },
            doc: "nginx's delay: so much of the queue starts at once, all of it with nodelay (0)",
        },
    ],
    default: false,
    build,
    strict: |_, _| Vec::new(),
};

fn build(settings: &Settings) -> Result<Box<dyn AnyRule>, ParamError> {
    let rate = settings.rate("rate").map_or_else(|| settings.refill(), Ok)?;
    let queue = settings.permits("queue").map_or_else(|| settings.capacity().map(|capacity| capacity - 1), Ok)?;
    let rule = NginxLimitReq::new(rate, queue, settings.permits("undelayed").unwrap_or(0));
    let rule = rule.ok_or_else(|| {
        ParamError::new(
            "rate",
            format!("{rate} with a queue of {queue}: at least 1 request in 1000 s, a queue below 2^40"),
        )
    })?;
    Ok(Box::new(rule))
}

const MS: Nanos = 1_000_000;

/// nginx's `limit_req`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NginxLimitReq {
    /// Thousandths of a request per second.
    rate: i64,
    /// Thousandths of a request.
    burst: i64,
    delay: i64,
}

/// Thousandths of a request above what has leaked, and the millisecond of the last request that moved it. A key never seen
/// is one request below 0, which its first request pays.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct State {
    excess: i64,
    last: u64,
}

impl NginxLimitReq {
    /// `queue` is nginx's burst, `undelayed` its delay. `None` when the rate is cut to 0 or a number passes 2⁴⁰.
    pub fn new(rate: Rate, queue: u64, undelayed: u64) -> Option<NginxLimitReq> {
        const MOST: u64 = 1 << 40;
        let rate = u128::from(rate.permits()) * 1_000_000_000_000 / u128::from(rate.per());
        let fits = rate > 0 && rate <= u128::from(MOST) && queue < MOST;
        fits.then(|| NginxLimitReq {
            rate: rate as i64,
            burst: queue as i64 * 1000,
            delay: undelayed.min(queue) as i64 * 1000,
        })
    }

    /// Thousandths of a request a second.
    pub fn rate_milli(&self) -> u64 {
        self.rate as u64
    }

    /// Excess at `now`, before any request: at least -1000.
    fn left(&self, state: &State, now: Nanos) -> i64 {
        let ms = (now / MS).saturating_sub(state.last);
        let leaked = u128::from(ms) * self.rate as u128 / 1000;
        i64::try_from(leaked).map_or(-1000, |leaked| state.excess.saturating_sub(leaked).max(-1000))
    }

    fn moved(state: &State, excess: i64, now: Nanos) -> State {
        State { excess, last: state.last.max(now / MS) }
    }

    fn fits_ever(&self, cost: u64) -> bool {
        cost <= self.burst as u64 / 1000 + 1
    }

    /// Wait until `need` thousandths have leaked since the last request.
    fn wait(&self, state: &State, now: Nanos, need: i64) -> Nanos {
        let ms = (u128::from(need.max(0).unsigned_abs()) * 1000).div_ceil(self.rate as u128);
        let due = (u128::from(state.last) + ms) * u128::from(MS);
        if need <= 0 { 0 } else { Nanos::try_from(due).unwrap_or(Nanos::MAX).saturating_sub(now) }
    }
}

impl Rule for NginxLimitReq {
    type State = State;

    fn fresh(&self) -> State {
        State { excess: -1000, last: 0 }
    }

    #[inline]
    fn try_acquire(&self, state: &mut State, now: Nanos, cost: u64) -> Outcome {
        if cost == 0 {
            return Outcome::Admitted;
        }
        if !self.fits_ever(cost) {
            return Outcome::NeverFits;
        }
        let excess = self.left(state, now) + cost as i64 * 1000;
        if excess > self.burst {
            return Outcome::Refused;
        }
        *state = NginxLimitReq::moved(state, excess, now);
        match (excess - self.delay).max(0) * 1000 / self.rate {
            0 => Outcome::Admitted,
            ms => Outcome::Delayed { until: now.saturating_add(ms as Nanos * MS) },
        }
    }

    fn remaining(&self, state: &State, now: Nanos) -> u64 {
        ((self.burst - self.left(state, now)) / 1000).max(0) as u64
    }

    fn retry_after(&self, state: &State, now: Nanos, cost: u64) -> Option<Nanos> {
        if cost == 0 {
            return Some(0);
        }
        let free = |left: i64| left + cost as i64 * 1000 <= self.burst;
        self.fits_ever(cost).then(|| match free(self.left(state, now)) {
            true => 0,
            false => self.wait(state, now, state.excess + cost as i64 * 1000 - self.burst),
        })
    }

    fn reset_after(&self, state: &State, now: Nanos) -> Option<Nanos> {
        Some(self.wait(state, now, state.excess + 1000))
    }

    fn charge(&self, state: &mut State, now: Nanos, cost: u64) {
        let cost = i64::try_from(cost).unwrap_or(i64::MAX).saturating_mul(1000);
        *state = NginxLimitReq::moved(state, self.left(state, now).saturating_add(cost).min(i64::MAX / 4), now);
    }

    fn refund(&self, state: &mut State, now: Nanos, _taken_at: Nanos, cost: u64) {
        let cost = i64::try_from(cost).unwrap_or(i64::MAX).saturating_mul(1000);
        *state = NginxLimitReq::moved(state, self.left(state, now).saturating_sub(cost).max(-1000), now);
    }

    fn level(&self, state: &State, now: Nanos) -> Level {
        Level::scaled((self.burst - self.left(state, now)).into(), (self.burst + 1000).into(), 1000)
    }

    fn delays(&self) -> bool {
        self.delay < self.burst
    }

    fn envelope(&self, tau: Nanos, _max_cost: u64) -> Option<u128> {
        let leaked = u128::from(tau.div_ceil(MS)) * self.rate as u128 / 1_000_000;
        (!Rule::delays(self)).then(|| self.burst as u128 / 1000 + 1 + leaked)
    }

    fn parameters(&self) -> String {
        let rate = match (self.rate % 1000, self.rate * 60 % 1000) {
            (0, _) => format!("{}r/s", self.rate / 1000),
            (_, 0) => format!("{}r/m", self.rate * 60 / 1000),
            _ => format!("{}.{:03}r/s", self.rate / 1000, self.rate % 1000),
        };
        let delay = match (self.burst, self.delay) {
            (0, _) | (_, 0) => String::new(),
            (burst, delay) if burst == delay => " nodelay".to_owned(),
            (_, delay) => format!(" delay={}", delay / 1000),
        };
        format!("rate={rate} burst={}{delay}", self.burst / 1000)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Clamp, Limiter, Plain};

    fn nginx(permits: u64, per: Nanos, queue: u64, undelayed: u64) -> NginxLimitReq {
        NginxLimitReq::new(Rate::new(permits, per).unwrap(), queue, undelayed).unwrap()
    }

    #[test]
    fn every_row_of_the_vector_file() {
        let text = include_str!("../tests/vectors/21_nginx_limit_req.csv");
        let (mut case, mut rows) = ("", 0);
        let mut limiter = Clamp::new(Plain::new(nginx(1, 1_000_000_000, 0, 0)));
        for line in text.lines().skip(1) {
            let fields: Vec<&str> = line.split(',').collect();
            if fields[0] != case {
                case = fields[0];
                let word =
                    |name: &str| fields[2].split(';').find_map(|part| part.strip_prefix(name)?.strip_prefix('='));
                let rate = word("rate").unwrap().strip_suffix("r/s").unwrap().parse().unwrap();
                let queue = word("burst").unwrap().parse().unwrap();
                let undelayed = word("delay").map_or(queue, |delay| delay.parse().unwrap());
                limiter = Clamp::new(Plain::new(nginx(rate, 1_000_000_000, queue, undelayed)));
            }
            let at: Nanos = fields[3].parse().unwrap();
            let delay = match limiter.try_acquire(at, fields[4].parse().unwrap()) {
                Outcome::Admitted => Some(0),
                Outcome::Delayed { until } => Some(until - limiter.high_water()),
                _ => None,
            };
            let wanted = (fields[5] == "allow").then(|| fields[9].parse::<Nanos>().unwrap());
            assert_eq!(delay, wanted, "{line}");
            rows += 1;
        }
        assert_eq!(rows, 100);
    }

    #[test]
    fn seven_a_minute_is_cut_to_thousandths_a_second() {
        assert_eq!(nginx(7, 60_000_000_000, 0, 0).rate_milli(), 116);
        let names = [(10, 1, 20, 20), (30, 60, 5, 2), (7, 60, 0, 0)];
        let texts = names.map(|(n, s, queue, delay)| Rule::parameters(&nginx(n, s * 1_000_000_000, queue, delay)));
        assert_eq!(texts, ["rate=10r/s burst=20 nodelay", "rate=30r/m burst=5 delay=2", "rate=0.116r/s burst=0"]);
        assert!(NginxLimitReq::new(Rate::new(1, 2_000_000_000_000).unwrap(), 0, 0).is_none());
    }

    /// openfoodfacts/openfoodfacts-infrastructure#304: 6000r/m with a burst of 100 blocks a client after about as many quick
    /// requests, for the burst is how deep the queue is and not a quota on top of the minute's.
    #[test]
    fn a_burst_is_a_depth_and_the_rate_holds_from_millisecond_to_millisecond() {
        let mut page = Plain::new(nginx(6_000, 60_000_000_000, 100, 100));
        assert_eq!((0..154).filter(|_| page.try_acquire(1_000 * MS, 1).passes()).count(), 101);
        let mut strict = Plain::new(nginx(10, 1_000_000_000, 0, 0));
        let admitted = [0, 50, 100, 150, 200].map(|ms| strict.try_acquire((1_000 + ms) * MS, 1).passes());
        assert_eq!(admitted, [true, false, true, false, true]);
    }

    #[test]
    fn hints_are_sufficient_and_tight_and_the_bound_holds() {
        let rule = nginx(7, 60_000_000_000, 3, 3);
        let mut limiter = Plain::new(rule.clone());
        let (mut now, mut seed, mut admitted) = (1_700_000_000_123_456_789, 1u64, Vec::new());
        for _ in 0..4_000 {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            now += (seed >> 33) % 9_000_000_000;
            let cost = (seed >> 20) % 5;
            let wait = limiter.retry_after(now, cost).unwrap();
            assert!(limiter.peek(now + wait, cost).passes());
            assert!(wait == 0 || !limiter.peek(now + wait - 1, cost).passes());
            let remaining = limiter.remaining(now);
            assert!(limiter.peek(now, remaining).passes() && !limiter.peek(now, remaining + 1).passes());
            if limiter.try_acquire(now, cost).passes() && cost > 0 {
                admitted.push((now, cost));
            }
        }
        assert!(admitted.len() > 300);
        for tau in [0, 1_000_000, 30_000_000_000, 600_000_000_000] {
            let within = |from: Nanos| admitted.iter().filter(move |(at, _)| *at >= from && *at - from <= tau);
            let most =
                admitted.iter().map(|(at, _)| within(*at).map(|(_, cost)| u128::from(*cost)).sum::<u128>()).max();
            assert!(most <= Rule::envelope(&rule, tau, 4), "{tau}: {most:?}");
        }
    }
}
