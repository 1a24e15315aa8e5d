//! What the page sets: one limiter in the words of a scenario file, read by the scenario parser so that both accept the same.

use limiters::{Algorithm, Nanos, Quota, algorithm};
use replay::diagnose::Diagnostic;
use replay::scenario::{LimiterSpec, Scenario, What};
use serde::Serialize;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use traffic::spec::Amount;

/// The limiter in front of `/call`, as JSON and scenario files write it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Settings {
    /// Name in the registry.
    pub algorithm: String,
    /// Permits per window; 1 to [`MOST`].
    pub limit: u64,
    /// A length of time such as `5s`.
    pub window: String,
    /// Permits at one instant; 1 to [`MOST`]. Windows ignore it.
    pub burst: u64,
    /// The algorithm's own parameters.
    pub params: BTreeMap<String, String>,
    /// Money for a permit, such as `$0.008`.
    pub price: String,
    /// A budget in front of the call beside the algorithm; none when absent.
    pub cap: Option<String>,
    /// `global` or `per-key`.
    pub scope: String,
}

/// Largest limit and burst, so that a log of a key stays below 16 MB.
pub const MOST: u64 = 1_000_000;
/// Longest text of a setting.
const LONGEST: usize = 64;

/// A field that cannot be used, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Name of the field.
    pub field: String,
    /// What is wrong and what would be right.
    pub detail: String,
}

impl Fault {
    /// A fault of `field`.
    pub fn new(field: impl Into<String>, detail: impl Into<String>) -> Fault {
        Fault { field: field.into(), detail: detail.into() }
    }
}

/// Settings that were understood.
#[derive(Clone, Debug)]
pub struct Understood {
    /// The algorithm's part.
    pub rate: LimiterSpec,
    /// The budget's part.
    pub cap: Option<LimiterSpec>,
    /// Micro-dollars for a permit.
    pub price: u64,
    /// The quota that all algorithms share.
    pub quota: Quota,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            algorithm: "token-bucket".into(),
            limit: 10,
            window: "5s".into(),
            burst: 10,
            params: BTreeMap::new(),
            price: "$0.008".into(),
            cap: None,
            scope: "global".into(),
        }
    }
}

/// What [`Settings::understand`] calls the limiter; a registered algorithm's own name would be taken for it.
pub const LABEL: &str = "the page's";
const RATE_LABEL: &str = "the page's rate";
const CAP_LABEL: &str = "the page's cap";

impl Settings {
    /// These settings with the fields of a JSON object in their place. Another algorithm begins without parameters.
    pub fn merged(&self, json: &Value) -> Result<Settings, Fault> {
        let object = json.as_object().ok_or_else(|| Fault::new("body", "a JSON object with settings"))?;
        let mut merged = self.clone();
        if object.get("algorithm").and_then(Value::as_str).is_some_and(|name| name != self.algorithm) {
            merged.params.clear();
        }
        for (field, value) in object {
            match field.as_str() {
                "algorithm" => merged.algorithm = known(value)?.name.into(),
                "limit" => merged.limit = whole(field, value)?,
                "burst" => merged.burst = whole(field, value)?,
                "window" => merged.window = text(field, value)?,
                "price" => merged.price = text(field, value)?,
                "scope" => merged.scope = text(field, value)?,
                "cap" if value.is_null() => merged.cap = None,
                "cap" => merged.cap = Some(text(field, value)?),
                "params" => merged.params = params(value)?,
                _ => {
                    let valid = "algorithm, limit, window, burst, params, price, cap, scope";
                    return Err(Fault::new(field, format!("no such setting; there are {valid}")));
                }
            }
        }
        Ok(merged)
    }

    /// Reads the settings with the scenario parser.
    pub fn understand(&self) -> Result<Understood, Fault> {
        let lines = self.lines();
        let mut toml = String::new();
        for (_, line) in &lines {
            toml.push_str(line);
            toml.push('\n');
        }
        let scenario = Scenario::parse_text(&toml).map_err(|problems| {
            let field = |problem: &Diagnostic| {
                let line = problem.place.as_ref().and_then(|place| lines.get(place.line - 1));
                line.map_or("settings", |(field, _)| field.as_str())
            };
            // A price that no budget holds may be the consequence of a budget that was not understood.
            let problem = problems.iter().find(|problem| field(problem) != "price").or(problems.first());
            let Some(problem) = problem else { return Fault::new("settings", "not understood") };
            let field = field(problem);
            let detail = std::iter::once(&problem.message).chain(&problem.notes).cloned().collect::<Vec<_>>();
            Fault::new(field, detail.join("; "))
        })?;
        let limiter = scenario.limiters.first().ok_or_else(|| Fault::new("algorithm", "no limiter"))?;
        let mut parts = limiter.parts().cloned();
        let rate = parts.next().ok_or_else(|| Fault::new("algorithm", "no limiter"))?;
        if let Some(Err(error)) = rate.build(0) {
            return Err(Fault::new(error.param, error.message));
        }
        let price = match scenario.patterns.first().and_then(|pattern| pattern.price.clone()) {
            Some(Amount::Constant(price)) => price,
            _ => 0,
        };
        Ok(Understood { rate, cap: parts.next(), price, quota: scenario.quota.quota })
    }

