//! The lines of an algorithm that decide, from its own file.

use limiters::ALGORITHMS;

macro_rules! files {
    ($($name:literal $file:literal),* $(,)?) => {
        /// Each algorithm's file.
        const FILES: &[(&str, &str, &str)] =
            &[$(($name, $file, include_str!(concat!("../../limiters/src/", $file)))),*];
    };
}

files! {
    "unlimited" "unlimited.rs",
    "fixed-window" "fixed_window.rs",
    "sliding-window-log" "sliding_window_log.rs",
    "sliding-window-counter" "sliding_window_counter.rs",
    "sliding-window-segments" "sliding_window_segments.rs",
    "token-bucket" "token_bucket.rs",
    "token-bucket-interval" "token_bucket_interval.rs",
    "leaky-bucket" "leaky_bucket.rs",
    "leaky-bucket-meter" "leaky_bucket_meter.rs",
    "gcra" "gcra.rs",
    "spend-cap" "spend_cap.rs",
}

/// The file of an algorithm and its function that decides; `None` for an algorithm that is not listed above.
pub fn source(name: &str) -> Option<(&'static str, String)> {
    let (_, file, text) = FILES.iter().find(|(known, ..)| *known == name)?;
    let start = text.find("    fn try_acquire(&self, ")?;
    let end = text[start..].find("\n    }\n")? + start + "\n    }".len();
    let lines = text[start..end].lines().map(|line| line.strip_prefix("    ").unwrap_or(line));
    Some((file, lines.collect::<Vec<_>>().join("\n")))
}

/// What an algorithm's file says of its rule: the first paragraph that begins with `Rule:`.
pub fn rule(name: &str) -> Option<String> {
    let (.., text) = FILES.iter().find(|(known, ..)| *known == name)?;
    let lines = text.lines().map_while(|line| line.strip_prefix("//!")).map(str::trim);
    let paragraph: Vec<&str> =
        lines.skip_while(|line| !line.starts_with("Rule:")).take_while(|line| !line.is_empty()).collect();
    (!paragraph.is_empty()).then(|| paragraph.join(" "))
}

/// Names of the registered algorithms whose source is not listed.
pub fn missing() -> Vec<&'static str> {
    ALGORITHMS.iter().map(|known| known.name).filter(|name| source(name).is_none()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_registered_algorithm_shows_its_own_lines() {
        assert_eq!(missing(), Vec::<&str>::new());
        for known in ALGORITHMS {
            let (file, lines) = source(known.name).unwrap();
            assert!(lines.starts_with("fn try_acquire") && lines.ends_with('}'), "{file}: {lines}");
            assert!(lines.lines().count() < 40, "{file}");
        }
        assert!(source("token-bucket").unwrap().1.contains("W::product(cost, self.rate.per())"));
        assert!(rule("token-bucket").unwrap().contains("level = min(B"));
    }
}
