//! How long a request takes to make, in nanoseconds: `cargo run --release -p traffic --example gen_speed`.

use limiters::{Batch, Rate};
use std::time::Instant;
use traffic::spec::{Amount, Keys, Pattern, Phase, Shape};
use traffic::{Settings, Source, Traffic};

fn main() {
    const SECOND: u64 = 1_000_000_000;
    let rate = Rate::new(1000, SECOND).expect("both parts are above 0");
    let (start, end) = (0, None);
    let poisson = Shape::Poisson { rate, start, end };
    let one = Keys::One("alice".into());
    let zipf = |count| Keys::Many { prefix: "user".into(), count, zipf: 0.99 };
    let pattern = |shape: &Shape, keys: &Keys| Pattern {
        shape: shape.clone(),
        keys: keys.clone(),
        cost: Amount::Constant(1),
        input_tokens: None,
        output_tokens: None,
        price: None,
    };
    let lognormal =
        Pattern { cost: Amount::Lognormal { median: 100.0, p90: 900.0, max: Some(10_000) }, ..pattern(&poisson, &one) };
    let phase = |seconds| Phase::Exponential(seconds * SECOND);
    let cases: Vec<(&str, Vec<Pattern>)> = vec![
        ("constant", vec![pattern(&Shape::Constant { rate, start, end }, &one)]),
        ("poisson", vec![pattern(&poisson, &one)]),
        ("burst", vec![pattern(&Shape::Burst { at: 0, requests: 1000, spread: SECOND, every: Some(SECOND) }, &one)]),
        ("on-off", vec![pattern(&Shape::OnOff { rate, on: phase(1), off: phase(1), start, end }, &one)]),
        ("ramp", vec![pattern(&Shape::Ramp { from: None, to: Some(rate), start, end }, &one)]),
        (
            "sine",
            vec![pattern(
                &Shape::Sine { mean: rate, amplitude: Some(rate), period: 60 * SECOND, phase: 0, start, end },
                &one,
            )],
        ),
        ("pareto", vec![pattern(&Shape::Pareto { rate, shape: 1.5, start, end }, &one)]),
        ("poisson, 1k keys, zipf 0.99", vec![pattern(&poisson, &zipf(1000))]),
        ("poisson, 1M keys, zipf 0.99", vec![pattern(&poisson, &zipf(1_000_000))]),
        ("poisson, lognormal cost", vec![lognormal]),
        ("two poissons merged", vec![pattern(&poisson, &one); 2]),
        ("eight poissons merged", vec![pattern(&poisson, &one); 8]),
    ];
    for (name, patterns) in cases {
        let settings = Settings { seed: 1, start: 0, duration: 20_000 * SECOND, tokens: false };
        let began = Instant::now();
        let mut traffic =
            Traffic::open(&patterns, &settings, |_, _| unreachable!("no trace")).expect("the cases are valid");
        let opened = began.elapsed();
        let (mut batch, mut made, mut sum) = (Batch::default(), 0u64, 0u64);
        let began = Instant::now();
        while traffic.fill(&mut batch, 4096).expect("patterns do not fail") > 0 {
            made += batch.len() as u64;
            sum = sum.wrapping_add(batch.at[batch.len() - 1] ^ batch.key[0]);
            batch.clear();
        }
        let each = began.elapsed().as_nanos() as f64 / made as f64;
        println!("{name:30} {each:7.2} ns  ({made} requests, opened in {opened:.1?}, check {sum:x})");
    }
}
