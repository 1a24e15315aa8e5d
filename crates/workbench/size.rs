//! `workbench size`: the smallest limits that recorded traffic would not feel.

use crate::cli::SizeArgs;
use crate::made::{Made, unwritten, writable};
use crate::problem::{Problem, print};
use crate::size_clients;
use crate::size_text;
use crate::text::{each, one};
use crate::trace_args;
use limiters::{Meter, Nanos, Rate};
use replay::diagnose::valid_values;
use replay::inspect::{Loaded, Metered};
use replay::scenario::words;
use replay::servers::{self, Scope, Setting};
use replay::size::frontier::{self, FrontierRow, Sides};
use replay::size::keys::{self, Crowd, Loss};
use replay::size::{
    Ask, Candidate, Demand, Family, Given, Plan, Refused, Share, Sizable, Written, plan, rates, scenario,
};
use report::Files;
use serde_json::json;
use std::fs;
use std::path::{Component, Path, PathBuf};
use traffic::spec::Trace;
use traffic::{Note, NoteKind, TrafficError};

/// Everything that was found.
pub struct Found<'a> {
    /// The file.
    pub file: &'a Loaded,
    /// What is counted.
    pub meter: Meter,
    /// What it asks for.
    pub demand: &'a Demand,
    /// What was asked of the plan.
    pub ask: &'a Ask<'a>,
    /// All candidates.
    pub plan: &'a Plan,
    /// Settings that run today.
    pub today: Vec<Today>,
    /// Keys that the proposal refuses, or, where it refuses nobody, those that 1 % refused would touch.
    pub losses: Option<Losses>,
    /// Where the crowd of keys ends, at the proposal's rate or window.
    pub crowd: Option<Crowd>,
    /// The proposal for servers that limit requests by buckets, and what each would have refused as it stands, which may be
    /// one limit for all keys, where it can be run here.
    pub pasted: Vec<(servers::Pasted, Option<Refused>)>,
    /// Saved against lost, with the recommended row.
    pub frontier: Option<(Vec<FrontierRow>, Option<FrontierRow>)>,
}

/// A setting that runs today, with what it would have refused.
pub struct Today {
    /// The setting.
    pub setting: Setting,
    /// What it refuses.
    pub refused: Refused,
    /// Keys that feel it.
    pub losses: Vec<Loss>,
}

/// Who loses what under a value.
pub struct Losses {
    /// The burst or limit.
    pub value: u64,
    /// Keys, most refused first.
    pub keys: Vec<Loss>,
}

