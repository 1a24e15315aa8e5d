//! `workbench size --scenario`: what each setting of one limiter saves of rogue clients' bill, against the useful work it costs.

use crate::check::load;
use crate::cli::SizeArgs;
use crate::made::{Made, unwritten, writable};
use crate::problem::{Problem, print};
use crate::progress::bar;
use crate::size::{command, given, meter, seen_from};
use crate::size_clients_text as said;
use crate::text::{each, one};
use limiters::Meter;
use replay::scenario::{Scenario, words};
use replay::size::clients::{self, Asked, Found, Kind, Varied, Which};
use report::Files;
use serde_json::json;
use std::fs;
use std::path::Path;

/// What was looked at, and what came of it.
pub struct Looked<'a> {
    /// The scenario as it was read.
    pub scenario: &'a Scenario,
    /// What was asked.
    pub asked: &'a Asked<'a>,
    /// What was found.
    pub found: &'a Found,
}

/// Plays every setting, and says which to take.
pub fn size(args: &SizeArgs, path: &Path) -> Result<(), Problem> {
    if let Some(flag) = args.read.given() {
        let message = "says how to read the file of --trace; a scenario says it in [[traffic.trace]]";
        return Err(Problem::input(format!("error: {flag}: {message}")));
    }
    let scenarios = load(&[path.to_owned()])?;
    let scenario = &scenarios[0];
    let failed = |message: String| Problem::input(format!("error: {message}"));
    let which = match &args.vary {
        Some(label) => Which::OfFile(label),
        None => Which::Plain {
            algorithm: args.algorithm.as_deref().unwrap_or("token-bucket"),
            meter: args.meter.as_deref().map(|text| one("--meter", text, meter)).transpose()?,
            per_key: args.per_key,
        },
    };
    let varied = Varied::of(scenario, &which).map_err(failed)?;
    let asked = asked(args, scenario, &varied)?;
    if let Some(target) = &args.write {
        if let Some(label) = &varied.of_file {
            let message =
                "a plain limiter can be written; one of the file's has its own table there: change its limit and burst";
            return Err(failed(format!("--write {}: {message} (--vary {label})", target.display())));
        }
        writable(target)?;
    }
    let files = args.out.as_deref().map(Files::create).transpose().map_err(unwritten)?;
    let bar = bar(&scenario.name, args.json);
    let found = clients::frontier(&asked, &|all, played| {
        bar.set_length(all as u64);
        bar.set_position(played as u64);
    });
    bar.finish_and_clear();
    let found = found.map_err(failed)?;
    let looked = Looked { scenario, asked: &asked, found: &found };
    let mut made = files.map(|files| fill(&found, files)).transpose()?.unwrap_or_default();
    if let (Some(target), Some(best)) = (&args.write, found.best) {
        made.scenario(target, &written(&looked, target, best)?)?;
    }
    let made = made.commit()?;
    match args.json {
        true => print(&format!("{:#}\n", json_of(&looked)))?,
        false => print(&format!("{}{}{made}", said::text(&looked), if made.is_empty() { "" } else { "\n" }))?,
    }
    if !found.violations.is_empty() {
        return Err(Problem::Broken(found.violations.join("\n")));
    }
    match &args.write {
        Some(target) if found.best.is_none() => {
            let message = "no setting is recommended, so no scenario is written";
            Err(Problem::Broken(format!("error: --write {}: {message}", target.display())))
        }
        _ => Ok(()),
    }
}

/// The flags as they are asked, each in the unit of what the limiter counts.
fn asked<'a>(args: &'a SizeArgs, scenario: &'a Scenario, varied: &'a Varied) -> Result<Asked<'a>, Problem> {
    let spend = varied.meter() == Meter::Spend;
    let family = match varied.kind {
        Kind::Sized(sized) => Some(sized.family),
        Kind::Cap => None,
    };
    let mean_nothing = [
        ("--rate", &args.rate, replay::size::Family::Bucket, "rate"),
        ("--limit-window", &args.limit_window, replay::size::Family::Window, "window"),
    ];
    for (flag, values, of, what) in mean_nothing {
        if let (Some(value), true) = (values.first(), family != Some(of)) {
            let name = varied.algorithm();
            return Err(Problem::input(format!("error: {flag} {value}: {name} has no {what} to choose")));
        }
    }
    let money = |text: &str| match (text.contains('$'), spend) {
        (true, false) => Err(format!("the limiter counts {}, not money", varied.meter().name())),
        (false, true) => Err("the limiter counts money; write it in dollars, such as $5".to_owned()),
        _ => Ok(()),
    };
    let mut rates = each("--rate", &args.rate, |text| money(text).and_then(|()| given(text)))?;
    rates.sort_by_key(|one| u128::from(one.limit) * 1_000_000_000_000_000_000 / u128::from(one.window));
    rates.dedup();
    let mut values = each("--burst", &args.burst, |text| money(text).and_then(|()| words::permits(text)))?;
    values.sort_unstable();
    values.dedup();
    Ok(Asked {
        scenario,
        rogue: &args.rogue,
        legit: &args.legit,
        varied,
        rates,
        windows: each("--limit-window", &args.limit_window, words::duration)?,
        values,
        allowed: one("--blocked-at-most", &args.blocked_at_most, words::share)?,
    })
}

fn fill(found: &Found, mut files: Files) -> Result<Made, Problem> {
    let table = files.table("frontier.csv", &found.rows).map_err(unwritten)?;
    let figure = files.picture(&report::pictures::clients_frontier(&found.rows)).map_err(unwritten)?;
    Ok(Made::new(files, &[table], &[figure]))
}

fn written(looked: &Looked<'_>, target: &Path, best: usize) -> Result<String, Problem> {
    let (found, scenario) = (looked.found, looked.scenario);
    let wrong = |message: String| Problem::input(format!("error: --write {}: {message}", target.display()));
    let source = fs::read_to_string(&scenario.path).map_err(|error| wrong(error.to_string()))?;
    let folder = target.parent().unwrap_or(Path::new(""));
    let near = |path: &Path| seen_from(path, folder);
    clients::written(&clients::Written {
        scenario,
        source: &source,
        clients: &found.clients,
        varied: looked.asked.varied,
        row: &found.rows[best],
        target,
        near: &near,
        command: &command(),
        analysis: &format!("`{}`, {}", said::name(looked, &found.rows[best]), said::reason(looked)),
    })
    .map_err(wrong)
}

fn json_of(looked: &Looked<'_>) -> serde_json::Value {
    let (asked, found) = (looked.asked, looked.found);
    json!({
        "scenario": looked.scenario.path,
        "seed": looked.scenario.seed,
        "duration_ns": found.duration,
        "rogue": found.sides.rogue,
        "legit": found.sides.legit,
        "neither": found.sides.neither,
        "limiter": {
            "algorithm": asked.varied.algorithm(),
            "meter": asked.varied.meter().name(),
            "per_key": asked.varied.per_key(),
            "of_file": asked.varied.of_file,
            "kept": asked.varied.kept(),
            "left_out": found.left_out,
            "answers": asked.varied.answers(),
            "stands": said::places(looked),
        },
        "rows": found.rows,
        "without": found.without,
        "recommended": found.best.map(|best| &found.rows[best]),
        "because": said::reason(looked),
        "other_seeds": found.again,
        "worst_bill_microusd": found.played.as_ref().and_then(|row| row.worst_bill_microusd),
        "notes": found.notes.iter().map(|(_, text)| text).collect::<Vec<_>>(),
    })
}
