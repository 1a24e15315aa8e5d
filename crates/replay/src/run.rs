//! A run: one scenario, all its limiters, everything measured.

use crate::cast::{cast, check_worlds, twins};
use crate::decisions::{DecisionSink, Decisions};
use crate::engine::{self, NoSink, Sink};
use crate::entry::{Comparison, Entry};
use crate::guarantee::{self, Sample};
use crate::lane::Lane;
use crate::measure::{Envelope, Setup, round_width};
use crate::money::{self, Prices, Scene, Twins};
use crate::open::{FileRead, open};
use crate::recorded::{self, Prepared};
use crate::rows::{BillRow, ClientRow, SpendRow};
use crate::rows::{EnvelopeRow, GuaranteeRow, KeyRow, NoteRow, OverheadRow, SummaryRow, TimelineRow, WaitRow};
use crate::scenario::Scenario;
use crate::summarise::{Context, rows};
use crate::world::World;
use crate::{expect, overhead, plan};
use limiters::{Batch, Nanos, Quota};
use rayon::prelude::*;
use std::path::Path;
use traffic::{Note, NoteKind, Source, words};

/// What a run is asked for beside its scenario.
pub struct Options<'a> {
    /// Seed of every random draw.
    pub seed: u64,
    /// Whether decisions are timed, after everything else.
    pub overhead: bool,
    /// Folder that receives `decisions.csv`, when decisions are wanted.
    pub decisions: Option<&'a Path>,
    /// Hears how far recorded files are read, then how many requests there will be, if that is known, and how many more of
    /// them every limiter has seen.
    pub progress: &'a (dyn Fn(Progress) + Sync),
}

/// How far a run is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// So much of a recorded file was read.
    Reading(traffic::traces::Reading),
    /// About so many requests there will be.
    Expected(Option<u64>),
    /// So many more were seen by every limiter.
    Seen(u64),
}

/// What came out.
#[derive(Clone, Debug, Default)]
#[allow(missing_docs)] // a field for each CSV file, named after it
pub struct Run {
    /// Rows of the CSV files.
    pub summary: Vec<SummaryRow>,
    pub timeline: Vec<TimelineRow>,
    pub envelope: Vec<EnvelopeRow>,
    pub guarantee: Vec<GuaranteeRow>,
    pub waits: Vec<WaitRow>,
    pub keys: Vec<KeyRow>,
    pub notes: Vec<NoteRow>,
    pub overhead: Vec<OverheadRow>,
    pub clients: Vec<ClientRow>,
    pub spend: Vec<SpendRow>,
    pub bills: Vec<BillRow>,
    /// Recorded files that were read.
    pub files: Vec<FileRead>,
    /// Absolute time of t = 0, and the length of the run.
    pub start: Nanos,
    pub duration: Nanos,
    /// Requests that every limiter saw.
    pub requests: u64,
    /// Measured values above their proven bound, a line each: bugs of the workbench, all of them.
    pub violations: Vec<String>,
    /// Expectations that do not hold, a line each.
    pub broken: Vec<String>,
}

/// The choice of equal-guarantee parameters looks at so many requests from the start.
const SAMPLE: usize = 1_000_000;
/// Points of the equal-guarantee curve look at so many.
const CURVE_SAMPLE: usize = 65_536;
/// Batches that the overhead pass times for each limiter and path.
const OVERHEAD_ROUNDS: usize = 25;
/// Memory for the starts that envelopes remember, over all limiters.
const ENVELOPE_BYTES: usize = 512 << 20;

/// Runs `scenario`.
///
/// # Errors
/// A complete text: what input is at fault and why.
pub fn run(scenario: &Scenario, options: &Options<'_>) -> Result<Run, String> {
    match recorded::prepare(scenario).map_err(|error| error.to_string())? {
        None => played(scenario, options),
        Some(Prepared { scenario, files }) => {
            let mut run = played(&scenario, options)?;
            run.files.splice(0..0, files);
            Ok(run)
        }
    }
}

