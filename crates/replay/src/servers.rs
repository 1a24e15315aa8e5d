//! Settings of servers and libraries as people paste them: read into limiters, and written from a bucket.

mod keyed;

pub use keyed::Scope;

use crate::scenario::words;
use crate::scenario::{LimiterSpec, Routing, What};
use limiters::{AnyRule, Meter, Nanos, Quota, Rate, Settings, Value, algorithm};

/// A setting that was read: which algorithm it is, and with which parameters.
#[derive(Clone, Debug)]
pub struct Setting {
    /// As it was written.
    pub label: String,
    /// Name of the algorithm that does what the server does.
    pub algorithm: &'static str,
    /// Its parameters.
    pub settings: Settings,
    /// Its long-run rate, and what it lets through at one instant.
    pub rate: Rate,
    /// Permits that pass at one instant after a silence.
    pub burst: u64,
}

/// What such a text begins with, and what it takes.
pub const FORMS: [(&str, &str); 3] = [
    ("nginx:", "nginx:rate=10r/s burst=20 nodelay (or delay=N)"),
    ("envoy:", "envoy:max_tokens=20 tokens_per_fill=10 fill_interval=1s (and timer, as it was before July 2024)"),
    ("governor:", "governor:per_second=10 burst=20 (or per_minute, per_hour, period=100ms)"),
];

/// Whether `text` is meant as a setting of a server and not as a label.
pub fn is_setting(text: &str) -> bool {
    FORMS.iter().any(|(prefix, _)| text.starts_with(prefix))
}

/// Reads a setting.
///
/// # Errors
/// What is wrong, and the form that is right.
pub fn read(text: &str) -> Result<Setting, String> {
    let form = FORMS.iter().find(|(prefix, _)| text.starts_with(prefix));
    let Some((prefix, form)) = form else {
        return Err(format!("not a setting of a server; the forms are {}", FORMS.map(|(_, form)| form).join(", ")));
    };
    let right = |message: String| format!("{message}; the form is {form}");
    let mut words = Words::new(&text[prefix.len()..]).map_err(right)?;
    let setting = match *prefix {
        "nginx:" => nginx(text, &mut words),
        "envoy:" => envoy(text, &mut words),
        _ => governor(text, &mut words),
    };
    let setting = setting.and_then(|setting| words.nothing_left().map(|()| setting));
    let setting = setting.map_err(right)?;
    setting.rule().map_err(|error| error.to_string())?;
    Ok(setting)
}

/// `name=value` and single words, each taken once.
struct Words<'a>(Vec<(&'a str, &'a str)>);

impl<'a> Words<'a> {
    fn new(text: &'a str) -> Result<Words<'a>, String> {
        let mut all: Vec<(&str, &str)> = Vec::new();
        for word in text.split([' ', ';', ',']).filter(|word| !word.is_empty()) {
            let (name, value) = word.split_once('=').unwrap_or((word, ""));
            if all.iter().any(|(known, _)| *known == name) {
                return Err(format!("`{name}` stands there twice"));
            }
            all.push((name, value));
        }
        Ok(Words(all))
    }

    fn take(&mut self, name: &str) -> Option<&'a str> {
        let at = self.0.iter().position(|(known, _)| *known == name)?;
        Some(self.0.remove(at).1)
    }

    fn number(&mut self, name: &str) -> Result<Option<u64>, String> {
        let whole = |text: &str| text.parse::<u64>().map_err(|_| format!("`{name}={text}` is not a whole number"));
        self.take(name).map(whole).transpose()
    }

    fn above_zero(&mut self, name: &str) -> Result<Option<u64>, String> {
        match self.number(name)? {
            Some(0) => Err(format!("`{name}=0`: at least 1")),
            number => Ok(number),
        }
    }

    fn flag(&mut self, name: &str) -> Result<bool, String> {
        match self.take(name) {
            Some("") => Ok(true),
            Some(value) => Err(format!("`{name}` takes no value, but has {value}")),
            None => Ok(false),
        }
    }

    fn length(&mut self, name: &str) -> Result<Option<Nanos>, String> {
        self.take(name).map(|text| words::duration(text).map_err(|error| format!("`{name}`: {error}"))).transpose()
    }

    fn nothing_left(&self) -> Result<(), String> {
        self.0.first().map_or(Ok(()), |(name, _)| Err(format!("unknown word `{name}`")))
    }
}

