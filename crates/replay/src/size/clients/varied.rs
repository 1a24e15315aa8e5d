//! The limiter that is varied: a plain one, or one of the file's, with a place for the quota of each setting.

use crate::diagnose::valid_values;
use crate::scenario::{LimiterSpec, QuotaSpec, Scenario, What};
use crate::size::value::permits;
use crate::size::{Family, Given, Sizable, unit_name};
use limiters::{Accounting, Meter, Quota, Span, algorithm};
use traffic::words;

/// The algorithm of a budget.
const CAP: &str = "spend-cap";

/// Which limiter is varied.
pub enum Which<'a> {
    /// A plain one in place of all of the file's.
    Plain {
        /// Its algorithm.
        algorithm: &'a str,
        /// What it counts; the scenario's own meter when absent.
        meter: Option<Meter>,
        /// Whether each key has its own although the scenario does not say so.
        per_key: bool,
    },
    /// One of the file's, by its label, with its own algorithm, key and answers; the other parts of a stack stay as they are.
    OfFile(&'a str),
}

/// What there is to choose.
#[derive(Clone, Copy)]
pub enum Kind {
    /// A rate and a burst, or a length and a limit.
    Sized(Sizable),
    /// A budget.
    Cap,
}

/// A limiter with its place for a quota.
pub struct Varied {
    /// What it is in the scenario.
    template: LimiterSpec,
    /// Which part of a stack is varied.
    part: Option<usize>,
    /// What there is to choose.
    pub kind: Kind,
    /// Its label in the file; `None` for a plain one.
    pub of_file: Option<String>,
}

/// A setting: what is given, and the value to it.
pub(super) type Setting = (Given, u64);

impl Varied {
    /// Finds what is to be varied in `scenario`.
    ///
    /// # Errors
    /// A complete text: which flag is at fault, and what would be right.
    pub fn of(scenario: &Scenario, which: &Which<'_>) -> Result<Varied, String> {
        match *which {
            Which::Plain { algorithm, meter, per_key } => plain(scenario, algorithm, meter, per_key),
            Which::OfFile(label) => of_file(scenario, label),
        }
    }

    fn varied(&self) -> &LimiterSpec {
        match (&self.template.what, self.part) {
            (What::AllOf(parts), Some(part)) => &parts[part],
            _ => &self.template,
        }
    }

    /// Its algorithm's name in the registry.
    pub fn algorithm(&self) -> &'static str {
        self.varied().algorithm()
    }

    /// What it counts.
    pub fn meter(&self) -> Meter {
        self.varied().meter
    }

    /// Whether each key has a limiter of its own.
    pub fn per_key(&self) -> bool {
        self.varied().per_key
    }

    /// When it charges.
    pub fn accounting(&self) -> Accounting {
        self.varied().accounting
    }

    /// Labels of the parts that stay as they are.
    pub fn kept(&self) -> Vec<&str> {
        let others =
            self.template.parts().enumerate().filter(|(index, _)| self.part.is_some_and(|part| part != *index));
        others.map(|(_, part)| part.label.as_str()).collect()
    }

    /// How a refusal of it is answered, in words.
    pub fn answers(&self) -> String {
        use limiters::RetryAfter::{Full, NextPermit, None, QueueAware, WindowReset};
        let response = self.varied().response;
        let hint = match response.retry_after {
            None => "no Retry-After",
            NextPermit => "the next permit as Retry-After",
            WindowReset(_) => "the end of the window as Retry-After",
            Full => "the time until it is full as Retry-After",
            QueueAware(_) => "each client's own place in a queue as Retry-After",
        };
        format!("status {} and {hint}", response.status)
    }

    /// A setting as people write it, money exactly: it is set somewhere, and a micro-dollar less would refuse somebody.
    pub fn name(&self, (given, value): (Given, u64)) -> String {
        let amount = |amount: u64| match self.meter() {
            Meter::Spend => permits(amount, Meter::Spend).trim_matches('"').to_owned(),
            _ => words::count(amount),
        };
        match self.kind {
            Kind::Cap => format!("cap {}", amount(value)),
            Kind::Sized(Sizable { family: Family::Window, .. }) => {
                format!("{} in {}", amount(value), Span(given.window))
            }
            Kind::Sized(_) => {
                let unit = unit_name(given.window);
                let per = if unit.is_empty() { Span(given.window).to_string() } else { unit.to_owned() };
                format!("{}/{per}, burst {}", amount(given.limit), amount(value))
            }
        }
    }

    /// The quota of a setting.
    pub(super) fn quota(&self, (given, value): Setting) -> Quota {
        match self.kind {
            Kind::Sized(sized) => given.quota(sized.family, value),
            Kind::Cap => Quota { limit: value, window: given.window, burst: value },
        }
    }

    /// The limiter with a setting.
    pub(super) fn spec(&self, setting: Setting) -> Result<LimiterSpec, String> {
        let quota = self.quota(setting);
        let mut spec = self.template.clone();
        let part = match (&mut spec.what, self.part) {
            (What::AllOf(parts), Some(part)) => &mut parts[part],
            _ => &mut spec,
        };
        if let What::Algorithm { settings, .. } = &mut part.what {
            settings.quota = quota;
        }
        let name = self.name(setting);
        if let Some(Err(error)) = part.build(0) {
            return Err(format!("{name}: {error}"));
        }
        spec.label = name;
        spec.registered = false;
        Ok(spec)
    }
}

