//! What is said about files that cannot be read: one error each, which names the file, the place and the reason.

use super::*;
use traffic::traces::open;

#[test]
fn files_that_are_no_logs() {
    let mut said = String::new();
    for name in [
        "empty.csv",
        "header_only.csv",
        "html_error_page.csv",
        "lfs_pointer.log",
        "truncated.csv",
        "mixed_epoch_units.csv",
        "quoted_missing_negative.csv",
        "garbage.csv.gz",
        "cut.csv.gz",
        "no_such_file.csv",
        "",
    ] {
        said.push_str(&format!("{}\n", open(&data(name)).unwrap_err()));
    }
    insta::assert_snapshot!(said);
}

#[test]
fn broken_rows_and_settings() {
    let columns = |role: &str, name: &str| vec![(role.to_owned(), vec![name.to_owned()])];
    let csv = "t_ms,user,cost\n1,a,1\n";
    let apache = "h - - [10/Oct/2000:13:55:36 -0700] \"GET / HTTP/1.1\" 200 5\n";
    let plain = || data("");
    let mut said = String::new();
    for (log, spec) in [
        ("t_ms,cost\n1,2\n2,1.5\n3,1\n", plain()),
        ("t_ms,cost\n1,2\n2,abc\n3,1\n", plain()),
        ("t_ms,cost\n1,2\n2,1e30\n3,1\n", plain()),
        ("t_ms,cost\n1,2\n2\n3,1\n", plain()),
        ("t_ms,cost\n1,2\n2,1,7\n3,1\n", plain()),
        ("# at_ns counts from yesterday\nat_ns,key,cost\n1,a,1\n", plain()),
        ("# at_ns counts from 2553-12-31T23:59:59Z\nat_ns,key,cost\n1,a,1\n18446744073709551615,a,1\n", plain()),
        ("t_ms,user\n1,a\n2,\"b\n", plain()),
        ("t_ms,user\n1,a\n2,\"b", plain()),
        ("t_ms,user\n1,a\n2,\"b\n3,c\n4,d\n", spec::Trace { skip_bad_rows: true, ..plain() }),
        ("t_ms,cost\n1,2\n-2,1\n3,1\n", plain()),
        ("t_ms,cost\n1,2\n,1\n3,1\n", plain()),
        ("timestamp,cost\n1,2\n", plain()),
        ("timestamp,cost\n2026-01-01T00:00:00Z,2\n2026-01-01 00:00:01,2\n", plain()),
        ("timestamp,cost\n2026-02-30T00:00:00Z,2\n", plain()),
        ("timestamp,cost\n2026-02-01,2\n", plain()),
        ("timestamp,cost\n1705320645,2\n7,2\n", plain()),
        ("timestamp,cost\n1705320645,x\n1705320646,y\n", spec::Trace { skip_bad_rows: true, ..plain() }),
        ("alpha,beta\n1,2\n", plain()),
        (csv, spec::Trace { columns: columns("key", "usr"), ..plain() }),
        (csv, spec::Trace { columns: columns("kez", "user"), ..plain() }),
        (csv, spec::Trace { time_unit: Some("minutes".into()), ..plain() }),
        (csv, spec::Trace { format: Some("cvs".into()), ..plain() }),
        (csv, spec::Trace { format: Some("access-log".into()), ..plain() }),
        (&(apache.to_owned() + "oops\n" + apache), plain()),
        (&(apache.to_owned() + &apache[..40]), plain()),
        (apache, spec::Trace { columns: columns("key", "referer"), ..plain() }),
        ("{\"ts\": 1705320645}\n{\"ts\": 17053\n{\"ts\": 1705320646}\n", plain()),
        ("{\"ts\": 1705320645}\n{\"tsx\": 17053}\n", plain()),
        ("{\"a\": 1}\n", plain()),
        ("hello world\nhow are you\n", plain()),
        ("\n\n", plain()),
        ("PK\u{3}\u{4}abc", plain()),
    ] {
        said.push_str(&format!("{}\n", text(log, spec).unwrap_err()));
    }
    insta::assert_snapshot!(said);
}

#[test]
fn times_that_can_be_read_in_two_ways() {
    let mut said = String::new();
    for time in [
        "46023.5",
        "46023",
        "01/02/2026 13:05",
        "1/31/2026 1:05:01 PM",
        "Thu Jan  1 00:00:00 CET 2026",
        "Fri Jan  2 00:00:00 2025",
        "Jan  2 00:00:00",
        "31.01.2026",
        "31.01.2026 13:05 MEZ",
    ] {
        said.push_str(&format!("{}\n", text(&format!("time,user\n{time},a\n"), data("")).unwrap_err()));
    }
    // Who says the unit is believed.
    let seconds = spec::Trace { time_unit: Some("s".into()), ..data("") };
    let recorded = text("time,user\n46023.5,a\n46024,b\n", seconds).unwrap();
    assert_eq!((recorded.start, recorded.first, recorded.span), (None, 46_023_500 * MS, 46_024_000 * MS));
    assert_eq!(text("t_s,user\n46023.5,a\n", data("")).unwrap().first, 46_023_500 * MS);
    assert_eq!(text("time,user\n2.5,a\n46023.5,a\n", data("")).unwrap().rows, 2);
    insta::assert_snapshot!(said);
}

#[test]
fn the_delimiter_that_a_spreadsheet_says() {
    for (log, rows) in [
        ("sep=;\ntime;user,name\n2026-01-01 00:00:00;a\n", 1),
        ("\"sep=;\"\r\ntime;user\r\n2026-01-01 00:00:00;a\r\n2026-01-01 00:00:00;b\r\n", 2),
        ("SEP=\t\n#time\tuser\n2026-01-01 00:00:00\ta\n", 1),
        ("\u{feff}sep=:\ntime:user\n1705320645:a\n", 1),
    ] {
        assert_eq!(text(log, data("")).unwrap().rows, rows, "{log}");
    }
    let numbered =
        spec::Trace { columns: vec![("time".into(), vec!["1".into()]), ("key".into(), vec!["2".into()])], ..data("") };
    assert_eq!(text("sep=;\n1705320645;a\n1705320646;b\n", numbered).unwrap().rows, 2);
    let broken = text("sep=;\ntime;user\n2026-01-01 00:00:00;a\nx;b\n", data("")).unwrap_err();
    assert_eq!((broken.line, broken.value.as_deref()), (Some(4), Some("x")));
    assert_eq!(text("sep=;\nalpha;beta\n1;2\n", data("")).unwrap_err().line, Some(2));
}

#[test]
fn bad_rows_are_told_in_the_right_number() {
    let said = |max| {
        let few = spec::Trace { max_bad_rows: Some(max), ..data("") };
        text("t_ms,user\n1,a\nx,b\ny,b\nz,b\n", few).unwrap_err().message
    };
    let starts: Vec<_> = (0..3).map(|max| said(max).split(';').next().unwrap().to_owned()).collect();
    assert_eq!(starts, ["more than 0 bad rows", "more than 1 bad row", "more than 2 bad rows"]);
}
