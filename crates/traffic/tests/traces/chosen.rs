//! Which rows count, and what their key is, as `where` and `key-by` say.

use super::*;
use traffic::spec::{Said, Trace};
use traffic::traces::open;
use traffic::{Note, NoteKind};

fn filtered(spec: Trace, filter: &str) -> Trace {
    Trace { filter: Some(filter.to_owned()), ..spec }
}

fn keyed(spec: Trace, parts: &[&str]) -> Trace {
    Trace { key_by: parts.iter().map(|part| (*part).to_owned()).collect(), ..spec }
}

fn rows(spec: Trace) -> u64 {
    open(&spec).unwrap().rows
}

fn skipped(notes: &[Note]) -> Vec<&str> {
    notes.iter().filter(|note| note.kind == NoteKind::Skipped).map(|note| note.text.as_str()).collect()
}

const ELASTIC: &str = "elastic_apache.log.gz";

/// Counted with awk.
#[test]
fn rows_of_public_logs() {
    let elastic = |filter| rows(filtered(shipped(ELASTIC), filter));
    assert_eq!(elastic(r#"path ~ "^/presentations/" and status != 304"#), 2023);
    assert_eq!((elastic("status = 404"), elastic(r#"method != "GET""#)), (213, 48));
    assert_eq!(elastic(r#"column("bytes") = "-""#) + elastic(r#"column("bytes") >= 0"#), 10_000);
    let azure = shipped("AzureLLMInferenceTrace_code.csv");
    assert_eq!(rows(filtered(azure.clone(), "input-tokens >= 7000")), 483);
    assert_eq!(rows(filtered(azure, r#"column("GeneratedTokens") = 11 or not output-tokens != 11"#)), 445);
}

#[test]
fn what_a_filter_leaves_out_is_counted_apart_from_bad_rows() {
    let log = "t_ms,user,cost\n1,a,1\n2,b,x\n3,a,2\n4,b,3\n";
    let spec = Trace { skip_bad_rows: true, said: Said::Flags, ..filtered(data(""), r#"user = "a""#) };
    let recorded = text(log, spec).unwrap();
    assert_eq!((recorded.rows, recorded.skipped), (2, 1));
    assert_eq!(
        skipped(&recorded.notes),
        [
            "1 of 3 rows do not match --where 'user = \"a\"' and are left out",
            "1 of 4 rows left out: 1 × amount not a number (first in line 3)"
        ]
    );
    let all = text("t_ms,user\n1,a\n2,b\n", filtered(data(""), "cost = 1")).unwrap();
    assert_eq!(skipped(&all.notes), ["all 2 rows match where 'cost = 1'"]);
}

#[test]
fn fields_within_objects_and_labels_can_be_asked_for() {
    let log = concat!(
        "{\"ts\": 1705320645, \"req\": {\"zone\": \"eu\", \"size\": 7}}\n",
        "{\"ts\": 1705320646, \"req\": {\"zone\": \"us\", \"size\": 70}}\n",
        "{\"ts\": 1705320647, \"req\": {\"zone\": \"eu\"}}\n",
    );
    let rows = |filter| text(log, filtered(data(""), filter)).map_or(0, |recorded| recorded.rows);
    assert_eq!(rows(r#"column("req.zone") = "eu""#), 2);
    assert_eq!(rows(r#"column("req.size") > 6.5"#), 2);
    assert_eq!(rows(r#"column("req.size") = "" or column("req.zone") ~ "^U""#), 1);
    let recorded = text(log, keyed(data(""), &["req.zone"])).unwrap();
    assert_eq!((recorded.keys, recorded.key_name(1)), (2, "us".to_owned()));
    let ltsv = keyed(data("sample_ltsv_all_match.log.gz"), &["method", "path"]);
    assert!(open(&ltsv).unwrap().keys > 0);
}

/// Counted with awk: paths without their query, and pairs.
#[test]
fn keys_are_made_of_parts() {
    let keys = |parts: &[&str]| open(&keyed(shipped(ELASTIC), parts)).unwrap().keys;
    assert_eq!(keys(&["client"]), 1753);
    assert_eq!((keys(&["path"]), keys(&["client", "path"]), keys(&["method", "status"])), (1368, 7854, 14));
    assert_eq!((keys(&["user"]), keys(&["user", "key"])), (1, 1753));
    let log = concat!(
        "h1 - ann [10/Oct/2000:13:55:36 +0000] \"GET /a?x=1 HTTP/1.1\" 200 5\n",
        "h2 - ann [10/Oct/2000:13:55:37 +0000] \"GET /a?x=2 HTTP/1.1\" 200 5\n",
        "h3 - - [10/Oct/2000:13:55:38 +0000] \"GET /a HTTP/1.1\" 404 5\n",
    );
    let recorded = text(log, Trace { said: Said::Flags, ..keyed(data(""), &["user", "path", "status"]) }).unwrap();
    assert_eq!((recorded.key_name(0), recorded.key_name(1)), ("ann, /a, 200".to_owned(), "-, /a, 404".to_owned()));
    let said: Vec<&str> = recorded.notes.iter().map(|note| note.text.as_str()).collect();
    assert!(said.contains(&"--key-by user,path,status: a path is taken without its query"), "{said:?}");
    assert!(
        said.contains(&"--key-by user,path,status: 1 rows name no user (empty or -); they count as one user called -")
    );
}

#[test]
fn a_column_comes_before_a_field_of_its_name() {
    let log = "t_ms,user,remote_user,path\n1,a,x,/p?1\n2,b,x,/p?2\n";
    let names = |parts: &[&str]| {
        let recorded = text(log, keyed(data(""), parts)).unwrap();
        (0..recorded.keys).map(|key| recorded.key_name(key)).collect::<Vec<_>>()
    };
    assert_eq!(names(&["user"]), ["a", "b"]);
    assert_eq!(names(&["remote_user"]), ["x"]);
    assert_eq!(names(&["path"]), ["/p"]);
    assert_eq!(names(&["2", "3"]), ["a, x", "b, x"]);
}

#[test]
fn what_a_format_does_not_have() {
    let flags = |spec: Trace| Trace { said: Said::Flags, ..spec };
    let column = |spec: Trace| Trace { columns: vec![("key".to_owned(), vec!["user".to_owned()])], ..spec };
    let mooncake = || data("mooncake_conversation_2k.jsonl.gz");
    let mut said = String::new();
    for spec in [
        filtered(mooncake(), "status = 429"),
        filtered(data("claude_chat_alpha.jsonl"), "cost = 1 and (output-tokens > 5 or method = \"GET\")"),
        filtered(data("claude_chat_alpha.jsonl"), "column(\"costUSD\") > 1"),
        filtered(shipped(ELASTIC), "input-tokens > 5"),
        filtered(shipped(ELASTIC), "column(\"size\") > 5"),
        filtered(shipped("AzureLLMInferenceTrace_code.csv"), "column(\"ContextToken\") > 5"),
        filtered(shipped("AzureLLMInferenceTrace_code.csv"), "output-tokens > 1e6"),
        filtered(mooncake(), "sttus = 429"),
        keyed(mooncake(), &["user"]),
        keyed(data("claude_chat_alpha.jsonl"), &["user"]),
        keyed(data("claude_chat_alpha.jsonl"), &["session"]),
        keyed(shipped(ELASTIC), &["usr", "path"]),
        column(keyed(shipped(ELASTIC), &["path"])),
        column(data("claude_chat_alpha.jsonl")),
        column(mooncake()),
        column(data("otel_proto_trace.json")),
    ] {
        said.push_str(&format!("{}\n{}\n", open(&spec).unwrap_err(), open(&flags(spec)).unwrap_err()));
    }
    insta::assert_snapshot!(said);
}
