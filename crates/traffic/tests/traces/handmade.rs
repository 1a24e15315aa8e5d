//! Files made by hand for one difficulty each.

use super::*;
use traffic::traces::open;

#[test]
fn byte_order_mark_crlf_and_no_last_line_end() {
    let recorded = open(&data("bom_crlf_nonl.csv")).unwrap();
    assert_eq!((recorded.rows, recorded.start), (2, Some(1_767_225_600_000_000_000)));
    let batch = play(recorded);
    assert_eq!(since_first(&batch), [0, 1_999_999_900]);
    assert_eq!(batch.requests, [1, 2]);
}

#[test]
fn header_in_a_comment_and_letters_as_ids() {
    let recorded = open(&data("comment_header_alpha_ids.csv")).unwrap();
    assert_eq!((recorded.rows, recorded.keys, recorded.start), (5, 5, None));
    assert_eq!(recorded.key_name(4), "E");
    let batch = play(recorded);
    assert_eq!(batch.at, [0, 103 * MS, 159 * MS, 315 * MS, 418 * MS]);
    assert_eq!(batch.requests, [1; 5]);
}

#[test]
fn rows_out_of_order_are_sorted_and_counted() {
    let recorded = open(&data("out_of_order.csv")).unwrap();
    assert_eq!((recorded.backward_steps, recorded.largest_backward_step), (2, 1380 * MS));
    assert_eq!((recorded.span, recorded.duration()), (1400 * MS, 1400 * MS + 1));
    assert_eq!(play(recorded).at, [0, 10 * MS, 20 * MS, 1390 * MS, 1400 * MS]);

    let as_is = open(&spec::Trace { as_is: true, ..data("out_of_order.csv") }).unwrap();
    assert_eq!((as_is.backward_steps, as_is.span), (2, 1400 * MS));
    assert_eq!(play(as_is).at, [0, 1390 * MS, 10 * MS, 1400 * MS, 20 * MS]);
}

#[test]
fn one_column_in_four_units_is_refused_at_the_first_row_that_differs() {
    let error = open(&data("mixed_epoch_units.csv")).unwrap_err();
    assert_eq!((error.line, error.value.as_deref()), (Some(3), Some("1705320646123")));
    let skipping = spec::Trace { skip_bad_rows: true, ..data("mixed_epoch_units.csv") };
    assert_eq!(open(&skipping).unwrap_err().line, Some(3), "not even when bad rows are skipped");
}

#[test]
fn quotes_groups_exponents_missing_and_negative_costs() {
    let strict = open(&data("quoted_missing_negative.csv")).unwrap_err();
    assert_eq!((strict.line, strict.column.as_deref()), (Some(4), Some("cost")));
    let recorded = open(&spec::Trace { skip_bad_rows: true, ..data("quoted_missing_negative.csv") }).unwrap();
    assert_eq!((recorded.rows, recorded.skipped, recorded.keys), (4, 2, 3));
    assert_eq!([0, 1, 2].map(|key| recorded.key_name(key)), ["acme, inc", "", "b"]);
    assert_eq!(play(recorded).requests, [1, 1, 1000, 1234]);
}

#[test]
fn too_many_bad_rows_are_an_error_after_all() {
    let with = |max| open(&spec::Trace { max_bad_rows: Some(max), ..data("quoted_missing_negative.csv") });
    assert_eq!(with(2).unwrap().rows, 4);
    assert_eq!(with(1).unwrap_err().line, Some(5));
}

#[test]
fn a_cut_last_row_is_an_error_or_a_counted_skip() {
    assert_eq!(open(&data("truncated.csv")).unwrap_err().line, Some(3));
    let recorded = open(&spec::Trace { skip_bad_rows: true, ..data("truncated.csv") }).unwrap();
    assert_eq!((recorded.rows, recorded.skipped), (1, 1));
}

#[test]
fn blank_lines_do_not_shift_line_numbers() {
    for (ends, line) in [("\n", 6), ("\r\n", 6)] {
        let log = ["", "t_ms,key", "", "1,a", "", "x,a", ""].join(ends);
        assert_eq!(text(&log, data("")).unwrap_err().line, Some(line));
    }
}

#[test]
fn comments_between_rows_are_read_over_only_where_a_time_comes_first() {
    assert_eq!(text("t_ms,key\n1,a\n# note\n2,b\n", data("")).unwrap().rows, 2);
    let keys = text("key,t_ms\n#general,1\n#random,2\n", data("")).unwrap();
    assert_eq!((keys.rows, keys.key_name(0)), (2, "#general".to_owned()));
}

#[test]
fn columns_are_mapped_added_up_and_joined() {
    let columns = [("time", &["when"][..]), ("key", &["org", "user"]), ("cost", &["in", "OUT"])];
    let columns = columns.map(|(role, names)| (role.to_owned(), names.iter().map(|n| n.to_string()).collect()));
    let spec = || spec::Trace { columns: columns.to_vec(), time_unit: Some("s".into()), ..data("") };
    let recorded = text("when;org;user;in;out\n1.5;x;a;2;3\n2;x;b;1;0\n", spec()).unwrap();
    assert_eq!([0, 1].map(|key| recorded.key_name(key)), ["x, a", "x, b"]);
    let batch = play(recorded);
    assert_eq!((batch.at, batch.requests), (vec![1500 * MS, 2000 * MS], vec![5, 1]));
}

#[test]
fn columns_go_by_number_where_there_is_no_header() {
    let columns = vec![("time".to_owned(), vec!["2".to_owned()]), ("key".to_owned(), vec!["1".to_owned()])];
    let recorded = text("a\t1705320645\nb\t1705320646\n", spec::Trace { columns, ..data("") }).unwrap();
    assert_eq!((recorded.rows, recorded.keys, recorded.start), (2, 2, Some(1_705_320_645_000_000_000)));
}

#[test]
fn json_lines_with_nested_fields() {
    let log = r#"{"ts": "2026-01-01T00:00:00Z", "user": {"id": "a\u00e9"}, "n": 3, "skip": [{"ts": 1}]}
{"n": 4, "user": {"id": null}, "ts": "2026-01-01T00:00:01Z"}
"#;
    let columns = vec![("key".to_owned(), vec!["user.id".to_owned()]), ("cost".to_owned(), vec!["n".to_owned()])];
    let recorded = text(log, spec::Trace { columns, ..data("") }).unwrap();
    assert_eq!((recorded.format.name, recorded.rows), ("jsonl", 2));
    assert_eq!([0, 1].map(|key| recorded.key_name(key)), ["aé", ""]);
    assert_eq!(play(recorded).requests, [3, 4]);
}

#[test]
fn addresses_are_one_key_however_they_are_written() {
    let log =
        "t_s,ip\n0,203.0.113.7:51001\n1,203.0.113.7:51002\n2,[2001:db8::1]:443\n3,2001:db8::1\n4,::ffff:203.0.113.7\n";
    assert_eq!(text(log, data("")).unwrap().keys, 5);
    let equal = text(log, spec::Trace { key_normalise: spec::KeyNormalise::Address, ..data("") }).unwrap();
    assert_eq!(equal.keys, 2);
    assert!(equal.notes.iter().any(|note| note.text.contains("key-normalise")), "{:?}", equal.notes);
    let grouped = text("t_s,ip\n0,2001:db8::1\n1,2001:db8::2\n", spec::Trace { key_prefix: Some(64), ..data("") });
    assert_eq!(grouped.unwrap().key_name(0), "2001:db8::/64");
}