/// Reads the file, looks at every rate or window, and says what to take.
pub fn size(args: &SizeArgs) -> Result<(), Problem> {
    let Some(trace) = &args.trace else {
        // One of the two is named.
        return args.scenario.as_ref().map_or(Ok(()), |path| size_clients::size(args, path));
    };
    for (flag, given, why) in [
        ("--burst", args.burst.first(), "for a recorded file the least burst, limit or budget is found"),
        ("--vary", args.vary.as_ref(), "a recorded file has no limiters"),
    ] {
        if let Some(value) = given {
            return Err(Problem::input(format!("error: {flag} {value}: only with --scenario; {why}")));
        }
    }
    let algorithm = args.algorithm.as_deref().unwrap_or("token-bucket");
    let sized = one("--algorithm", algorithm, Sizable::named)?;
    let meter = one("--meter", args.meter.as_deref().unwrap_or("requests"), meter)?;
    let blocked = one("--blocked-at-most", &args.blocked_at_most, words::share)?;
    let holdout = one("--holdout", &args.holdout, words::share)?;
    let keys_at = args.keys_at.as_deref().map(|text| one("--keys-at", text, share_of_keys)).transpose()?;
    let amount =
        |flag: &str, text: &Option<String>| text.as_deref().map(|text| one(flag, text, words::amount_per)).transpose();
    let peak = amount("--peak-at-most", &args.peak_at_most)?;
    let backend = amount("--backend-at-most", &args.backend_at_most)?;
    let spend = amount("--spend-at-most", &args.spend_at_most)?;
    let windows = each("--limit-window", &args.limit_window, words::duration)?;
    let mut wanted = each("--rate", &args.rate, given)?;
    wanted.sort_by_key(|one| u128::from(one.limit) * 1_000_000_000_000_000_000 / u128::from(one.window));
    wanted.dedup();
    let settings = each("--limiter", &args.limiter, servers::read)?;
    let trace = trace_args::read(trace, &args.read, "--trace ")?;
    if let Some(target) = &args.write {
        writable(target)?;
        if trace.path.as_os_str() == "-" {
            let message = "a scenario cannot name standard input; save the traffic in a file first";
            return Err(Problem::input(format!("error: --write {}: {message}", target.display())));
        }
    }
    let files = args.out.as_deref().map(Files::create).transpose().map_err(unwritten)?;
    let mut file = crate::progress::load(&trace)?;
    file.notes.extend(no_rate(&file));
    let file = file;
    let failed = |message: String| Problem::input(format!("error: {message}"));
    let per_key = args.per_key || args.read.key_by.is_some();
    let demand = Demand::of(&file, meter, per_key).map_err(failed)?;
    // What a server's setting counts, whatever is sized.
    let counted = match meter {
        Meter::Requests => demand.clone(),
        _ => Demand::of(&file, Meter::Requests, per_key).map_err(failed)?,
    };
    let prices = match spend {
        Some(_) => {
            Some(Metered::of(&file, Meter::Spend).map_err(|message| failed(format!("--spend-at-most: {message}")))?)
        }
        None => None,
    };
    let ask = Ask {
        given: match sized.family {
            Family::Bucket if wanted.is_empty() => rates(&demand).map_err(unread)?,
            Family::Bucket => wanted,
            Family::Window => lengths(windows, &file),
        },
        sized,
        blocked,
        holdout,
        peak,
        backend,
        spend: spend.zip(prices.as_ref()).map(|((most, window), prices)| (most, window, prices)),
        keys_at,
    };
    let needs = |given: Given| keys::needs(&demand, &ask.sized, given).map_err(unread);
    let known = ask.given.first().map(|&one| needs(one)).transpose()?.flatten();
    if keys_at.is_some() && known.is_none() {
        let which = "buckets, sliding-window-log and fixed-window say what a single key needs";
        return Err(failed(format!("--keys-at: {which}, {algorithm} does not")));
    }
    let sides = sides(args, &file)?;
    let plan = plan(&demand, &ask).map_err(unread)?;
    let chosen = plan.chosen.map(|index| &plan.candidates[index]);
    let tried = sides.map(|(rogue, legit, worth, unit)| {
        let rows = frontier::frontier(
            &demand,
            &ask.sized,
            &ask.given,
            &Sides { rogue: &rogue, legit: &legit, worth: worth.as_ref(), unit },
        );
        let rows = rows.map_err(unread)?;
        let best = frontier::recommended(&rows, if blocked.0 == 0 { (0, 1) } else { blocked }).cloned();
        Ok((rows, best))
    });
    let tried = tried.transpose()?;
    let crowd = chosen.filter(|_| per_key).map(|one| needs(one.given)).transpose()?.flatten();
    let scope = Scope::of(&trace, file.format, per_key);
    let found = Found {
        pasted: chosen.map(|one| pasted(&demand, &ask, meter, &scope, one)).transpose()?.unwrap_or_default(),
        losses: chosen.map(|one| losses(&demand, &ask, one)).transpose()?.flatten(),
        crowd: crowd.and_then(|needs| keys::crowd(&needs)),
        today: settings.into_iter().map(|setting| today(&counted, setting)).collect::<Result<_, _>>()?,
        file: &file,
        meter,
        demand: &demand,
        ask: &ask,
        plan: &plan,
        frontier: tried,
    };
    let mut made = files.map(|files| fill(&found, files)).transpose()?.unwrap_or_default();
    if let (Some(target), Some(chosen)) = (&args.write, chosen) {
        made.scenario(target, &scenario_of(&found, &trace, target, chosen)?)?;
    }
    let made = made.commit()?;
    match args.json {
        true => print(&format!("{:#}\n", json_of(&found)))?,
        false => print(&format!("{}{}{made}", size_text::text(&found), if made.is_empty() { "" } else { "\n" }))?,
    }
    match chosen {
        Some(_) => Ok(()),
        None => Err(Problem::Broken(size_text::nothing_fits(&found))),
    }
}

