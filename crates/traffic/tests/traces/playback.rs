//! Playing what was read: start, end, scale, repeats, and the workbench's own form.

use super::*;
use proptest::prelude::*;
use traffic::traces::open;
use traffic::write_csv;

fn fill(source: &mut impl Source) -> Vec<Nanos> {
    let mut batch = Batch::default();
    while source.fill(&mut batch, 2).unwrap() > 0 {}
    batch.at
}

#[test]
fn the_end_is_half_open_and_what_lies_beyond_is_counted() {
    let relative = || open(&data("out_of_order.csv")).unwrap();
    let (mut source, cut) = relative().into_source(1_000, 1390 * MS).unwrap();
    assert_eq!((cut, fill(&mut source)), (2, vec![1_000, 10 * MS + 1_000, 20 * MS + 1_000]));
    let (mut source, cut) = relative().into_source(0, 1390 * MS + 1).unwrap();
    assert_eq!((cut, fill(&mut source).len()), (1, 4));
}

#[test]
fn rows_before_the_start_are_an_error() {
    let recorded = || open(&data("bom_crlf_nonl.csv")).unwrap();
    let start = recorded().start.unwrap();
    let error = recorded().into_source(start + MS, 60_000 * MS).unwrap_err();
    insta::assert_snapshot!(error, @"tests/traces/data/bom_crlf_nonl.csv: 1 rows lie before the scenario's start, the first by 1 ms; set start to the trace's first instant or leave it out");
    let earlier = recorded().into_source(start - MS, 60_000 * MS).unwrap();
    assert_eq!(earlier.1, 0);
    let error = recorded().into_source(start - 2 * MS, MS).unwrap_err();
    insta::assert_snapshot!(error, @"tests/traces/data/bom_crlf_nonl.csv: no row lies before the scenario's end, 1 ms after its start");
}

#[test]
fn gaps_are_scaled_and_playings_follow_each_other() {
    let spec = spec::Trace { time_scale: Some((1, 2)), repeat: 3, ..data("comment_header_alpha_ids.csv") };
    let recorded = open(&spec).unwrap();
    assert_eq!((recorded.span, recorded.duration()), (209 * MS, 3 * (209 * MS + 1)));
    let (mut source, cut) = recorded.into_source(7, 2 * (209 * MS + 1) + 1).unwrap();
    let one = [0, 103 * MS / 2, 159 * MS / 2, 315 * MS / 2, 209 * MS];
    let mut expected: Vec<Nanos> = [0, 1].iter().flat_map(|n| one.map(|at| 7 + at + n * (209 * MS + 1))).collect();
    expected.push(7 + 2 * (209 * MS + 1));
    assert_eq!((cut, fill(&mut source)), (4, expected));
}

proptest! {
    #[test]
    fn own_form_read_back_is_the_same(
        rows in prop::collection::vec((0u64..u64::MAX / 4, ".{0,6}", 0u64..5, 0u64..3, any::<u32>(), 0u64..2), 1..40),
        start in 0u64..u64::MAX / 4,
    ) {
        let mut rows = rows;
        rows.sort_by_key(|row| row.0);
        struct Given(Vec<(u64, String, u64, u64, u32, u64)>, Nanos, usize);
        impl Source for Given {
            fn fill(&mut self, batch: &mut Batch, max: usize) -> Result<usize, TrafficError> {
                let end = self.0.len().min(self.2 + max.min(7));
                for (index, (at, _, requests, input_tokens, output, microusd)) in self.0[self.2..end].iter().enumerate() {
                    batch.push(&limiters::Request {
                        at: at + self.1, key: (self.2 + index) as u64, requests: *requests,
                        input_tokens: *input_tokens, output_tokens: (*output).into(), microusd: *microusd,
                        ..Default::default()
                    });
                }
                let count = end - self.2;
                self.2 = end;
                Ok(count)
            }
            fn has_tokens(&self) -> bool {
                true
            }
            fn has_prices(&self) -> bool {
                true
            }
            fn key_name(&self, key: u64) -> String {
                self.0[key as usize].1.clone()
            }
        }
        let mut written = Vec::new();
        prop_assert_eq!(write_csv(&mut Given(rows.clone(), start, 0), start, &mut written).unwrap(), rows.len() as u64);
        let recorded = text(std::str::from_utf8(&written).unwrap(), data("")).unwrap();
        prop_assert_eq!((recorded.format.name, recorded.start), ("own", None));
        let duration = recorded.duration();
        let (mut source, _) = recorded.into_source(start, duration).unwrap();
        let mut batch = Batch::default();
        while source.fill(&mut batch, 5).unwrap() > 0 {}
        prop_assert_eq!(batch.len(), rows.len());
        for (index, (at, key, requests, input, output, price)) in rows.iter().enumerate() {
            let got = batch.get(index);
            prop_assert_eq!((got.at, &source.key_name(got.key), got.requests), (at + start, key, *requests));
            prop_assert_eq!((got.input_tokens, got.output_tokens, got.microusd), (*input, u64::from(*output), *price));
        }
    }
}
