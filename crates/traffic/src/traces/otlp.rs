//! OpenTelemetry spans in the JSON form of OTLP, as the collector's file exporter writes them: documents one after another.

use super::fault::Fault;
use super::field::{Field, Fields};
use super::format::{Clock, Format, Notes, Rows, Setup};
use super::number::{amount, digits};
use super::pricing::Pricing;
use super::row::Row;
use super::time::Times;
use crate::prices::Tokens;
use serde::Deserialize;
use serde_json::StreamDeserializer;
use serde_json::de::IoRead;
use std::io::BufRead;

/// The entry of the registry. Names: OpenTelemetry protocol (OTLP/JSON) and semantic conventions for HTTP and generative AI.
pub(super) const FORMAT: Format = Format {
    name: "otlp",
    summary: "OpenTelemetry spans (OTLP in JSON)",
    recognised_by: "a JSON document with resourceSpans",
    time: "startTimeUnixNano of spans of servers and of calls to models",
    key: "the attribute enduser.id, user.id, session.id, client.address or the like; else the service's name",
    cost: "1; gen_ai.usage.input_tokens and output_tokens, cached ones apart; the price of the model in the price list",
    detect: |head| {
        let text = head.bytes.trim_ascii_start();
        text.strip_prefix(b"{").is_some_and(|text| text.trim_ascii_start().starts_with(b"\"resourceSpans\""))
    },
    open,
};

/// Attributes that say whose request it is, the best first.
const KEYS: [&str; 9] = [
    "enduser.id",
    "user.id",
    "session.id",
    "gen_ai.conversation.id",
    "client.address",
    "http.client_ip",
    "network.peer.address",
    "net.sock.peer.addr",
    "net.peer.ip",
];

#[derive(Deserialize)]
struct Document {
    #[serde(rename = "resourceSpans", default)]
    resources: Vec<ResourceSpans>,
}

#[derive(Deserialize)]
struct ResourceSpans {
    resource: Option<Resource>,
    #[serde(rename = "scopeSpans", default)]
    scopes: Vec<ScopeSpans>,
}

#[derive(Deserialize)]
struct Resource {
    #[serde(default)]
    attributes: Vec<Attribute>,
}

#[derive(Deserialize)]
struct ScopeSpans {
    #[serde(default)]
    spans: Vec<Span>,
}

#[derive(Deserialize)]
struct Span {
    #[serde(rename = "startTimeUnixNano")]
    start: Option<Scalar>,
    kind: Option<Scalar>,
    #[serde(default)]
    attributes: Vec<Attribute>,
}

#[derive(Deserialize)]
struct Attribute {
    key: String,
    value: Option<Value>,
}

#[derive(Deserialize)]
struct Value {
    #[serde(rename = "stringValue")]
    string: Option<String>,
    #[serde(rename = "intValue")]
    int: Option<Scalar>,
}

/// A 64-bit number, which OTLP writes as a string and some write as a number; or a name.
#[derive(Deserialize)]
#[serde(untagged)]
enum Scalar {
    Number(u64),
    Text(String),
}

impl Scalar {
    fn text(&self) -> String {
        match self {
            Scalar::Number(number) => number.to_string(),
            Scalar::Text(text) => text.clone(),
        }
    }
}

/// The first of the attributes called `names`, as text.
fn find(attributes: &[Attribute], names: &[&str]) -> Option<String> {
    names.iter().find_map(|name| {
        let value = attributes.iter().find(|attribute| attribute.key == *name)?.value.as_ref()?;
        value.string.clone().or_else(|| value.int.as_ref().map(Scalar::text))
    })
}

struct Otlp {
    documents: StreamDeserializer<'static, IoRead<Box<dyn BufRead + Send>>, Document>,
    times: Times,
    /// Spans of the document at hand, the last one first, with the name of their service.
    spans: Vec<(String, Span)>,
    number: u64,
    others: u64,
    pricing: Pricing,
}

fn open(setup: Setup<'_>) -> Result<Box<dyn Rows>, Box<Fault>> {
    setup.no_columns(FORMAT.name)?;
    let pricing = Pricing::new(setup.spec)?;
    let documents = serde_json::Deserializer::from_reader(setup.input.reader).into_iter();
    let times = Times::new("startTimeUnixNano", Some("ns"))?;
    Ok(Box::new(Otlp { documents, times, spans: Vec::new(), number: 0, others: 0, pricing }))
}

