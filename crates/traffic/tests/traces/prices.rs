//! Calls without a price of their own, priced by the model that they name.

use super::*;

/// An answer of Claude Code without `costUSD`: input, output, cache read, cache written, of that for an hour.
fn claude(id: &str, model: &str, [input, output, read, written, hour]: [u64; 5]) -> String {
    format!(
        "{{\"timestamp\":\"2026-05-01T10:00:0{}Z\",\"sessionId\":\"s\",\"message\":{{\"id\":\"{id}\",\"model\":\"{model}\",\"usage\":{{\
         \"input_tokens\":{input},\"output_tokens\":{output},\"cache_read_input_tokens\":{read},\
         \"cache_creation_input_tokens\":{written},\"cache_creation\":{{\"ephemeral_5m_input_tokens\":{},\
         \"ephemeral_1h_input_tokens\":{hour}}}}}}}}}\n",
        id.len() % 10,
        written - hour
    )
}

fn priced(log: &str, prices: &[(&str, &str)]) -> (Vec<u64>, String) {
    let prices = prices.iter().map(|(model, price)| ((*model).to_owned(), (*price).to_owned())).collect();
    let recorded = text(log, spec::Trace { prices, ..data("") }).unwrap();
    let notes: Vec<String> = recorded.notes.iter().map(|note| format!("{:?}: {}", note.kind, note.text)).collect();
    (play(recorded).microusd, notes.join("\n"))
}

#[test]
fn the_last_use_of_a_message_is_priced_with_cached_tokens_at_their_own_price() {
    // Twice the same message: the first use, while it streams in, does not count.
    let log = [
        claude("m1", "claude-sonnet-4-5-20250929", [6, 1, 2_000, 100, 40]),
        claude("m1", "claude-sonnet-4-5-20250929", [6, 327, 2_000, 100, 40]),
        claude("m22", "claude-haiku-4-5-20251001", [1_000, 10, 0, 0, 0]),
        claude("m333", "claude-sonnet-9", [10, 1, 0, 0, 0]),
        claude("m4444", "<synthetic>", [0, 0, 0, 0, 0]),
        claude("m55555", "claude-sonnet-4-20250514", [150_000, 0, 60_000, 0, 0]),
    ]
    .concat();
    let (paid, notes) = priced(&log, &[]);
    // $3, $15, $0.30, $3.75 and $6 a million: 18 + 4,905 + 600 + 225 + 240; then $1 and $5; then nothing that is known.
    assert_eq!(paid, [5_988, 1_050, 0, 0, 468_000]);
    insta::assert_snapshot!(notes);
}

#[test]
fn a_price_of_its_own_is_kept() {
    let own = claude("m1", "claude-sonnet-4-5", [1_000_000, 0, 0, 0, 0]).replacen('{', "{\"costUSD\":0.25,", 1);
    let free = claude("m22", "claude-sonnet-4-5", [1_000_000, 0, 0, 0, 0]).replacen('{', "{\"costUSD\":0,", 1);
    let null = claude("m333", "claude-sonnet-4-5", [1_000_000, 0, 0, 0, 0]).replacen('{', "{\"costUSD\":null,", 1);
    let (paid, notes) = priced(&[own, free, null].concat(), &[]);
    assert_eq!(paid, [250_000, 0, 3_000_000]);
    assert!(notes.contains("claude-sonnet-4-5 at claude-sonnet (listed): 1 call, $3;"), "{notes}");
}

#[test]
fn codex_names_its_model_in_an_earlier_line_and_prices_may_be_given() {
    let context = "{\"timestamp\":\"2026-05-13T09:00:00Z\",\"type\":\"turn_context\",\"payload\":{\"model\":\"gpt-5.2-codex\"}}\n";
    let used = |minute: u64, total: u64| {
        format!(
            "{{\"timestamp\":\"2026-05-13T09:0{minute}:00Z\",\"type\":\"event_msg\",\"payload\":{{\"type\":\"token_count\",\"info\":{{\
             \"last_token_usage\":{{\"input_tokens\":1000,\"cached_input_tokens\":250,\"output_tokens\":100}},\
             \"total_token_usage\":{{\"input_tokens\":{total}}}}}}}}}\n"
        )
    };
    let log = format!("{context}{}{}", used(1, 1_000), used(2, 2_000));
    let (paid, notes) = priced(&log, &[]);
    assert!(paid.is_empty(), "no call has a price");
    assert!(notes.contains("no price is listed for gpt-5.2-codex (2 calls, 2,200 tokens)"), "{notes}");
    // 750 at $1.25, 100 at $10 and 250 at $0.125: $0.00196875, half a micro-dollar up.
    let (paid, notes) = priced(&log, &[("gpt-5.2*", "gpt-5"), ("gpt-6", "5/25")]);
    assert_eq!(paid, [1_969, 1_969]);
    assert!(
        notes.contains("by given prices") && notes.contains("gpt-5.2-codex at gpt-5 (given): 2 calls, $0.003938"),
        "{notes}"
    );
    assert!(notes.contains("a price was given for gpt-6, but no call"), "{notes}");
    // The whole name comes before its beginning.
    let (paid, _) = priced(&log, &[("*", "gpt-5"), ("gpt-5.2-codex", "10/20/1/1")]);
    assert_eq!(paid, [9_750, 9_750]);
}

#[test]
fn spans_of_calls_to_models_are_priced_too() {
    let span = |model: &str, cached: u64| {
        format!(
            "{{\"startTimeUnixNano\":\"1767225600000000000\",\"kind\":3,\"attributes\":[\
             {{\"key\":\"gen_ai.request.model\",\"value\":{{\"stringValue\":\"{model}\"}}}},\
             {{\"key\":\"gen_ai.usage.input_tokens\",\"value\":{{\"intValue\":\"1000\"}}}},\
             {{\"key\":\"gen_ai.usage.cache_read.input_tokens\",\"value\":{{\"intValue\":\"{cached}\"}}}},\
             {{\"key\":\"gen_ai.usage.output_tokens\",\"value\":{{\"intValue\":\"100\"}}}}]}}"
        )
    };
    let log = format!(
        "{{\"resourceSpans\":[{{\"scopeSpans\":[{{\"spans\":[{},{},{}]}}]}}]}}",
        span("gpt-4o-2024-08-06", 400),
        span("anthropic/claude-3-5-haiku-latest", 2_000),
        span("", 0)
    );
    let (paid, notes) = priced(&log, &[]);
    // 600 at $2.50, 400 at $1.25, 100 at $10. More cached than sent are not among those sent: 1,000 at $0.80, 2,000 at $0.08.
    assert_eq!(paid, [3_000, 1_360, 0]);
    assert!(notes.contains("1 call with tokens name neither price nor model"), "{notes}");
}

#[test]
fn other_formats_name_no_model() {
    let prices = Box::new([("x".to_owned(), "gpt-5".to_owned())]);
    let wrong = text("time,key\n1,a\n", spec::Trace { prices, ..data("") }).unwrap_err().to_string();
    assert!(
        wrong.ends_with(
            "rows of the format csv name no model; agent and otlp do, and other files need a column with the price"
        ),
        "{wrong}"
    );
}