/// Runs a scenario whose recorded agents are clients.
pub(crate) fn played(scenario: &Scenario, options: &Options<'_>) -> Result<Run, String> {
    let watch = |reading| (options.progress)(Progress::Reading(reading));
    let mut opened = open(scenario, options.seed, &watch).map_err(|error| error.to_string())?;
    if let Some(file) = opened.files.iter().find(|file| file.format == traffic::traces::SESSIONS) {
        let path = file.path.display();
        return Err(format!("{path}: sessions are read several times to be replayed; save them in a file first"));
    }
    let (start, duration) = (opened.start, opened.duration);
    let mut notes = scenario.notes.clone();
    notes.append(&mut opened.notes);
    let traffic = &mut opened.traffic;
    let bin = scenario.bin.unwrap_or_else(|| round_width(duration));
    let cast = cast(scenario, traffic, options.seed, (start, duration, bin));
    (options.progress)(Progress::Expected(traffic.expected()));
    let ahead = engine::read_ahead(traffic, SAMPLE).map_err(|error| error.to_string())?;
    if ahead.is_empty() && cast.is_none() {
        return Err(format!("{}: the traffic has no request within the run", scenario.path.display()));
    }
    let quota = scenario.quota.quota;
    let fault = |error: limiters::ParamError| format!("{}: {error}", scenario.path.display());
    let planned = plan::entries(scenario, start, options.seed).map_err(fault)?;
    // What clients ask depends on the answer, so there is no one traffic to tune rivals on.
    let (mut entries, guarantee) = match &cast {
        None => rivals(scenario, &planned, &ahead, start, &mut notes),
        Some(_) => (Vec::new(), Vec::new()),
    };
    entries.extend(planned);

    let taus = window_lengths(quota, scenario);
    let budget = ENVELOPE_BYTES / Envelope::START_BYTES / entries.len();
    let many_keys = traffic.key_count() != Some(1);
    let lane = |entry: &Entry| {
        let setup = Setup {
            quota: entry.quota,
            taus: &taus,
            start,
            bin,
            bins: duration.div_ceil(bin).try_into().unwrap_or(usize::MAX),
            per_key: entry.per_key,
            many_keys,
            shaper: entry.delays,
            budget,
        };
        let lane = Lane::new((entry.make)(), entry.meter, scenario.patience, &setup);
        match &cast {
            Some(cast) => lane.with_clients(cast),
            None => lane,
        }
    };
    let end = start.saturating_add(duration);
    let (lanes, requests) = match options.decisions {
        None => {
            let lanes = entries.iter().map(|entry| (lane(entry), NoSink)).collect();
            let (lanes, requests) = play(lanes, &ahead, traffic, options, end)?;
            (lanes.into_iter().map(|(lane, NoSink)| lane).collect::<Vec<_>>(), requests)
        }
        Some(folder) => {
            let decisions = Decisions::new(folder, start);
            let failed = |error: std::io::Error| format!("{}: decisions: {error}", folder.display());
            let sinks: Vec<DecisionSink> =
                (0..entries.len()).map(|lane| decisions.sink(lane)).collect::<Result<_, _>>().map_err(failed)?;
            let lanes = entries.iter().map(lane).zip(sinks).collect();
            let (lanes, requests) = play(lanes, &ahead, traffic, options, end)?;
            let (lanes, sinks): (Vec<_>, Vec<_>) = lanes.into_iter().unzip();
            decisions.finish(&entries, sinks, &|key| traffic.key_name(key)).map_err(failed)?;
            (lanes, requests)
        }
    };
    if lanes.iter().any(|lane| lane.measure.overflowed) {
        return Err(format!("{}: the requests ask for more than 2^64 − 1 permits in all", scenario.path.display()));
    }
    notes.extend(traffic.notes());
    let twins = match &cast {
        Some(cast) => twins(scenario, cast, options, &mut notes)?,
        None => Vec::new(),
    };
    check_worlds(scenario, entries.iter().map(|entry| entry.label.as_str()).zip(&lanes), &mut notes)?;

    let key_name = |key| traffic.key_name(key);
    let mut run = Run { guarantee, files: opened.files, start, duration, requests, ..Run::default() };
    let mut given_up = std::collections::BTreeSet::new();
    let keys = traffic.key_count().unwrap_or(1);
    let worlds: Vec<&World> = twins.iter().filter_map(Lane::world).collect();
    let open = worlds.first().map(|world| world.open_most).unwrap_or_default();
    let prices = Prices { clients: &scenario.clients, duration, keys, open };
    let context = Context {
        scenario: &scenario.name,
        seed: options.seed,
        taus: &taus,
        end,
        prices: cast.is_some().then_some(&prices),
        key_name: &key_name,
    };
    let mut unbounded: std::collections::BTreeMap<String, Vec<&str>> = std::collections::BTreeMap::new();
    let compared = worlds.first().map(|unprotected| Twins { unprotected, without_rogues: worlds.get(1).copied() });
    if let Some(twins) = &compared {
        let none = Scene { entry: None, world: twins.unprotected, stack: None, end };
        run.clients.extend(none.clients(twins, &scenario.clients));
        run.spend.extend(none.spend());
    }
    for (entry, lane) in entries.iter().zip(&lanes) {
        let mut rows = rows(entry, lane, &context);
        if let (Some(world), Some(twins)) = (lane.world(), &compared) {
            let scene = Scene { entry: Some(entry), world, stack: lane.gate().guards(), end };
            scene.fill(&mut rows.summary, twins, &prices);
            run.clients.extend(scene.clients(twins, &scenario.clients));
            run.spend.extend(scene.spend());
            run.bills.extend(money::bill(&rows.summary));
            for why in prices.unbounded(entry) {
                unbounded.entry(why).or_default().push(&entry.label);
            }
        }
        run.summary.push(rows.summary);
        run.timeline.append(&mut rows.timeline);
        run.envelope.append(&mut rows.envelope);
        run.waits.append(&mut rows.waits);
        run.keys.append(&mut rows.keys);
        run.violations.append(&mut rows.violations);
        given_up.extend(rows.given_up);
    }
    for (why, labels) in unbounded {
        let labels: Vec<String> = labels.iter().map(|label| format!("`{label}`")).collect();
        let text = format!("the worst possible bill is unbounded behind {}: {why}", labels.join(", "));
        notes.push(Note { kind: NoteKind::Warning, text });
    }
    for tau in given_up {
        let seconds = tau as f64 / 1e9;
        let text = format!(
            "peaks in windows of {seconds} s are missing for some limiters: they need more memory than the {} MiB for all",
            ENVELOPE_BYTES >> 20
        );
        notes.push(Note { kind: NoteKind::Warning, text });
    }
    let by_key: Vec<&str> = entries.iter().filter(|entry| entry.per_key).map(|entry| entry.label.as_str()).collect();
    let peak_within = |label: &str, tau: Nanos| {
        if by_key.contains(&label) {
            // The envelope is of all keys together, which is not what a limit per key promises.
            return None;
        }
        let asked = |row: &&EnvelopeRow| {
            row.limiter == label && row.tau_ns == tau && row.comparison != Comparison::EqualGuarantee.name()
        };
        run.envelope.iter().find(asked).map(|row| row.measured_permits)
    };
    run.broken = expect::broken(scenario, &run.summary, peak_within);
    if let (true, Some(first)) = (options.overhead, ahead.first()) {
        let timed: Vec<Entry> =
            entries.into_iter().filter(|entry| entry.comparison != Comparison::EqualGuarantee).collect();
        run.overhead = overhead::measure(&timed, Some(first), start, OVERHEAD_ROUNDS);
    }
    run.notes = notes.into_iter().map(note_row).collect();
    Ok(run)
}