/// The meter of this name.
pub fn meter(text: &str) -> Result<Meter, String> {
    let names = Meter::ALL.map(|(_, name)| name);
    let found = Meter::ALL.iter().find(|(_, name)| *name == text).map(|(meter, _)| *meter);
    found.ok_or_else(|| valid_values(text, "meters", &names).join("; "))
}

/// What is doubtful about traffic that has no rate.
fn no_rate(file: &Loaded) -> Option<Note> {
    let what = match file.rows() {
        0 => return None,
        1 => "the file holds a single request".to_owned(),
        all if file.resolution == 0 => format!("all {all} requests come at the same time"),
        _ => return None,
    };
    let text = format!(
        "{what}, so it has no rate: a limit sized on it says what that moment asks for, and nothing about what refill or \
         window the traffic needs; size on a longer recording"
    );
    Some(Note { kind: NoteKind::Warning, text })
}

/// A share of keys from above 0 to 100 %.
fn share_of_keys(text: &str) -> Result<Share, String> {
    match text.trim() {
        "100%" => Ok((1, 1)),
        text => words::share(text)
            .and_then(|share| if share.0 == 0 { Err("0 % of keys is nobody".to_owned()) } else { Ok(share) }),
    }
}

/// A rate in a unit of time that people set limits in.
pub fn given(text: &str) -> Result<Given, String> {
    let (limit, window) = words::amount_per(text)?;
    Ok(Given { limit, window })
}

/// The windows that were asked for, or lengths that fit at least twice into the traffic: a longer one is not seen to limit it.
fn lengths(asked: Vec<Nanos>, file: &Loaded) -> Vec<Given> {
    const SECOND: Nanos = 1_000_000_000;
    let usual = [1, 10, 60, 600, 3600, 86_400].map(|seconds| seconds * SECOND);
    let fitting = usual.into_iter().filter(|length| *length == SECOND || *length <= file.span / 2);
    let windows = if asked.is_empty() { fitting.collect() } else { asked };
    windows.into_iter().map(|window| Given { limit: 1, window }).collect()
}