    /// A whole scenario with one request, a line at a time and each with the field it comes from.
    fn lines(&self) -> Vec<(String, String)> {
        let mut lines = vec![("settings".to_string(), format!("limiters = [{}]", quoted(LABEL)))];
        lines
            .extend([("settings".into(), "duration = \"1s\"".into()), ("settings".into(), "[[traffic.burst]]".into())]);
        lines.extend([("settings".into(), "at = \"0s\"".into()), ("settings".into(), "requests = 1".into())]);
        if !self.is_free() {
            lines.push(("price".into(), format!("price = {}", quoted(&self.price))));
        }
        lines.extend(self.tables(false));
        lines
    }

    /// Whether calls cost nothing; a scenario then has no price.
    pub fn is_free(&self) -> bool {
        matches!(self.price.as_str(), "$0" | "$0.0" | "$0.00")
    }

    /// The tables of the quota and of the limiters, as lines with the field each comes from. `spaced`: with empty lines.
    pub fn tables(&self, spaced: bool) -> Vec<(String, String)> {
        let mut lines: Vec<(String, String)> = Vec::new();
        let mut line = |field: &str, text: String| lines.push((field.to_string(), text));
        let gap = |line: &mut dyn FnMut(&str, String)| {
            if spaced {
                line("settings", String::new());
            }
        };
        gap(&mut line);
        line("settings", "[quota]".into());
        line("limit", format!("limit = {}", self.limit));
        line("window", format!("window = {}", quoted(&self.window)));
        line("burst", format!("burst = {}", self.burst));
        line("scope", format!("key = {}", quoted(&self.scope)));
        gap(&mut line);
        line("algorithm", "[[limiter]]".into());
        line("algorithm", format!("algorithm = {}", quoted(&self.algorithm)));
        line("settings", format!("label = {}", quoted(if self.cap.is_some() { RATE_LABEL } else { LABEL })));
        if self.cap.is_some() {
            line("settings", "compare = false".into());
        }
        for (name, value) in &self.params {
            let number = value.parse::<u64>().is_ok();
            line(name, format!("{} = {}", quoted(name), if number { value.clone() } else { quoted(value) }));
        }
        if let Some(cap) = &self.cap {
            gap(&mut line);
            for text in ["[[limiter]]", "algorithm = \"spend-cap\"", "meter = \"spend\"", "key = \"global\""] {
                line("cap", text.into());
            }
            line("cap", format!("label = {}", quoted(CAP_LABEL)));
            line("cap", "compare = false".into());
            line("cap", format!("limit = {}", quoted(cap)));
            gap(&mut line);
            line("cap", "[[limiter]]".into());
            line("cap", format!("label = {}", quoted(LABEL)));
            line("cap", format!("all-of = [{}, {}]", quoted(RATE_LABEL), quoted(CAP_LABEL)));
        }
        lines
    }
}

impl Understood {
    /// The window of the algorithm's part.
    pub fn window(&self) -> Nanos {
        self.quota.window
    }

    /// A registered algorithm under the quota alone.
    pub fn plain(&self, name: &'static str) -> LimiterSpec {
        LimiterSpec {
            what: What::Algorithm { name, settings: limiters::Settings::new(self.quota) },
            ..self.rate.clone()
        }
    }

    /// The same algorithm's part, full at every time, for a limiter that gets its level from another.
    pub fn full(&self) -> LimiterSpec {
        let mut spec = self.rate.clone();
        if let What::Algorithm { settings, .. } = &mut spec.what
            && settings.permits("initial").is_some()
            && let Ok(capacity) = settings.capacity()
        {
            *settings = settings.clone().with("initial", limiters::Value::Permits(capacity));
        }
        spec
    }
}

/// A text as TOML writes it; JSON's escapes are among TOML's.
pub fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}

fn known(value: &Value) -> Result<&'static Algorithm, Fault> {
    let found = value.as_str().and_then(algorithm);
    found.filter(|found| limiters::ALGORITHMS.iter().any(|known| known.name == found.name)).ok_or_else(|| {
        let names: Vec<&str> = limiters::ALGORITHMS.iter().map(|known| known.name).collect();
        Fault::new("algorithm", format!("{value} is none of {}", names.join(", ")))
    })
}

fn whole(field: &str, value: &Value) -> Result<u64, Fault> {
    let number = value.as_u64().filter(|number| (1..=MOST).contains(number));
    number.ok_or_else(|| Fault::new(field, format!("{value} is not a whole number from 1 to {MOST}")))
}

fn text(field: &str, value: &Value) -> Result<String, Fault> {
    let text = value.as_str().filter(|text| text.len() <= LONGEST);
    let text = text.ok_or_else(|| Fault::new(field, format!("a text of at most {LONGEST} bytes")))?;
    Ok(text.to_string())
}

fn params(value: &Value) -> Result<BTreeMap<String, String>, Fault> {
    let object: &Map<String, Value> =
        value.as_object().ok_or_else(|| Fault::new("params", "a JSON object of the algorithm's parameters"))?;
    if object.len() > 16 {
        return Err(Fault::new("params", "no algorithm has more than 16 parameters"));
    }
    let pairs = object.iter().map(|(name, value)| {
        if name.len() > LONGEST {
            return Err(Fault::new("params", format!("a name of at most {LONGEST} bytes")));
        }
        let value = if let Some(number) = value.as_u64() { number.to_string() } else { text(name, value)? };
        Ok((name.clone(), value))
    });
    pairs.collect()
}
