//! The tables of `workbench overhead`.

use crate::cli::OverheadArgs;
use crate::grid::Grid;
use limiters::Quota;
use replay::overhead::{BY_HAND, Replayed, TARGET, floor_of};
use replay::rows::OverheadRow;

/// A store of keys with its rows and its bytes a key at 100k and 1M keys.
pub struct Keyed {
    pub label: &'static str,
    pub algorithm: &'static str,
    pub bytes: [Option<f64>; 2],
    pub rows: Vec<OverheadRow>,
}

/// A heading with what is under it.
fn section(title: &str, note: &str, grid: &Grid, markdown: bool) -> String {
    if markdown {
        format!("\n**{title}.** {note}\n\n{}", grid.text(true))
    } else {
        format!("\n{title}: {note}\n{}", grid.text(false))
    }
}

fn timed(row: Option<&OverheadRow>) -> String {
    row.map_or("-".into(), |row| format!("{:.1} ({:.1}x)", row.batch_mean_p50_ns, row.ratio_to_noop))
}

/// Labels in the order of their first row.
fn labels(rows: &[OverheadRow]) -> Vec<&str> {
    let mut labels: Vec<&str> = Vec::new();
    for row in rows {
        if !labels.contains(&row.limiter.as_str()) {
            labels.push(&row.limiter);
        }
    }
    labels
}

/// Single-threaded decisions in virtual time.
pub fn one_thread(rows: &[OverheadRow], markdown: bool) -> String {
    let scenario = rows.iter().any(|row| row.path == "scenario");
    let mut paths = vec!["admit", "refuse", "poisson-2x"];
    paths.extend(scenario.then_some("scenario"));
    let floors = rows.iter().any(|row| row.algorithm == BY_HAND);
    let heads = ["limiter"].into_iter().chain(paths.iter().copied()).chain(["p99", "state"]);
    let heads: Vec<&str> =
        heads.chain(if floors { &["by hand", "x floor"][..] } else { &[] }.iter().copied()).collect();
    let mut grid = Grid::new(&heads);
    let limiters: Vec<OverheadRow> = rows.iter().filter(|row| row.algorithm != BY_HAND).cloned().collect();
    for label in labels(&limiters) {
        let of = |path: &str| rows.iter().find(|row| row.limiter == label && row.path == path);
        let mut cells = vec![label.to_owned()];
        cells.extend(paths.iter().map(|path| timed(of(path))));
        let poisson = of("poisson-2x").or(of("scenario"));
        cells.push(poisson.map_or("-".into(), |row| format!("{:.1}", row.batch_mean_p99_ns)));
        let any = rows.iter().find(|row| row.limiter == label);
        cells.push(any.map_or(String::new(), |row| format!("{} B", row.bytes_per_key)));
        if floors {
            cells.extend(beside_floor(poisson, poisson.and_then(|row| floor_of(rows, row))));
        }
        grid.row(cells);
    }
    let mut note = "nanoseconds a decision, median of batches of 4,096, and times the limiter that does nothing; p99 is of \
                    batch means on the last path but the scenario's; time is virtual and one block costs one virtual call. \
                    A limiter that cannot be driven down a path has no figure there"
        .to_owned();
    if floors {
        note.push_str(&format!(
            ". By hand is a loop for this quota and requests of one permit that admitted as many in the same rounds of \
             poisson-2x; a limiter should take at most {TARGET} times as long"
        ));
    }
    section("One thread, nothing shared", &note, &grid, markdown)
}

/// Nanoseconds by hand, and how many times that the limiter took.
fn beside_floor(row: Option<&OverheadRow>, floor: Option<&OverheadRow>) -> [String; 2] {
    let Some((row, floor)) = row.zip(floor) else { return ["-".into(), "-".into()] };
    let times = row.batch_mean_p50_ns / floor.batch_mean_p50_ns;
    let met = if times <= TARGET { "met" } else { "missed" };
    [format!("{:.2}", floor.batch_mean_p50_ns), format!("{times:.2} {met}")]
}

