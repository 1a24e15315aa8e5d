//! One file of every format, recognised by itself.

use super::*;
use traffic::traces::{FORMATS, Row, Stream, format, open};

/// All rows of a file, in file order, and the name of its format.
fn rows(log: &str, spec: spec::Trace) -> (&'static str, Vec<Row>) {
    let mut stream = Stream::from_reader(&spec, std::io::Cursor::new(log.to_owned())).unwrap();
    let mut rows = Vec::new();
    let mut row = Row::default();
    while stream.next(&mut row).unwrap() {
        rows.push(row.clone());
    }
    (stream.format().name, rows)
}

fn str(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

const START_2024: Nanos = 1_704_067_200_000_000_000;

#[test]
fn names_are_unique_and_found() {
    for (index, entry) in FORMATS.iter().enumerate() {
        assert!(FORMATS[..index].iter().all(|other| other.name != entry.name));
        assert_eq!(format(entry.name).unwrap().name, entry.name);
    }
    assert!(format("nothing").is_none());
}

#[test]
fn mooncake() {
    let recorded = open(&data("mooncake_synthetic.jsonl.gz")).unwrap();
    assert_eq!((recorded.format.name, recorded.rows, recorded.keys, recorded.start), ("mooncake", 3993, 1, None));
    let batch = play(recorded);
    let largest = batch.input_tokens.iter().zip(&batch.output_tokens).map(|(i, o)| i + o).max();
    assert_eq!(largest, Some(191_386));

    let steps = open(&data("mooncake_conversation_2k.jsonl.gz")).unwrap();
    assert_eq!((steps.rows, steps.resolution), (2000, 2999 * MS));
    assert!(steps.notes.iter().any(|note| note.text.contains("differ lie 2.999 s or more apart")), "{:?}", steps.notes);
}

#[test]
fn agents_write_several_lines_per_answer() {
    let recorded = open(&data("streaming_duplicates.jsonl")).unwrap();
    assert_eq!((recorded.format.name, recorded.rows), ("agent", 2));
    let merged = "3 lines repeat or continue an answer and are merged into it: the last use counts";
    assert!(recorded.notes.iter().any(|note| note.text == merged), "{:?}", recorded.notes);
    let batch = play(recorded);
    assert_eq!((batch.input_tokens.as_slice(), batch.output_tokens.as_slice()), (&[6, 271][..], &[327, 40][..]));
    assert_eq!(since_first(&batch), [0, 5000 * MS]);

    let alpha = open(&data("claude_chat_alpha.jsonl")).unwrap();
    assert_eq!((alpha.rows, alpha.key_name(0)), (3, "session-alpha".to_owned()));
    let batch = play(alpha);
    assert_eq!((batch.input_tokens, batch.output_tokens), (vec![100, 200, 300], vec![50, 75, 125]));
    assert_eq!(batch.microusd, [120_000, 340_000, 560_000]);
    assert_eq!(play(open(&data("claude_chat_beta.jsonl")).unwrap()).output_tokens, [25, 35]);
}

#[test]
fn agents_write_running_totals_beside_the_last_use() {
    let recorded = open(&data("codex_session_alpha.jsonl")).unwrap();
    assert_eq!((recorded.format.name, recorded.rows), ("agent", 2));
    // No line names a session.
    assert_eq!(recorded.key_name(0), "codex_session_alpha");
    let batch = play(recorded);
    assert_eq!((batch.input_tokens, batch.output_tokens), (vec![750, 2000], vec![125, 300]));

    let usage = "\"info\":{\"last_token_usage\":{\"input_tokens\":5,\"output_tokens\":2,\"total_tokens\":7}}";
    let line = |kind: &str, payload: &str| {
        format!("{{\"timestamp\":\"2026-05-13T09:00:00Z\",\"type\":\"{kind}\",\"payload\":{{{payload}}}}}\n")
    };
    let log = [
        line("session_meta", "\"id\":\"s1\""),
        line("event_msg", usage),
        line("response_item", "\"id\":\"rs_9\""),
        line("event_msg", usage),
    ];
    let (_, rows) = rows(&log.concat(), data("rollout.jsonl"));
    assert_eq!(rows.iter().map(|row| str(&row.key)).collect::<Vec<_>>(), ["s1", "s1"]);
}

#[test]
fn ltsv() {
    let recorded = open(&data("sample_ltsv_all_match.log.gz")).unwrap();
    assert_eq!((recorded.format.name, recorded.rows, recorded.keys), ("ltsv", 5, 5));
    assert_eq!(recorded.key_name(4), "192.168.1.10");
    assert_eq!(since_first(&play(recorded)), [0, 34_000 * MS, 99_000 * MS, 168_000 * MS, 520_000 * MS]);
    let log = "time:2024-01-01T00:00:01Z\thost:h\treq:GET /a?b HTTP/1.1\tstatus:429\treqtime:0.25\n";
    let (_, rows) = rows(log, data(""));
    assert_eq!((rows[0].at, rows[0].status, str(&rows[0].path)), (START_2024 + 750 * MS, 429, "/a?b"));
}

#[test]
fn otlp() {
    let recorded = open(&data("otel_proto_trace.json")).unwrap();
    assert_eq!((recorded.format.name, recorded.rows), ("otlp", 1));
    assert_eq!((recorded.start, recorded.key_name(0)), (Some(1_544_712_660_000_000_000), "my.service".to_owned()));
    let span = |kind: u32, attributes: &str| {
        format!(
            r#"{{"resourceSpans":[{{"scopeSpans":[{{"spans":[{{"startTimeUnixNano":"1704067200000000001","kind":{kind},"attributes":[{attributes}]}}]}}]}}]}}"#
        )
    };
    let model = span(
        3,
        r#"{"key":"gen_ai.usage.input_tokens","value":{"intValue":"12"}},{"key":"gen_ai.usage.output_tokens","value":{"intValue":7}},{"key":"user.id","value":{"stringValue":"u"}}"#,
    );
    let log = format!("{}\n{}\n{model}\n", span(1, ""), span(2, ""));
    let (name, rows) = rows(&log, data(""));
    assert_eq!((name, rows.len()), ("otlp", 2), "the internal span is no request");
    assert_eq!((rows[1].at, rows[1].input_tokens, rows[1].output_tokens), (START_2024 + 1, 12, 7));
    assert_eq!(str(&rows[1].key), "u");
    let none = text(&span(1, ""), data("")).unwrap_err();
    assert_eq!(none.message, "none of its 1 spans is of a server or of a call to a model (read as otlp)");
}

#[test]
fn alb() {
    let line = |created: &str| {
        format!(
            "https 2024-01-01T00:00:02.300000Z app/web/50dc 203.0.113.7:49152 10.0.0.1:80 0.000 0.048 0.000 200 200 0 57 \"GET https://example.com:443/a HTTP/1.1\" \"agent\" - - arn \"Root=1\" \"-\" \"-\" 0{created}\n"
        )
    };
    let (name, rows) = rows(&(line(" 2024-01-01T00:00:02.250000Z \"forward\"") + &line("")), data(""));
    assert_eq!((name, str(&rows[0].key), rows[0].status), ("alb", "203.0.113.7", 200));
    assert_eq!([rows[0].at, rows[1].at], [START_2024 + 2250 * MS, START_2024 + 2300 * MS]);
}

#[test]
fn s3() {
    let log = "79a5 bucket [01/Jan/2024:00:00:38 +0000] 192.0.2.3 arn:user 3E57 REST.GET.OBJECT photo%20a.jpg \"GET /bucket/photo HTTP/1.1\" 503 SlowDown 113 - 7 - \"-\" \"agent\" -\n";
    let (name, rows) = rows(log, data(""));
    assert_eq!((name, str(&rows[0].key), str(&rows[0].user), rows[0].status), ("s3", "192.0.2.3", "arn:user", 503));
    assert_eq!(rows[0].at, START_2024 + 38_000 * MS);
}

#[test]
fn w3c() {
    let log = "#Version: 1.0\n#Fields: date time x-edge-location sc-bytes c-ip cs-method cs(Host) cs-uri-stem sc-status time-taken\n2024-01-01\t00:00:05\tFRA2\t10\t192.0.2.3\tGET\td1\t/a\t200\t0.250\n";
    let (name, cloudfront) = rows(log, data(""));
    assert_eq!((name, str(&cloudfront[0].key), str(&cloudfront[0].path)), ("w3c", "192.0.2.3", "/a"));
    assert_eq!(cloudfront[0].at, START_2024 + 4750 * MS);
    let log = "#Software: IIS\r\n#Fields: date time cs-method cs-uri-stem cs-username c-ip sc-status time-taken\r\n2024-01-01 00:00:05 GET /a - 192.0.2.3 429 250\r\n#Fields: date time c-ip\r\n2024-01-01 00:00:06 192.0.2.4\r\n";
    let (_, iis) = rows(log, data(""));
    assert_eq!((iis[0].at, iis[0].status, str(&iis[1].key)), (START_2024 + 5000 * MS, 429, "192.0.2.4"));
}

#[test]
fn cloudflare() {
    let log = r#"{"ClientIP":"192.0.2.3","ClientRequestMethod":"GET","ClientRequestURI":"/a?b","EdgeResponseStatus":429,"EdgeStartTimestamp":1704067200000000001}
"#;
    let (name, rows) = rows(log, data(""));
    assert_eq!((name, str(&rows[0].key), rows[0].status, rows[0].at), ("cloudflare", "192.0.2.3", 429, START_2024 + 1));
    assert_eq!((str(&rows[0].method), str(&rows[0].path)), ("GET", "/a?b"));
}

#[test]
fn litellm() {
    let object = r#"{"request_id": "r", "api_key": "hash", "spend": 0.0123, "prompt_tokens": 10, "completion_tokens": 5, "startTime": "2024-01-01T00:00:01.5Z", "user": "u"}"#;
    for log in [format!("{object}\n{object}\n"), format!("[\n  {object},\n  {object}\n]\n")] {
        let (name, rows) = rows(&log, data(""));
        assert_eq!((name, rows.len(), str(&rows[0].key), rows[0].microusd), ("litellm", 2, "hash", 12_300));
        assert_eq!((rows[1].at, rows[1].input_tokens, rows[1].output_tokens), (START_2024 + 1500 * MS, 10, 5));
    }
}

#[test]
fn har() {
    let log = r#"{"log": {"version": "1.2", "entries": [{"startedDateTime": "2024-01-01T00:00:01.5+00:00", "request": {"method": "GET", "url": "https://example.com/a?b"}, "response": {"status": 200}}]}}"#;
    let (name, rows) = rows(log, data(""));
    assert_eq!((name, str(&rows[0].key), str(&rows[0].path), rows[0].status), ("har", "example.com", "/a?b", 200));
    assert_eq!(rows[0].at, START_2024 + 1500 * MS);
}

#[test]
fn json_lists_name_the_line_of_an_element() {
    let list = |second: &str| format!("[\n{{\"ts\": 1704067200, \"id\": 1}},\n\n{second}\n");
    let (name, good) = rows(&list("{\"ts\": 1704067201,\n\"id\": 2}]"), data(""));
    assert_eq!((name, good.len()), ("jsonl", 2));
    let mut said = String::new();
    for second in ["{\"ts\": null}]", "{\"ts\": 1704067201}", "{\"ts\":", "{\"ts\": 1704067201}] x", "]", "oops]"] {
        said.push_str(&format!("{}\n", text(&list(second), data("")).unwrap_err()));
    }
    insta::assert_snapshot!(said);
}

#[test]
fn compression_is_recognised_by_content() {
    use std::io::Write;
    let plain = std::fs::read("tests/traces/data/out_of_order.csv").unwrap();
    let frame = std::fs::read("tests/traces/data/out_of_order.csv.zst").unwrap();
    let gzip = |bytes: &[u8]| {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    };
    let count = |bytes: Vec<u8>| {
        let mut stream = Stream::from_reader(&data("-"), std::io::Cursor::new(bytes)).unwrap();
        let mut row = Row::default();
        while stream.next(&mut row).unwrap() {}
        stream.rows()
    };
    assert_eq!(count(frame.clone()), 5);
    // Frames and members one after another are one file; a frame that is to be skipped is.
    let rest = b"5,b,1\n";
    let zstd = ruzstd::encoding::compress_to_vec(&rest[..], ruzstd::encoding::CompressionLevel::Fastest);
    let skippable = [&0x184D_2A50_u32.to_le_bytes()[..], &3_u32.to_le_bytes(), b"abc"].concat();
    assert_eq!(count([frame, skippable, zstd].concat()), 6);
    assert_eq!(count([gzip(&plain), gzip(rest)].concat()), 6);
}

/// Tokens from and into a cache are no input tokens, and are in the price that the log has.
#[test]
fn cached_tokens_are_paid_and_not_metered() {
    let batch = play(open(&data("claude_chat_alpha.jsonl")).unwrap());
    assert_eq!(
        (batch.input_tokens.as_slice(), batch.output_tokens.as_slice()),
        (&[100, 200, 300][..], &[50, 75, 125][..])
    );
    assert_eq!(batch.microusd, [120_000, 340_000, 560_000]);
    let log = "t_ms,input_tokens,cache_read_tokens,price\n1,150,11950,0.004785\n2,150,11950,0.004785\n";
    let recorded = text(log, data("")).unwrap();
    let said = |start| recorded.notes.iter().any(|note| note.text.starts_with(start));
    assert!(said(
        "23900 tokens read from a cache and 0 written to one are not counted as input tokens; only the price"
    ));
    let batch = play(recorded);
    assert_eq!((batch.input_tokens, batch.microusd), (vec![150, 150], vec![4785, 4785]));
}

/// Rows without quotes are split many at once, up to the first block that has one.
#[test]
fn quotes_far_into_a_table() {
    let plain: String = (0..30_000).map(|n| format!("{n},user-{},{}\n", n % 7, n % 3)).collect();
    let log = format!("t_ms,user,cost\n{plain}30000,\"a,b\",\"1,000\"\n30001,c,2\n");
    let (name, read) = rows(&log, data(""));
    assert_eq!((name, read.len()), ("csv", 30_002));
    let said = |row: &Row| (row.at / MS, str(&row.key).to_owned(), row.cost);
    assert_eq!(said(&read[29_999]), (29_999, "user-4".to_owned(), 2));
    assert_eq!(said(&read[30_000]), (30_000, "a,b".to_owned(), 1000));
    assert_eq!(said(&read[30_001]), (30_001, "c".to_owned(), 2));
    let error = text(&format!("{log}30002,\"d\"\n"), data("")).unwrap_err();
    assert!(error.to_string().contains(":30004: the row has 2 of 3 columns"), "{error}");
}
