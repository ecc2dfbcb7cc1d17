//! Request rate limits, and retries with growing pauses.

use std::collections::VecDeque;
use std::num::NonZeroU32;
use std::ops::ControlFlow;
use std::time::{Duration, Instant, SystemTime};

use jiff::Timestamp;
use jiff::fmt::rfc2822::DateTimeParser;

use crate::error::{Attempt, ModelError, ModelErrorKind};
use crate::model::{AnswerEvent, Limits, Model, Reply, Request};
use crate::settings::QUESTION_SECS;

/// Number of attempts and pauses between them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RetryPolicy {
    /// Attempts in all.
    pub attempts: u32,
    /// The pause after the first attempt, doubled after each further one; half of it is up to chance.
    pub first_wait: Duration,
    /// The longest pause; a server that requests a longer one gets no further attempt.
    pub longest_wait: Duration,
    /// Time limit of all attempts, including the pauses between them.
    pub question: Duration,
    /// Seed of the random pauses.
    pub seed: u64,
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self {
            attempts: 4,
            first_wait: Duration::from_secs(1),
            longest_wait: Duration::from_mins(1),
            question: Duration::from_secs_f64(QUESTION_SECS),
            seed: 0,
        }
    }
}

impl RetryPolicy {
    /// The pause after this many failed attempts; `None` after the last attempt.
    fn wait(
        &self,
        failed: u32,
        trouble: &ModelErrorKind,
        chance: &mut fastrand::Rng,
    ) -> Option<Duration> {
        if failed >= self.attempts || !trouble.is_passing() {
            return None;
        }
        // Drawn in every case, so that the response of one server does not change the pauses of another.
        let share = 0.5 + 0.5 * chance.f64();
        if let Some(asked) = trouble.retry_after() {
            return (asked <= self.longest_wait).then_some(asked);
        }
        let doubled = self.first_wait.saturating_mul(1_u32 << failed.saturating_sub(1).min(16));
        Some(doubled.min(self.longest_wait).mul_f64(share))
    }
}

/// Parses `retry-after`: seconds, or a date.
pub(crate) fn wait_from(text: &str, now: SystemTime) -> Option<Duration> {
    let text = text.trim();
    if let Ok(seconds) = text.parse::<f64>() {
        // A value that overflows a duration is a long wait, not a missing one.
        let is_endless = seconds.is_finite() && seconds > 0.0;
        let seconds = Duration::try_from_secs_f64(seconds).ok();
        return seconds.or(is_endless.then_some(Duration::MAX));
    }
    let then = DateTimeParser::new().parse_timestamp(text).ok()?;
    let now = Timestamp::try_from(now).ok()?;
    Some(Duration::try_from(then.duration_since(now)).unwrap_or_default())
}

/// Limits the requests in any minute.
#[derive(Debug)]
pub(crate) struct RateLimiter {
    per_minute: Option<NonZeroU32>,
    asked: VecDeque<Instant>,
}

const MINUTE: Duration = Duration::from_mins(1);

impl RateLimiter {
    pub(crate) fn new(per_minute: Option<NonZeroU32>) -> Self {
        Self { per_minute, asked: VecDeque::new() }
    }

    /// The waiting time before the next request, which is then counted as sent.
    pub(crate) fn wait_for_slot(&mut self, now: Instant) -> Duration {
        let Some(most) = self.per_minute else { return Duration::ZERO };
        self.asked.retain(|asked| now.saturating_duration_since(*asked) < MINUTE);
        let most = usize::try_from(most.get()).unwrap_or(usize::MAX);
        let oldest_that_counts = self.asked.len().checked_sub(most);
        let free = oldest_that_counts.and_then(|index| self.asked.get(index));
        let wait =
            free.map_or(Duration::ZERO, |asked| (*asked + MINUTE).saturating_duration_since(now));
        self.asked.push_back(now + wait);
        wait
    }
}

/// A model with retries.
#[derive(Debug)]
pub struct RetryingModel<M> {
    model: M,
    patience: RetryPolicy,
    chance: fastrand::Rng,
    pace: RateLimiter,
}

impl<M: Model> RetryingModel<M> {
    /// Wraps a model, with an optional limit on requests per minute.
    #[must_use]
    pub fn new(model: M, patience: RetryPolicy, per_minute: Option<NonZeroU32>) -> Self {
        let chance = fastrand::Rng::with_seed(patience.seed);
        Self { model, patience, chance, pace: RateLimiter::new(per_minute) }
    }
}

impl<M: Model> Model for RetryingModel<M> {
    fn name(&self) -> &str {
        self.model.name()
    }

    fn most_output(&self) -> u64 {
        self.model.most_output()
    }

    fn calls_tools(&self) -> bool {
        self.model.calls_tools()
    }

    fn ask(
        &mut self,
        request: &Request<'_>,
        hear: &mut dyn FnMut(AnswerEvent<'_>) -> ControlFlow<()>,
    ) -> Result<Reply, ModelError> {
        let mut attempts: Vec<Attempt> = Vec::new();
        let cancelled = |attempts| ModelError { attempts, ..ModelErrorKind::Cancelled.into() };
        if request.stop.wait(self.pace.wait_for_slot(Instant::now())).is_err() {
            return Err(cancelled(attempts));
        }
        let deadline = Instant::now() + self.patience.question;
        let left = || deadline.saturating_duration_since(Instant::now());
        for failed in 1_u32.. {
            let limits =
                Limits { time: Some(request.limits.time_within(left())), ..request.limits };
            let error = match self.model.ask(&Request { limits, ..*request }, hear) {
                Ok(reply) => return Ok(Reply { attempts, ..reply }),
                Err(error) => error,
            };
            let wait = self.patience.wait(failed, &error.trouble, &mut self.chance);
            let wait = match wait {
                Some(wait) if wait < left() => wait,
                None if failed == 1 || !left().is_zero() => {
                    return Err(ModelError { attempts, ..error });
                }
                Some(_) | None => {
                    return Err(self.out_of_time(failed, ModelError { attempts, ..error }));
                }
            };
            let ModelError { trouble, usage, .. } = error;
            let flow = hear(AnswerEvent::Again { trouble: &trouble, wait });
            attempts.push(Attempt { trouble, usage, waited: wait });
            if flow.is_break() || request.stop.wait(wait).is_err() {
                return Err(cancelled(attempts));
            }
            // A rate limit that leaves no time makes the next attempt fail immediately with a time-out error.
            if request.stop.wait(self.pace.wait_for_slot(Instant::now()).min(left())).is_err() {
                return Err(cancelled(attempts));
            }
        }
        Err(cancelled(attempts))
    }
}

impl<M> RetryingModel<M> {
    fn out_of_time(&self, attempts: u32, error: ModelError) -> ModelError {
        // If a server requests a longer pause than the remaining time, its error is more informative than our time-out.
        if attempts == 1 && error.trouble.retry_after().is_some() {
            return error;
        }
        let last = Box::new(error.trouble);
        let limit = self.patience.question;
        ModelError { trouble: ModelErrorKind::OutOfTime { limit, attempts, last }, ..error }
    }
}
