//! Recorded agents as closed-loop clients: files of sessions, and refused calls of a log that a limiter shaped.
//!
//! Both become one more client of the scenario, named after its file, which every limiter plays in a world of its own.

use crate::open::FileRead;
use crate::scenario::Scenario;
use limiters::{Nanos, Span};
use std::path::Path;
use std::sync::Arc;
use traffic::clients::spec::{Action, Client, Cost, Key, Role};
use traffic::clients::{Again, Scripts, preset, retry_as, retry_names};
use traffic::spec::{Amount, Pattern, Shape, Trace};
use traffic::traces::{self, Calls, Sessions};
use traffic::{Note, NoteKind, TrafficError};

/// Whose retries sessions have unless somebody says otherwise: those of the preset `llm-loop`.
const USUAL: &str = "openai-sdk";
/// How long an answer of a model takes where a file of sessions does not say: what the preset `llm-loop` thinks, from the
/// same recorded agents.
const ANSWER: Amount = Amount::Lognormal { median: 5.7e9, p90: 22.2e9, max: None };
/// Its mean, exp(μ + σ²/2), for the length of the run alone.
const MEAN_ANSWER: Nanos = 10_000_000_000;
/// A row so long behind a call's first one is no part of it, where the client's own waits have no end or are none.
const ENDLESS: Nanos = 60_000_000_000;
/// Logs on whole seconds are off by so much.
const SECOND: Nanos = 1_000_000_000;

/// A scenario whose recorded agents have become clients.
pub(crate) struct Prepared {
    /// The scenario; the notes of these files are among its own.
    pub scenario: Scenario,
    /// Files that clients play whole.
    pub files: Vec<FileRead>,
}

/// Turns the recorded agents of `scenario` into clients; `None` where there are none.
///
/// # Errors
/// When a file cannot be read, or cannot be read as often as this needs.
pub(crate) fn prepare(scenario: &Scenario) -> Result<Option<Prepared>, TrafficError> {
    let mut made = Prepared { scenario: scenario.clone(), files: Vec::new() };
    let mut patterns = Vec::new();
    let mut any = false;
    for pattern in std::mem::take(&mut made.scenario.patterns) {
        let Shape::Trace(trace) = &pattern.shape else {
            patterns.push(pattern);
            continue;
        };
        let stays = made.take(trace)?;
        any |= stays != Stays::All;
        match stays {
            Stays::All => patterns.push(pattern),
            Stays::Without(rows) => {
                let trace = Trace { left_out: Some(rows), ..trace.clone() };
                patterns.push(Pattern { shape: Shape::Trace(trace), ..pattern });
            }
            Stays::Nothing => {}
        }
    }
    made.scenario.patterns = patterns;
    Ok(any.then_some(made))
}

/// What is left of a trace for open-loop traffic.
#[derive(PartialEq)]
enum Stays {
    All,
    Without(Arc<[u64]>),
    Nothing,
}

impl Prepared {
    fn take(&mut self, trace: &Trace) -> Result<Stays, TrafficError> {
        let failed = |message: String| TrafficError { path: Some(trace.path.clone()), ..TrafficError::new(message) };
        // A pipe can be read once.
        let again = std::fs::metadata(&trace.path).is_ok_and(|file| file.is_file());
        let unknown =
            |name: &str| failed(format!("retry-as: unknown client {name:?}; valid are {}", retry_names().join(", ")));
        let retries = |name: &str| retry_as(name).ok_or_else(|| unknown(name));
        if again && traces::is_closed_loop(trace)? {
            let name = trace.retry_as.as_deref();
            let law = retries(name.unwrap_or(USUAL))?;
            let sessions = traces::sessions(trace, MEAN_ANSWER)?;
            self.sessions(trace, sessions, &law, name.is_some());
            return Ok(Stays::Nothing);
        }
        let Some(name) = &trace.retry_as else { return Ok(Stays::All) };
        let law = retries(name)?;
        if !again {
            return Err(failed("retry-as reads the file several times; save it in a file first".to_owned()));
        }
        let within = trace.retry_within.unwrap_or_else(|| usual_within(&law));
        let calls = traces::retried(trace, within)?;
        if calls.answered == 0 {
            let what = "retry-as needs to know how requests were answered, and no row says so; name the column with \
                        columns = { status = … } or --column status=…";
            return Err(failed(what.to_owned()));
        }
        if calls.refused == 0 {
            let text = format!(
                "{}: retry-as changes nothing, for none of the {} rows was answered with 429 or 503",
                trace.path.display(),
                calls.rows
            );
            self.note(NoteKind::Warning, text);
            return Ok(Stays::All);
        }
        Ok(self.calls(trace, calls, &law, within))
    }

    fn note(&mut self, kind: NoteKind, text: String) {
        self.scenario.notes.push(Note { kind, text });
    }

