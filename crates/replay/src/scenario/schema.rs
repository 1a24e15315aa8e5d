//! The scenario format as a JSON Schema, for editors, and as the key tables of its documentation.

use super::client_keys::{CLIENT, NESTED, UPSTREAM};
use super::expects::{PEAK, Unit};
use super::keys::{DISTRIBUTION, EXPECT, Key, LIMITER, QUOTA, Section, TOP, Takes, sections};
use super::limiter::LOOP_BREAKER;
use super::pattern_keys::{PATTERNS, SHARED};
use super::variants::key_of;
use crate::expect::columns;
use limiters::{ALGORITHMS, Param, SERVERS};
use serde_json::{Map, Value, json};

/// The JSON Schema (draft 2020-12) of a scenario file.
pub fn schema() -> Value {
    let mut top = properties(&TOP);
    top.insert("quota".into(), object(&QUOTA, properties(&QUOTA)));
    top.insert("limiter".into(), array(limiter()));
    let patterns: Map<String, Value> = PATTERNS
        .iter()
        .map(|(name, section)| (name.to_string(), array(object(section, properties(section)))))
        .collect();
    top.insert("traffic".into(), json!({ "type": "object", "properties": patterns, "additionalProperties": false }));
    top.insert("client".into(), array(client()));
    top.insert("upstream".into(), object(&UPSTREAM, properties(&UPSTREAM)));
    top.insert("expect".into(), array(expect()));
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "workbench scenario",
        "type": "object",
        "properties": top,
        "required": ["quota"],
        "anyOf": [{ "required": ["traffic"] }, { "required": ["client"] }],
        "additionalProperties": false,
        "$defs": definitions(),
    })
}

const NUMBER: &str = r"[0-9][0-9_]*(\.[0-9][0-9_]*)?";
const UNIT: &str =
    "(ns|nanoseconds?|us|µs|μs|microseconds?|ms|milliseconds?|s|secs?|seconds?|m|mins?|minutes?|h|hr|hours?|d|days?)";

fn definitions() -> Value {
    let duration = format!(r"^\s*{NUMBER}\s*{UNIT}\s*$");
    let rate = format!(r"^\s*{NUMBER}\s*(/| per )\s*({NUMBER}\s*)?{UNIT}\s*$");
    let zero = r"^\s*[0_]+(\.[0_]+)?[^0-9._]";
    let money = r"^\s*\$\s*[0-9][0-9_]*(\.[0-9]{1,6}0*)?\s*$";
    let spread = |value: Value| {
        let shapes = [&["min", "max"][..], &["median", "p90"], &["mean"], &["min", "shape"]];
        let keys: Map<String, Value> = DISTRIBUTION
            .iter()
            .map(|name| (name.to_string(), if *name == "shape" { json!({ "type": "number" }) } else { value.clone() }))
            .collect();
        let any: Vec<Value> = shapes.iter().map(|required| json!({ "required": required })).collect();
        json!({ "type": "object", "properties": keys, "additionalProperties": false, "anyOf": any })
    };
    json!({
        "duration": { "type": "string", "pattern": duration, "not": { "pattern": zero } },
        "duration-or-zero": { "type": "string", "pattern": duration },
        "rate": { "anyOf": [
            { "type": "string", "pattern": rate, "not": { "pattern": zero } },
            { "type": "number", "exclusiveMinimum": 0 },
        ] },
        "rate-or-zero": { "anyOf": [{ "type": "string", "pattern": rate }, { "type": "number", "minimum": 0 }] },
        "limit-rate": { "type": "string", "pattern": rate.replacen(r"^\s*", r"^\s*\$?", 1), "not": { "pattern": zero } },
        "money": { "type": "string", "pattern": money },
        "signed-money": { "type": "string", "pattern": money.replacen(r"^\s*", r"^\s*-?", 1) },
        "spread": spread(json!({ "type": "number", "minimum": 0 })),
        "spread-of-money": spread(json!({ "$ref": "#/$defs/money" })),
        "spread-of-time": spread(json!({ "$ref": "#/$defs/duration-or-zero" })),
    })
}

fn reference(name: &str) -> Value {
    json!({ "$ref": format!("#/$defs/{name}") })
}

