//! What a hint does to a crowd: 100 clients that start together and obey, on a bucket of 10 refilled at 2/s.

use crate::support::{S, alone, bucket, call, guard};
use limiters::{Meter, Rate, Response, RetryAfter};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

struct Crowd {
    attempts: Vec<u32>,
    last: u64,
    /// Most attempts within 100 ms, after the start.
    peak: usize,
}

fn crowd(retry_after: RetryAfter) -> Crowd {
    let limited = guard(Meter::Requests, &*bucket(10, 2, S));
    let mut stack = alone(limited.with_response(Response { retry_after, ..Response::default() }));
    let mut waiting: BinaryHeap<_> = (0..100).map(|client| Reverse((0, client))).collect();
    let (mut attempts, mut times) = (vec![0; 100], Vec::new());
    while let Some(Reverse((now, client))) = waiting.pop() {
        attempts[client] += 1;
        times.push(now);
        let request = call(now, 0, 1);
        let verdict = stack.try_acquire(&request);
        if let Some(answer) = stack.answer(&request, &verdict) {
            assert_eq!(answer.status, 429);
            waiting.push(Reverse((now + answer.retry_after.expect("a bucket knows when"), client)));
        }
    }
    let later = times.partition_point(|&at| at == 0);
    let within = |start: usize| times[start..].iter().take_while(|&&at| at < times[start] + S / 10).count();
    let peak = (later..times.len()).map(within).max().unwrap();
    Crowd { attempts, last: *times.last().unwrap(), peak }
}

#[test]
fn next_permit_synchronises_and_a_queue_does_not() {
    let together = crowd(RetryAfter::NextPermit);
    let queued = crowd(RetryAfter::QueueAware(Rate::new(2, S).unwrap()));
    let total = |crowd: &Crowd| crowd.attempts.iter().sum::<u32>();
    // 90 refused at once, then 90, 89, 88 … come back every half second.
    assert_eq!((total(&together), together.peak), (100 + 90 * 91 / 2, 90));
    assert_eq!((total(&queued), queued.peak), (190, 1));
    assert_eq!(queued.attempts.iter().max(), Some(&2));
    assert_eq!((together.last, queued.last), (45 * S, 45 * S), "nobody is served later for it");
}
