//! The answer to a call in the words of HTTP: status, headers and body.

use crate::lane::Reply;
use crate::play::Play;
use limiters::{Nanos, Outcome};
use serde_json::{Value, json};

const S: Nanos = 1_000_000_000;

/// An answer.
#[derive(Clone, Debug)]
pub struct Written {
    /// 200, 429, or 402 for a spent budget.
    pub status: u16,
    /// Names and values, without the content's.
    pub headers: Vec<(&'static str, String)>,
    /// JSON.
    pub body: Value,
}

/// Writes the answer to a call of `cost` permits by `key` at `now`.
///
/// `RateLimit` and `RateLimit-Policy` are those of draft-ietf-httpapi-ratelimit-headers-10, an item for the algorithm and one
/// for the budget, which is counted in calls at the price of a permit. `Retry-After` and `t` are rounded up to whole seconds.
pub fn written(play: &Play, key: u64, now: Nanos, cost: u64, reply: &Reply) -> Written {
    let lane = play.main();
    let (_, understood) = play.settings();
    let remaining = lane.remaining(key, now);
    let capacity = (lane.level(key, now).capacity_milli / 1000).max(0) as u64;
    let mut headers = Vec::new();
    if lane.algorithm != "unlimited" {
        let (mut policy, mut limit) = (policy(play, capacity), format!("\"{}\";r={remaining}", lane.algorithm));
        if let Some(wait) = remaining.checked_add(1).and_then(|more| lane.retry_after(key, now, more)) {
            limit.push_str(&format!(";t={}", wait.div_ceil(S)));
        }
        if let Some(budget) = lane.budget(now).filter(|_| understood.price > 0) {
            let calls = |milli: i64| milli.max(0) as u64 / 1000 / understood.price;
            policy.push_str(&format!(", \"budget\";q={}", calls(budget.capacity_milli)));
            limit.push_str(&format!(", \"budget\";r={}", calls(budget.available_milli)));
        }
        headers.push(("RateLimit-Policy", policy));
        headers.push(("RateLimit", limit));
        headers.push(("X-RateLimit-Limit", capacity.to_string()));
        headers.push(("X-RateLimit-Remaining", remaining.to_string()));
        if let Some(reset) = lane.reset_after(key, now) {
            headers.push(("X-RateLimit-Reset", reset.div_ceil(S).to_string()));
        }
    }
    let price = cost.saturating_mul(understood.price);
    if reply.outcome.passes() {
        let body = json!({
            "outcome": if reply.outcome == Outcome::Admitted { "admitted" } else { "delayed" },
            "cost": cost,
            "microusd": price,
            "remaining": remaining,
            "delayed_ms": reply.wait(now) as f64 / 1e6,
        });
        return Written { status: 200, headers, body };
    }
    let status = reply.answer.map_or(429, |answer| answer.status);
    let retry = reply.answer.and_then(|answer| answer.retry_after);
    if let Some(seconds) = reply.answer.and_then(|answer| answer.retry_after_seconds()) {
        headers.push(("Retry-After", seconds.max(1).to_string()));
    }
    let by = if reply.refused_by == Some(1) { "budget" } else { lane.algorithm };
    let detail = match (reply.never_fits(), retry) {
        (true, _) => format!("{by} never holds {cost} permits; ask for less"),
        (false, None) => format!("{by} refuses, and waiting does not help"),
        (false, Some(wait)) => format!("{by} refuses; the same call passes in {} ms", wait.div_ceil(1_000_000)),
    };
    let body = json!({
        "type": "about:blank",
        "title": if status == 402 { "Payment Required" } else { "Too Many Requests" },
        "status": status,
        "detail": detail,
        "outcome": if reply.never_fits() { "never-fits" } else { "refused" },
        "refused_by": by,
        "cost": cost,
        "remaining": remaining,
        "retry_after_ms": retry.map(|wait| wait as f64 / 1e6),
    });
    Written { status, headers, body }
}

/// The algorithm's item: what it holds, and in what time that comes back. Lengths that are not whole seconds are not sent,
/// since `w` is a whole number of them.
fn policy(play: &Play, capacity: u64) -> String {
    let lane = play.main();
    let (_, understood) = play.settings();
    let quota = understood.rate.quota().unwrap_or(understood.quota);
    let window = if lane.algorithm.contains("window") {
        Some(quota.window)
    } else {
        // A full bucket's worth at the rate of the refill, as its own probe says.
        let mut probe = lane.rule.limiter();
        probe.charge(0, capacity);
        probe.retry_after(0, capacity)
    };
    let seconds = window.filter(|window| window % S == 0 && *window > 0).map(|window| format!(";w={}", window / S));
    format!("\"{}\";q={capacity}{}", lane.algorithm, seconds.unwrap_or_default())
}
