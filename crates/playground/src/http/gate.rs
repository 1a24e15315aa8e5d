//! Who may ask: only pages of this server and programs on this machine, with requests of a sane size.
//!
//! A page of another site reaches a server on the loopback through the visitor's browser: directly, which the browser marks
//! with `Origin` or `Sec-Fetch-Site`, or through a name that suddenly resolves to 127.0.0.1 (DNS rebinding), which shows in
//! `Host`. Both are refused, and no answer carries a CORS header. Where `--bind` opens the server to a network, any address
//! is a host, and still no name but `localhost`: names can be rebound, addresses cannot.

use super::answers::{Answered, problem};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, Uri, header};
use axum::middleware::Next;
use std::net::IpAddr;

/// Longest path and query, in bytes.
pub const LONGEST_URL: usize = 2_048;
/// Longest headers altogether, names included, in bytes.
pub const LONGEST_HEADERS: usize = 8_192;
/// Longest body, in bytes.
pub const LONGEST_BODY: usize = 16_384;

/// Lets a request through or says why not; adds the headers that every answer has.
pub async fn gate(State(loopback): State<bool>, request: Request, next: Next) -> Answered {
    let mut answer = match refusal(loopback, request.method(), request.uri(), request.headers()) {
        Some(refusal) => refusal,
        None => next.run(request).await,
    };
    for (name, value) in ALWAYS {
        answer.headers_mut().insert(HeaderName::from_static(name), HeaderValue::from_static(value));
    }
    answer
}

const ALWAYS: [(&str, &str); 4] = [
    (
        "content-security-policy",
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; \
         frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
    ),
    ("x-content-type-options", "nosniff"),
    ("referrer-policy", "no-referrer"),
    ("cross-origin-resource-policy", "same-origin"),
];

fn refusal(loopback: bool, method: &Method, uri: &Uri, headers: &HeaderMap) -> Option<Answered> {
    let bytes: usize = headers.iter().map(|(name, value)| name.as_str().len() + value.len()).sum();
    if uri.path_and_query().map_or(0, |whole| whole.as_str().len()) > LONGEST_URL {
        return Some(problem(414, "URI Too Long", &format!("at most {LONGEST_URL} bytes"), None));
    }
    if bytes > LONGEST_HEADERS {
        let detail = format!("at most {LONGEST_HEADERS} bytes of headers");
        return Some(problem(431, "Request Header Fields Too Large", &detail, None));
    }
    let text = |name: &HeaderName| headers.get(name).map(|value| value.to_str().unwrap_or("?"));
    let host = text(&header::HOST).unwrap_or("");
    if headers.get_all(header::HOST).iter().count() != 1 || !is_own(host, loopback) {
        let detail = format!("the host `{host}` is not this machine; use localhost or an address");
        return Some(problem(421, "Misdirected Request", &detail, Some("Host")));
    }
    if text(&header::ORIGIN).is_some_and(|origin| origin.strip_prefix("http://") != Some(host)) {
        return Some(problem(403, "Forbidden", "only this server's own page may call it", Some("Origin")));
    }
    let site = headers.get("sec-fetch-site").map(|value| value.as_bytes());
    // A link from elsewhere may open the page, which changes nothing until somebody uses it.
    let opens_page = method == Method::GET
        && uri.path() == "/"
        && headers.get("sec-fetch-mode").is_some_and(|mode| mode.as_bytes() == b"navigate");
    if site.is_some_and(|site| site != b"same-origin" && site != b"none") && !opens_page {
        return Some(problem(403, "Forbidden", "only this server's own page may call it", Some("Sec-Fetch-Site")));
    }
    None
}

fn is_own(host: &str, loopback: bool) -> bool {
    let name = match host.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((address, port)) if port.is_empty() || is_port(port.strip_prefix(':')) => address,
        Some(_) => return false,
        None => match host.split_once(':') {
            Some((name, port)) if is_port(Some(port)) => name,
            Some(_) => return false,
            None => host,
        },
    };
    match name.parse::<IpAddr>() {
        Ok(address) => !loopback || address.is_loopback(),
        Err(_) => name.eq_ignore_ascii_case("localhost"),
    }
}

fn is_port(text: Option<&str>) -> bool {
    text.is_some_and(|text| text.parse::<u16>().is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_this_machine_is_a_host() {
        for host in ["localhost", "LocalHost:80", "127.0.0.1:4321", "127.9.9.9", "[::1]:4321", "[::1]"] {
            assert!(is_own(host, true), "{host}");
        }
        for host in
            ["", "evil.example", "localhost.evil.example:1", "127.0.0.1.nip.io", "10.0.0.1", "[::1]x", "127.0.0.1:x"]
        {
            assert!(!is_own(host, true), "{host}");
        }
        assert!(is_own("10.0.0.1:80", false) && !is_own("evil.example", false));
    }
}
