//! The JSON API: state, settings, reset, traffic, the scenario, and live state as server-sent events.

use super::answers::{Answered, fault, json, of, problem};
use super::app::{App, MOST_STREAMS, Shared};
use super::gate::LONGEST_BODY;
use crate::settings::Fault;
use crate::state::{choices, playable, state};
use axum::body::{Body, Bytes, to_bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderValue, header};
use serde_json::{Value, json as value};
use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::{Context, Poll};
use tokio_stream::Stream;
use tokio_stream::wrappers::WatchStream;
use traffic::clients::{PRESETS, preset};

/// Most calls of a burst.
const MOST_CALLS: u64 = 10_000;
/// Most calls a second of a loop.
const MOST_PER_SECOND: u64 = 1_000;

pub async fn get_state(State(app): State<Shared>) -> Answered {
    let (mut world, now) = app.world();
    world.play.advance(now);
    json(200, &state(&world.play, world.last.as_ref()))
}

pub async fn get_choices() -> Answered {
    json(200, &choices())
}

pub async fn get_settings(State(app): State<Shared>) -> Answered {
    let (world, _) = app.world();
    json(200, &value!(world.play.settings().0))
}

/// Changes the settings that are named, and answers all of them.
pub async fn set_settings(State(app): State<Shared>, request: Request) -> Answered {
    let body = match object(request).await {
        Ok(body) => body,
        Err(answer) => return *answer,
    };
    let (mut world, now) = app.world();
    let set = world.play.settings().0.merged(&body).and_then(|merged| world.play.set(now, merged));
    match set {
        Ok(()) => json(200, &value!(world.play.settings().0)),
        Err(at_fault) => fault(&at_fault),
    }
}

pub async fn reset(State(app): State<Shared>, request: Request) -> Answered {
    if let Err(answer) = object(request).await {
        return *answer;
    }
    let (mut world, now) = app.world();
    world.play.reset(now);
    world.last = None;
    json(200, &state(&world.play, None))
}

/// Starts and stops traffic: `{"kind": "loop", "per_second": 20}`, `{"kind": "agent", "preset": "code-loop"}`,
/// `{"kind": "burst", "calls": 100}`, `{"kind": "edge", "calls": 100}`, `{"kind": "stop"}`.
pub async fn traffic(State(app): State<Shared>, request: Request) -> Answered {
    let body = match object(request).await {
        Ok(body) => body,
        Err(answer) => return *answer,
    };
    match start(&app, &body) {
        Ok(()) => {
            let (world, _) = app.world();
            json(200, &state(&world.play, world.last.as_ref())["traffic"])
        }
        Err(at_fault) => fault(&at_fault),
    }
}

fn start(app: &App, body: &Value) -> Result<(), Fault> {
    let kind = body.get("kind").and_then(Value::as_str).unwrap_or("");
    let of_kind = match kind {
        "loop" => "per_second",
        "agent" => "preset",
        "burst" | "edge" => "calls",
        "stop" => "kind",
        _ => return Err(Fault::new("kind", "one of loop, agent, burst, edge, stop")),
    };
    if let Some(other) = body.as_object().and_then(|body| body.keys().find(|key| *key != "kind" && *key != of_kind)) {
        return Err(Fault::new(other, format!("no such field of {kind}")));
    }
    let number = |field: &str, most: u64| {
        let number = body.get(field).and_then(Value::as_u64).filter(|number| (1..=most).contains(number));
        number.ok_or_else(|| Fault::new(field, format!("a whole number from 1 to {most}")))
    };
    match kind {
        "loop" => {
            let per_second = number("per_second", MOST_PER_SECOND)?;
            let (mut world, now) = app.world();
            world.play.start_loop(now, per_second);
        }
        "agent" => {
            let named = body.get("preset").and_then(Value::as_str).filter(|name| playable(name)).and_then(preset);
            let named = named.ok_or_else(|| {
                let names = PRESETS.iter().map(|preset| preset.name).filter(|name| playable(name));
                Fault::new("preset", format!("one of {}", names.collect::<Vec<_>>().join(", ")))
            })?;
            let (mut world, now) = app.world();
            world.play.start_agents(now, named);
        }
        "burst" => {
            let calls = number("calls", MOST_CALLS)?;
            let (mut world, now) = app.world();
            world.play.burst(now, calls);
        }
        "edge" => {
            let calls = number("calls", MOST_CALLS)?;
            let (mut world, now) = app.world();
            world.play.burst_at_edge(now, calls);
        }
        _ => {
            let (mut world, now) = app.world();
            world.play.stop(now);
        }
    }
    Ok(())
}

/// What was asked since the last reset, as a scenario file.
pub async fn scenario(State(app): State<Shared>) -> Answered {
    let written = {
        let (mut world, now) = app.world();
        world.play.scenario(now)
    };
    match written {
        Ok(toml) => {
            let mut answer = of(200, "application/toml", toml);
            let name = HeaderValue::from_static("attachment; filename=\"recorded.toml\"");
            answer.headers_mut().insert(header::CONTENT_DISPOSITION, name);
            answer
        }
        Err(why) => problem(409, "Conflict", &why, None),
    }
}

/// Live state: a frame at once, and then at most 30 a second.
pub async fn events(State(app): State<Shared>) -> Answered {
    if app.streams.fetch_add(1, Ordering::Relaxed) >= MOST_STREAMS {
        app.streams.fetch_sub(1, Ordering::Relaxed);
        return problem(503, "Service Unavailable", &format!("{MOST_STREAMS} event streams are open already"), None);
    }
    let first = app.frame();
    let frames = WatchStream::from_changes(app.frames.clone());
    of(200, "text/event-stream", Body::from_stream(Frames { first: Some(first), frames, app }))
}

/// A stream that is counted while it is open.
struct Frames {
    first: Option<Bytes>,
    frames: WatchStream<Bytes>,
    app: Arc<App>,
}

impl Stream for Frames {
    type Item = Result<Bytes, Infallible>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if let Some(first) = self.first.take() {
            return Poll::Ready(Some(Ok(first)));
        }
        Pin::new(&mut self.frames).poll_next(context).map(|frame| frame.map(Ok))
    }
}

impl Drop for Frames {
    fn drop(&mut self) {
        self.app.streams.fetch_sub(1, Ordering::Relaxed);
    }
}

/// The JSON object of a body; an empty body is an empty object.
async fn object(request: Request) -> Result<Value, Box<Answered>> {
    let kind = request.headers().get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or("");
    // Only JSON, which a form of another site cannot send.
    let is_json = kind.split(';').next().is_some_and(|kind| kind.trim().eq_ignore_ascii_case("application/json"));
    let detail = format!("at most {LONGEST_BODY} bytes");
    let body = to_bytes(request.into_body(), LONGEST_BODY).await;
    let body = body.map_err(|_| Box::new(problem(413, "Content Too Large", &detail, Some("body"))))?;
    if !is_json {
        let detail = "send Content-Type: application/json";
        return Err(Box::new(problem(415, "Unsupported Media Type", detail, Some("Content-Type"))));
    }
    if body.is_empty() {
        return Ok(value!({}));
    }
    let read: Result<Value, _> = serde_json::from_slice(&body);
    match read {
        Ok(object) if object.is_object() => Ok(object),
        Ok(_) => Err(Box::new(fault(&Fault::new("body", "a JSON object")))),
        Err(error) => Err(Box::new(fault(&Fault::new("body", error.to_string())))),
    }
}
