//! The flags that describe a recorded file, as the same description a scenario gives.

use crate::cli::{ReadArgs, TraceArgs};
use crate::problem::Problem;
use crate::text::one;
use replay::diagnose::{Diagnostic, Place, valid_values};
use replay::scenario::words;
use std::num::NonZeroU32;
use std::path::Path;
use traffic::prices::Price;
use traffic::spec::{KeyNormalise, Said, Trace};
use traffic::traces::{Where, WhereError};

/// The file that replaces a scenario's traffic, if one is named.
pub fn trace(args: &TraceArgs) -> Result<Option<Trace>, Problem> {
    let retry_as = args.retry_as.as_deref().map(|name| one("--retry-as", name, retries)).transpose()?;
    let within = args.retry_within.as_deref();
    let retry_within = within.map(|text| one("--retry-within", text, words::duration)).transpose()?;
    let Some(path) = &args.trace else {
        let message = match (retry_as, args.read.given()) {
            (Some(name), _) => format!(
                "--retry-as {name}: this is for the file of --trace, and none is named; for a file that the scenario names, write \
                 retry-as = \"{name}\" under its [[traffic.trace]], or add --trace FILE"
            ),
            (None, Some(flag)) => format!(
                "{flag} says how to read the file of --trace, and none is named; add --trace FILE, or, for a file that the \
                 scenario names, say it under its [[traffic.trace]]"
            ),
            (None, None) => return Ok(None),
        };
        return Err(Problem::input(format!("error: {message}")));
    };
    Ok(Some(Trace { retry_as, retry_within, ..read(path, &args.read, "--trace ")? }))
}

/// The recorded file at `path`; an error names it after `flag`.
pub fn read(path: &Path, args: &ReadArgs, flag: &str) -> Result<Trace, Problem> {
    if path.as_os_str() != "-" && !path.exists() {
        return Err(Problem::input(format!("error: {flag}{}: no such file", path.display())));
    }
    if path.is_dir() {
        let shown = path.display();
        return Err(Problem::input(format!("error: {flag}{shown}: this is a directory; name a file in it")));
    }
    let formats: Vec<&str> = traffic::traces::FORMATS.iter().map(|format| format.name).collect();
    let columns: Vec<_> = args.column.iter().map(|column| role(column)).collect::<Result<_, _>>()?;
    let mut key_by = Vec::new();
    if let Some(names) = &args.key_by {
        key_by.extend(names.split(',').map(|name| name.trim().to_owned()));
        if key_by.iter().any(String::is_empty) || columns.iter().any(|(role, _)| role == "key") {
            let message = "name parts with commas between them, and the key only once";
            return Err(Problem::input(format!("error: --key-by {names}: {message}")));
        }
    }
    if let Some(text) = &args.filter {
        Where::parse(text).map_err(|error| wrong_filter(text, error))?;
    }
    let spread = args.spread.as_deref().map(|text| one("--spread", text, spread)).transpose()?;
    let prices = args.prices.iter().map(|text| one("--prices", text, price)).collect::<Result<_, _>>()?;
    let normalise = one_of("--key-normalise", args.key_normalise.as_deref(), &["none", "address"])?;
    Ok(Trace {
        path: path.to_owned(),
        format: one_of("--format", args.format.as_deref(), &formats)?,
        columns,
        time_unit: one_of("--time-unit", args.time_unit.as_deref(), &["ns", "us", "ms", "s"])?,
        repeat: 1,
        key_normalise: match normalise.as_deref() {
            Some("address") => KeyNormalise::Address,
            _ => KeyNormalise::None,
        },
        skip_bad_rows: args.skip_bad_rows,
        max_bad_rows: args.max_bad_rows,
        filter: args.filter.clone(),
        key_by,
        spread: spread.map(|(spread, _)| spread),
        spread_over: spread.and_then(|(_, over)| over),
        prices,
        said: Said::Flags,
        ..Trace::default()
    })
}

/// The flags as a shell takes them, each with a space before it.
pub fn written(args: &ReadArgs) -> String {
    let mut text = String::new();
    let say = |text: &mut String, flag: &str, value: &str| {
        let plain = |c: char| c.is_ascii_alphanumeric() || "-_=+.,/:".contains(c);
        let value = match value.chars().all(plain) {
            true => value.to_owned(),
            false => format!("'{}'", value.replace('\'', "'\\''")),
        };
        text.push_str(&format!(" {flag} {value}"));
    };
    args.column.iter().for_each(|column| say(&mut text, "--column", column));
    args.prices.iter().for_each(|price| say(&mut text, "--prices", price));
    for (flag, value) in [
        ("--format", &args.format),
        ("--where", &args.filter),
        ("--key-by", &args.key_by),
        ("--time-unit", &args.time_unit),
        ("--key-normalise", &args.key_normalise),
    ] {
        value.iter().for_each(|value| say(&mut text, flag, value));
    }
    match args.spread.as_deref() {
        Some("true") => text.push_str(" --spread"),
        Some(other) => text.push_str(&format!(" --spread={other}")),
        None => {}
    }
    if let Some(most) = args.max_bad_rows {
        say(&mut text, "--max-bad-rows", &most.to_string());
    }
    if args.skip_bad_rows {
        text.push_str(" --skip-bad-rows");
    }
    text
}

/// Whether totals are spread, and over how many requests where somebody says so.
fn spread(text: &str) -> Result<(bool, Option<NonZeroU32>), String> {
    match (text, text.parse()) {
        ("true", _) => Ok((true, None)),
        ("false", _) => Ok((false, None)),
        (_, Ok(over)) => Ok((true, Some(over))),
        _ => Err("true, false, or over how many requests each total is spread, from 1 to 4294967295".to_owned()),
    }
}

/// `MODEL=PRICE`.
fn price(text: &str) -> Result<(String, String), String> {
    let split = text.rsplit_once('=').filter(|(model, _)| !model.is_empty());
    let (model, price) = split.ok_or("write MODEL=PRICE, such as gpt-5.2-codex=gpt-5")?;
    Price::given(price).map(|_| (model.to_owned(), price.to_owned()))
}

/// The name of a client or library.
fn retries(name: &str) -> Result<String, String> {
    let names = traffic::clients::retry_names();
    match names.contains(&name) {
        true => Ok(name.to_owned()),
        false => Err(valid_values(name, "clients and libraries", &names).join("; ")),
    }
}

fn one_of(flag: &str, value: Option<&str>, valid: &[&str]) -> Result<Option<String>, Problem> {
    let Some(value) = value else { return Ok(None) };
    if valid.contains(&value) {
        return Ok(Some(value.to_owned()));
    }
    Err(Problem::input(format!("error: {flag} {value}: valid values are {}", valid.join(", "))))
}

/// What is wrong with an expression, with a caret at its place.
fn wrong_filter(text: &str, error: WhereError) -> Problem {
    let place = Some(Place::of(text, error.place));
    let WhereError { message, notes, .. } = error;
    Problem::input(format!("error: {}", Diagnostic { path: "--where".into(), place, message, notes }))
}

/// `cost=input+output` as the role and its columns.
fn role(text: &str) -> Result<(String, Vec<String>), Problem> {
    let roles: Vec<&str> = traffic::traces::roles().collect();
    let split = text.split_once('=').filter(|(role, columns)| roles.contains(role) && !columns.is_empty());
    let (role, columns) = split.ok_or_else(|| {
        Problem::input(format!("error: --column {text}: write ROLE=COLUMN with one of {}", roles.join(", ")))
    })?;
    Ok((role.to_owned(), columns.split('+').map(str::to_owned).collect()))
}