impl Otlp {
    fn next_document(&mut self) -> Result<bool, Box<Fault>> {
        let Some(document) = self.documents.next() else { return Ok(false) };
        let document = document.map_err(|error| match error.io_error_kind() {
            _ if error.is_eof() => Fault::file("the file is cut off within a JSON document").at(error.line() as u64),
            Some(kind) => Fault::io(&kind.into()),
            None => Fault::file(format!("not OTLP in JSON ({error})")).at(error.line() as u64),
        })?;
        for resource in document.resources {
            let attributes = resource.resource.map_or(Vec::new(), |resource| resource.attributes);
            let service = find(&attributes, &["service.name"]).unwrap_or_default();
            let spans = resource.scopes.into_iter().flat_map(|scope| scope.spans);
            self.spans.extend(spans.map(|span| (service.clone(), span)));
        }
        self.spans.reverse();
        Ok(true)
    }
}

impl Rows for Otlp {
    fn next(&mut self, row: &mut Row) -> Result<bool, Box<Fault>> {
        let (service, span) = loop {
            if let Some((service, span)) = self.spans.pop() {
                self.number += 1;
                let kind = span.kind.as_ref().map(Scalar::text);
                let is_server = matches!(kind.as_deref(), Some("2" | "SPAN_KIND_SERVER"));
                if is_server || span.attributes.iter().any(|attribute| attribute.key.starts_with("gen_ai.usage.")) {
                    break (service, span);
                }
                self.others += 1;
            } else if !self.next_document()? {
                return Ok(false);
            }
        };
        let at = |mut fault: Box<Fault>| {
            fault.message = format!("span {}: {}", self.number, fault.message);
            fault
        };
        let start = span.start.map_or(String::new(), |start| start.text());
        row.at = self.times.read(start.as_bytes()).map_err(at)?;
        let get = |names: &[&str]| find(&span.attributes, names);
        row.key.extend_from_slice(get(&KEYS).unwrap_or(service).as_bytes());
        let tokens = |names: &[&str]| {
            get(names).map_or(Ok(0), |text| {
                amount(text.as_bytes(), "number of tokens").map_err(|fault| fault.column(names[0]))
            })
        };
        row.input_tokens = tokens(&["gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens"]).map_err(at)?;
        row.cache_read_tokens = tokens(&["gen_ai.usage.cache_read.input_tokens"]).map_err(at)?;
        row.cache_write_tokens = tokens(&["gen_ai.usage.cache_creation.input_tokens"]).map_err(at)?;
        // By the convention those are among the input tokens; where there are more of them, they cannot be.
        let cached = row.cache_read_tokens.saturating_add(row.cache_write_tokens);
        row.input_tokens = row.input_tokens.checked_sub(cached).unwrap_or(row.input_tokens);
        row.output_tokens = tokens(&["gen_ai.usage.output_tokens", "gen_ai.usage.completion_tokens"]).map_err(at)?;
        let model = get(&["gen_ai.response.model", "gen_ai.request.model"]).unwrap_or_default();
        let used = Tokens {
            input: row.input_tokens,
            output: row.output_tokens,
            cache_read: row.cache_read_tokens,
            cache_write: row.cache_write_tokens,
            cache_write_hour: 0,
        };
        row.microusd = self.pricing.microusd(&model, &used);
        let status = get(&["http.response.status_code", "http.status_code"]).unwrap_or_default();
        row.status = digits(status.as_bytes()).and_then(|status| status.try_into().ok()).unwrap_or(0);
        row.method.extend_from_slice(get(&["http.request.method", "http.method"]).unwrap_or_default().as_bytes());
        row.path.extend_from_slice(get(&["url.path", "http.target", "http.route"]).unwrap_or_default().as_bytes());
        Ok(true)
    }

    fn fields(&self) -> Fields {
        Fields::of(&[
            Field::Key,
            Field::Cost,
            Field::Method,
            Field::Path,
            Field::Status,
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

    /// Spans are counted, since documents are often one line.
    fn line(&self) -> u64 {
        self.number
    }

    fn unended(&self) -> bool {
        false
    }

    fn nothing(&self) -> String {
        format!("none of its {} spans is of a server or of a call to a model", self.others)
    }

    fn finish(&mut self, notes: &mut Notes) {
        self.pricing.finish(notes);
        if self.others > 0 {
            let others = self.others;
            notes
                .guess(format!("{others} spans are neither of a server nor of a call to a model, and are no requests"));
        }
    }
}
