//! Two families of algorithms by what there is to choose: buckets have a rate and a burst, windows a length and a limit.

use limiters::{Algorithm, AnyRule, Nanos, Quota, Settings, algorithm};

/// What of a setting is given and what is searched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// A rate is given, the least burst is searched.
    Bucket,
    /// A window is given, the least limit is searched.
    Window,
}

/// An algorithm that can be sized.
#[derive(Clone, Copy)]
pub struct Sizable {
    /// Its entry in the registry.
    pub algorithm: &'static Algorithm,
    /// What is searched.
    pub family: Family,
    /// Whether σ is the answer for "nobody is refused".
    pub obeys_sigma: bool,
    /// Whether refusals are proven to fall, or stay, as the searched value grows, where each request costs one permit.
    pub monotone: bool,
}

/// Name, family, whether σ is exact, whether monotone for unit costs.
const SIZED: &[(&str, Family, bool, bool)] = &[
    ("token-bucket", Family::Bucket, true, true),
    ("leaky-bucket-meter", Family::Bucket, true, true),
    ("gcra", Family::Bucket, true, true),
    ("leaky-bucket", Family::Bucket, true, true),
    ("token-bucket-interval", Family::Bucket, false, true),
    ("fixed-window", Family::Window, false, true),
    ("sliding-window-log", Family::Window, false, true),
    ("sliding-window-counter", Family::Window, false, false),
    ("sliding-window-segments", Family::Window, false, true),
];

impl Sizable {
    /// The algorithm called `name`.
    ///
    /// # Errors
    /// When there is no such one, or nothing of it to size.
    pub fn named(name: &str) -> Result<Sizable, String> {
        let found = SIZED.iter().find(|(known, ..)| *known == name);
        let sized = found.and_then(|&(known, family, obeys_sigma, monotone)| {
            Some(Sizable { algorithm: algorithm(known)?, family, obeys_sigma, monotone })
        });
        sized.ok_or_else(|| {
            let names: Vec<&str> = SIZED.iter().map(|(name, ..)| *name).collect();
            crate::diagnose::valid_values(name, "algorithms that can be sized", &names).join("; ")
        })
    }

    /// The name of what is searched, as a scenario's `[quota]` calls it.
    pub fn searched(&self) -> &'static str {
        match self.family {
            Family::Bucket => "burst",
            Family::Window => "limit",
        }
    }
}

/// A setting but for the value that is searched: so many permits per time for a bucket, a length for a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Given {
    /// Permits per `window`; not used for windows.
    pub limit: u64,
    /// Length of time.
    pub window: Nanos,
}

impl Given {
    /// The quota with `value` for what is searched.
    pub fn quota(self, family: Family, value: u64) -> Quota {
        match family {
            Family::Bucket => Quota { limit: self.limit, window: self.window, burst: value },
            Family::Window => Quota { limit: value, window: self.window, burst: value },
        }
    }

    /// The rule with `value` for what is searched; `None` where its numbers are too large.
    pub fn rule(self, sized: &Sizable, value: u64) -> Option<Box<dyn AnyRule>> {
        (sized.algorithm.build)(&Settings::new(self.quota(sized.family, value))).ok()
    }
}
