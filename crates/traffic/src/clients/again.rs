//! Whose way of retrying a recorded call takes on, by name.

use crate::clients::spec::{Action, Jitter, Policy, Retry};
use crate::clients::{LIBRARIES, PRESETS, library, preset};
use limiters::Nanos;

/// How a recorded call that is refused is tried again, and what its session does when that has failed.
#[derive(Clone, Debug, PartialEq)]
pub struct Again {
    /// The client or library.
    pub name: &'static str,
    /// Its retry loops, the innermost first.
    pub retry: Vec<Retry>,
    /// What a session does after a call that was given up. A library says nothing about that: without the answer there is no
    /// next round, so the session ends.
    pub on_give_up: Action,
    /// The same after a status that is never retried.
    pub on_terminal: Action,
}

/// The retries of the library or client called `name`; a library goes first where both are called so.
pub fn retry_as(name: &str) -> Option<Again> {
    if let Some(library) = library(name) {
        let stop = Action::Stop;
        return Some(Again { name: library.name, retry: vec![(library.retry)()], on_give_up: stop, on_terminal: stop });
    }
    let preset = preset(name)?;
    let client = (preset.client)(name);
    Some(Again {
        name: preset.name,
        retry: client.retry,
        on_give_up: client.on_give_up,
        on_terminal: client.on_terminal,
    })
}

/// Every name that [`retry_as`] knows, each once.
pub fn retry_names() -> Vec<&'static str> {
    let mut names: Vec<&str> = LIBRARIES.iter().map(|library| library.name).collect();
    let clients = PRESETS.iter().map(|preset| preset.name).filter(|name| library(name).is_none());
    names.extend(clients);
    names
}

impl Retry {
    /// The longest that its own waits can add up to, jitter included; `None` for one that never gives up. Waits that a server
    /// asks for come on top.
    pub fn longest_total(&self) -> Option<Nanos> {
        match (self.policy, self.max_attempts) {
            (Policy::None, _) => return Some(0),
            (_, 0) => return None,
            _ => {}
        }
        let longest = |n: u64| {
            let plain = self.plain(n);
            match self.jitter {
                Jitter::None | Jitter::Full | Jitter::Equal | Jitter::Down(_) => plain,
                Jitter::Decorrelated => self.max_delay,
                Jitter::PlusMinus(percent) => (u128::from(plain) * u128::from(100 + percent.min(100)) / 100) as Nanos,
                Jitter::Additive(most) => plain.saturating_add(most),
            }
        };
        Some((0..self.max_attempts - 1).fold(0u64, |sum, n| sum.saturating_add(longest(n))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: Nanos = 1_000_000_000;

    #[test]
    fn every_name_is_known_and_comes_once() {
        let names = retry_names();
        assert!(names.iter().all(|name| retry_as(name).is_some_and(|again| again.name == *name)));
        assert!((1..names.len()).all(|at| !names[..at].contains(&names[at])));
        assert_eq!(retry_as("nobody"), None);
        assert_eq!(retry_as("llm-loop").unwrap().on_give_up, Action::NextTurn);
    }

    #[test]
    fn longest_waits_add_up() {
        let total = |name: &str| retry_as(name).unwrap().retry[0].longest_total();
        assert_eq!(total("openai-sdk"), Some(3 * S / 2)); // 0.5 + 1
        assert_eq!(total("google-genai"), Some(19 * S)); // 1 + 2 + 4 + 8, a second more each
        assert_eq!(total("gemini-cli"), Some((5 + 10 + 20 + 30 * 6) * S * 13 / 10));
        assert_eq!((total("none"), total("urllib3"), total("code-loop")), (Some(0), Some(0), None));
    }
}
