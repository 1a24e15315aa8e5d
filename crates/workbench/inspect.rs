//! `workbench inspect`: what a recorded file holds, and what is doubtful about it.

use crate::cli::InspectArgs;
use crate::made::unwritten;
use crate::problem::{Problem, print};
use crate::text::{Table, each};
use crate::trace_args;
use replay::inspect::{self, Inspection, Loaded};
use replay::scenario::words;
use report::Files;
use report::number::{count, duration, percent};
use std::fmt::Write;
use std::io::{self, BufWriter};
use std::path::Path;
use traffic::traces::Clock;

/// Reads the file and says what it holds.
pub fn inspect(args: &InspectArgs) -> Result<(), Problem> {
    let trace = trace_args::read(&args.file, &args.read, "")?;
    let mut windows = each("--window", &args.window, words::duration)?;
    windows.sort_unstable();
    windows.dedup();
    if let Some(target) = &args.convert {
        fits(target)?;
    }
    let files = args.out.as_deref().map(Files::create).transpose().map_err(unwritten)?;
    let file = crate::progress::load(&trace)?;
    let found = inspect::inspect(&file, &windows, args.top);
    let found = found.map_err(|message| Problem::input(format!("error: {message}")))?;
    let (mut made, mut complete) = (String::new(), Vec::new());
    if let Some(mut files) = files {
        let table = files.table("gaps.csv", &found.gaps.rows).map_err(unwritten)?;
        let figure = files.picture(&report::pictures::gaps(&found.gaps.rows)).map_err(unwritten)?;
        let _ = writeln!(made, "\ntable: {}\nfigure: {}", table.display(), figure.display());
        complete.push(files);
    }
    if let Some(target) = &args.convert {
        let (files, said) = convert(&file, target)?;
        made.push_str(&said);
        complete.push(files);
    }
    complete.into_iter().try_for_each(Files::commit).map_err(unwritten)?;
    if args.json {
        let json = serde_json::to_string_pretty(&found).map_err(|error| Problem::input(format!("error: {error}")))?;
        return print(&format!("{json}\n"));
    }
    print(&format!("{}{made}", text(&found)))
}

/// Whether a file may be written as `target`.
fn fits(target: &Path) -> Result<(), Problem> {
    let name = target.to_string_lossy();
    if name.ends_with(".parquet") && !cfg!(feature = "parquet") {
        let build = "build it with `cargo build --release --features parquet`";
        return Err(Problem::input(format!("error: --convert {name}: this build does not write Parquet; {build}")));
    }
    if ![".csv", ".csv.gz", ".parquet"].iter().any(|end| name.ends_with(end)) {
        return Err(Problem::input(format!("error: --convert {name}: the name must end in .csv, .csv.gz or .parquet")));
    }
    if target.exists() {
        return Err(Problem::input(format!("error: --convert {name}: there is such a file already; name a new one")));
    }
    Ok(())
}

/// The requests in the workbench's own form, complete but not in their place, and what is said of them.
fn convert(file: &Loaded, target: &Path) -> Result<(Files, String), Problem> {
    let failed = |error: io::Error| Problem::input(format!("error: --convert {}: {error}", target.display()));
    let mut source = file.source().map_err(|error| failed(io::Error::other(error)))?;
    let start = (file.clock == Clock::Wall).then(|| inspect::instant(file.start));
    let name_start = |out: &mut dyn io::Write| match &start {
        Some(start) => writeln!(out, "# {} {start}", traffic::COUNTS_FROM),
        None => Ok(()),
    };
    let files = Files::beside(target);
    let mut files = files.map_err(|error| unwritten(format!("--convert {}: {error}", target.display())))?;
    let written = (|| {
        let mut out = BufWriter::with_capacity(1 << 16, files.file(target.file_name().unwrap_or_default())?);
        let (rows, out) = match target.extension().and_then(|extension| extension.to_str()) {
            #[cfg(feature = "parquet")]
            Some("parquet") => (traffic::write_parquet(&mut source, file.start, start.clone(), &mut out)?, out),
            Some("gz") => {
                let mut gz = flate2::write::GzEncoder::new(out, flate2::Compression::default());
                name_start(&mut gz)?;
                (traffic::write_csv(&mut source, file.start, &mut gz)?, gz.finish()?)
            }
            _ => {
                name_start(&mut out)?;
                (traffic::write_csv(&mut source, file.start, &mut out)?, out)
            }
        };
        out.into_inner().map_err(io::IntoInnerError::into_error)?.sync_all()?;
        Ok(rows)
    })();
    let rows = written.map_err(failed)?;
    let zero = start.map_or_else(String::new, |start| format!("; its times count from {start}, which it says"));
    Ok((files, format!("\nconverted: {} rows to {}{zero}\n", count(rows), target.display())))
}

