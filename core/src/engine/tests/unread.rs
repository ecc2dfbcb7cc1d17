//! A reader that does not read for a while, such as a hidden window, and threads that wait.

use std::collections::BTreeMap;

use lightbench_primitives::coalescing_queue::COALESCE_FROM;
use lightbench_primitives::wake_signal::WakeSignal;

use super::*;

/// 100 requests with 100 events of progress and a result each. Each request is made when the one before it has ended, which
/// only the test sees: the reader of the events does not read.
#[test]
fn a_hidden_window_blocks_no_engine_thread_and_loses_no_result() {
    const REQUESTS: usize = 100;
    let (events, woken) = (Arc::new(AtomicUsize::new(0)), WakeSignal::new());
    let (count, signal) = (Arc::clone(&events), woken.clone());
    let wake = Wake(Box::new(move || {
        count.fetch_add(1, Ordering::SeqCst);
        signal.raise();
    }));
    let Bench { engine, .. } = Bench::with_wake(Some(wake));
    let mut asked = Vec::new();
    for number in 0..REQUESTS {
        let kernel = format!("steps-{number}");
        asked.push(engine.ask(evaluate(DEVICES[0], &kernel, AskedBy::Person)).unwrap());
        while engine.lanes.outbox.unread_ends() <= number {
            assert!(woken.wait_for(PATIENCE), "the engine thread does not go on");
        }
        let unread = engine.lanes.outbox.unread();
        assert!(unread <= COALESCE_FROM + 2 * REQUESTS, "{unread} events are unread");
    }
    let mut newest = BTreeMap::new();
    let mut ended = Vec::new();
    while ended.len() < REQUESTS {
        match engine.next_event(Duration::ZERO).expect("all events are unread") {
            Event::Began { request, workload, .. } => {
                newest.insert(request, workload);
            }
            Event::Finished { request, .. } => {
                let last = Some(Some((STEPS - 1).to_string()));
                assert_eq!(newest.get(&request), last.as_ref(), "the newest progress of {request}");
                ended.push(request);
            }
            Event::Queued { .. } | Event::Noticed(_) => {}
        }
    }
    assert_eq!(ended, asked, "every result is there, in order");
    assert!(engine.next_event(Duration::ZERO).is_none());
    drop(engine);
    // Besides its steps, a request is queued, compiles, begins `odd` and ends.
    assert_eq!(events.load(Ordering::SeqCst), REQUESTS * (STEPS + 4));
}

#[test]
fn cancellation_ends_a_wait_for_a_result() {
    let bench = Bench::new();
    let client = bench.engine.client();
    let token = Cancellation::new();
    let wait = |kernel: &str| {
        client.wait_for_ending(evaluate(DEVICES[0], kernel, AskedBy::Background), &token)
    };
    assert!(matches!(wait("a"), Ok(Ending::Impossible(_))), "ends without a cancellation");
    let ending = std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().spawn_scoped(scope, || wait("run-a")).unwrap();
        // The request runs until this thread cancels it.
        token.cancel();
        thread.join().unwrap()
    });
    let because = CancelReason::Requested;
    assert!(
        matches!(ending, Ok(Ending::Cancelled { because: found, .. }) if found == because),
        "{ending:?}"
    );
}
