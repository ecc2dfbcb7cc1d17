//! Pauses: how long, how many, and that chance is the same for the same seed.

use std::num::NonZeroU32;
use std::ops::ControlFlow;
use std::time::{Duration, Instant, SystemTime};

use super::{ask, stop_after};
use crate::retry::{RateLimiter, wait_from};
use crate::{
    AnswerEvent, Model, ModelError, ModelErrorKind, Reply, Request, RetryPolicy, RetryingModel,
    StopSignal,
};

/// A model that always fails in the same way.
struct Failing(ModelErrorKind);

impl Model for Failing {
    fn name(&self) -> &str {
        "failing"
    }

    fn most_output(&self) -> u64 {
        0
    }

    fn ask(
        &mut self,
        _: &Request<'_>,
        _: &mut dyn FnMut(AnswerEvent<'_>) -> ControlFlow<()>,
    ) -> Result<Reply, ModelError> {
        Err(self.0.clone().into())
    }
}

fn busy(retry_after: Option<Duration>) -> ModelErrorKind {
    ModelErrorKind::Busy { status: 429, retry_after, says: String::new() }
}

fn pauses(trouble: ModelErrorKind, patience: RetryPolicy) -> Vec<Duration> {
    let mut model = RetryingModel::new(Failing(trouble), patience, None);
    let error = ask(&mut model, &StopSignal::never()).result.unwrap_err();
    error.attempts.iter().map(|attempt| attempt.waited).collect()
}

const PATIENCE: RetryPolicy = RetryPolicy {
    attempts: 5,
    first_wait: Duration::from_millis(4),
    longest_wait: Duration::from_millis(20),
    question: Duration::from_secs(10),
    seed: 1,
};

#[test]
fn pauses_grow_and_are_bounded() {
    let waited = pauses(busy(None), PATIENCE);
    assert_eq!(waited.len(), 4);
    for (pause, most) in waited.iter().zip([4, 8, 16, 20]) {
        let most = Duration::from_millis(most);
        assert!(*pause <= most && *pause >= most / 2, "{waited:?}");
    }
    assert_eq!(waited, pauses(busy(None), PATIENCE), "the same seed");
    assert_ne!(waited, pauses(busy(None), RetryPolicy { seed: 2, ..PATIENCE }), "another seed");
}

#[test]
fn a_server_says_how_long() {
    let short = Duration::from_millis(1);
    assert_eq!(pauses(busy(Some(short)), PATIENCE), [short; 4]);
    assert!(
        pauses(busy(Some(Duration::from_secs(1))), PATIENCE).is_empty(),
        "longer than the longest"
    );
    assert!(pauses(ModelErrorKind::TooLong { limit: 1 }, PATIENCE).is_empty(), "does not pass");
}

#[test]
fn a_pause_can_be_cancelled() {
    let wait = Duration::from_secs(30);
    let question = Duration::from_mins(2);
    let patience = RetryPolicy { first_wait: wait, longest_wait: wait, question, ..PATIENCE };
    let mut model = RetryingModel::new(Failing(busy(None)), patience, None);
    let began = Instant::now();
    let error = ask(&mut model, &stop_after(Duration::from_millis(30))).result.unwrap_err();
    assert_eq!(error.trouble, ModelErrorKind::Cancelled);
    assert_eq!(error.attempts.len(), 1);
    assert!(began.elapsed() < wait / 2, "{:?}", began.elapsed());
}

#[test]
fn retry_after_in_all_its_forms() {
    let now = SystemTime::UNIX_EPOCH + Duration::from_secs(784_111_777);
    let check = |text: &str, seconds: Option<f64>| {
        let expected = seconds.map(Duration::from_secs_f64);
        assert_eq!(wait_from(text, now), expected, "{text}");
    };
    check("120", Some(120.0));
    check(" 1.5 ", Some(1.5));
    check("Sun, 06 Nov 1994 08:50:37 GMT", Some(60.0));
    check("Sun, 06 Nov 1994 08:49:37 GMT", Some(0.0));
    check("Sun, 06 Nov 1994 08:40:00 GMT", Some(0.0));
    check("-3", None);
    check("inf", None);
    check("-1e300", None);
    assert_eq!(wait_from("1e300", now), Some(Duration::MAX), "longer than any wait");
    check("soon", None);
    check("", None);
}

#[test]
fn no_minute_has_too_many_questions() {
    let mut pace = RateLimiter::new(NonZeroU32::new(2));
    let start = Instant::now();
    let at = |seconds| start + Duration::from_secs(seconds);
    assert_eq!(pace.wait_for_slot(at(0)), Duration::ZERO);
    assert_eq!(pace.wait_for_slot(at(10)), Duration::ZERO);
    assert_eq!(pace.wait_for_slot(at(20)), Duration::from_secs(40));
    assert_eq!(pace.wait_for_slot(at(61)), Duration::from_secs(9));
    assert_eq!(pace.wait_for_slot(at(200)), Duration::ZERO);
    assert_eq!(RateLimiter::new(None).wait_for_slot(start), Duration::ZERO);
}