/// What a scenario runs, without running it: its limiters, the absolute time of t = 0, and the first of its traffic.
///
/// # Errors
/// A complete text: what input is at fault and why.
pub fn planned(scenario: &Scenario) -> Result<(Vec<Entry>, Nanos, Batch), String> {
    let mut opened = open(scenario, scenario.seed, &|_| {}).map_err(|error| error.to_string())?;
    let entries = plan::entries(scenario, opened.start, scenario.seed);
    let entries = entries.map_err(|error| format!("{}: {error}", scenario.path.display()))?;
    let ahead = engine::read_ahead(&mut opened.traffic, engine::BATCH).map_err(|error| error.to_string())?;
    let first = clamped(&ahead).into_iter().next();
    let first =
        first.ok_or_else(|| format!("{}: the traffic has no request within the run", scenario.path.display()))?;
    Ok((entries, opened.start, first))
}

/// Plays `ahead` and the rest of `traffic` through every lane until the absolute time `end`.
pub(crate) fn play<S: Sink>(
    mut lanes: Vec<(Lane, S)>,
    ahead: &[Batch],
    traffic: &mut dyn Source,
    options: &Options<'_>,
    end: Nanos,
) -> Result<(Vec<(Lane, S)>, u64), String> {
    let progress = |seen| (options.progress)(Progress::Seen(seen));
    let requests = engine::replay(&mut lanes, ahead, traffic, &progress).map_err(|error| error.to_string())?;
    lanes.par_iter_mut().for_each(|(lane, sink)| {
        lane.finish(end, |batch, cost, range, out| sink.block(batch, cost, range, out));
    });
    Ok((lanes, requests))
}