fn of(takes: Takes) -> Value {
    match takes {
        Takes::Text => json!({ "type": "string" }),
        Takes::Texts => json!({ "type": "array", "items": { "type": "string" } }),
        Takes::Flag => json!({ "type": "boolean" }),
        Takes::Whole { min, max: u64::MAX } => json!({ "type": "integer", "minimum": min }),
        Takes::Whole { min, max } => json!({ "type": "integer", "minimum": min, "maximum": max }),
        Takes::Decimal { above, or_equal: true } => json!({ "type": "number", "minimum": above }),
        Takes::Decimal { above, or_equal: false } => json!({ "type": "number", "exclusiveMinimum": above }),
        Takes::Permits { min } => json!({ "anyOf": [{ "type": "integer", "minimum": min }, reference("money")] }),
        Takes::Limit => {
            json!({ "anyOf": [{ "type": "integer", "minimum": 1 }, reference("limit-rate"), reference("money")] })
        }
        Takes::Duration { zero: false } => reference("duration"),
        Takes::Duration { zero: true } => reference("duration-or-zero"),
        Takes::Phase => json!({ "anyOf": [reference("duration"), {
            "type": "object",
            "properties": { "mean": reference("duration") },
            "required": ["mean"],
            "additionalProperties": false,
        }] }),
        Takes::Rate { zero: false } => reference("rate"),
        Takes::Rate { zero: true } => reference("rate-or-zero"),
        Takes::Amount { min } => json!({ "anyOf": [{ "type": "integer", "minimum": min }, reference("spread")] }),
        Takes::Price => json!({ "anyOf": [reference("money"), reference("spread-of-money")] }),
        Takes::Choice(words) => json!({ "enum": words }),
        Takes::Timestamp => json!({ "type": "string", "format": "date-time" }),
        Takes::Format => {
            json!({ "enum": traffic::traces::FORMATS.iter().map(|format| format.name).collect::<Vec<_>>() })
        }
        Takes::Retries => json!({ "enum": traffic::clients::retry_names() }),
        Takes::Spread => {
            json!({ "anyOf": [{ "type": "boolean" }, { "type": "integer", "minimum": 1, "maximum": u32::MAX }] })
        }
        Takes::Prices => json!({ "type": "object", "additionalProperties": { "type": "string" } }),
        Takes::Columns => {
            let names = json!({ "type": "array", "items": { "type": "string" }, "minItems": 1 });
            let roles: Vec<&str> = traffic::traces::roles().collect();
            json!({
                "type": "object",
                "propertyNames": { "enum": roles },
                "additionalProperties": { "anyOf": [{ "type": "string" }, names] },
            })
        }
        Takes::Time => json!({ "anyOf": [reference("duration-or-zero"), reference("spread-of-time")] }),
        Takes::Start => json!({ "anyOf": [reference("duration-or-zero"), {
            "type": "object",
            "properties": { "uniform": reference("duration") },
            "required": ["uniform"],
            "additionalProperties": false,
        }] }),
        Takes::Cost => json!({ "anyOf": [reference("money"), { "type": "object" }] }),
        Takes::WholeOr(min, word) => json!({ "anyOf": [{ "type": "integer", "minimum": min }, { "const": word }] }),
        Takes::TimeOr(word) => json!({ "anyOf": [reference("duration"), { "const": word }] }),
        Takes::Client => json!({ "enum": traffic::clients::PRESETS.iter().map(|one| one.name).collect::<Vec<_>>() }),
        Takes::Library => json!({ "enum": traffic::clients::LIBRARIES.iter().map(|one| one.name).collect::<Vec<_>>() }),
        Takes::Jitter => json!({ "anyOf": [
            { "enum": ["none", "full", "equal", "decorrelated"] },
            { "type": "string", "pattern": "^(down|plus-minus)-[0-9]{1,3}$" },
            {
                "type": "object",
                "properties": { "additive": reference("duration") },
                "required": ["additive"],
                "additionalProperties": false,
            },
        ] }),
        Takes::Statuses => {
            json!({ "type": "array", "items": { "type": "integer", "minimum": 400, "maximum": 599 } })
        }
        Takes::Calls => reference("limit-rate"),
        Takes::Outages => json!({ "type": "array", "items": {
            "type": "object",
            "properties": { "from": reference("duration-or-zero"), "to": reference("duration") },
            "required": ["from", "to"],
            "additionalProperties": false,
        } }),
        Takes::Requests => json!({
            "type": "object",
            "properties": {
                "steps": { "anyOf": [{ "type": "integer", "minimum": 1 }, reference("spread")] },
                "wait": { "anyOf": [reference("duration-or-zero"), reference("spread-of-time")] },
            },
            "required": ["steps", "wait"],
            "additionalProperties": false,
        }),
        Takes::Sweep => json!({ "type": "object", "additionalProperties": { "type": "array", "minItems": 1 } }),
    }
}

fn described(key: &Key) -> Value {
    let mut value = of(key.takes);
    let default = key.default.filter(|default| !default.is_empty()).map(|default| format!(" (default: {default})"));
    value["description"] = json!(format!("{}{}", key.doc, default.unwrap_or_default()));
    value
}

fn properties(section: &Section) -> Map<String, Value> {
    section.keys().map(|key| (key.name.to_string(), described(key))).collect()
}

fn object(section: &Section, properties: Map<String, Value>) -> Value {
    let required: Vec<&str> = section.keys().filter(|key| key.default.is_none()).map(|key| key.name).collect();
    json!({
        "description": section.doc,
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    })
}

fn array(items: Value) -> Value {
    json!({ "type": "array", "items": items })
}