const SECOND: Nanos = 1_000_000_000;

fn nginx(text: &str, words: &mut Words<'_>) -> Result<Setting, String> {
    let _ = (words.take("limit_req"), words.take("limit_req_zone"), words.take("zone"));
    let written = words.take("rate").ok_or("nginx needs `rate`")?;
    let (count, window) = match (written.strip_suffix("r/s"), written.strip_suffix("r/m")) {
        (Some(count), _) => (count, SECOND),
        (_, Some(count)) => (count, 60 * SECOND),
        _ => return Err(format!("`rate={written}`: nginx takes a whole number of r/s or r/m")),
    };
    let limit = count.parse::<u64>().ok().filter(|count| *count > 0);
    let limit = limit.ok_or_else(|| format!("`rate={written}`: nginx takes a whole number above 0 of r/s or r/m"))?;
    let queue = words.number("burst")?.unwrap_or(0);
    let (nodelay, delay) = (words.flag("nodelay")?, words.number("delay")?);
    if nodelay && delay.is_some() {
        return Err("`nodelay` and `delay` exclude each other".to_owned());
    }
    let undelayed = if nodelay { queue } else { delay.unwrap_or(0) };
    let rate = Rate::new(limit, window).ok_or("a rate above 0")?;
    let burst = queue.checked_add(1).ok_or("`burst` is too large")?;
    let settings = Settings::new(Quota { limit, window, burst })
        .with("rate", Value::Rate(rate))
        .with("queue", Value::Permits(queue))
        .with("undelayed", Value::Permits(undelayed));
    Ok(Setting { label: text.to_owned(), algorithm: "nginx-limit-req", settings, rate, burst })
}

fn envoy(text: &str, words: &mut Words<'_>) -> Result<Setting, String> {
    let capacity = words.above_zero("max_tokens")?.ok_or("Envoy needs `max_tokens`")?;
    let fill = words.above_zero("tokens_per_fill")?.unwrap_or(1);
    let every = words.length("fill_interval")?.ok_or("Envoy needs `fill_interval`")?;
    if every < 50_000_000 {
        return Err("`fill_interval`: Envoy takes at least 50ms".to_owned());
    }
    let rate = Rate::new(fill, every).ok_or("a rate above 0")?;
    let settings =
        Settings::new(Quota { limit: fill, window: every, burst: capacity }).with("capacity", Value::Permits(capacity));
    let (algorithm, settings) = if words.flag("timer")? {
        ("token-bucket-interval", settings.with("per-tick", Value::Permits(fill)).with("tick", Value::Duration(every)))
    } else {
        ("token-bucket", settings.with("refill", Value::Rate(rate)))
    };
    Ok(Setting { label: text.to_owned(), algorithm, settings, rate, burst: capacity })
}

fn governor(text: &str, words: &mut Words<'_>) -> Result<Setting, String> {
    let mut found = None;
    for (name, window) in [("per_second", SECOND), ("per_minute", 60 * SECOND), ("per_hour", 3600 * SECOND)] {
        if let Some(count) = words.above_zero(name)?
            && found.replace((window / count, count)).is_some()
        {
            return Err("one of per_second, per_minute, per_hour and period".to_owned());
        }
    }
    if let Some(period) = words.length("period")?
        && found.replace((period, 1)).is_some()
    {
        return Err("one of per_second, per_minute, per_hour and period".to_owned());
    }
    let (interval, count) = found.ok_or("governor needs one of per_second, per_minute, per_hour and period")?;
    let burst = words.above_zero("burst")?.unwrap_or(count);
    let rate = Rate::new(1, interval).ok_or("more than a permit a nanosecond")?;
    let tolerance = (burst - 1).checked_mul(interval).ok_or("`burst` is too large")?;
    let settings = Settings::new(Quota { limit: 1, window: interval, burst })
        .with("emission-interval", Value::Duration(interval))
        .with("tolerance", Value::Duration(tolerance));
    Ok(Setting { label: text.to_owned(), algorithm: "gcra", settings, rate, burst })
}

impl Setting {
    /// The rule that does what the server does.
    ///
    /// # Errors
    /// A number that is too large for it.
    pub fn rule(&self) -> Result<Box<dyn AnyRule>, limiters::ParamError> {
        let known = algorithm(self.algorithm).expect("every form names a registered algorithm");
        (known.build)(&self.settings)
    }

