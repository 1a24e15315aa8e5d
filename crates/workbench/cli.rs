//! The command line: every subcommand and flag, from which help, completions and the man page are made.

use clap::{ArgGroup, Args, Parser, Subcommand, ValueHint};
use std::net::IpAddr;
use std::path::PathBuf;

/// Replay traffic through every rate-limiting algorithm, in virtual time, and see what each admits, how big a burst it
/// lets through, what it costs to run and what it refuses.
#[derive(Parser)]
#[command(name = "workbench", version, propagate_version = true, arg_required_else_help = true)]
#[command(after_help = "Exit status: 0 fine, 1 an expectation or a proven bound is broken, 2 bad input.\n\
                        First steps: workbench run scenarios/boundary.toml")]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Subcommand)]
pub enum Command {
    /// Run scenarios and write a report for each
    Run(RunArgs),
    /// Look at a recorded file: rows, keys, busiest windows, gaps, and what is doubtful about it
    Inspect(InspectArgs),
    /// Find the smallest limits that recorded traffic would not feel, and what tighter ones refuse; or, for a scenario, what
    /// each setting saves of rogue clients' bill against the useful work it costs
    Size(Box<SizeArgs>),
    /// Check scenario files and say everything that is wrong with them, without running
    Check(CheckArgs),
    /// List algorithms, patterns, trace formats or scenarios
    List(ListArgs),
    /// Redraw the figures and pages of a finished report from its CSV files
    Report(ReportArgs),
    /// Put two finished reports of the same traffic side by side
    Compare(CompareArgs),
    /// Time decisions on this machine, beside the limiter that does nothing
    Overhead(OverheadArgs),
    /// Print the traffic of a scenario as CSV (at_ns,key,cost), which is also a trace format
    Traffic(TrafficArgs),
    /// Open a local page where limiters can be felt: click, hammer, burst, and watch (needs the cargo feature `serve`)
    Serve(ServeArgs),
    /// Print the JSON Schema of scenario files, for editors
    Schema,
    /// Print a completion script for a shell
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Print the manual page (roff)
    Man,
}

#[derive(Args)]
pub struct RunArgs {
    /// Scenario files
    #[arg(required = true, value_name = "SCENARIO", value_hint = ValueHint::FilePath)]
    pub scenarios: Vec<PathBuf>,
    /// Folder that receives one report folder per scenario
    #[arg(long, value_name = "DIR", default_value = "reports", value_hint = ValueHint::DirPath)]
    pub out: PathBuf,
    /// Run only limiters with this label; repeat it for several. 'nginx:rate=10r/s burst=20 nodelay', envoy: and governor:
    /// settings are added to those that run
    #[arg(long, value_name = "LABEL")]
    pub limiter: Vec<String>,
    /// Use this seed instead of the scenario's; expectations are skipped
    #[arg(long)]
    pub seed: Option<u64>,
    /// Run this many seeds, counting up from the first, and report median and spread
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub seeds: u32,
    #[command(flatten)]
    pub trace: TraceArgs,
    /// Write every decision to decisions.csv
    #[arg(long)]
    pub decisions: bool,
    /// Threads [default: one per core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub jobs: Option<u16>,
    /// Skip the pass that times decisions
    #[arg(long)]
    pub no_overhead: bool,
    /// Print the tables as JSON on standard output
    #[arg(long, conflicts_with = "quiet")]
    pub json: bool,
    /// Print only what went wrong
    #[arg(long, short)]
    pub quiet: bool,
}

/// A recorded file in place of a scenario's traffic.
#[derive(Args)]
pub struct TraceArgs {
    /// Replay this recorded file instead of the scenario's traffic (- is standard input); expectations are skipped
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub trace: Option<PathBuf>,
    /// Refused rows (429, 503) of the file become calls of a client that reacts, tried again as this client or library does;
    /// see `workbench list clients`. For sessions of agents (tracelab): whose retries they have. Only with --trace: a file that
    /// the scenario names says it there
    #[arg(long, value_name = "CLIENT")]
    pub retry_as: Option<String>,
    /// How long behind a refused call's first row another row of its key may be part of it [default: the client's own waits
    /// and 1s]
    #[arg(long, value_name = "LENGTH", requires = "retry_as")]
    pub retry_within: Option<String>,
    #[command(flatten)]
    pub read: ReadArgs,
}