fn text(found: &Inspection) -> String {
    let mut text = format!("{}: {}, {} bytes\n", found.file, found.format, count(found.bytes));
    let mut say = |name: &str, value: String| {
        let _ = writeln!(text, "  {name:<14} {value}");
    };
    let skipped = if found.skipped > 0 { format!(", {} left out", count(found.skipped)) } else { String::new() };
    say("requests", format!("{}{skipped}", count(found.rows)));
    let from = match &found.first {
        Some(first) => format!(", from {first}"),
        None if found.first_ns > 0 => format!(", first {} after the start", duration(found.first_ns as f64)),
        None => String::new(),
    };
    say("span", format!("{}{from}", duration(found.span_ns as f64)));
    // A single request, or several at one time, have no rate.
    say(
        "mean rate",
        match found.rows < 2 || found.span_ns == 0 {
            true => "–".to_owned(),
            false => report::number::rate(found.rows as f64 * 1e9 / found.span_ns as f64),
        },
    );
    say("keys", count(found.keys));
    say(
        "resolution",
        match found.resolution_ns {
            0 => "all times are equal".to_owned(),
            length => {
                format!("{}; most at one time: {}", duration(length as f64), count(found.largest_burst))
            }
        },
    );
    say(
        "order",
        match found.backward_steps {
            0 => "in order".to_owned(),
            steps => format!(
                "{} rows earlier than the row before, by up to {}",
                count(steps),
                duration(found.largest_backward_step_ns as f64)
            ),
        },
    );
    let refused = found.status_429 + found.status_503;
    say(
        "refused",
        match refused {
            0 => "none seen (no status 429 or 503)".to_owned(),
            _ => format!(
                "{} of all: {} with 429, {} with 503",
                percent(refused as f64 / found.rows as f64),
                count(found.status_429),
                count(found.status_503)
            ),
        },
    );
    let gaps = &found.gaps;
    if gaps.count > 0 {
        let of = |gap: u64| duration(gap as f64);
        say(
            "gaps",
            format!(
                "p1 {}, p10 {}, median {}, p90 {}, p99 {}, longest {}; {} of length 0{}",
                of(gaps.p1_ns),
                of(gaps.p10_ns),
                of(gaps.p50_ns),
                of(gaps.p90_ns),
                of(gaps.p99_ns),
                of(gaps.max_ns),
                count(gaps.zero),
                gaps.variation.map_or_else(String::new, |cv| format!("; variation {cv:.2} (independent arrivals: 1)")),
            ),
        );
    }
    for amount in &found.amounts {
        let _ = writeln!(
            text,
            "\nbusiest windows, {} ({} in all, at most {} a request)",
            amount.meter,
            count(amount.total),
            count(amount.largest)
        );
        let mut table = Table::new(&["window", "sliding", "aligned", "one key", "busiest from the start"]);
        for window in &amount.windows {
            let one = if found.keys > 1 {
                format!("{} ({})", count(window.one_key), window.busiest_key)
            } else {
                "-".to_owned()
            };
            table.row([
                duration(window.window_ns as f64),
                count(window.sliding),
                count(window.aligned),
                one,
                duration(window.sliding_from_ns as f64),
            ]);
        }
        text.push_str(&table.text());
    }
    if found.keys > 1 {
        text.push_str("\nkeys with most requests\n");
        let mut table = Table::new(&["key", "requests", "of all"]);
        for key in &found.top_keys {
            table.row([key.key.clone(), count(key.requests), percent(key.share)]);
        }
        text.push_str(&table.text());
    }
    for note in &found.notes {
        let _ = write!(text, "\n{}: {}", note.kind, note.text);
    }
    if !found.notes.is_empty() {
        text.push('\n');
    }
    text
}