type SidesOwned = (Vec<bool>, Vec<bool>, Option<Metered>, &'static str);

fn sides(args: &SizeArgs, file: &Loaded) -> Result<Option<SidesOwned>, Problem> {
    if args.rogue.is_empty() {
        return Ok(None);
    }
    let marked = |flag: &str, wanted: &[String]| {
        let mut marks = vec![false; file.keys()];
        for name in wanted {
            let names = || (0..file.keys() as u64).map(|key| file.key_name(key));
            let at = names().position(|known| known == *name).ok_or_else(|| {
                let names: Vec<String> = names().collect();
                let near = replay::diagnose::nearest(name, names.iter().map(String::as_str));
                let near = near.map_or_else(String::new, |near| format!("; did you mean {near}?"));
                Problem::input(format!("error: {flag} {name}: no key of {} is called so{near}", file.path))
            })?;
            marks[at] = true;
        }
        Ok::<_, Problem>(marks)
    };
    let rogue = marked("--rogue", &args.rogue)?;
    let mut legit = marked("--legit", &args.legit)?;
    if let Some(both) = (0..rogue.len()).find(|&key| rogue[key] && legit[key]) {
        return Err(Problem::input(format!("error: --legit {}: the key is rogue too", file.key_name(both as u64))));
    }
    if args.legit.is_empty() {
        legit = rogue.iter().map(|rogue| !rogue).collect();
    }
    let (meter, unit) = match file.has {
        (_, true) => (Meter::Spend, "micro-dollars"),
        (true, false) => (Meter::Tokens, "tokens"),
        _ => return Ok(Some((rogue, legit, None, "permits"))),
    };
    let worth = Metered::of(file, meter).map_err(|message| Problem::input(format!("error: {message}")))?;
    Ok(Some((rogue, legit, Some(worth), unit)))
}

fn today(demand: &Demand, setting: Setting) -> Result<Today, Problem> {
    let rule = setting.rule().map_err(|error| Problem::input(format!("error: {}: {error}", setting.label)))?;
    let refused = demand.refused(rule.as_ref()).map_err(unread)?;
    Ok(Today { refused, losses: keys::losses(demand, rule.as_ref()).map_err(unread)?, setting })
}

/// What is said when the rows cannot be read back.
fn unread(error: TrafficError) -> Problem {
    Problem::input(format!("error: {error}"))
}

fn losses(demand: &Demand, ask: &Ask<'_>, chosen: &Candidate) -> Result<Option<Losses>, Problem> {
    let value = if chosen.refused.requests > 0 { Some(chosen.value) } else { chosen.at[chosen.at.len() - 1] };
    let rule = value.and_then(|value| Some((value, chosen.given.rule(&ask.sized, value)?)));
    let Some((value, rule)) = rule else { return Ok(None) };
    Ok(Some(Losses { value, keys: keys::losses(demand, rule.as_ref()).map_err(unread)? }))
}

/// The proposal for servers that limit requests by buckets, with what each refuses.
fn pasted(
    demand: &Demand,
    ask: &Ask<'_>,
    meter: Meter,
    scope: &Scope,
    chosen: &Candidate,
) -> Result<Vec<(servers::Pasted, Option<Refused>)>, Problem> {
    let plain = replay::size::UNITS.iter().any(|(unit, _)| *unit == chosen.given.window);
    if ask.sized.family != Family::Bucket || !plain || meter != Meter::Requests {
        return Ok(Vec::new());
    }
    let all = servers::paste(chosen.given.limit, chosen.given.window, chosen.value, scope).into_iter().map(|one| {
        let rule = servers::read(&one.setting).ok().and_then(|setting| setting.rule().ok());
        let own = Demand { per_key: one.keyed, ..demand.clone() };
        let refused = rule.map(|rule| own.refused(rule.as_ref())).transpose().map_err(unread)?;
        Ok((one, refused))
    });
    all.collect()
}

impl Found<'_> {
    /// The candidate to take.
    pub fn chosen(&self) -> Option<&Candidate> {
        self.plan.chosen.map(|index| &self.plan.candidates[index])
    }
}

fn fill(found: &Found<'_>, mut files: Files) -> Result<Made, Problem> {
    let rows = found.plan.rows(found.demand, found.ask, found.meter.name());
    let mut tables = vec![files.table("size.csv", &rows).map_err(unwritten)?];
    let dots: Vec<report::pictures::Dot> = found.today.iter().filter_map(|today| dot(found, &today.setting)).collect();
    let mut figures = vec![files.picture(&report::pictures::size(&rows, &dots)).map_err(unwritten)?];
    if let Some((rows, best)) = &found.frontier {
        tables.push(files.table("frontier.csv", rows).map_err(unwritten)?);
        figures.push(files.picture(&report::pictures::frontier(rows, best.as_ref())).map_err(unwritten)?);
    }
    Ok(Made::new(files, &tables, &figures))
}

/// Where today's setting lies among the curves; nowhere among those of windows, or of anything but requests.
fn dot(found: &Found<'_>, setting: &Setting) -> Option<report::pictures::Dot> {
    let comparable = found.ask.sized.family == Family::Bucket && found.meter == Meter::Requests;
    let unit = found.ask.given.first().filter(|_| comparable)?.window;
    let per_unit = |rate: Rate| rate.permits() as f64 * unit as f64 / rate.per() as f64;
    Some((setting.label.clone(), per_unit(setting.rate), setting.burst as f64))
}

