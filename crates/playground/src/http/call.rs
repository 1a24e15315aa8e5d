//! `/call`: the paid tool behind the limiter.

use super::answers::{Answered, fault, json, problem};
use super::app::Shared;
use super::gate::LONGEST_BODY;
use crate::headers::written;
use crate::settings::Fault;
use axum::body::to_bytes;
use axum::extract::{Request, State};
use axum::http::{HeaderName, HeaderValue};
use std::time::Duration;

/// Longest name of a key, in bytes.
const LONGEST_KEY: usize = 64;
/// Most permits of a call.
const MOST: u64 = 1_000_000;

/// What a call asks for.
struct Asked {
    key: String,
    cost: u64,
    wait: bool,
}

/// Answers 200 with the call's cost, 429, or 402 when a budget is spent. A delayed call is answered when it starts, unless it
/// asks not to wait.
pub async fn call(State(app): State<Shared>, request: Request) -> Answered {
    let asked = match asked(&request) {
        Ok(asked) => asked,
        Err(at_fault) => return fault(&at_fault),
    };
    if to_bytes(request.into_body(), LONGEST_BODY).await.is_err() {
        return problem(413, "Content Too Large", &format!("at most {LONGEST_BODY} bytes, which are not read"), None);
    }
    let (answer, delay) = {
        let (mut world, now) = app.world();
        let (key, at, reply) = match world.play.call(now, &asked.key, asked.cost) {
            Ok(replied) => replied,
            Err(at_fault) => return problem(503, "Service Unavailable", &at_fault.detail, Some(&at_fault.field)),
        };
        let answer = written(&world.play, key, at, asked.cost, &reply);
        let delay = reply.wait(at);
        world.last = Some(answer.clone());
        (answer, delay)
    };
    if asked.wait && delay > 0 {
        tokio::time::sleep(Duration::from_nanos(delay)).await;
    }
    let mut response = json(answer.status, &answer.body);
    for (name, value) in answer.headers {
        if let (Ok(name), Ok(value)) = (HeaderName::try_from(name), HeaderValue::try_from(value)) {
            response.headers_mut().insert(name, value);
        }
    }
    response
}

/// Reads key, cost and wait from the query, or from the headers `X-Key` and `X-Cost`.
fn asked(request: &Request) -> Result<Asked, Fault> {
    let header = |name: &str| {
        let value = request.headers().get(name)?;
        Some(value.to_str().map(str::to_string).map_err(|_| Fault::new(name, "visible ASCII only")))
    };
    let mut key = header("x-key").transpose()?;
    let mut cost = header("x-cost").transpose()?;
    let mut wait = true;
    for (name, value) in form_urlencoded::parse(request.uri().query().unwrap_or("").as_bytes()) {
        match &*name {
            "key" => key = Some(value.into_owned()),
            "cost" => cost = Some(value.into_owned()),
            "wait" => {
                wait = match &*value {
                    "true" => true,
                    "false" => false,
                    _ => return Err(Fault::new("wait", "true or false")),
                }
            }
            other => return Err(Fault::new(other, "no such parameter; there are key, cost and wait")),
        }
    }
    let key = key.unwrap_or_else(|| "all".into());
    if key.is_empty() || key.len() > LONGEST_KEY || key.chars().any(char::is_control) {
        return Err(Fault::new("key", format!("1 to {LONGEST_KEY} bytes without control characters")));
    }
    let cost =
        match cost {
            None => 1,
            Some(text) => text.parse().ok().filter(|cost| *cost <= MOST).ok_or_else(|| {
                Fault::new("cost", format!("`{text}` is not a whole number of permits from 0 to {MOST}"))
            })?,
        };
    Ok(Asked { key, cost, wait })
}
