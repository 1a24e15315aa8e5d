//! The server as `curl` and other sites see it.

mod support;

use serde_json::Value;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};
use support::{Page, head, request};

#[test]
fn ten_calls_pass_and_an_obeyed_retry_after_is_admitted() {
    let page = Page::open();
    // 10 at once and 6 a minute: no permit comes back while the test runs.
    page.post("/api/settings", r#"{"limit": 6, "window": "1min"}"#);
    let statuses: Vec<u16> = (0..11).map(|_| page.get("/call").status).collect();
    assert_eq!(statuses, [[200; 10].as_slice(), &[429]].concat());
    let refused = page.post("/call", "");
    assert_eq!(refused.status, 429);
    assert_eq!(refused.header("RateLimit-Policy"), Some("\"token-bucket\";q=10;w=100"));
    let limit = refused.header("RateLimit").unwrap();
    assert!(limit.starts_with("\"token-bucket\";r=0;t="), "{limit}");
    assert_eq!(refused.header("X-RateLimit-Limit"), Some("10"));
    assert_eq!(refused.header("X-RateLimit-Remaining"), Some("0"));
    let wait: u64 = refused.header("Retry-After").unwrap().parse().unwrap();
    assert!((1..=10).contains(&wait));

    page.post("/api/settings", r#"{"limit": 2, "window": "1s"}"#);
    let wait: u64 = loop {
        let answer = page.get("/call");
        if answer.status == 429 {
            break answer.header("Retry-After").unwrap().parse().unwrap();
        }
    };
    std::thread::sleep(Duration::from_secs(wait));
    assert_eq!(page.get("/call").status, 200);
}

#[test]
fn every_algorithm_says_a_wait_that_suffices() {
    let page = Page::open();
    for known in limiters::ALGORITHMS.iter().filter(|known| !["unlimited", "spend-cap"].contains(&known.name)) {
        page.post("/api/settings", r#"{"algorithm": "token-bucket"}"#);
        let set = format!(r#"{{"algorithm": "{}", "limit": 3, "window": "1s", "burst": 3}}"#, known.name);
        assert_eq!(page.post("/api/settings", &set).status, 200, "{}", known.name);
        page.post("/api/reset", "");
        let refused = (0..20).map(|_| page.get("/call?wait=false")).find(|answer| answer.status == 429).unwrap();
        let wait = refused.header("Retry-After").unwrap().parse().unwrap();
        std::thread::sleep(Duration::from_secs(wait));
        assert_eq!(page.get("/call?wait=false").status, 200, "{} after {wait} s", known.name);
    }
}

#[test]
fn a_cost_above_capacity_is_refused_for_ever_and_a_cost_of_zero_takes_nothing() {
    let page = Page::open();
    let never = page.get("/call?cost=11");
    assert_eq!((never.status, never.header("Retry-After")), (429, None));
    assert_eq!(never.json()["outcome"], "never-fits");
    assert_eq!(page.get("/call?cost=0").json()["remaining"], 10);
    assert_eq!(request(page.address, "GET", "/call", &[("X-Cost", "4")], "").json()["remaining"], 6);
}

#[test]
fn a_spent_budget_answers_402_and_both_parts_are_in_the_headers() {
    let page = Page::open();
    page.post("/api/settings", r#"{"cap": "$0.016", "price": "$0.008"}"#);
    let first = page.get("/call");
    assert_eq!(first.header("RateLimit-Policy"), Some("\"token-bucket\";q=10;w=5, \"budget\";q=2"));
    assert!(first.header("RateLimit").unwrap().ends_with("\"budget\";r=1"));
    assert_eq!(page.get("/call").status, 200);
    let third = page.get("/call");
    assert_eq!((third.status, third.header("Retry-After")), (402, None));
    assert_eq!(third.json()["refused_by"], "budget");
    // A cap that is taken away and comes back has not forgotten what was spent.
    page.post("/api/settings", r#"{"cap": null}"#);
    assert_eq!(page.get("/call").status, 200);
    page.post("/api/settings", r#"{"cap": "$0.032"}"#);
    assert_eq!([page.get("/call").status, page.get("/call").status], [200, 402]);
}

#[test]
fn keys_have_limiters_of_their_own_where_the_scope_says_so() {
    let page = Page::open();
    page.post("/api/settings", r#"{"scope": "per-key", "burst": 1, "limit": 1, "window": "1h"}"#);
    let calls = ["/call?key=a", "/call?key=a", "/call?key=b", "/call"];
    assert_eq!(calls.map(|path| page.get(path).status), [200, 429, 200, 200]);
    assert_eq!(request(page.address, "GET", "/call", &[("X-Key", "b")], "").status, 429);
}

#[test]
fn a_queue_answers_when_the_call_starts() {
    let page = Page::open();
    page.post("/api/settings", r#"{"algorithm": "leaky-bucket", "limit": 4, "window": "1s", "burst": 3}"#);
    let began = Instant::now();
    assert_eq!(page.get("/call").json()["outcome"], "admitted");
    assert_eq!(page.get("/call").json()["outcome"], "delayed");
    assert!(began.elapsed() >= Duration::from_millis(200));
}

#[test]
fn problems_name_the_field() {
    let page = Page::open();
    let calls = [
        ("cost=-1", "cost"),
        ("cost=1000001", "cost"),
        ("cost=", "cost"),
        ("key=", "key"),
        ("wait=maybe", "wait"),
        ("speed=3", "speed"),
    ];
    for (query, field) in calls {
        let answer = page.get(&format!("/call?{query}"));
        assert_eq!((answer.status, answer.field().as_str()), (400, field), "{query}");
        assert_eq!(answer.header("Content-Type"), Some("application/problem+json"));
    }
    let settings = [
        (r#"{"algorithm": "magic"}"#, "algorithm"),
        (r#"{"algorithm": "nginx-limit-req"}"#, "algorithm"),
        (r#"{"limit": 0}"#, "limit"),
        (r#"{"limit": "10"}"#, "limit"),
        (r#"{"burst": 1000001}"#, "burst"),
        (r#"{"window": "0s"}"#, "window"),
        (r#"{"window": "5 parsecs"}"#, "window"),
        (r#"{"price": "8 cents"}"#, "price"),
        (r#"{"cap": "5"}"#, "cap"),
        (r#"{"scope": "everybody"}"#, "scope"),
        (r#"{"params": {"capacity": "0"}}"#, "capacity"),
        (r#"{"params": {"refill": "fast"}}"#, "refill"),
        (r#"{"params": {"edge": "closed"}}"#, "edge"),
        (r#"{"params": {"initial": 99}}"#, "initial"),
        (r#"{"colour": "red"}"#, "colour"),
        ("[]", "body"),
        ("{", "body"),
    ];
    for (body, field) in settings {
        let answer = page.post("/api/settings", body);
        assert_eq!((answer.status, answer.field().as_str()), (400, field), "{body}: {}", answer.body);
    }
    let traffic = [
        (r#"{"kind": "flood"}"#, "kind"),
        (r#"{"kind": "loop", "per_second": 0}"#, "per_second"),
        (r#"{"kind": "agent", "preset": "plain"}"#, "preset"),
        (r#"{"kind": "edge", "calls": 10001}"#, "calls"),
        (r#"{"kind": "stop", "calls": 1}"#, "calls"),
    ];
    for (body, field) in traffic {
        let answer = page.post("/api/traffic", body);
        assert_eq!((answer.status, answer.field().as_str()), (400, field), "{body}");
    }
    assert_eq!(page.state()["settings"]["algorithm"], "token-bucket", "nothing was set");
}

#[test]
fn other_sites_and_foreign_hosts_are_refused() {
    let page = Page::open();
    let own = format!("http://{}", page.address);
    let port = page.address.port();
    let ask = |headers: &[(&str, &str)]| request(page.address, "POST", "/call", headers, "").status;
    assert_eq!(ask(&[("Host", "evil.example")]), 421);
    assert_eq!(ask(&[("Host", &format!("127.0.0.1.evil.example:{port}"))]), 421);
    assert_eq!(ask(&[("Host", "10.0.0.1")]), 421);
    assert_eq!(ask(&[("Host", &format!("localhost:{port}"))]), 200);
    assert_eq!(ask(&[("Origin", "http://evil.example")]), 403);
    assert_eq!(ask(&[("Origin", "null")]), 403);
    assert_eq!(ask(&[("Origin", &format!("http://localhost:{}", port ^ 1))]), 403);
    assert_eq!(ask(&[("Origin", &own)]), 200);
    assert_eq!(ask(&[("Sec-Fetch-Site", "cross-site")]), 403);
    assert_eq!(ask(&[("Sec-Fetch-Site", "same-site")]), 403);
    assert_eq!(ask(&[("Sec-Fetch-Site", "same-origin")]), 200);
    let link = [("Sec-Fetch-Site", "cross-site"), ("Sec-Fetch-Mode", "navigate")];
    assert_eq!(request(page.address, "GET", "/", &link, "").status, 200, "a link may open the page");
    assert_eq!(request(page.address, "GET", "/call", &link, "").status, 403, "and nothing else");
    let form = [("Content-Type", "text/plain")];
    assert_eq!(request(page.address, "POST", "/api/reset", &form, "{}").status, 415);
    let preflight = request(page.address, "OPTIONS", "/api/settings", &[("Origin", "http://evil.example")], "");
    assert_eq!(preflight.status, 403);
    for answer in [preflight, page.get("/"), page.get("/call")] {
        assert!(answer.headers.iter().all(|(name, _)| !name.to_lowercase().starts_with("access-control")));
    }
    assert_eq!(page.state()["main"]["admitted"], 4, "what was refused at the gate reached no limiter");
}

#[test]
fn urls_headers_and_bodies_have_limits() {
    let page = Page::open();
    assert_eq!(page.get(&format!("/call?key={}", "k".repeat(3_000))).status, 414);
    let long = "v".repeat(9_000);
    assert_eq!(request(page.address, "GET", "/call", &[("X-Long", &long)], "").status, 431);
    let body = "b".repeat(17_000);
    assert_eq!(page.post("/call", &body).status, 413);
    assert_eq!(page.post("/api/settings", &body).status, 413);
    assert_eq!(page.state()["main"]["admitted"], 0);
}

#[test]
fn the_description_names_what_there_is() {
    let page = Page::open();
    let description = page.get("/openapi.json").json();
    let paths = description["paths"].as_object().unwrap();
    assert!(paths.len() >= 7);
    for (path, methods) in paths {
        for method in methods.as_object().unwrap().keys().filter(|_| path != "/api/events") {
            let answer = request(page.address, &method.to_uppercase(), path, &[], "");
            assert!(![404, 405].contains(&answer.status), "{method} {path}");
        }
    }
    assert_eq!((page.get("/nothing").status, page.post("/api/state", "").status), (404, 405));
    // Every field of the state is described, and none is that there is not.
    page.get("/call");
    let state = page.state();
    let names = |value: &Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    let described = &description["components"]["schemas"]["State"]["properties"];
    assert_eq!(names(&state), names(described));
    for part in ["window", "money", "traffic", "recording", "last"] {
        assert_eq!(names(&state[part]), names(&described[part]["properties"]), "{part}");
    }
}

#[test]
fn live_state_comes_at_most_thirty_times_a_second_and_ends_with_the_server() {
    let mut page = Page::open();
    page.post("/api/traffic", r#"{"kind": "loop", "per_second": 1000}"#);
    let mut stream = TcpStream::connect(page.address).unwrap();
    write!(stream, "GET /api/events HTTP/1.1\r\nHost: {}\r\n\r\n", page.address).unwrap();
    let mut reader = BufReader::new(stream);
    let (status, headers) = head(&mut reader);
    assert_eq!(status, 200);
    assert!(headers.iter().any(|(_, value)| value == "text/event-stream"));
    let began = Instant::now();
    let (mut frames, mut last) = (0, 0);
    while began.elapsed() < Duration::from_secs(2) {
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        if let Some(data) = line.strip_prefix("data: ") {
            let state: Value = serde_json::from_str(data).unwrap();
            let asked = state["main"]["admitted"].as_u64().unwrap() + state["main"]["refused"].as_u64().unwrap();
            assert!(asked >= last);
            (frames, last) = (frames + 1, asked);
        }
    }
    // The first frame comes at once, and the clock's tick may fall on either end of the two seconds.
    assert!((10..=62).contains(&frames), "{frames} frames");
    assert!(last > 1_000, "{last} calls");
    let ending = Instant::now();
    page.close();
    assert!(ending.elapsed() < Duration::from_secs(3), "an open stream does not hold the server");
}
