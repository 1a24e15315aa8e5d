//! What is said about files that can be read: guesses, skips and warnings.

use super::*;
use traffic::traces::open;

fn notes(recorded: Recorded) -> String {
    recorded.notes.iter().map(|note| format!("{:?}: {}\n", note.kind, note.text)).collect()
}

#[test]
fn azure() {
    insta::assert_snapshot!(notes(open(&shipped("AzureLLMInferenceTrace_code.csv")).unwrap()));
}

#[test]
fn elastic() {
    insta::assert_snapshot!(notes(open(&shipped("elastic_apache.log.gz")).unwrap()));
}

#[test]
fn handmade() {
    let skipping = |name| spec::Trace { skip_bad_rows: true, ..data(name) };
    let mut said = String::new();
    for name in [
        "bom_crlf_nonl.csv",
        "comment_header_alpha_ids.csv",
        "out_of_order.csv",
        "quoted_missing_negative.csv",
        "truncated.csv",
    ] {
        said.push_str(&format!("== {name}\n{}", notes(open(&skipping(name)).unwrap())));
    }
    insta::assert_snapshot!(said);
}

#[test]
fn other_formats() {
    let mut said = String::new();
    for name in [
        "mooncake_conversation_2k.jsonl.gz",
        "claude_chat_alpha.jsonl",
        "codex_session_alpha.jsonl",
        "streaming_duplicates.jsonl",
        "sample_ltsv_all_match.log.gz",
        "otel_proto_trace.json",
    ] {
        said.push_str(&format!("== {name}\n{}", notes(open(&data(name)).unwrap())));
    }
    insta::assert_snapshot!(said);
}

#[test]
fn keys_that_number_requests() {
    let log: String = (0..20).map(|n| format!("{},r{n}\n", n * 7)).collect();
    let said = |log: &str| notes(text(log, data("")).unwrap());
    let warned = "each of the 20 requests has a key of its own";
    assert!(said(&format!("t_ms,id\n{log}")).contains(warned));
    assert!(!said(&format!("t_ms,id\n{log}200,r0\n")).contains("key of its own"));
}

#[test]
fn refusals_and_request_times() {
    let line = |second: u32, status: u32, took: &str| {
        format!("h - - [10/Oct/2000:13:55:{second:02} -0700] \"GET / HTTP/1.1\" {status} 5 \"-\" \"ua\" {took}\n")
    };
    let log = line(10, 200, "0.250") + &line(11, 429, "0.001") + &line(11, 503, "0.001") + &line(11, 200, "1.5");
    let recorded = text(&log, data("")).unwrap();
    insta::assert_snapshot!(notes(recorded));
}

#[test]
fn columns_that_are_not_there_or_there_twice() {
    let columns = |role: &str, name: &str| spec::Trace {
        columns: vec![(role.to_owned(), vec![name.to_owned()])],
        said: spec::Said::Flags,
        ..data("")
    };
    let twice = "time,user,user\n31.01.2026 13:05:01,a,b\n31.01.2026 13:05:02,a,c\n";
    let caddy = |user: &str| {
        let ends = ["192.0.2.1", "192.0.2.2"].map(|ip| {
            format!(
                "{{\"ts\": 1767225600.5, \"request\": {{\"remote_ip\": \"10.0.0.1\", \"client_ip\": \"{ip}\", \"host\": \"x\"}}, \
                 \"user_id\": \"{user}\", \"status\": 200}}\n"
            )
        });
        ends.concat()
    };
    let mut said = String::new();
    for (log, spec, keys) in [
        (twice, data(""), 1),
        (twice, columns("key", "user"), 1),
        (twice, columns("key", "3"), 2),
        ("t_ms,cost,tokens,cost\n1,2,3,4\n", data(""), 1),
        ("t_ms,user,input_tokens\n1,a,3\n", data(""), 1),
        (&caddy(""), data(""), 2),
        (&caddy("u"), data(""), 1),
        ("{\"ts\": 1767225600, \"req\": {\"remoteAddress\": \"::1\"}, \"host\": {\"ip\": \"::2\"}}\n", data(""), 1),
        ("{\"ts\": 1767225600, \"a\": {\"client_ip\": \"::1\"}, \"b\": {\"client_ip\": \"::2\"}}\n", data(""), 1),
        ("{\"ts\": 1767225600, \"span\": {\"id\": \"1\"}, \"server\": {\"ip\": \"::2\"}}\n", data(""), 1),
    ] {
        let recorded = text(log, spec).unwrap();
        assert_eq!(recorded.keys, keys, "{log}");
        said.push_str(&format!("== {}\n{}", log.lines().next().unwrap(), notes(recorded)));
    }
    insta::assert_snapshot!(said);
}
