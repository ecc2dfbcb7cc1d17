//! Checks whether a model answers as searches need it: with a given kernel name in a fenced code block.

use std::ops::ControlFlow;
use std::time::Duration;

use lightbench_core::display_text::visible;
use lightbench_core::models::{
    Budget, Ledger, Limits, ModelAccess, ModelErrorKind, ModelRegistry, OpenError, Reply, Request,
};
use lightbench_core::search::model::Trial;

use crate::commands::evaluation_setup::fresh_seed;
use crate::outcome::{Outcome, Status};
use crate::session::Session;

/// Time limit of one attempt.
const LONGEST: Duration = Duration::from_mins(2);
/// Token limit, sufficient for models that reason first.
const MOST_TOKENS: u64 = 4096;
/// Maximum length of a quoted wrong answer, in characters.
const EXCERPT: usize = 200;

/// Asks the model once and checks its answer.
pub(super) fn run(
    session: &Session,
    roster: &ModelRegistry,
    access: &ModelAccess,
    name: &str,
) -> Result<Reply, Outcome> {
    let failed = |message: String| Outcome::failed(Status::Environment, message);
    let ledger = Ledger::new(Budget::default());
    let mut model = roster.open(name, access, &ledger, 0).map_err(|error| {
        let status = match &error {
            OpenError::Unknown { .. } | OpenError::Proxy(_) => Status::BadRequest,
            OpenError::NoKey { .. } | OpenError::UnreadableKey { .. } => Status::Environment,
        };
        Outcome::failed(status, visible(&error.to_string()))
    })?;
    let trial = Trial::new(fresh_seed().map_err(|error| failed(error.to_string()))?);
    let question = trial.question();
    let limits = Limits { output_tokens: Some(MOST_TOKENS), time: Some(LONGEST) };
    let stop = session.stop_sign();
    let request = Request { conversation: &question, tools: &[], limits, stop: &stop };
    let shown = visible(name);
    let answer = model.ask(&request, &mut |_| ControlFlow::Continue(()));
    let reply = answer.map_err(|error| {
        let is_cancelled = error.trouble == ModelErrorKind::Cancelled;
        let status = if is_cancelled { Status::Interrupted } else { Status::Environment };
        let message = error.to_string();
        Outcome::failed(status, format!("{shown} does not answer: {}", visible(&message)))
    })?;
    trial.check(&reply).map_err(|problem| {
        let problem = problem.to_string();
        failed(format!("{shown}: {}; it said: {}", visible(&problem), excerpt(&reply.text)))
    })?;
    Ok(reply)
}

/// The beginning of an answer, in one line.
fn excerpt(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let short: String = line.chars().take(EXCERPT).collect();
    let rest = if short.len() < line.len() { "…" } else { "" };
    format!("{}{rest}", visible(&short))
}
