//! The clients of a run: who takes part with which keys, the same without a guard, and what stopped them.

use crate::engine::NoSink;
use crate::lane::Lane;
use crate::measure::Setup;
use crate::open::open;
use crate::plan;
use crate::run::{Options, Progress, play};
use crate::scenario::Scenario;
use crate::world::Cast;
use limiters::Nanos;
use traffic::clients::spec::{Client, Key};
use traffic::{Note, NoteKind, Traffic};

/// The clients with their keys; `span` is the start of the run, its length, and the width of a bin.
pub(crate) fn cast(scenario: &Scenario, traffic: &mut Traffic, seed: u64, span: (Nanos, Nanos, Nanos)) -> Option<Cast> {
    if scenario.clients.is_empty() {
        return None;
    }
    let keys = scenario.clients.iter().map(|client| key_numbers(client, traffic)).collect();
    let (start, duration, bin) = span;
    let upstream = scenario.upstream.clone();
    Some(Cast { clients: scenario.clients.clone(), keys, upstream, seed, start, duration, bin })
}

/// Numbers of the keys of a client's agents, or of its scripts.
fn key_numbers(client: &Client, traffic: &mut Traffic) -> Vec<u64> {
    match (&client.scripts, &client.key) {
        (Some(scripts), _) => scripts.keys.iter().map(|name| traffic.key_number(name)).collect(),
        (None, Key::One(name)) => vec![traffic.key_number(name)],
        (None, Key::Each(name)) => {
            (1..=client.count).map(|agent| traffic.key_number(&format!("{name}-{agent}"))).collect()
        }
    }
}

/// The worlds without a guard: with everybody, and without rogues where there are others.
pub(crate) fn twins(
    scenario: &Scenario,
    cast: &Cast,
    options: &Options<'_>,
    notes: &mut Vec<Note>,
) -> Result<Vec<Lane>, String> {
    let watch = |reading| (options.progress)(Progress::Reading(reading));
    let mut opened = open(scenario, options.seed, &watch).map_err(|error| error.to_string())?;
    let traffic = &mut opened.traffic;
    for (client, keys) in cast.clients.iter().zip(&cast.keys) {
        let numbers = key_numbers(client, traffic);
        debug_assert_eq!(&numbers, keys, "keys are numbered in the order of the clients");
    }
    let entry = plan::unprotected(scenario, cast.start, options.seed).map_err(|error| error.to_string())?;
    let setup = Setup::of_bills(&entry.quota, cast.start, cast.bin);
    let honest = cast.without_rogues();
    let mixed = !honest.clients.is_empty() && honest.clients.len() < cast.clients.len();
    let lane =
        |cast: &Cast| (Lane::new((entry.make)(), entry.meter, scenario.patience, &setup).with_clients(cast), NoSink);
    let lanes = std::iter::once(lane(cast)).chain(mixed.then(|| lane(&honest))).collect();
    let quiet = Options { progress: &|_| (), ..*options };
    let (lanes, _) = play(lanes, &[], traffic, &quiet, cast.start.saturating_add(cast.duration))?;
    let lanes: Vec<Lane> = lanes.into_iter().map(|(lane, NoSink)| lane).collect();
    check_worlds(scenario, std::iter::repeat("no guard").zip(&lanes), notes)?;
    Ok(lanes)
}

/// Passes on what stopped a world, and notes where a population could not grow as it would have.
pub(crate) fn check_worlds<'a>(
    scenario: &Scenario,
    lanes: impl Iterator<Item = (&'a str, &'a Lane)>,
    notes: &mut Vec<Note>,
) -> Result<(), String> {
    let mut kept = vec![Vec::new(); scenario.clients.len()];
    for (label, lane) in lanes {
        let Some(world) = lane.world() else { continue };
        if let Some(why) = &world.failed {
            return Err(format!("{}: behind `{label}`: {why}", scenario.path.display()));
        }
        for (client, kept) in scenario.clients.iter().zip(&mut kept) {
            let tally = world.tallies.iter().find(|tally| tally.name == client.name && tally.not_spawned > 0);
            kept.extend(tally.map(|tally| format!("{} behind `{label}`", tally.not_spawned)));
        }
    }
    for (client, kept) in scenario.clients.iter().zip(kept).filter(|(_, kept)| !kept.is_empty()) {
        let text = format!(
            "client \"{}\": `max-agents` kept agents from being spawned, and without that end the bill would be higher: {}",
            client.name,
            kept.join(", ")
        );
        notes.push(Note { kind: NoteKind::Warning, text });
    }
    Ok(())
}