fn scenario_of(found: &Found<'_>, trace: &Trace, target: &Path, chosen: &Candidate) -> Result<String, Problem> {
    let mut analysis = size_text::reasons(found, chosen);
    for (pasted, _) in &found.pasted {
        analysis.push_str(&format!(
            "\n\n{}:\n\n    {}\n\n{}",
            pasted.server,
            pasted.text.replace('\n', "\n    "),
            pasted.really
        ));
    }
    let path = seen_from(&trace.path, target.parent().unwrap_or(Path::new("")))
        .map_err(|message| Problem::input(format!("error: --write: {message}")))?;
    let near = Trace { path, ..trace.clone() };
    Ok(scenario(&Written {
        trace: &near,
        sized: &found.ask.sized,
        quota: chosen.given.quota(found.ask.sized.family, chosen.value),
        meter: found.meter,
        per_key: found.demand.per_key,
        requests: found.demand.len() as u64,
        admitted: found.demand.len() as u64 - chosen.refused.requests,
        command: &command(),
        analysis: &analysis,
    }))
}

/// The command that runs, as a shell takes it.
pub fn command() -> String {
    let words: Vec<String> = std::env::args().skip(1).map(|arg| quoted(&arg)).collect();
    format!("workbench {}", words.join(" "))
}

/// An argument as a shell takes it.
fn quoted(arg: &str) -> String {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "-_./:=,%+".contains(letter);
    if !arg.is_empty() && arg.chars().all(plain) { arg.to_owned() } else { format!("'{}'", arg.replace('\'', "'\\''")) }
}

/// The path of `file` as seen from the folder `from`.
pub fn seen_from(file: &Path, from: &Path) -> Result<PathBuf, String> {
    let whole = |path: &Path| {
        let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
        fs::canonicalize(path).map_err(|error| format!("{}: {error}", path.display()))
    };
    let (file, from) = (whole(file)?, whole(from)?);
    let shared = file.components().zip(from.components()).take_while(|(a, b)| a == b).count();
    let up = from.components().skip(shared).map(|_| Component::ParentDir);
    Ok(up.chain(file.components().skip(shared)).collect())
}

impl Found<'_> {
    /// The most that the proposal ever lets through in a window, where that is proven.
    pub fn bound(&self, chosen: &Candidate, window: Nanos) -> Option<u128> {
        let rule = chosen.given.rule(&self.ask.sized, chosen.value)?;
        rule.envelope(window.saturating_sub(1), self.demand.largest())
    }
}

fn json_of(found: &Found<'_>) -> serde_json::Value {
    let rows = found.plan.rows(found.demand, found.ask, found.meter.name());
    let loss = |loss: &Loss| {
        json!({
            "key": found.file.key_name(loss.key), "requests": loss.requests, "refused": loss.refused,
        })
    };
    let today = found.today.iter().map(|today| {
        json!({
            "setting": today.setting.label,
            "meter": Meter::Requests.name(),
            "refused": today.refused.requests,
            "refused_permits": today.refused.permits,
            "keys_touched": today.losses.len(),
            "most_affected": today.losses.iter().take(10).map(loss).collect::<Vec<_>>(),
        })
    });
    let pasted = found.pasted.iter().map(|(one, refused)| {
        json!({
            "server": one.server, "text": one.text, "setting": one.setting, "really": one.really,
            "per_key": one.keyed, "refused": refused.map(|refused| refused.requests),
        })
    });
    json!({
        "file": found.file.path,
        "rows": rows,
        "chosen": rows.iter().find(|row| row.chosen),
        "today": today.collect::<Vec<_>>(),
        "most_affected": found.losses.as_ref().map(|all| json!({
            "value": all.value, "keys": all.keys.iter().take(10).map(loss).collect::<Vec<_>>(),
        })),
        "crowd": found.crowd.map(|crowd| json!({
            "keys": crowd.keys, "need": crowd.need, "others": crowd.others, "others_from": crowd.others_from,
        })),
        "frontier": found.frontier.as_ref().map(|(rows, best)| json!({ "rows": rows, "recommended": best })),
        "paste": pasted.collect::<Vec<_>>(),
        "notes": found.file.notes.iter().map(|note| note.text.clone()).collect::<Vec<_>>(),
    })
}
