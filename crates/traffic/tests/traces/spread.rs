//! Usage exports: totals are told from requests, refused, and spread where that is asked for.

use super::*;
use std::num::NonZeroU32;
use traffic::spec::{Said, Trace};

const OPENAI: &str = "start_time,end_time,start_time_iso,end_time_iso,project_id,num_model_requests,user_id,model,input_tokens,output_tokens
1730419200,1730422800,2024-11-01T00:00:00+00:00,2024-11-01T01:00:00+00:00,p,3,ann,gpt,1000,10
1730419200,1730422800,2024-11-01T00:00:00+00:00,2024-11-01T01:00:00+00:00,p,2,bob,gpt,501,7
1730422800,1730426400,2024-11-01T01:00:00+00:00,2024-11-01T02:00:00+00:00,p,0,ann,gpt,0,0
1730426400,1730430000,2024-11-01T02:00:00+00:00,2024-11-01T03:00:00+00:00,p,1,ann,gpt,9,1
";
const CLOUDWATCH: &str = "Timestamp,Sum,Unit\n2026-01-01T00:00:00Z,60.0,Count\n2026-01-01T00:01:00Z,120.0,Count\n2026-01-01T00:04:00Z,30.0,Count\n";
const DAYS: &str = "date,user,requests\n2026-01-01,ann,24\n2026-01-02,ann,48\n";
const ANTHROPIC: &str = "usage_date_utc,model_version,workspace,usage_input_tokens_no_cache,usage_input_tokens_cache_write_5m,usage_input_tokens_cache_read,usage_output_tokens\n2026-01-01,claude,w,1000,10,100,50\n2026-01-02,claude,w,2000,10,100,50\n";
const BUCKETS: &str = "bucket_start,input_tokens\n2026-01-01T00:00:00Z,5000\n2026-01-01T01:00:00Z,7000\n";

fn spread(said: Said) -> Trace {
    Trace { spread: Some(true), said, ..data("") }
}

#[test]
fn totals_are_refused_unless_they_are_to_be_spread() {
    let flags = || Trace { said: Said::Flags, ..data("") };
    let columns = |role: &str, name: &str| vec![(role.to_owned(), vec![name.to_owned()])];
    let mut said = String::new();
    for log in [OPENAI, CLOUDWATCH, DAYS, ANTHROPIC, BUCKETS] {
        said.push_str(&format!("{}\n{}\n", text(log, data("")).unwrap_err(), text(log, flags()).unwrap_err()));
    }
    let irregular = "time,calls\n2026-01-01T00:00:00Z,5\n2026-01-01T00:02:00Z,5\n2026-01-01T00:05:00Z,5\n";
    for (log, spec) in [
        (ANTHROPIC, spread(Said::Flags)),
        (BUCKETS, spread(Said::Scenario)),
        (OPENAI, Trace { spread_over: NonZeroU32::new(60), ..spread(Said::Flags) }),
        (DAYS, Trace { spread_over: NonZeroU32::new(60), ..spread(Said::Scenario) }),
        (irregular, spread(Said::Flags)),
        (OPENAI.replace(",0,ann,gpt,0,0", ",x,ann,gpt,0,0").as_str(), spread(Said::Flags)),
        (OPENAI.replace(",0,ann,gpt,0,0", ",0,ann,gpt,5,0").as_str(), spread(Said::Flags)),
        ("date,requests\n2026-01-01,0\n2026-01-02,0\n", spread(Said::Flags)),
        ("date,requests\n2026-01-01,100000000000000\n2026-01-02,0\n", spread(Said::Flags)),
        ("date,requests,n\n2026-01-01,1,x\n", Trace { columns: columns("requests", "n"), ..spread(Said::Flags) }),
    ] {
        said.push_str(&format!("{}\n", text(log, spec).unwrap_err()));
    }
    let apache = "h - - [10/Oct/2000:13:55:36 -0700] \"GET / HTTP/1.1\" 200 5\n";
    said.push_str(&format!("{}\n", text(apache, spread(Said::Flags)).unwrap_err()));
    insta::assert_snapshot!(said);
}

