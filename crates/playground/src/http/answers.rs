//! Answers: JSON, and problems as RFC 9457 writes them.

use crate::settings::Fault;
use axum::body::Body;
use axum::http::{HeaderValue, Response, StatusCode, header};
use serde_json::{Value, json};

/// An answer to any request.
pub type Answered = Response<Body>;

/// JSON.
pub fn json(status: u16, body: &Value) -> Answered {
    of(status, if status < 400 { "application/json" } else { "application/problem+json" }, body.to_string())
}

/// A problem, with the field at fault where there is one.
pub fn problem(status: u16, title: &str, detail: &str, field: Option<&str>) -> Answered {
    let mut body = json!({ "type": "about:blank", "title": title, "status": status, "detail": detail });
    if let Some(field) = field {
        body["field"] = field.into();
    }
    json(status, &body)
}

/// A field that cannot be used: 400.
pub fn fault(fault: &Fault) -> Answered {
    problem(400, "Bad Request", &fault.detail, Some(&fault.field))
}

/// Any content.
pub fn of(status: u16, kind: &'static str, body: impl Into<Body>) -> Answered {
    let mut answer = Response::new(body.into());
    *answer.status_mut() = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    answer.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    answer.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    answer
}
