//! Session logs of coding agents: JSON lines of many kinds, some of which say what an answer of the model used.
//!
//! Claude Code writes `message.usage` several times while an answer streams in; the last one of a message counts, and the
//! first one is when it was asked. Codex writes `token_count` events with the use of the last call beside the running total;
//! an event whose total did not move repeats the one before. It counts tokens of reasoning among those of the output, which is
//! how they are read; a total that is only right with both is warned about.
//!
//! Older logs of Claude Code say what an answer cost; newer ones, and those of Codex, only which model gave it.

use super::fault::Fault;
use super::field::{Field, Fields};
use super::format::{Clock, Format, Notes, Rows, Setup};
use super::lines::Lines;
use super::number::dollars;
use super::pricing::Pricing;
use super::row::Row;
use super::time::Times;
use crate::prices::Tokens;
use limiters::Nanos;
use serde::Deserialize;
use serde_json::value::RawValue;
use std::collections::HashMap;
use std::collections::VecDeque;

/// The entry of the registry.
pub(super) const FORMAT: Format = Format {
    name: "agent",
    summary: "session logs of coding agents (Claude Code, Codex), one request per answer",
    recognised_by: "JSON lines, one of the first with message.usage or payload.info.last_token_usage",
    time: "timestamp of the first line of an answer",
    key: "session; the file's name where no line names one",
    cost: "1; input and output tokens, cached ones apart; costUSD is the price, else that of the model in the price list",
    detect: |head| {
        head.first_line().starts_with(b"{")
            && head
                .lines()
                .take(100)
                .any(|(_, line)| serde_json::from_slice(line).is_ok_and(|line| Line::says_use(&line)))
    },
    open,
};

#[derive(Deserialize)]
struct Line<'a> {
    #[serde(borrow)]
    timestamp: Option<&'a RawValue>,
    #[serde(rename = "type")]
    kind: Option<String>,
    #[serde(rename = "sessionId")]
    session: Option<String>,
    #[serde(rename = "costUSD", borrow)]
    cost: Option<&'a RawValue>,
    message: Option<Message>,
    payload: Option<Payload>,
}

#[derive(Deserialize)]
struct Message {
    id: Option<String>,
    model: Option<String>,
    usage: Option<Usage>,
}

/// Counts of tokens; `cached` ones are part of `input`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
struct Usage {
    #[serde(rename = "input_tokens")]
    input: u64,
    #[serde(rename = "output_tokens")]
    output: u64,
    #[serde(rename = "cache_read_input_tokens")]
    cache_read: u64,
    #[serde(rename = "cache_creation_input_tokens")]
    cache_write: u64,
    #[serde(rename = "cached_input_tokens")]
    cached: u64,
    #[serde(rename = "cache_creation")]
    written: Option<Written>,
    #[serde(rename = "reasoning_output_tokens")]
    reasoning: u64,
    #[serde(rename = "total_tokens")]
    total: u64,
}

/// Which part of the tokens written to a cache is kept for an hour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
struct Written {
    #[serde(rename = "ephemeral_1h_input_tokens")]
    hour: u64,
}

impl Usage {
    /// Whether the total has tokens of reasoning beside those of the output.
    fn counts_reasoning_apart(&self) -> bool {
        let sum = u128::from(self.input) + u128::from(self.output) + u128::from(self.reasoning);
        self.reasoning > 0 && sum == u128::from(self.total)
    }

    fn tokens(&self) -> Tokens {
        let hour = self.written.map_or(0, |written| written.hour).min(self.cache_write);
        Tokens {
            input: self.input,
            output: self.output,
            cache_read: self.cache_read,
            cache_write: self.cache_write - hour,
            cache_write_hour: hour,
        }
    }
}

#[derive(Deserialize)]
struct Payload {
    id: Option<String>,
    model: Option<String>,
    info: Option<Info>,
}

#[derive(Deserialize)]
struct Info {
    model: Option<String>,
    last_token_usage: Option<Usage>,
    total_token_usage: Option<Usage>,
}

impl Line<'_> {
    fn says_use(line: &Line<'_>) -> bool {
        let claude = line.message.as_ref().is_some_and(|message| message.usage.is_some());
        let info = line.payload.as_ref().and_then(|payload| payload.info.as_ref());
        claude || info.is_some_and(|info| info.last_token_usage.is_some())
    }
}

/// A request as it is known so far.
struct Answer {
    at: Nanos,
    session: u32,
    usage: Usage,
    /// What it cost, where the file says so.
    microusd: Option<u64>,
    model: u32,
}

struct Agent {
    lines: Lines,
    times: Times,
    answers: VecDeque<Answer>,
    /// Where the answer to a message stands.
    by_id: HashMap<String, usize>,
    sessions: Vec<String>,
    /// The session that Codex named last, and its running total.
    session: String,
    total: Option<Usage>,
    models: Vec<String>,
    /// The model that Codex named last.
    model: String,
    pricing: Pricing,
    read: bool,
    merged: u64,
    others: u64,
    /// Answers whose total counts reasoning apart.
    apart: u64,
}

fn open(setup: Setup<'_>) -> Result<Box<dyn Rows>, Box<Fault>> {
    setup.no_columns(FORMAT.name)?;
    let pricing = Pricing::new(setup.spec)?;
    let file = setup.spec.path.file_stem().filter(|name| *name != "-");
    let session = file.map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    Ok(Box::new(Agent {
        lines: Lines::new(setup.input.reader),
        times: Times::new("timestamp", None)?,
        answers: VecDeque::new(),
        by_id: HashMap::new(),
        sessions: Vec::new(),
        session,
        total: None,
        models: Vec::new(),
        model: String::new(),
        pricing,
        read: false,
        merged: 0,
        others: 0,
        apart: 0,
    }))
}

