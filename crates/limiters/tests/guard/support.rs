//! Short ways to say what the tests of this folder need.

use limiters::{AnyRule, Guard, Meter, Quota, Request, Scope, Settings, Stack, Store, Value, algorithm};

pub const S: u64 = 1_000_000_000;
pub const MIN: u64 = 60 * S;

/// A rule of the registry under a quota of `limit` per `window`, all of it at once.
pub fn rule(name: &str, limit: u64, window: u64) -> Box<dyn AnyRule> {
    rule_with(name, Settings::new(Quota { limit, window, burst: limit }))
}

pub fn rule_with(name: &str, settings: Settings) -> Box<dyn AnyRule> {
    (algorithm(name).unwrap_or_else(|| panic!("{name} is registered")).build)(&settings).unwrap()
}

/// A bucket of `capacity` that gets `permits` per `per` nanoseconds.
pub fn bucket(capacity: u64, permits: u64, per: u64) -> Box<dyn AnyRule> {
    let quota = Quota { limit: permits, window: per, burst: capacity };
    rule_with("token-bucket", Settings::new(quota).with("capacity", Value::Permits(capacity)))
}

pub fn global(rule: &dyn AnyRule) -> Box<dyn Store + Send> {
    rule.store(false)
}

/// A guard over everybody's requests.
pub fn guard(meter: Meter, rule: &dyn AnyRule) -> Guard {
    Guard::new(meter.name(), meter, Scope::Global, global(rule))
}

pub fn alone(guard: Guard) -> Stack {
    Stack::new(vec![guard])
}

/// One request of `key` for `requests` permits.
pub fn call(at: u64, key: u64, requests: u64) -> Request {
    Request { at, key, requests, ..Request::default() }
}

pub fn paid(at: u64, microusd: u64) -> Request {
    Request { at, requests: 1, microusd, ..Request::default() }
}
