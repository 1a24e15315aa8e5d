//! Limiters that threads share, each as workers that ask one of them.

use super::clock::{Clock, Worker};
use limiters::{ALGORITHMS, AtomicFixedWindow, AtomicGcra, Clamp, Limiter, Nanos, Outcome, Quota, Rate, Settings};
use std::hint::black_box;
use std::sync::{Arc, Mutex};

/// How workers ask.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    /// Under which quota.
    pub quota: Quota,
    /// By which clock.
    pub clock: Clock,
    /// How many threads.
    pub threads: usize,
}

/// Virtual time between two decisions of a worker. Two workers a round apart stay within the burst of [`Setting::admit`].
const STEP: Nanos = 10;
/// A whole hour, so that no window ends in the middle of a run.
pub(super) const ORIGIN: Nanos = 472_222 * 3_600_000_000_000;
/// How long after that an atomic limiter must be exact.
const HORIZON: Nanos = 100 * 3_600_000_000_000;

impl Setting {
    /// A permit a nanosecond and a million at once: whoever asks is admitted.
    pub fn admit(clock: Clock, threads: usize) -> Setting {
        Setting { quota: Quota { limit: 1_000_000, window: 1_000_000, burst: 1_000_000 }, clock, threads }
    }

    /// Ten an hour: once they are gone, whoever asks is refused.
    pub fn refuse(clock: Clock, threads: usize) -> Setting {
        Setting { quota: Quota { limit: 10, window: 3_600_000_000_000, burst: 10 }, clock, threads }
    }

    /// A worker for each thread, asking with a clone of `ask`.
    fn workers(&self, ask: impl FnMut(Nanos) -> bool + Clone + Send + 'static) -> Vec<Worker> {
        (0..self.threads).map(|_| self.clock.worker(ORIGIN, STEP, ask.clone())).collect()
    }
}

/// A limiter that threads can share.
pub struct SharedSubject {
    /// What tables call it.
    pub label: String,
    /// Name of the algorithm or peer.
    pub algorithm: &'static str,
    /// Workers that share one; `None` where it cannot be had in this setting.
    pub workers: Box<dyn Fn(Setting) -> Option<Vec<Worker>>>,
}

/// All of them: the floor, the atomic ones, every algorithm behind a mutex, the peers that are compiled in.
pub fn shared_subjects() -> Vec<SharedSubject> {
    let mut subjects = vec![
        subject("unlimited", "unlimited", |setting| Some(setting.workers(|now| black_box(now) > 0))),
        subject("gcra, atomic", "gcra", |setting| {
            let rate = Rate::new(setting.quota.limit, setting.quota.window)?;
            let gcra = Arc::new(AtomicGcra::new(setting.quota.burst, rate, ORIGIN, HORIZON).ok()?);
            Some(setting.workers(move |now| gcra.try_acquire(now, 1) == Outcome::Admitted))
        }),
        subject("fixed-window, atomic", "fixed-window", |setting| {
            let Quota { limit, window, .. } = setting.quota;
            let fixed = Arc::new(AtomicFixedWindow::new(limit, window, ORIGIN, HORIZON).ok()?);
            Some(setting.workers(move |now| fixed.try_acquire(now, 1) == Outcome::Admitted))
        }),
    ];
    subjects.extend(ALGORITHMS.iter().filter(|known| known.name != "unlimited").map(|known| {
        subject(&format!("{}, mutex", known.name), known.name, |setting| {
            let rule = (known.build)(&Settings::new(setting.quota).starting_at(ORIGIN)).ok()?;
            let limiter = Arc::new(Mutex::new(Clamp::new(rule.limiter())));
            Some(setting.workers(move |now| {
                let mut limiter = &*limiter;
                limiter.try_acquire(now, 1).passes()
            }))
        })
    }));
    #[cfg(feature = "peers")]
    subjects.extend(peers::subjects());
    subjects
}

fn subject(
    label: &str,
    algorithm: &'static str,
    workers: impl Fn(Setting) -> Option<Vec<Worker>> + 'static,
) -> SharedSubject {
    SharedSubject { label: label.into(), algorithm, workers: Box::new(workers) }
}

#[cfg(feature = "peers")]
mod peers {
    use super::*;
    use crate::peers::{Virtual, built_ratelimit, set_now, translated_governor};
    use governor::RateLimiter;

    /// The harness reads the clock for them, as for ours, and hands the time to their clock hooks; leaky-bucket, whose hook
    /// is a runtime of one thread, reads its own.
    pub fn subjects() -> Vec<SharedSubject> {
        vec![
            subject("peer-governor", "peer-governor", |setting| {
                let quota = translated_governor(setting.quota).ok()?;
                set_now(ORIGIN);
                let limiter = Arc::new(RateLimiter::direct_with_clock(quota, Virtual { origin: ORIGIN }));
                Some(setting.workers(move |now| {
                    set_now(now);
                    limiter.check().is_ok()
                }))
            }),
            subject("peer-ratelimit", "peer-ratelimit", |setting| {
                let limiter = Arc::new(built_ratelimit(setting.quota, ORIGIN).ok()?);
                Some(setting.workers(move |now| {
                    set_now(now);
                    limiter.try_wait().is_ok()
                }))
            }),
            subject("peer-leaky-bucket", "peer-leaky-bucket", |setting| {
                if setting.clock != Clock::Instant {
                    return None;
                }
                let millis = std::time::Duration::from_millis(setting.quota.window.div_ceil(1_000_000));
                let burst = usize::try_from(setting.quota.burst).ok()?;
                let mut builder = leaky_bucket::RateLimiter::builder();
                builder.initial(burst).max(burst).refill(usize::try_from(setting.quota.limit).ok()?).interval(millis);
                let limiter = Arc::new(builder.build());
                let worker = || -> Worker {
                    let limiter = Arc::clone(&limiter);
                    Box::new(move |count| (0..count).map(|_| u64::from(limiter.try_acquire(1))).sum())
                };
                Some((0..setting.threads).map(|_| worker()).collect())
            }),
        ]
    }
}