/// How to read a recorded file.
#[derive(Args)]
#[command(next_help_heading = "Reading the recorded file")]
pub struct ReadArgs {
    /// Format of the file [default: recognised from its content]; see `workbench list formats`
    #[arg(long, value_name = "NAME")]
    pub format: Option<String>,
    /// Which column or field is what: time=TIMESTAMP, key=user, cost=tokens (several: cost=in+out). Of totals, requests=…
    /// is how many there are, end=… the end of the interval
    #[arg(long, value_name = "ROLE=COLUMN")]
    pub column: Vec<String>,
    /// Count only rows of which this holds: 'path ~ "^/api/" and status != 304'. Fields: method, path, status, user, key,
    /// cost, input-tokens, output-tokens, cache-read-tokens, cache-write-tokens, price (in dollars), column("NAME").
    /// Operators: = != < <= > >=, ~ and !~ for regular expressions, and, or, not, ( )
    #[arg(long = "where", value_name = "EXPRESSION")]
    pub filter: Option<String>,
    /// What together is the key, such as user,path: key (or client), user, method, path (without its query), status, or
    /// columns of the file
    #[arg(long, value_name = "PARTS")]
    pub key_by: Option<String>,
    /// Rows are totals of a minute, an hour or a day, as usage exports have them: spread each evenly over its interval.
    /// Where no column says how many requests a total stands for, --spread=60 spreads each over 60. --spread=false takes
    /// each row as one request, whatever it looks like [default: rows that look like totals are an error]
    #[arg(long, value_name = "REQUESTS", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub spread: Option<String>,
    /// Price of calls that name this model and no price of their own (agent session logs, OTLP): a name of `workbench list
    /// prices`, or dollars for a million tokens sent/received/cache read/cache written, such as
    /// 'claude-opus-4-5=5/25/0.50/6.25'; a model may end in *; repeat it [default: the listed price of the model]
    #[arg(long, value_name = "MODEL=PRICE")]
    pub prices: Vec<String>,
    /// Unit of numeric times: ns, us, ms or s [default: recognised, and said]; dates: see `workbench list formats`
    #[arg(long, value_name = "UNIT")]
    pub time_unit: Option<String>,
    /// Make keys equal that are spelled differently: none or address
    #[arg(long, value_name = "HOW")]
    pub key_normalise: Option<String>,
    /// Count broken rows and leave them out, instead of stopping at the first
    #[arg(long)]
    pub skip_bad_rows: bool,
    /// Stop after all when more than this many rows are broken
    #[arg(long, value_name = "N", requires = "skip_bad_rows")]
    pub max_bad_rows: Option<u64>,
}

impl ReadArgs {
    /// The first of these flags that is given.
    pub fn given(&self) -> Option<&'static str> {
        let flags = [
            ("--format", self.format.is_some()),
            ("--column", !self.column.is_empty()),
            ("--where", self.filter.is_some()),
            ("--key-by", self.key_by.is_some()),
            ("--spread", self.spread.is_some()),
            ("--prices", !self.prices.is_empty()),
            ("--time-unit", self.time_unit.is_some()),
            ("--key-normalise", self.key_normalise.is_some()),
            ("--skip-bad-rows", self.skip_bad_rows),
        ];
        flags.iter().find(|(_, given)| *given).map(|(name, _)| *name)
    }
}

#[derive(Args)]
pub struct InspectArgs {
    /// Recorded file (- is standard input)
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub file: PathBuf,
    /// Length of a window whose busiest place is searched, such as 10s; repeat it for several
    #[arg(long, value_name = "LENGTH", default_values = ["1s", "10s", "60s"])]
    pub window: Vec<String>,
    /// How many of the keys with most requests to show
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub top: usize,
    /// Folder that receives gaps.csv and the figure of gaps between requests
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub out: Option<PathBuf>,
    /// Write the requests in the workbench's own form: a new file ending in .csv, .csv.gz or (with the
    /// cargo feature `parquet`) .parquet
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub convert: Option<PathBuf>,
    /// Print what was found as JSON
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub read: ReadArgs,
}