#[test]
fn sums_and_distances_of_usage_exports() {
    let recorded = text(OPENAI, spread(Said::Flags)).unwrap();
    let note = recorded.notes.iter().find(|note| note.text.starts_with("--spread")).unwrap();
    insta::assert_snapshot!(note.text, @"--spread: 3 totals of 1 h (\"num_model_requests\") are spread evenly as 6 requests: what is shorter than 1 h is an artefact; true peaks are higher, so a limit fitted on this is too tight");
    assert_eq!((recorded.rows, recorded.keys, recorded.backward_steps), (6, 2, 0));
    let batch = play(recorded);
    let minutes: Vec<Nanos> = since_first(&batch).iter().map(|at| at / (60_000 * MS)).collect();
    assert_eq!(minutes, [0, 0, 20, 30, 40, 120]);
    assert_eq!((batch.input_tokens.iter().sum::<u64>(), batch.output_tokens.iter().sum::<u64>()), (1510, 18));

    let batch = play(text(CLOUDWATCH, spread(Said::Flags)).unwrap());
    assert_eq!(batch.len(), 210);
    assert!(since_first(&batch)[..60].iter().enumerate().all(|(n, at)| *at == n as u64 * 1000 * MS));
    assert_eq!(since_first(&batch)[61] - since_first(&batch)[60], 500 * MS);

    let batch = play(text(DAYS, spread(Said::Scenario)).unwrap());
    assert_eq!((batch.len(), since_first(&batch)[25] - since_first(&batch)[24]), (72, 1_800_000 * MS));
}

#[test]
fn tokens_are_spread_over_a_chosen_number_of_requests() {
    let log = format!("{BUCKETS}2026-01-01T02:00:00Z,0\n2026-01-01T03:00:00Z,2\n");
    let recorded = text(&log, Trace { spread_over: NonZeroU32::new(4), ..spread(Said::Flags) }).unwrap();
    let note = recorded.notes.iter().find(|note| note.text.starts_with("--spread")).unwrap();
    insta::assert_snapshot!(note.text);
    let batch = play(recorded);
    let minutes: Vec<Nanos> = since_first(&batch).iter().map(|at| at / (60_000 * MS)).collect();
    // The hour without tokens has no requests; two tokens are two of four requests.
    assert_eq!(minutes, [0, 15, 30, 45, 60, 75, 90, 105, 180, 195, 210, 225]);
    assert_eq!(batch.input_tokens, [1250, 1250, 1250, 1250, 1750, 1750, 1750, 1750, 0, 1, 0, 1]);
    // Days with a model each, and cached tokens.
    let recorded = text(ANTHROPIC, Trace { spread_over: NonZeroU32::new(24), ..spread(Said::Scenario) }).unwrap();
    assert_eq!(recorded.rows, 48);
    let batch = play(recorded);
    assert_eq!((since_first(&batch)[1], batch.input_tokens.iter().sum::<u64>()), (3_600_000 * MS, 3_000));
}

#[test]
fn a_filter_and_a_key_see_totals() {
    let spec = Trace { filter: Some("column(\"user_id\") = \"ann\"".into()), ..spread(Said::Flags) };
    let recorded = text(OPENAI, Trace { key_by: vec!["model".into(), "user_id".into()], ..spec }).unwrap();
    assert_eq!((recorded.rows, recorded.key_name(0)), (4, "gpt, ann".to_owned()));
    assert!(recorded.notes.iter().any(|note| note.text.starts_with("1 of 4 rows do not match")));
}

#[test]
fn ordinary_logs_are_no_totals() {
    for log in [
        // Requests that have a column of such a name.
        "time,user,count\n2026-01-01T00:00:03Z,a,5\n2026-01-01T00:01:07Z,b,6\n",
        "time,calls\n2026-01-01T00:00:00Z,1\n2026-01-01T00:01:00Z,1\n",
        "time,count\n2026-01-01T00:00:00Z,x\n2026-01-01T00:01:00Z,7\n",
        "time,hits\n2026-01-01T00:00:00Z,4\n2026-01-01T00:02:00Z,7\n2026-01-01T00:05:00Z,7\n",
        "start_time,end_time,calls\n2026-01-01T00:00:00Z,2026-01-01T00:00:09Z,4\n2026-01-01T00:02:00Z,2026-01-01T00:05:00Z,7\n",
        "{\"ts\": 1705320600, \"count\": 3}\n{\"ts\": 1705320661, \"count\": 3}\n",
        "day,time,count\n2026-01-01,2026-01-01T00:00:03Z,5\n2026-01-01,2026-01-01T00:01:07Z,6\n",
    ] {
        let rows = log.lines().count() as u64 - u64::from(!log.starts_with('{'));
        assert_eq!(text(log, data("")).unwrap().rows, rows, "{log}");
    }
    let told = Trace { spread: Some(false), ..data("") };
    assert_eq!((text(OPENAI, told.clone()).unwrap().rows, text(BUCKETS, told).unwrap().rows), (4, 2));
}

/// Every sample is read as requests.
#[test]
fn samples_are_no_totals() {
    for folder in ["tests/traces/data", "../../scenarios/traces"] {
        for file in std::fs::read_dir(folder).unwrap() {
            let path = file.unwrap().path();
            if let Err(error) = traces::open(&Trace { path, repeat: 1, ..Trace::default() }) {
                assert!(!error.message.contains("total"), "{error}");
            }
        }
    }
}
