//! The frontier of clients that react: what one limiter saves of the rogues' bill against the useful work it costs, setting by
//! setting, each played in a closed loop of its own from the same seed.
//!
//! Every figure comes from the same run as `workbench run` makes: the settings are its limiters, in place of the file's. So a
//! row here is what a report would say of a variant with that setting, and nothing is modelled twice.

mod grid;
mod rows;
mod sides;
mod unguarded;
mod varied;
mod written;

pub use rows::ClientsRow;
pub use sides::Sides;
pub use varied::{Kind, Varied, Which};
pub use written::{Written, written};

use super::{Given, Share};
use crate::recorded;
use crate::rows::SummaryRow;
use crate::run::{Options, Run, played};
use crate::scenario::{LimiterSpec, Scenario};
use limiters::Nanos;
use traffic::Note;
use traffic::clients::spec::Client;

/// Settings that are played together; their timelines are in memory at once.
const TOGETHER: usize = 32;
/// Settings at most: each is a run of its own.
const MOST: usize = 2_000;
/// Seeds on which the recommended setting is tried again: it was chosen by the luck of the first.
const AGAIN: u64 = 5;

/// What is asked for.
pub struct Asked<'a> {
    /// The scenario; its limiters and expectations are not used.
    pub scenario: &'a Scenario,
    /// Names of clients whose calls are waste, at least one.
    pub rogue: &'a [String],
    /// Names of clients whose calls are useful; empty: all others.
    pub legit: &'a [String],
    /// What is varied.
    pub varied: &'a Varied,
    /// Rates of a bucket; empty: round ones, from a fiftieth of the mean to the peak of what is asked without a limiter.
    pub rates: Vec<Given>,
    /// Lengths of a window; empty: round ones.
    pub windows: Vec<Nanos>,
    /// Bursts of a bucket, limits of a window, or budgets of a cap; empty: steps up to the least that refuses nobody.
    pub values: Vec<u64>,
    /// The share of the useful work that may be lost.
    pub allowed: Share,
}

/// What was found.
pub struct Found {
    /// Who is who.
    pub sides: Sides,
    /// The clients with the roles they had.
    pub clients: Vec<Client>,
    /// Labels of the file's own limiters that were not run.
    pub left_out: Vec<String>,
    /// Absolute start, and length of the run.
    pub start: Nanos,
    #[allow(missing_docs)]
    pub duration: Nanos,
    /// One for each setting, in the order of the grid.
    pub rows: Vec<ClientsRow>,
    /// What no limiter at all comes to: nothing is saved, and what rogues take from the others is lost.
    pub without: ClientsRow,
    /// The row to take.
    pub best: Option<usize>,
    /// The row to take, played alone: its figures for a report and the notes of the run.
    pub played: Option<SummaryRow>,
    /// The same setting on further seeds.
    pub again: Vec<ClientsRow>,
    /// What a reader must know about how the figures came to be.
    pub notes: Vec<(String, String)>,
    /// Measured values above their proven bound: bugs of the workbench, all of them.
    pub violations: Vec<String>,
}

/// Plays every setting. `seen` hears how many there are, and how many were played.
///
/// # Errors
/// A complete text: which flag or file is at fault, and what would be right.
pub fn frontier(asked: &Asked<'_>, seen: &(dyn Fn(usize, usize) + Sync)) -> Result<Found, String> {
    let file = asked.scenario.path.display();
    let prepared = recorded::prepare(asked.scenario).map_err(|error| error.to_string())?;
    let mut scenario = prepared.map_or_else(|| asked.scenario.clone(), |prepared| prepared.scenario);
    let sides = Sides::take(&mut scenario, asked.rogue, asked.legit)?;
    let varied = asked.varied;
    let runs = |label: &str| varied.of_file.as_deref() == Some(label) || varied.kept().contains(&label);
    let silent = |spec: &&LimiterSpec| !spec.registered && !runs(&spec.label);
    let left_out = scenario.limiters.iter().filter(silent).map(|spec| spec.label.clone()).collect();
    // What there is to say of the file's own limiters is not about these.
    scenario.notes.drain(..asked.scenario.notes.len());
    // The steps of a timeline decide nothing and are not shown.
    scenario.bin = None;
    scenario.expects.clear();
    let seed = scenario.seed;
    let settings = match grid::given(asked) {
        Some(settings) => settings,
        None => grid::settings(&unguarded::unguarded(&scenario, varied)?, asked).map_err(|error| error.to_string())?,
    };
    if settings.is_empty() {
        return Err(format!("{file}: the clients ask for nothing within the run"));
    }
    if settings.len() > MOST {
        let count = settings.len();
        return Err(format!("{count} settings are more than the {MOST} that are played; give fewer of them"));
    }
    let mut rows = Vec::with_capacity(settings.len());
    let mut without = None;
    let mut violations = Vec::new();
    let (mut start, mut duration) = (0, 0);
    for some in settings.chunks(TOGETHER) {
        seen(settings.len(), rows.len());
        scenario.limiters = some.iter().map(|&setting| varied.spec(setting)).collect::<Result<_, _>>()?;
        let run = play(&scenario, seed)?;
        rows.extend(some.iter().map(|&setting| rows::row(&run, &sides, varied, Some(setting))));
        without.get_or_insert_with(|| rows::row(&run, &sides, varied, None));
        (start, duration) = (run.start, run.duration);
        violations.extend(run.violations);
    }
    seen(settings.len(), rows.len());
    let without = without.unwrap_or_default();
    rows::mark(&mut rows);
    let best = rows::recommended(&rows, &without, asked.allowed);
    let mut notes: Vec<(String, String)> = sides.notes.iter().map(said).collect();
    let (mut alone, mut again) = (None, Vec::new());
    if let Some(best) = best {
        rows[best].recommended = true;
        scenario.limiters = vec![varied.spec(settings[best])?];
        let run = play(&scenario, seed)?;
        notes.extend(run.notes.iter().map(|note| (note.kind.clone(), note.text.clone())));
        alone = run.summary.into_iter().next();
        for seed in (1..=AGAIN).map(|more| seed.saturating_add(more)) {
            let run = play(&scenario, seed)?;
            again.push(ClientsRow { seed, ..rows::row(&run, &sides, varied, Some(settings[best])) });
        }
    } else {
        notes.extend(scenario.notes.iter().map(said));
    }
    Ok(Found {
        sides,
        clients: scenario.clients,
        left_out,
        start,
        duration,
        rows,
        without,
        best,
        played: alone,
        again,
        notes,
        violations,
    })
}

fn said(note: &Note) -> (String, String) {
    (crate::rows::kind(note.kind).to_owned(), note.text.clone())
}

fn play(scenario: &Scenario, seed: u64) -> Result<Run, String> {
    played(scenario, &Options { seed, overhead: false, decisions: None, progress: &|_| {} })
}
