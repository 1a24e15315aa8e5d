//! Who is who: which clients' calls are waste, and whose are useful.

use crate::diagnose::nearest;
use crate::scenario::Scenario;
use traffic::clients::spec::{Client, Role};
use traffic::{Note, NoteKind};

/// Names of clients by side, in the order of the file.
#[derive(Clone, Debug, Default)]
pub struct Sides {
    /// Their calls are waste, but for the first `useful-calls`.
    pub rogue: Vec<String>,
    /// Their calls are useful.
    pub legit: Vec<String>,
    /// They take part, and count on neither side.
    pub neither: Vec<String>,
    /// Clients that the file takes for something else.
    pub(super) notes: Vec<Note>,
}

impl Sides {
    /// Gives the clients of `scenario` the roles that are asked for.
    pub(super) fn take(scenario: &mut Scenario, rogue: &[String], legit: &[String]) -> Result<Sides, String> {
        let file = scenario.path.display().to_string();
        if scenario.clients.is_empty() {
            return Err(format!(
                "--scenario {file}: no [[client]] in it, and arrival patterns ask the same whatever a limiter says; write its \
                 traffic down with `workbench traffic {file} > traffic.csv` and give `--trace traffic.csv --rogue KEY`"
            ));
        }
        if rogue.is_empty() {
            let names = names(&scenario.clients);
            return Err(format!("--scenario {file}: say whose calls are waste with --rogue CLIENT; clients: {names}"));
        }
        for (flag, wanted) in [("--rogue", rogue), ("--legit", legit)] {
            for name in wanted {
                known(flag, name, scenario)?;
            }
        }
        if let Some(both) = legit.iter().find(|name| rogue.contains(name)) {
            return Err(format!("--legit {both}: the client is rogue too"));
        }
        let mut sides = Sides::default();
        for client in &mut scenario.clients {
            let name = client.name.clone();
            if rogue.contains(&name) {
                sides.rogue.push(name);
                sides.notes.extend(made_rogue(client));
            } else if legit.is_empty() || legit.contains(&name) {
                sides.legit.push(name);
                sides.notes.extend(made_legitimate(client));
            } else {
                sides.neither.push(name);
            }
        }
        Ok(sides)
    }
}

fn names(clients: &[Client]) -> String {
    clients.iter().map(|client| format!("\"{}\"", client.name)).collect::<Vec<_>>().join(", ")
}

fn known(flag: &str, name: &String, scenario: &Scenario) -> Result<(), String> {
    let of = || scenario.clients.iter().map(|client| client.name.as_str());
    match of().filter(|known| known == name).count() {
        1 => Ok(()),
        0 => {
            let near = nearest(name, of()).map_or_else(String::new, |near| format!("; did you mean {near}?"));
            let file = scenario.path.display();
            Err(format!("{flag} {name}: no client of {file} is called so{near}; clients: {}", names(&scenario.clients)))
        }
        many => Err(format!(
            "{flag} {name}: {many} clients of {} are called so; give each a `name` of its own",
            scenario.path.display()
        )),
    }
}

/// Nothing a rogue does is useful, unless the file says that it is one and how much of it is.
fn made_rogue(client: &mut Client) -> Option<Note> {
    let says_so = client.role == Role::Rogue;
    client.role = Role::Rogue;
    if says_so {
        return None;
    }
    client.useful_calls = Some(0);
    Some(Note { kind: NoteKind::Guess, text: other(client, "legitimate", "rogue: none of its calls is useful") })
}

/// As [`made_rogue`], the other way round.
fn made_legitimate(client: &mut Client) -> Option<Note> {
    let says_so = client.role == Role::Legitimate;
    client.role = Role::Legitimate;
    if says_so {
        return None;
    }
    (client.useful_calls, client.cycle) = (None, 0);
    Some(Note { kind: NoteKind::Guess, text: other(client, "rogue", "legitimate: all its calls are useful") })
}

fn other(client: &Client, file: &str, here: &str) -> String {
    format!("client \"{}\" is {file} in the file and was taken for {here}", client.name)
}