/// Shared limiters: peers beside ours.
pub fn shared_table(rows: &[OverheadRow], markdown: bool) -> String {
    let clocks = ["virtual", "quanta", "instant"];
    let mut text = String::new();
    for threads in [1, 2] {
        let heads = [
            "limiter",
            "admit, virtual",
            "refuse",
            "admit, quanta",
            "refuse",
            "admit, instant",
            "refuse",
            "x gcra, atomic",
        ];
        let mut grid = Grid::new(&heads);
        let find = |label: &str, clock: &str, path: &str| {
            let same = |row: &&OverheadRow| {
                row.threads == threads && row.limiter == label && row.clock == clock && row.path == path
            };
            rows.iter().find(same)
        };
        for label in labels(rows) {
            let mut cells = vec![label.to_owned()];
            for clock in clocks {
                for path in ["admit", "refuse"] {
                    cells.push(timed(find(label, clock, path)));
                }
            }
            // On the first clock that both have.
            let like = clocks.iter().find_map(|clock| {
                let (ours, theirs) = (find("gcra, atomic", clock, "admit")?, find(label, clock, "admit")?);
                Some(theirs.batch_mean_p50_ns / ours.batch_mean_p50_ns)
            });
            cells.push(like.map_or("-".into(), |like| format!("{like:.2}")));
            if cells[1..].iter().any(|cell| cell != "-") {
                grid.row(cells);
            }
        }
        let note = "nanoseconds a decision as each thread sees it, and times the empty loop with the same clock; the last \
                    column is admitting over `gcra, atomic` on the same clock";
        let title = if threads == 1 { "Shared, one thread" } else { "Shared, two threads on one limiter" };
        if grid.is_empty() {
            text.push_str(&format!("\n{title}: no sample had its threads on processors at the same time; try again\n"));
        } else {
            text.push_str(&section(title, note, &grid, markdown));
        }
    }
    text
}

/// Stores of a million keys.
pub fn keyed_table(keyed: &[Keyed], markdown: bool) -> String {
    let heads = ["store", "one thread", "two threads", "x gcra, sharded", "bytes a key at 100k", "at 1M"];
    let mut grid = Grid::new(&heads);
    let of = |keyed: &Keyed, threads: u64| keyed.rows.iter().find(|row| row.threads == threads).cloned();
    let ours = keyed.iter().find(|keyed| keyed.label == "gcra, sharded").and_then(|keyed| of(keyed, 1));
    for one in keyed {
        let like = of(one, 1).zip(ours.as_ref()).map(|(row, ours)| row.batch_mean_p50_ns / ours.batch_mean_p50_ns);
        let bytes = one.bytes.map(|bytes| bytes.map_or("-".into(), |bytes| format!("{bytes:.1}")));
        let [few, many] = bytes;
        grid.row(vec![
            one.label.to_owned(),
            timed(of(one, 1).as_ref()),
            timed(of(one, 2).as_ref()),
            like.map_or("-".into(), |like| format!("{like:.2}")),
            few,
            many,
        ]);
    }
    let note = "1,048,576 keys, each asked as often as any other and admitted, virtual time, the same hasher for all; bytes \
                are what the allocator was asked for and still held (counted with the cargo feature `peers`)";
    section("A limiter per key", note, &grid, markdown)
}

/// Whole replays.
pub fn replay_table(rows: &[Replayed], generating: f64, args: &OverheadArgs, taus: usize, quota: Quota) -> String {
    let heads = ["limiter", "admitted %", "bare ns", "M/s", "x no-op", "measured ns", "M/s", "x no-op"];
    let mut grid = Grid::new(&heads);
    let floor = rows.iter().find(|row| row.limiter == "unlimited");
    for row in rows {
        let share = row.measured.admitted as f64 * 100.0 / row.measured.decisions.max(1) as f64;
        let mut cells = vec![row.limiter.clone(), format!("{share:.2}")];
        for (timed, floor) in [(&row.bare, floor.map(|f| &f.bare)), (&row.measured, floor.map(|f| &f.measured))] {
            let nanos = timed.percentile(0.5);
            let ratio = floor.map_or("-".into(), |floor| format!("{:.2}", nanos / floor.percentile(0.5)));
            cells.extend([format!("{nanos:.2}"), format!("{:.1}", 1e3 / nanos), ratio]);
        }
        grid.row(cells);
    }
    let note = format!(
        "{} Poisson arrivals at twice {} per {} ns through each limiter on one core, batches of 16,384, median; measured is \
         everything a report shows, with peaks in windows of {taus} lengths; generating apart took {generating:.1} ns a request",
        args.requests, quota.limit, quota.window
    );
    section("Replay", &note, &grid, args.markdown)
}