/// `[[client]]` with its own tables; retry loops may be several.
fn client() -> Value {
    let mut all = properties(&CLIENT);
    for (name, section) in NESTED {
        let one = object(section, properties(section));
        let several = *name == "retry";
        let value = if several { json!({ "anyOf": [one, { "type": "array", "items": one }] }) } else { one };
        all.insert((*name).to_string(), value);
    }
    object(&CLIENT, all)
}

/// `[[limiter]]`: an algorithm decides which parameters there are, and a stack has none.
fn limiter() -> Value {
    let known = || ALGORITHMS.iter().chain(SERVERS);
    let common = properties(&LIMITER);
    let param = |param: &Param| (param.name.to_string(), described(&key_of(param)));
    let mut all = common.clone();
    for name in known().flat_map(|known| known.params).map(|param| param.name) {
        all.entry(name).or_insert(json!(true));
    }
    let mut schema = object(&LIMITER, all);
    schema["properties"]["algorithm"]["enum"] =
        known().map(|known| known.name).chain([LOOP_BREAKER]).chain(crate::peers::NAMES).collect();
    schema["anyOf"] = json!([{ "required": ["algorithm"] }, { "required": ["all-of"] }]);
    schema["allOf"] = known()
        .map(|known| {
            let own: Map<String, Value> = known.params.iter().map(param).collect();
            let names: Vec<&str> =
                LIMITER.keys().map(|key| key.name).chain(known.params.iter().map(|p| p.name)).collect();
            json!({
                "if": { "properties": { "algorithm": { "const": known.name } }, "required": ["algorithm"] },
                "then": { "properties": own, "propertyNames": { "enum": names } },
            })
        })
        .collect();
    schema
}

/// `[[expect]]`: every numeric column of summary.csv, by its unit.
fn expect() -> Value {
    let mut all = properties(&EXPECT);
    let peak = (PEAK.to_string(), Unit::Count, "most permits started in any interval of length `within`".to_string());
    let numeric = columns().iter().filter(|column| !column.text);
    let named = numeric.map(|column| (column.kebab.clone(), Unit::of(column), format!("column `{}`", column.name)));
    for (name, unit, doc) in named.chain([peak]) {
        let number = match unit {
            Unit::Count => json!({ "type": "integer", "minimum": 0 }),
            Unit::Ratio => json!({ "type": "number", "minimum": 0 }),
            Unit::Time => json!({ "anyOf": [{ "type": "integer", "minimum": 0 }, reference("duration-or-zero")] }),
            // What is saved may be a loss.
            Unit::Money => json!({ "anyOf": [{ "type": "integer", "minimum": 0 }, reference("signed-money")] }),
        };
        let between = json!({
            "type": "object",
            "properties": { "min": number, "max": number },
            "anyOf": [{ "required": ["min"] }, { "required": ["max"] }],
            "additionalProperties": false,
        });
        all.insert(name, json!({ "description": doc, "anyOf": [number, between] }));
    }
    let mut schema = object(&EXPECT, all);
    schema["dependentRequired"] = json!({ PEAK: ["within"], "within": [PEAK] });
    schema
}

/// Every table and key of the format, and every parameter of every algorithm, as Markdown.
pub fn key_tables() -> String {
    let mut text = String::new();
    let last = sections().position(|section| section.header == EXPECT.header).unwrap_or(0);
    for section in sections().take(last).chain([&SHARED, &EXPECT]) {
        let title =
            if section.header.is_empty() { "Top of the file".to_string() } else { format!("`{}`", section.header) };
        text.push_str(&format!(
            "### {title}\n\n{}\n\n| key | takes | default | meaning |\n|---|---|---|---|\n",
            section.doc
        ));
        let shared = |key: &Key| section.header.starts_with("[[traffic") && SHARED.key(key.name).is_some();
        for key in section.keys().filter(|key| section.header == SHARED.header || !shared(key)) {
            let default = key.default.unwrap_or("must be there");
            text.push_str(&row(&[&format!("`{}`", key.name), &key.takes.words(), default, key.doc]));
        }
        text.push('\n');
    }
    text.push_str("### Parameters of the algorithms\n\nIn a `[[limiter]]` with this `algorithm`; the default stands in brackets.\n\n");
    text.push_str("| algorithm | parameter | takes | meaning |\n|---|---|---|---|\n");
    for known in ALGORITHMS.iter().chain(SERVERS) {
        let name = if known.default { known.name.to_string() } else { format!("{} (only where named)", known.name) };
        if known.params.is_empty() {
            text.push_str(&row(&[&name, "none", "", known.summary]));
        }
        for param in known.params {
            text.push_str(&row(&[&name, &format!("`{}`", param.name), &key_of(param).takes.words(), param.doc]));
        }
    }
    text
}

fn row(cells: &[&str]) -> String {
    let cells: Vec<String> = cells.iter().map(|cell| cell.replace('|', "\\|")).collect();
    format!("| {} |\n", cells.join(" | "))
}

/// Names of the patterns of traffic with what they are, for lists.
pub fn patterns() -> impl Iterator<Item = (&'static str, &'static str)> {
    PATTERNS.iter().map(|(name, section)| (*name, section.doc))
}
