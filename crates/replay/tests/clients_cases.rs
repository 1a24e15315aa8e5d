//! Cases from the field about money and loops.

use limiters::{Guard, Meter, Nanos, Outcome, Quota, Request, Scope, Settings, Stack, algorithm};
use traffic::clients::spec::Cost;
use traffic::clients::{Bill, price};
use traffic::draw::Numbered;
use traffic::spec::Amount;

const S: Nanos = 1_000_000_000;

fn guard(name: &str, limit: u64, meter: Meter) -> Stack {
    let quota = Quota { limit, window: 60 * S, burst: limit };
    let rule = (algorithm(name).unwrap().build)(&Settings::new(quota)).unwrap();
    Stack::new(vec![Guard::new(name, meter, Scope::Global, rule.store(false))])
}

fn tokens(input: u64, output: u64, cache_read: u64) -> Request {
    let [input_law, output_law, cache_law] = [input, output, cache_read].map(Amount::Constant);
    let price = price("claude-sonnet").unwrap().clone();
    let cost = Cost::Tokens { input: input_law, output: output_law, cache_read: cache_law, price };
    let paid = Bill::new(&cost).of(Numbered::new(0, "case", 0, "cost"), 0, &mut 0);
    Request {
        requests: 1,
        input_tokens: input,
        output_tokens: output,
        cache_read_tokens: cache_read,
        microusd: paid.microusd,
        ..Request::default()
    }
}

/// chaitanyagiri/munder-difflin#189: whether tokens read from a cache count decides everything, so the meters say that they do
/// not: three calls of 150 + 50 tokens pass where 12,150 would never fit. Money counts all of them at their own price.
#[test]
fn case_50_tokens_from_a_cache_are_not_metered_and_are_paid() {
    let call = tokens(150, 50, 11_950);
    assert_eq!((Meter::Tokens.of(&call), call.microusd), (200, 4_785));
    let mut stack = guard("token-bucket", 12_000, Meter::Tokens);
    let admitted = (0..3).filter(|_| stack.try_acquire(&call).outcome == Outcome::Admitted).count();
    assert_eq!((admitted, 3 * call.microusd), (3, 14_355));
    let whole = Request { input_tokens: 150 + 11_950, ..call };
    let mut stack = guard("token-bucket", 12_000, Meter::Tokens);
    assert_eq!(stack.try_acquire(&whole).outcome, Outcome::NeverFits);
}

/// anthropics/claude-code#72080: each turn of a loop is dearer than the one before, so a limit on calls says nothing.
#[test]
fn case_56_a_loop_whose_context_grows() {
    let turns = || (0..200u64).map(|i| Request { at: 3 * S * i, ..tokens(2_000 + 500 * i, 300, 0) });
    let sum = |requests: &[Request]| {
        let tokens: u64 = requests.iter().map(|request| Meter::Tokens.of(request)).sum();
        (requests.len(), tokens, requests.iter().map(|request| request.microusd).sum::<u64>())
    };
    assert_eq!(sum(&turns().collect::<Vec<_>>()), (200, 10_410_000, 31_950_000));
    let admitted = |name: &str| {
        let mut stack = guard(name, 100_000, Meter::Tokens);
        let admitted: Vec<Request> = turns().filter(|turn| stack.try_acquire(turn).outcome.passes()).collect();
        sum(&admitted)
    };
    let (calls, tokens, spent) = admitted("token-bucket");
    assert_eq!((calls, tokens, spent, 31_950_000 - spent), (43, 1_003_400, 3_165_000, 28_785_000));
    let (calls, _, spent) = admitted("fixed-window");
    assert_eq!((calls, spent), (37, 2_625_000));
    let (calls, _, spent) = admitted("sliding-window-log");
    assert_eq!((calls, spent), (33, 2_529_000));
}
