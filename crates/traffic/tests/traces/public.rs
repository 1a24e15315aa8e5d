//! Published traces, and the figures known of them.

use super::*;
use traffic::traces::open;

const MINUTE: Nanos = 60_000 * MS;

/// The largest sum of `amounts` in a half-open window of one minute.
fn busiest(times: &[Nanos], amounts: &[u64]) -> u64 {
    let (mut first, mut sum, mut most) = (0, 0, 0);
    for (at, amount) in times.iter().zip(amounts) {
        sum += amount;
        while times[first] + MINUTE <= *at {
            sum -= amounts[first];
            first += 1;
        }
        most = most.max(sum);
    }
    most
}

#[test]
fn azure_code() {
    let recorded = open(&shipped("AzureLLMInferenceTrace_code.csv")).unwrap();
    assert_eq!((recorded.format.name, recorded.rows, recorded.keys), ("azure-llm", 8819, 1));
    assert_eq!((recorded.backward_steps, recorded.skipped), (0, 0));
    assert_eq!(recorded.start, Some(1_700_158_623_979_960_000));
    let batch = play(recorded);
    assert_eq!(batch.requests, vec![1; 8819]);
    assert_eq!((batch.input_tokens[0], batch.output_tokens[0]), (4808, 10));
    let tokens: Vec<u64> = batch.input_tokens.iter().zip(&batch.output_tokens).map(|(i, o)| i + o).collect();
    assert_eq!(busiest(&batch.at, &batch.requests), 723);
    assert_eq!(busiest(&batch.at, &tokens), 1_409_698);
    let aligned = batch.at.chunk_by(|a, b| a / MINUTE == b / MINUTE).map(<[Nanos]>::len).max();
    assert_eq!(aligned, Some(585));
}

#[test]
fn elastic_apache() {
    let recorded = open(&shipped("elastic_apache.log.gz")).unwrap();
    assert_eq!((recorded.format.name, recorded.rows, recorded.keys), ("access-log", 10_000, 1_753));
    assert_eq!((recorded.backward_steps, recorded.skipped), (4_915, 0));
    assert_eq!((recorded.resolution, recorded.largest_backward_step), (1_000 * MS, 59_000 * MS));
    assert_eq!(recorded.key_name(0), "83.149.9.216");
    let batch = play(recorded);
    assert!(batch.at.is_sorted());
    assert!(batch.at.iter().all(|at| at / MINUTE % 60 == 5));
    assert_eq!((batch.requests, batch.input_tokens), (vec![1; 10_000], vec![]));
}