/// Equal-guarantee entries of the registered algorithms that run, and the curve around the quota's limit.
fn rivals(
    scenario: &Scenario,
    planned: &[Entry],
    ahead: &[Batch],
    start: Nanos,
    notes: &mut Vec<Note>,
) -> (Vec<Entry>, Vec<GuaranteeRow>) {
    let wanted =
        |name: &str| planned.iter().any(|entry| entry.comparison == Comparison::EqualQuota && entry.algorithm == name);
    let Quota { limit, window, .. } = scenario.quota.quota;
    let (meter, per_key) = (scenario.quota.meter, scenario.quota.per_key);
    let sorted;
    let ahead = if ahead.iter().all(|batch| batch.at.is_sorted()) {
        ahead
    } else {
        // The choice needs times that never go back; lanes clamp for themselves.
        sorted = clamped(ahead);
        &sorted
    };
    let sample = Sample { batches: ahead, meter, per_key, patience: scenario.patience, origin: start };
    let rivals = guarantee::rivals(limit, window, &wanted, &sample);
    if rivals.is_empty() {
        return (Vec::new(), Vec::new());
    }
    let short = &ahead[..ahead.len().min(CURVE_SAMPLE / engine::BATCH)];
    let curve = guarantee::curve(limit, window, &wanted, &Sample { batches: short, ..sample });
    let seen: usize = ahead.iter().map(Batch::len).sum();
    let curve_seen: usize = short.iter().map(Batch::len).sum();
    if curve_seen < seen || seen == SAMPLE {
        let text = format!(
            "equal-guarantee parameters were chosen on the first {} requests, the curve on the first {}",
            words::count(seen as u64),
            words::count(curve_seen as u64)
        );
        // The curve is a shape; the parameters are what the first table stands on.
        let kind = if seen == SAMPLE { NoteKind::Warning } else { NoteKind::Fact };
        notes.push(Note { kind, text });
    }
    let quota = scenario.quota.quota;
    let entry = |(algorithm, rule): (&'static limiters::Algorithm, _)| {
        Entry::of_rule(algorithm.name, algorithm.name, Comparison::EqualGuarantee, quota, meter, per_key, rule)
    };
    (rivals.into_iter().map(entry).collect(), curve)
}

fn clamped(batches: &[Batch]) -> Vec<Batch> {
    let mut high = 0;
    let mut batches = batches.to_vec();
    for at in batches.iter_mut().flat_map(|batch| &mut batch.at) {
        high = high.max(*at);
        *at = high;
    }
    batches
}

/// Lengths from W/1000 to 10 W in steps of 1, 2 and 5, and those that the scenario asks about.
fn window_lengths(quota: Quota, scenario: &Scenario) -> Vec<Nanos> {
    // A limiter with a window of its own shows its peak over that.
    let own = scenario.limiters.iter().filter_map(|limiter| limiter.quota()).flat_map(|q| [q.window, q.window / 10]);
    usual_windows(quota, scenario.asked_intervals().into_iter().chain(own))
}

/// Lengths from W/1000 to 10 W in steps of 1, 2 and 5, a nanosecond, and `more`, in order.
pub fn usual_windows(quota: Quota, more: impl IntoIterator<Item = Nanos>) -> Vec<Nanos> {
    let mut taus: Vec<Nanos> = more.into_iter().collect();
    for factor in [1, 2, 5] {
        for divisor in [1000, 100, 10, 1] {
            taus.push((u128::from(quota.window) * factor / divisor).try_into().unwrap_or(Nanos::MAX));
        }
    }
    taus.push(quota.window.saturating_mul(10));
    taus.retain(|&tau| tau > 0);
    taus.push(1);
    taus.sort_unstable();
    taus.dedup();
    taus
}

fn note_row(note: Note) -> NoteRow {
    NoteRow { kind: crate::rows::kind(note.kind).into(), text: note.text }
}
