//! Prices for calls that a log has tokens and a model of, but no price: from the dated list, or as they are given.

use super::fault::Fault;
use super::format::Notes;
use crate::prices::{PRICES_AS_OF, Price, Tokens, price_of};
use crate::spec::Trace;
use crate::words::count;

/// Models that notes name at most.
const NAMED: usize = 8;

/// Prices calls, and remembers which it could not.
pub(super) struct Pricing {
    /// Models, or what they begin with before a `*`, and the prices that were given for them.
    given: Vec<(String, Price)>,
    models: Vec<Model>,
    /// The setting that gives a price, as whoever described the file writes it.
    setting: &'static str,
    /// Calls of which the file says neither price nor model.
    nameless: u64,
}

/// What was seen of one model.
struct Model {
    name: String,
    price: Option<Price>,
    /// Whether the price was given.
    given: bool,
    calls: u64,
    tokens: u64,
    microusd: u64,
    /// Calls that sent more than the price is for.
    long: u64,
}

impl Pricing {
    pub fn new(spec: &Trace) -> Result<Pricing, Box<Fault>> {
        let read = |(model, text): &(String, String)| match Price::given(text) {
            Ok(price) => Ok((model.clone(), price)),
            Err(message) => Err(Fault::file(format!("{} {model}: {message}", spec.setting("prices")))),
        };
        let given = spec.prices.iter().map(read).collect::<Result<_, _>>()?;
        Ok(Pricing { given, models: Vec::new(), setting: spec.said.prices(), nameless: 0 })
    }

    /// Micro-dollars of a call of `model`; 0 where its price is not known.
    pub fn microusd(&mut self, model: &str, tokens: &Tokens) -> u64 {
        let Tokens { input, output, cache_read, cache_write, cache_write_hour } = *tokens;
        let sent = [input, cache_read, cache_write, cache_write_hour].into_iter().fold(0, u64::saturating_add);
        let all = sent.saturating_add(output);
        // Agents write such lines for what they say themselves.
        if all == 0 {
            return 0;
        }
        if model.is_empty() {
            self.nameless += 1;
            return 0;
        }
        let at = self.models.iter().position(|known| known.name == model).unwrap_or_else(|| {
            let given = self.find(model).cloned();
            let is_given = given.is_some();
            let price = given.or_else(|| price_of(model).cloned());
            let name = model.to_owned();
            self.models.push(Model { name, price, given: is_given, calls: 0, tokens: 0, microusd: 0, long: 0 });
            self.models.len() - 1
        });
        let known = &mut self.models[at];
        known.calls += 1;
        known.tokens = known.tokens.saturating_add(all);
        let Some(price) = &known.price else { return 0 };
        known.long += u64::from(price.up_to.is_some_and(|most| sent > most));
        let microusd = price.microusd(tokens);
        known.microusd = known.microusd.saturating_add(microusd);
        microusd
    }

    /// The price given for a model: by its whole name before by its beginning.
    fn find(&self, model: &str) -> Option<&Price> {
        let begins = |name: &str| name.strip_suffix('*').is_some_and(|begin| model.starts_with(begin));
        let whole = self.given.iter().find(|(name, _)| name == model);
        whole.or_else(|| self.given.iter().find(|(name, _)| begins(name))).map(|(_, price)| price)
    }

    /// Says which prices were taken, and what has none.
    pub fn finish(&self, notes: &mut Notes) {
        let setting = self.setting;
        let mut priced: Vec<&Model> = self.models.iter().filter(|model| model.price.is_some()).collect();
        priced.sort_by_key(|model| std::cmp::Reverse(model.microusd));
        if !priced.is_empty() {
            let by = |model: &&Model| {
                let price = model.price.as_ref().map_or("", |price| &price.name);
                let calls = calls(model.calls);
                let listed = if model.given { "given" } else { "listed" };
                format!("{} at {price} ({listed}): {calls}, {}", model.name, dollars(model.microusd))
            };
            let text = shown(&priced, by);
            let list = match priced.iter().any(|model| !model.given) {
                true => format!("the price list of {PRICES_AS_OF} (`workbench list prices`)"),
                false => "given prices".to_owned(),
            };
            notes.guess(format!(
                "calls without a price of their own are priced by {list}, cached tokens at their own prices, each call rounded \
                 to a micro-dollar, halves up: {text}; {setting} gives others"
            ));
        }
        let unknown: Vec<&Model> = self.models.iter().filter(|model| model.price.is_none()).collect();
        if !unknown.is_empty() {
            let text = shown(&unknown, |model| {
                format!("{} ({}, {} tokens)", model.name, calls(model.calls), count(model.tokens))
            });
            notes.warning(format!(
                "no price is listed for {text}: these calls cost nothing here, which is too little; {setting} gives one"
            ));
        }
        if self.nameless > 0 {
            let calls = calls(self.nameless);
            notes.warning(format!("{calls} with tokens name neither price nor model, and cost nothing here"));
        }
        let long: u64 = priced.iter().map(|model| model.long).sum();
        if long > 0 {
            let calls = calls(long);
            notes.warning(format!(
                "{calls} sent more tokens than the listed price of the model is for; above that it is dearer, so these are priced \
                 too low"
            ));
        }
        // A price that is for nobody is a mistake in its name.
        let unused = self.given.iter().filter(|(name, _)| {
            let begins = |model: &&Model| name.strip_suffix('*').is_some_and(|begin| model.name.starts_with(begin));
            !self.models.iter().any(|model| model.name == *name || begins(&model))
        });
        for (name, _) in unused {
            let seen = match self.models.is_empty() {
                true => "none does".to_owned(),
                false => shown(&self.models.iter().collect::<Vec<_>>(), |model| model.name.clone()).replace("; ", ", "),
            };
            notes.warning(format!(
                "a price was given for {name}, but no call without a price of its own is of that model; those that are: {seen}"
            ));
        }
    }
}

fn calls(number: u64) -> String {
    if number == 1 { "1 call".to_owned() } else { format!("{} calls", count(number)) }
}

/// Exact, for it is a sum of what was rounded already.
fn dollars(microusd: u64) -> String {
    let text = format!("{}.{:06}", count(microusd / 1_000_000), microusd % 1_000_000);
    format!("${}", text.trim_end_matches('0').trim_end_matches('.'))
}

fn shown(models: &[&Model], text: impl Fn(&&Model) -> String) -> String {
    let mut all: Vec<String> = models.iter().take(NAMED).map(text).collect();
    if let Some(more) = models.len().checked_sub(NAMED).filter(|more| *more > 0) {
        all.push(format!("and {more} more"));
    }
    all.join("; ")
}
