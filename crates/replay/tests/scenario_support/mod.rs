//! TOML as JSON, and a check of JSON against the words of JSON Schema that the scenario format uses.

#![allow(dead_code)] // each test file uses its own part

use regex_lite::Regex;
use serde_json::{Map, Value};
use toml::de::{DeTable, DeValue};

/// A TOML document as an editor's schema check sees it.
pub fn json(text: &str) -> Value {
    table(DeTable::parse(text).unwrap().get_ref())
}

fn table(table: &DeTable<'_>) -> Value {
    let entries = table.iter().map(|(key, item)| (key.get_ref().to_string(), value(item.get_ref())));
    Value::Object(entries.collect::<Map<_, _>>())
}

fn value(item: &DeValue<'_>) -> Value {
    match item {
        DeValue::String(text) => text.to_string().into(),
        DeValue::Integer(number) => number.as_str().parse::<i64>().unwrap().into(),
        // JSON has no `nan`: it becomes null, which no key takes.
        DeValue::Float(number) => number.as_str().parse::<f64>().unwrap().into(),
        DeValue::Boolean(flag) => (*flag).into(),
        DeValue::Datetime(instant) => instant.to_string().into(),
        DeValue::Array(list) => list.iter().map(|item| value(item.get_ref())).collect(),
        DeValue::Table(entries) => table(entries),
    }
}

/// The first place where `value` breaks `schema`, in words.
pub fn fault(schema: &Value, value: &Value) -> Option<String> {
    check(schema, schema, value, "")
}

fn check(root: &Value, schema: &Value, value: &Value, at: &str) -> Option<String> {
    let Some(words) = schema.as_object() else {
        return (schema == &Value::Bool(false)).then(|| format!("{at}: nothing may stand here"));
    };
    words
        .iter()
        .find_map(|(word, wanted)| {
            let holds = |schema: &Value| check(root, schema, value, at).is_none();
            let list = || wanted.as_array().unwrap().iter();
            let number = value.as_f64();
            let fine = match word.as_str() {
                "$schema" | "$defs" | "title" | "description" | "then" | "properties" => true,
                "format" => {
                    assert_eq!(wanted, "date-time");
                    value.as_str().is_some_and(|text| text.parse::<jiff::Timestamp>().is_ok())
                }
                "$ref" => holds(root.pointer(wanted.as_str().unwrap().trim_start_matches('#')).unwrap()),
                "type" => match wanted.as_str().unwrap() {
                    "object" => value.is_object(),
                    "array" => value.is_array(),
                    "string" => value.is_string(),
                    "boolean" => value.is_boolean(),
                    "integer" => value.is_i64() || value.is_u64(),
                    "number" => value.is_number(),
                    other => panic!("type {other} is not used here"),
                },
                "enum" => list().any(|one| one == value),
                "const" => wanted == value,
                "pattern" => {
                    value.as_str().is_none_or(|text| Regex::new(wanted.as_str().unwrap()).unwrap().is_match(text))
                }
                "minimum" => number.is_none_or(|number| number >= wanted.as_f64().unwrap()),
                "maximum" => number.is_none_or(|number| number <= wanted.as_f64().unwrap()),
                "exclusiveMinimum" => number.is_none_or(|number| number > wanted.as_f64().unwrap()),
                "minItems" => value.as_array().is_none_or(|items| items.len() as u64 >= wanted.as_u64().unwrap()),
                "required" => {
                    value.as_object().is_none_or(|object| list().all(|key| object.contains_key(key.as_str().unwrap())))
                }
                "dependentRequired" => value.as_object().is_none_or(|object| {
                    let needs = wanted.as_object().unwrap().iter().filter(|(key, _)| object.contains_key(*key));
                    needs
                        .flat_map(|(_, keys)| keys.as_array().unwrap())
                        .all(|key| object.contains_key(key.as_str().unwrap()))
                }),
                "anyOf" => list().any(holds),
                "allOf" => return list().find_map(|schema| check(root, schema, value, at)),
                "not" => !holds(wanted),
                "if" => !holds(wanted) || holds(&schema["then"]),
                "items" => {
                    let items = value.as_array().into_iter().flatten().enumerate();
                    return items
                        .into_iter()
                        .find_map(|(index, item)| check(root, wanted, item, &format!("{at}/{index}")));
                }
                "propertyNames" => {
                    let names = value.as_object().into_iter().flat_map(Map::keys);
                    return names
                        .into_iter()
                        .find_map(|name| check(root, wanted, &name.as_str().into(), &format!("{at}/{name}")));
                }
                "additionalProperties" => return members(root, schema, wanted, value, at),
                other => panic!("the check does not know the word {other}"),
            };
            (!fine).then(|| format!("{at}: {word}"))
        })
        .or_else(|| match words.contains_key("additionalProperties") {
            true => None,
            false => members(root, schema, &Value::Bool(true), value, at),
        })
}

/// `properties`, and `others` for the rest.
fn members(root: &Value, schema: &Value, others: &Value, value: &Value, at: &str) -> Option<String> {
    value.as_object()?.iter().find_map(|(name, member)| {
        let wanted = schema["properties"].get(name).unwrap_or(others);
        check(root, wanted, member, &format!("{at}/{name}"))
    })
}