/// Heading of what `size` takes for a recorded file only.
const ONLY_TRACE: &str = "Only with --trace";
/// Heading of what it takes for a scenario only.
const ONLY_SCENARIO: &str = "Only with --scenario";

#[derive(Args)]
#[command(group(ArgGroup::new("from").required(true).args(["trace", "scenario"])))]
pub struct SizeArgs {
    /// Recorded file to size a limit for (- is standard input)
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub trace: Option<PathBuf>,
    /// Scenario with clients that react: try the settings of one limiter in a closed loop, and set what each saves of the
    /// --rogue clients' bill against the useful work it costs
    #[arg(long, value_name = "SCENARIO", value_hint = ValueHint::FilePath)]
    pub scenario: Option<PathBuf>,
    /// Algorithm to size; for a scenario also spend-cap [default: token-bucket]
    #[arg(long, value_name = "NAME")]
    pub algorithm: Option<String>,
    /// What a permit is: requests, input-tokens, output-tokens, tokens or spend [default: requests, or the scenario's]
    #[arg(long, value_name = "METER")]
    pub meter: Option<String>,
    /// One limit for each key instead of one for all; --key-by asks for it too
    #[arg(long)]
    pub per_key: bool,
    /// Refill rate of a bucket to look at, such as 6/s; repeat it [default: round rates from half the mean to the peak; for
    /// a scenario from a fiftieth of the mean]
    #[arg(long, value_name = "RATE")]
    pub rate: Vec<String>,
    /// Length of a window to look at, such as 60s; repeat it [default: 1s, 10s, 1min, 10min, 1h and 1d, below half the span]
    #[arg(long, value_name = "LENGTH")]
    pub limit_window: Vec<String>,
    /// Burst of a bucket, limit of a window or budget of a cap to try; repeat it [default: steps up to the least that refuses
    /// nobody]
    #[arg(long, value_name = "AMOUNT", help_heading = ONLY_SCENARIO)]
    pub burst: Vec<String>,
    /// Vary this limiter of the scenario, by its label: it keeps its algorithm, key, answers and, in a stack, its other
    /// parts [default: a plain one in place of all of the scenario's]
    #[arg(long, value_name = "LABEL", help_heading = ONLY_SCENARIO, conflicts_with_all = ["algorithm", "meter", "per_key"])]
    pub vary: Option<String>,
    /// Refuse at most this share of requests; for a scenario, lose at most this share of the useful work
    #[arg(long, value_name = "SHARE", default_value = "0%")]
    pub blocked_at_most: String,
    /// Never refuse this share of keys, whatever happens to the others, such as 99%
    #[arg(long, value_name = "SHARE", help_heading = ONLY_TRACE, conflicts_with_all = ["blocked_at_most", "scenario"])]
    pub keys_at: Option<String>,
    /// No limiter may ever let more through in any window, by its proven bound, such as 500/10s
    #[arg(long, value_name = "AMOUNT/TIME", help_heading = ONLY_TRACE, conflicts_with = "scenario")]
    pub peak_at_most: Option<String>,
    /// No more may pass over all keys together in any window of this traffic, such as 200/s
    #[arg(long, value_name = "AMOUNT/TIME", help_heading = ONLY_TRACE, conflicts_with = "scenario")]
    pub backend_at_most: Option<String>,
    /// No more may be spent in any window of this traffic, such as '$20/day'
    #[arg(long, value_name = "MONEY/TIME", help_heading = ONLY_TRACE, conflicts_with = "scenario")]
    pub spend_at_most: Option<String>,
    /// Keep back the last so much of the time, and say how a setting fitted on the rest holds there
    #[arg(long, value_name = "SHARE", default_value = "30%", help_heading = ONLY_TRACE, conflicts_with = "scenario")]
    pub holdout: String,
    /// A setting that runs today, to compare with: 'nginx:rate=10r/s burst=20 nodelay', envoy: or governor:; repeat it
    #[arg(long, value_name = "SETTING", help_heading = ONLY_TRACE, conflicts_with = "scenario")]
    pub limiter: Vec<String>,
    /// Key, or client of the scenario, whose requests are waste: what a limit saves of them is set against what it costs
    /// the others; repeat it
    #[arg(long, value_name = "NAME")]
    pub rogue: Vec<String>,
    /// Key, or client of the scenario, whose requests are useful [default: all that are not rogue]; repeat it
    #[arg(long, value_name = "NAME", requires = "rogue")]
    pub legit: Vec<String>,
    /// Folder that receives size.csv, or for a scenario frontier.csv, and figures
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub out: Option<PathBuf>,
    /// Write a scenario with the proposed limit: a new file such as scenarios/mine.toml
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub write: Option<PathBuf>,
    /// Print what was found as JSON
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub read: ReadArgs,
}