    fn sessions(&mut self, trace: &Trace, read: Sessions, law: &Again, chosen: bool) {
        let Sessions { scripts, rows, skipped, bytes_read, unknown, notes } = read;
        self.scenario.notes.extend(notes);
        let answers = match unknown {
            0 => "each answer takes the time that the file has for it".to_owned(),
            _ => format!(
                "{unknown} answers whose time the file does not say take a draw of median 5.7 s and 90th percentile 22.2 s \
                 (`llm-loop`)"
            ),
        };
        let goes = match law.on_give_up {
            Action::Stop => "a session whose call is given up ends",
            Action::NextTurn => "a session whose call is given up goes on with its next round",
        };
        let (hint, length) = (if chosen { "" } else { "; retry-as chooses another client" }, Span(scripts.length));
        let (sessions, path) = (scripts.scripts.len(), trace.path.display());
        let text = format!(
            "{path}: {sessions} sessions ({} rounds) are clients, each in a closed loop: {answers}, refused calls are tried \
             again as `{}` does, and {goes}{hint}",
            scripts.calls(),
            law.name
        );
        self.note(NoteKind::Guess, text);
        if self.scenario.duration.is_none() {
            let text = format!(
                "{path}: the run lasts {length}, half as long again as the sessions would undelayed, for what limits delay; \
                 rounds that are not asked by then are not done, and `duration` in a scenario gives them more time"
            );
            self.note(NoteKind::Guess, text);
        }
        let path = trace.path.clone();
        self.files.push(FileRead {
            path,
            format: traces::SESSIONS,
            rows,
            skipped,
            backward_steps: 0,
            bytes: bytes_read,
        });
        self.add(trace, scripts, law, ANSWER);
    }

    fn calls(&mut self, trace: &Trace, read: Calls, law: &Again, within: Nanos) -> Stays {
        let Calls { scripts, folded, rows, refused, ended, skipped, bytes_read, notes, .. } = read;
        let (calls, dropped) = (scripts.scripts.len() as u64, folded.len() as u64 - scripts.scripts.len() as u64);
        let open = rows - folded.len() as u64;
        let text = format!(
            "{}: {refused} of {rows} rows were answered with 429 or 503. With the {ended} answered rows that end them they \
             are {} rows of {calls} calls, each first tried when the first of its rows was; the other {dropped} rows, \
             recorded retries, are dropped, and refused calls are tried again as `{}` does. {open} rows were never refused \
             and are asked when they were. Assumed: a key makes one call at a time, and no row later than {} after a call's \
             first is part of it (retry-within chooses another)",
            trace.path.display(),
            folded.len(),
            law.name,
            Span(within)
        );
        self.note(NoteKind::Guess, text);
        self.add(trace, scripts, law, Amount::Constant(0));
        if open > 0 {
            return Stays::Without(folded);
        }
        // Nobody else reads the file to its end.
        self.scenario.notes.extend(notes);
        let format = trace.format.as_deref().and_then(traces::format).map_or("log", |format| format.name);
        self.files.push(FileRead {
            path: trace.path.clone(),
            format,
            rows,
            skipped,
            backward_steps: 0,
            bytes: bytes_read,
        });
        Stays::Nothing
    }

    /// One more client.
    fn add(&mut self, trace: &Trace, scripts: Scripts, law: &Again, latency: Amount) {
        let name = self.name(&trace.path);
        let (min, max) = scripts.prices();
        let plain = preset("plain").map(|preset| (preset.client)(&name));
        let Some(plain) = plain else { return };
        self.scenario.clients.push(Client {
            count: scripts.scripts.len() as u64,
            key: Key::Each(name),
            role: Role::Legitimate,
            useful_calls: None,
            cycle: 0,
            latency,
            patience: self.scenario.patience,
            retry: law.retry.clone(),
            on_give_up: law.on_give_up,
            on_terminal: law.on_terminal,
            per_call: if max == 0 { Cost::Free } else { Cost::Money(Amount::Uniform { min, max }) },
            scripts: Some(Arc::new(scripts)),
            ..plain
        });
    }

    /// The file's name, with a number where a client is called so already.
    fn name(&self, path: &Path) -> String {
        let file = path.file_name().map_or("trace".into(), |name| name.to_string_lossy());
        let taken = |name: &String| self.scenario.clients.iter().any(|client| client.name == *name);
        let mut name = file.to_string();
        let mut number = 2u64;
        while taken(&name) {
            name = format!("{file} ({number})");
            number += 1;
        }
        name
    }
}

/// The client's own waits and a second, for stamps on whole seconds; or a minute.
fn usual_within(law: &Again) -> Nanos {
    let own = match &law.retry[..] {
        [only] => only.longest_total().filter(|own| *own > 0),
        _ => None,
    };
    own.map_or(ENDLESS, |own| own.saturating_add(SECOND))
}

#[cfg(test)]
mod tests {
    use super::*;
    use traffic::clients::Law;

    #[test]
    fn an_answer_takes_ten_seconds_in_the_mean() {
        let Law::Lognormal(mu, sigma, _) = Law::new(&ANSWER) else { panic!("lognormal") };
        let mean = (mu + sigma * sigma / 2.0).exp();
        assert!((mean - MEAN_ANSWER as f64).abs() < 0.1e9, "{mean}");
    }

    #[test]
    fn a_call_lasts_as_long_as_its_client_tries() {
        let within = |name: &str| usual_within(&retry_as(name).unwrap()) / 1_000_000;
        assert_eq!((within("openai-sdk"), within("google-genai")), (2_500, 20_000));
        assert_eq!((within("code-loop"), within("urllib3"), within("none")), (60_000, 60_000, 60_000));
    }
}
