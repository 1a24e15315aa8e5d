//! Clocks of benches, and workers that ask a limiter in a loop with one of them.

use limiters::Nanos;
use std::hint::black_box;
use std::time::Instant;

/// Where the time of a decision comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clock {
    /// A counter of the worker's own.
    Virtual,
    /// The crate quanta, which reads the processor's time-stamp counter.
    Quanta,
    /// `std::time::Instant`.
    Instant,
}

impl Clock {
    /// All of them.
    pub const ALL: [Clock; 3] = [Clock::Virtual, Clock::Quanta, Clock::Instant];

    /// As CSV files write it.
    pub fn name(self) -> &'static str {
        match self {
            Clock::Virtual => "virtual",
            Clock::Quanta => "quanta",
            Clock::Instant => "instant",
        }
    }

    /// A worker that asks `ask` as often as it is told, each time at the clock's time counted from `origin`. Virtual time
    /// goes on by `step` a decision. The loop is compiled once for each clock and `ask`.
    pub fn worker(self, origin: Nanos, step: Nanos, mut ask: impl FnMut(Nanos) -> bool + Send + 'static) -> Worker {
        match self {
            Clock::Virtual => {
                let mut now = origin;
                Box::new(move |count| {
                    let mut admitted = 0;
                    for _ in 0..count {
                        now += step;
                        admitted += u64::from(ask(now));
                    }
                    admitted
                })
            }
            Clock::Quanta => {
                let clock = quanta::Clock::new();
                let begun = clock.now();
                let read = move || origin + clock.now().duration_since(begun).as_nanos() as Nanos;
                Box::new(move |count| (0..count).map(|_| u64::from(ask(read()))).sum())
            }
            Clock::Instant => {
                let begun = Instant::now();
                let read = move || origin + begun.elapsed().as_nanos() as Nanos;
                Box::new(move |count| (0..count).map(|_| u64::from(ask(read()))).sum())
            }
        }
    }
}

/// Makes so many decisions and says how many were admitted.
pub type Worker = Box<dyn FnMut(usize) -> u64 + Send>;

/// What reading each clock costs here, in nanoseconds: median over batches of 1,000.
pub fn timer_cost() -> [(Clock, f64); 3] {
    Clock::ALL.map(|clock| {
        let mut worker = clock.worker(1, 1, |now| black_box(now) > 0);
        let mut nanos: Vec<f64> = (0..200)
            .map(|_| {
                let begun = Instant::now();
                black_box(worker(1_000));
                begun.elapsed().as_nanos() as f64 / 1_000.0
            })
            .collect();
        nanos.sort_unstable_by(f64::total_cmp);
        (clock, nanos[nanos.len() / 2])
    })
}