    /// The limiter of a scenario that runs it, with the scenario's scope. It counts requests, whatever the scenario counts:
    /// these servers count nothing else, and `10r/s` is not ten micro-dollars.
    pub fn limiter(&self, per_key: bool) -> LimiterSpec {
        LimiterSpec {
            label: self.label.clone(),
            swept_from: None,
            registered: false,
            what: What::Algorithm { name: self.algorithm, settings: self.settings.clone() },
            meter: Meter::Requests,
            per_key,
            nodes: 1,
            routing: Routing::RoundRobin,
            restart_at: None,
            compare: true,
            accounting: limiters::Accounting::Immediate,
            response: limiters::Response::default(),
        }
    }
}

/// A bucket as a server's configuration has it.
pub struct Pasted {
    /// Whose it is.
    pub server: &'static str,
    /// What to paste.
    pub text: String,
    /// The same as [`read`] takes it.
    pub setting: String,
    /// What it really does.
    pub really: String,
    /// Whether each key has a limit of its own under it.
    pub keyed: bool,
}

/// A bucket of `burst` permits that gains `limit` per `window` (1 s, 1 min, 1 h or 1 d), for servers that can be told so.
pub fn paste(limit: u64, window: Nanos, burst: u64, scope: &Scope) -> Vec<Pasted> {
    let mut all = Vec::new();
    let minute = u128::from(limit) * 60 * u128::from(SECOND);
    let (rate, exact) = match window {
        SECOND => (format!("{limit}r/s"), true),
        _ => (format!("{}r/m", minute.div_ceil(window.into())), minute.is_multiple_of(window.into())),
    };
    let (queue, zone) = (burst - 1, scope.nginx());
    let nodelay = if queue > 0 { " nodelay" } else { "" };
    let rounded =
        if exact { "" } else { " nginx takes whole requests per second or minute, so the rate had to be rounded up." };
    all.push(Pasted {
        server: "nginx",
        text: format!(
            "limit_req_zone {zone} zone=sized:10m rate={rate};\nlimit_req zone=sized burst={queue}{nodelay};\nlimit_req_status 429;"
        ),
        setting: format!("nginx:rate={rate} burst={queue}{nodelay}"),
        really: format!(
            "A leaky bucket of {burst}: one request and a burst of {queue}. Requests only, never tokens.{rounded} It counts in \
             thousandths of a request and whole milliseconds and rounds each down, so it is never faster than this rate and may be a little slower.{}",
            scope.nginx_explained()
        ),
        keyed: scope.is_keyed(),
    });
    let interval = limiters::Span(window).to_string();
    let seconds = format!("{}s", window / SECOND);
    let one = match scope.is_keyed() {
        true => {
            " It is one bucket for all keys together, although it was sized for a single one: a bucket for each key takes \
             `descriptors`, or a rate limit service."
        }
        false => "",
    };
    let routes = scope.only("put it on the routes that they match").map_or_else(String::new, |said| format!(" {said}"));
    all.push(Pasted {
        server: "Envoy local rate limit",
        text: format!(
            "token_bucket:\n  max_tokens: {burst}\n  tokens_per_fill: {limit}\n  fill_interval: {seconds}"
        ),
        setting: format!("envoy:max_tokens={burst} tokens_per_fill={limit} fill_interval={interval}"),
        really: format!(
            "A token bucket that fills continuously, in floating point; before July 2024 a timer added all tokens of an interval \
             at once (read that as `envoy:… timer`). Each Envoy process counts for itself, so N of them let through N times as \
             much.{one}{routes}"
        ),
        keyed: false,
    });
    let (unit, method) = match window {
        SECOND => (SECOND, "per_second"),
        60_000_000_000 => (window, "per_minute"),
        _ => (3600 * SECOND, "per_hour"),
    };
    let fits = |number: u64| u32::try_from(number).is_ok();
    // A rate per day has no constructor: the period between permits says it.
    let (base, form, interval) = if window > unit {
        let interval = window / limit;
        (
            format!("Quota::with_period(Duration::from_nanos({interval})).unwrap()"),
            format!("period={interval}ns"),
            interval,
        )
    } else {
        (
            format!("Quota::{method}(NonZeroU32::new({limit}).unwrap())"),
            format!("{method}={limit}"),
            unit / limit.max(1),
        )
    };
    if fits(limit) && fits(burst) && interval > 0 {
        let cut = if unit.max(window).is_multiple_of(limit) {
            "exactly"
        } else {
            "cut to whole nanoseconds, so a little faster than asked"
        };
        let (store, ask) = match scope.value() {
            Some(value) => ("keyed", format!(" Ask it with `check_key(&{value})`: each key has a state of its own.")),
            None => ("direct", String::new()),
        };
        let chosen = scope.only("ask it for such only").map_or_else(String::new, |said| format!(" {said}"));
        all.push(Pasted {
            server: "governor",
            text: format!("RateLimiter::{store}({base}.allow_burst(NonZeroU32::new({burst}).unwrap()))"),
            setting: format!("governor:{form} burst={burst}"),
            really: format!("GCRA with a permit every {interval} ns, {cut}. It lives in one process.{ask}{chosen}"),
            keyed: scope.is_keyed(),
        });
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_read_as_their_servers_read_them() {
        let parameters = |text: &str| read(text).map(|setting| setting.rule().unwrap().parameters());
        assert_eq!(parameters("nginx:rate=10r/s burst=20 nodelay").unwrap(), "rate=10r/s burst=20 nodelay");
        assert_eq!(parameters("nginx:zone=one rate=7r/m").unwrap(), "rate=0.116r/s burst=0");
        assert_eq!(parameters("nginx:rate=5r/s burst=12 delay=8").unwrap(), "rate=5r/s burst=12 delay=8");
        assert_eq!(
            parameters("envoy:max_tokens=20 tokens_per_fill=10 fill_interval=1s").unwrap(),
            "capacity 20, refill 10/s"
        );
        let timer = read("envoy:max_tokens=20 fill_interval=1s timer").unwrap();
        assert_eq!((timer.algorithm, timer.rate), ("token-bucket-interval", Rate::new(1, SECOND).unwrap()));
        let three = read("governor:per_second=3 burst=5").unwrap();
        assert_eq!((three.rate, three.burst), (Rate::new(1, 333_333_333).unwrap(), 5));
        assert_eq!(read("governor:per_minute=30").unwrap().burst, 30);
    }

    #[test]
    fn what_is_wrong_is_said_with_the_right_form() {
        for (text, wrong) in [
            ("nginx:burst=5", "nginx needs `rate`"),
            ("nginx:rate=0r/s", "above 0"),
            ("nginx:rate=10/s", "r/s or r/m"),
            ("nginx:rate=10r/s burst=x", "not a whole number"),
            ("nginx:rate=10r/s nodelay delay=2", "exclude each other"),
            ("nginx:rate=10r/s burts=2", "unknown word `burts`"),
            ("nginx:rate=10r/s rate=2r/s", "twice"),
            ("envoy:max_tokens=0 fill_interval=1s", "at least 1"),
            ("envoy:max_tokens=5 fill_interval=10ms", "at least 50ms"),
            ("envoy:max_tokens=5", "`fill_interval`"),
            ("governor:burst=5", "governor needs one of"),
            ("governor:per_second=1 period=2s", "one of per_second"),
        ] {
            let error = read(text).unwrap_err();
            assert!(error.contains(wrong) && error.contains("the form is"), "{text}: {error}");
        }
        assert!(read("apache:x").unwrap_err().contains("the forms are"));
    }

    proptest::proptest! {
        #[test]
        fn no_text_breaks_the_reader(
            form in 0..3usize,
            words in proptest::collection::vec("(rate|burst|nodelay|delay|max_tokens|tokens_per_fill|fill_interval|timer|per_second|per_hour|period)(=[0-9]{1,20}(r/s|r/m|ms|s|ns|d)?)?", 0..5),
        ) {
            let text = format!("{}{}", FORMS[form].0, words.join(" "));
            if let Ok(setting) = read(&text) {
                let mut limiter = setting.rule().unwrap().limiter();
                for at in [0, 1, 1_700_000_000_000_000_000, u64::MAX / 2] {
                    limiter.decide(at, 1);
                }
            }
        }
    }

    #[test]
    fn what_is_pasted_can_be_read_back() {
        for window in [SECOND, 60 * SECOND, 3600 * SECOND, 86_400 * SECOND] {
            let pasted = paste(7, window, 21, &Scope::default());
            assert_eq!(pasted.len(), 3);
            for one in &pasted {
                let setting = read(&one.setting).unwrap_or_else(|error| panic!("{}: {error}", one.setting));
                assert_eq!(setting.burst, 21, "{}", one.setting);
            }
        }
    }
}