#[derive(Args)]
pub struct CheckArgs {
    /// Scenario files
    #[arg(required = true, value_name = "SCENARIO", value_hint = ValueHint::FilePath)]
    pub scenarios: Vec<PathBuf>,
}

#[derive(Args)]
pub struct ListArgs {
    /// What to list [default: everything]
    #[arg(value_enum)]
    pub what: Option<Listing>,
}

#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Listing {
    /// Rate-limiting algorithms with their parameters
    Algorithms,
    /// Arrival patterns with their keys
    Patterns,
    /// Clients that react, and the retries of their libraries, with their sources
    Clients,
    /// What calls and tokens cost, with the date and source of each price
    Prices,
    /// Formats of recorded traffic
    Formats,
    /// The scenario files under scenarios/
    Scenarios,
}

#[derive(Args)]
pub struct ReportArgs {
    /// Report folders, as `workbench run` wrote them
    #[arg(required = true, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub dirs: Vec<PathBuf>,
}

#[derive(Args)]
pub struct TrafficArgs {
    /// Scenario file
    #[arg(value_name = "SCENARIO", value_hint = ValueHint::FilePath)]
    pub scenario: PathBuf,
    /// Use this seed instead of the scenario's
    #[arg(long)]
    pub seed: Option<u64>,
}

#[derive(Args)]
pub struct CompareArgs {
    /// A report folder, as `workbench run` wrote it
    #[arg(value_name = "A", value_hint = ValueHint::DirPath)]
    pub a: PathBuf,
    /// The one it is compared with: ratios are B over A
    #[arg(value_name = "B", value_hint = ValueHint::DirPath)]
    pub b: PathBuf,
}

#[derive(Args)]
pub struct OverheadArgs {
    /// Scenario whose limiters and traffic are timed [default: every algorithm at 1000/s, without a scenario's path]
    #[arg(value_name = "SCENARIO", value_hint = ValueHint::FilePath)]
    pub scenario: Option<PathBuf>,
    /// Time whole replays instead: decisions alone, and with everything measured
    #[arg(long)]
    pub replay: bool,
    /// Requests of such a replay
    #[arg(long, value_name = "N", default_value_t = 10_000_000, requires = "replay")]
    pub requests: u64,
    /// Timed batches for each limiter and path
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u16).range(3..=10_000))]
    pub rounds: u16,
    /// Folder that receives a folder with overhead.csv
    #[arg(long, value_name = "DIR", default_value = "reports", value_hint = ValueHint::DirPath)]
    pub out: PathBuf,
    /// Print tables as Markdown
    #[arg(long)]
    pub markdown: bool,
}

#[derive(Args)]
#[cfg_attr(not(feature = "serve"), allow(dead_code))]
pub struct ServeArgs {
    /// Port to listen on; 0 picks a free one
    #[arg(long, value_name = "N", default_value_t = 7429)]
    pub port: u16,
    /// Address to listen on; anything but the loopback opens the page to the network
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1")]
    pub bind: IpAddr,
    /// Open the page in a browser
    #[arg(long)]
    pub open: bool,
}