fn plain(scenario: &Scenario, name: &str, meter: Option<Meter>, per_key: bool) -> Result<Varied, String> {
    let kind = kind(name).ok_or_else(|| {
        let flag = format!("--algorithm {name}");
        match Sizable::named(name) {
            Err(message) => format!("{flag}: {message}, {CAP}"),
            Ok(_) => flag,
        }
    })?;
    let meter = match (kind, meter) {
        (Kind::Cap, Some(other)) if other != Meter::Spend => {
            return Err(format!("--meter {}: a {CAP} is a budget of money; leave the flag out", other.name()));
        }
        (Kind::Cap, _) => Meter::Spend,
        (Kind::Sized(_), meter) => meter.unwrap_or(scenario.quota.meter),
    };
    let quota = QuotaSpec { meter, per_key: per_key || scenario.quota.per_key, ..scenario.quota };
    let known = algorithm(name).ok_or_else(|| format!("--algorithm {name}: not registered"))?;
    let mut template = LimiterSpec::registered(known, quota);
    if matches!(kind, Kind::Cap) {
        // What a call costs is known when it is over.
        template.accounting = Accounting::Post;
    }
    Ok(Varied { template, part: None, kind, of_file: None })
}

fn kind(name: &str) -> Option<Kind> {
    if name == CAP {
        return Some(Kind::Cap);
    }
    Sizable::named(name).ok().map(Kind::Sized)
}

fn of_file(scenario: &Scenario, label: &str) -> Result<Varied, String> {
    let flag = format!("--vary {label}");
    let template = scenario.limiters.iter().find(|spec| spec.label == label).ok_or_else(|| {
        let valid: Vec<&str> = scenario.labels().collect();
        format!(
            "{flag}: no limiter of {} is called so; {}",
            scenario.path.display(),
            valid_values(label, "labels", &valid).join("; ")
        )
    })?;
    let parts: Vec<(usize, Kind)> =
        template.parts().enumerate().filter_map(|(index, part)| Some((index, kind(part.algorithm())?))).collect();
    let rates: Vec<&(usize, Kind)> = parts.iter().filter(|(_, kind)| matches!(kind, Kind::Sized(_))).collect();
    // Of a stack of a rate and a cap the rate is what is sized; a cap is a promise about money.
    let (part, kind) = match (&rates[..], &parts[..]) {
        ([only], _) => **only,
        ([], [only]) => *only,
        ([], []) => {
            let what = template.algorithm();
            return Err(format!("{flag}: it is of `{what}`, which has no rate, limit or budget to vary"));
        }
        _ => return Err(format!("{flag}: the stack has several parts that could be varied; name one of them instead")),
    };
    let part = matches!(template.what, What::AllOf(_)).then_some(part);
    let varied = Varied { template: template.clone(), part, kind, of_file: Some(label.to_owned()) };
    // A parameter of its own may decide what the quota decides elsewhere.
    let shown = |limit: u64, burst: u64| {
        let mut part = varied.varied().clone();
        if let What::Algorithm { settings, .. } = &mut part.what {
            (settings.quota.limit, settings.quota.burst) = (limit, burst);
        }
        part.build(0).and_then(Result::ok).map(|rule| rule.parameters())
    };
    let same = match kind {
        Kind::Sized(Sizable { family: Family::Bucket, .. }) => {
            shown(1000, 7) == shown(1000, 8) || shown(1000, 7) == shown(2000, 7)
        }
        _ => shown(7, 7) == shown(8, 8),
    };
    match same {
        true => Err(format!(
            "{flag}: parameters of its own decide what `limit` and `burst` would ({}); write the limiter with those",
            shown(1000, 7).unwrap_or_default()
        )),
        false => Ok(varied),
    }
}
