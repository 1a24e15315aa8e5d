//! The flags that describe a recorded file, as the same description a scenario gives.

use crate::cli::{ReadArgs, TraceArgs};
use crate::problem::Problem;
use std::path::Path;
use traffic::spec::{KeyNormalise, Trace};

/// The file that replaces a scenario's traffic, if one is named.
pub fn trace(args: &TraceArgs) -> Result<Option<Trace>, Problem> {
    match (&args.trace, args.read.given()) {
        (Some(path), _) => read(path, &args.read, "--trace ").map(Some),
        (None, Some(flag)) => Err(Problem::input(format!(
            "error: {flag} says how to read a recorded file, but none is named: add --trace FILE"
        ))),
        (None, None) => Ok(None),
    }
}

/// The recorded file at `path`; an error names it after `flag`.
pub fn read(path: &Path, args: &ReadArgs, flag: &str) -> Result<Trace, Problem> {
    if path.as_os_str() != "-" && !path.exists() {
        return Err(Problem::input(format!("error: {flag}{}: no such file", path.display())));
    }
    let formats: Vec<&str> = traffic::traces::FORMATS.iter().map(|format| format.name).collect();
    let mut columns: Vec<_> = args.column.iter().map(|column| role(column)).collect::<Result<_, _>>()?;
    if let Some(names) = &args.key_by {
        let names: Vec<String> = names.split(',').map(|name| name.trim().to_owned()).collect();
        if names.iter().any(String::is_empty) || columns.iter().any(|(role, _)| role == "key") {
            let message = "name columns with commas between them, and the key only once";
            return Err(Problem::input(format!("error: --key-by {}: {message}", args.key_by.as_deref().unwrap_or(""))));
        }
        columns.push(("key".to_owned(), names));
    }
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
        ..Trace::default()
    })
}

fn one_of(flag: &str, value: Option<&str>, valid: &[&str]) -> Result<Option<String>, Problem> {
    let Some(value) = value else { return Ok(None) };
    if valid.contains(&value) {
        return Ok(Some(value.to_owned()));
    }
    Err(Problem::input(format!("error: {flag} {value}: valid values are {}", valid.join(", "))))
}

/// `cost=input+output` as the role and its columns.
fn role(text: &str) -> Result<(String, Vec<String>), Problem> {
    const ROLES: [&str; 6] = ["time", "key", "cost", "input-tokens", "output-tokens", "price"];
    let split = text.split_once('=').filter(|(role, columns)| ROLES.contains(role) && !columns.is_empty());
    let (role, columns) = split.ok_or_else(|| {
        Problem::input(format!("error: --column {text}: write ROLE=COLUMN with one of {}", ROLES.join(", ")))
    })?;
    Ok((role.to_owned(), columns.split('+').map(str::to_owned).collect()))
}