impl Agent {
    /// Reads all lines, since a later one may change an earlier answer.
    fn read_all(&mut self) -> Result<(), Box<Fault>> {
        while let Some((number, bytes)) = self.lines.next()? {
            let broken = |error: serde_json::Error| {
                let message = format!("not a line of a session log (goes wrong at character {})", error.column());
                Fault::row("not a JSON object", message).at(number).value(bytes)
            };
            let line: Line<'_> = serde_json::from_slice(bytes).map_err(broken)?;
            // Other lines name calls and answers.
            if line.kind.as_ref().is_none_or(|kind| kind == "session_meta")
                && let Some(id) = line.payload.as_ref().and_then(|payload| payload.id.clone())
            {
                self.session = id;
            }
            if let Some(model) = line.payload.as_ref().and_then(|payload| payload.model.clone()) {
                self.model = model;
            }
            let (id, model, usage) = match (line.message, line.payload.and_then(|payload| payload.info)) {
                (Some(Message { id, model, usage: Some(usage) }), _) => (id, model.unwrap_or_default(), usage),
                (_, Some(Info { model, last_token_usage: Some(usage), total_token_usage })) => {
                    if total_token_usage.is_some() && self.total == total_token_usage {
                        self.merged += 1;
                        continue;
                    }
                    self.total = total_token_usage;
                    let input = usage.input.saturating_sub(usage.cached);
                    let model = model.unwrap_or_else(|| self.model.clone());
                    self.apart += u64::from(usage.counts_reasoning_apart());
                    (None, model, Usage { input, cache_read: usage.cached, ..usage })
                }
                _ => {
                    self.others += 1;
                    continue;
                }
            };
            let time = line.timestamp.map_or("", |raw| raw.get().trim_matches('"'));
            let at = self.times.read(time.as_bytes()).map_err(|fault| fault.at(number))?;
            let price = line.cost.map(RawValue::get).filter(|price| *price != "null");
            let microusd = price.map(|price| dollars(price.as_bytes())).transpose();
            let microusd = microusd.map_err(|fault| fault.at(number).column("costUSD"))?;
            if let Some(known) = id.as_ref().and_then(|id| self.by_id.get(id)) {
                let answer = &mut self.answers[*known];
                (answer.usage, answer.microusd) = (usage, microusd);
                if !model.is_empty() {
                    answer.model = place_of(&mut self.models, model);
                }
                self.merged += 1;
                continue;
            }
            if let Some(id) = id {
                self.by_id.insert(id, self.answers.len());
            }
            let session = line.session.unwrap_or_else(|| self.session.clone());
            let session = place_of(&mut self.sessions, session);
            let model = place_of(&mut self.models, model);
            self.answers.push_back(Answer { at, session, usage, microusd, model });
        }
        self.read = true;
        self.by_id.clear();
        Ok(())
    }
}

/// Where `name` stands among `names`; at their end when it is new.
fn place_of(names: &mut Vec<String>, name: String) -> u32 {
    let place = names.iter().rposition(|known| *known == name).unwrap_or_else(|| {
        names.push(name);
        names.len() - 1
    });
    place as u32
}

impl Rows for Agent {
    fn next(&mut self, row: &mut Row) -> Result<bool, Box<Fault>> {
        if !self.read {
            self.read_all()?;
        }
        let Some(answer) = self.answers.pop_front() else { return Ok(false) };
        let Answer { at, session, usage, microusd, model } = answer;
        row.at = at;
        row.key.extend_from_slice(self.sessions[session as usize].as_bytes());
        (row.input_tokens, row.output_tokens) = (usage.input, usage.output);
        (row.cache_read_tokens, row.cache_write_tokens) = (usage.cache_read, usage.cache_write);
        // The last use of a message counts, so its price is known only now.
        row.microusd = microusd.unwrap_or_else(|| self.pricing.microusd(&self.models[model as usize], &usage.tokens()));
        Ok(true)
    }

    fn fields(&self) -> Fields {
        Fields::of(&[
            Field::Key,
            Field::Cost,
            Field::Input,
            Field::Output,
            Field::CacheRead,
            Field::CacheWrite,
            Field::Price,
        ])
    }

    fn has_models(&self) -> bool {
        true
    }

    fn clock(&self) -> Clock {
        self.times.clock()
    }

    fn line(&self) -> u64 {
        self.lines.number()
    }

    fn unended(&self) -> bool {
        !self.read && self.lines.unended()
    }

    fn finish(&mut self, notes: &mut Notes) {
        self.times.finish(notes);
        self.pricing.finish(notes);
        if self.merged > 0 {
            notes.guess(format!(
                "{} lines repeat or continue an answer and are merged into it: the last use counts",
                self.merged
            ));
        }
        if self.apart > 0 {
            notes.warning(format!(
                "{} totals in the file count tokens of reasoning beside those of the output; they are read as part of it, as Codex \
                 writes them, so that tokens and prices may be too low",
                self.apart
            ));
        }
        if self.others > 0 {
            notes.guess(format!("{} lines say nothing of tokens and are no requests", self.others));
        }
    }
}
