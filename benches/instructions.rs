//! Instructions a decision, counted by Callgrind: the same on every run of one compiler, where seconds are noise.
//!
//! Each bench decides 4,096 Poisson arrivals at twice the limit. Its count must stay below the figure beside it, which is
//! what it was when it was last written down and a tenth more; a change that needs more says so by raising it here.
//! Needs `valgrind` and `gungraun-runner` of the version in Cargo.lock, and skips without them.

use std::process::{Command, ExitCode, Stdio};

mod counted {
    use gungraun::{
        Callgrind, EventKind, LibraryBenchmarkConfig, library_benchmark, library_benchmark_group, main as run,
    };
    use limiters::{Meter, Nanos, Quota, Settings, algorithm};
    use replay::entry::{Comparison, Entry};
    use replay::overhead::{Case, Drive};

    /// A whole hour.
    const START: Nanos = 472_222 * 3_600_000_000_000;

    /// Fails when a bench takes a tenth more than `instructions` for its 4,096 decisions.
    fn at_most(instructions: u64) -> LibraryBenchmarkConfig {
        let most = instructions + instructions / 10;
        let mut config = LibraryBenchmarkConfig::default();
        config.tool(Callgrind::default().hard_limits([(EventKind::Ir, most)]));
        config
    }

    fn ready(name: &str) -> Drive<'static> {
        let quota = Quota { limit: 1_000, window: 1_000_000_000, burst: 1_000 };
        let known = algorithm(name).expect("a registered name");
        let rule = (known.build)(&Settings::new(quota).starting_at(START)).expect("every algorithm takes the quota");
        let entry = Entry::of_rule(name, name, Comparison::EqualQuota, quota, Meter::Requests, false, rule);
        // It lives as long as the process, which is this one bench.
        let entry: &'static Entry = Box::leak(Box::new(entry));
        Drive::new(entry, Case::default(), None, START).expect("only a scenario's path needs its traffic")
    }

    #[library_benchmark(setup = ready)]
    #[bench::unlimited(args = ("unlimited"), config = at_most(28_816))]
    #[bench::fixed_window(args = ("fixed-window"), config = at_most(110_825))]
    #[bench::sliding_window_log(args = ("sliding-window-log"), config = at_most(319_582))]
    #[bench::sliding_window_counter(args = ("sliding-window-counter"), config = at_most(176_371))]
    #[bench::sliding_window_segments(args = ("sliding-window-segments"), config = at_most(243_104))]
    #[bench::token_bucket(args = ("token-bucket"), config = at_most(172_197))]
    #[bench::token_bucket_interval(args = ("token-bucket-interval"), config = at_most(102_951))]
    #[bench::leaky_bucket(args = ("leaky-bucket"), config = at_most(229_544))]
    #[bench::leaky_bucket_meter(args = ("leaky-bucket-meter"), config = at_most(164_005))]
    #[bench::gcra(args = ("gcra"), config = at_most(135_330))]
    #[bench::spend_cap(args = ("spend-cap"), config = at_most(176_290))]
    fn decide(mut drive: Drive<'static>) -> Drive<'static> {
        drive.decide();
        drive
    }

    library_benchmark_group!(name = decisions, benchmarks = decide);
    run!(library_benchmark_groups = decisions);

    pub fn all() {
        main();
    }
}

fn main() -> ExitCode {
    let found = |program: &str| {
        let run = Command::new(program).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
        run.is_ok_and(|status| status.success())
    };
    for (program, install) in [
        ("valgrind", "apt-get install valgrind"),
        ("gungraun-runner", "cargo install gungraun-runner --version 0.17.2"),
    ] {
        // The runner calls this program again, without the environment it was found in.
        let again = std::env::args().any(|argument| argument == "--gungraun-run");
        if !again && !found(program) {
            println!("instructions are not counted: there is no {program}; {install}");
            return ExitCode::SUCCESS;
        }
    }
    counted::all();
    ExitCode::SUCCESS
}
