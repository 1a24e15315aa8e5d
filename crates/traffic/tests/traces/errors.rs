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
