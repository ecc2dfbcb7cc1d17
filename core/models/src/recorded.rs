//! Replies from a file, in order: for tests, and to replay a search without a model.

use std::collections::VecDeque;
use std::ops::ControlFlow;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::budget::guessed;
use crate::error::{ModelError, ModelErrorKind, RecordingProblem};
use crate::model::{AnswerEvent, Model, Reply, Request, Stop};
use crate::secret::Redactor;
use crate::usage::{Count, Usage};

/// One reply, a line of JSON in the file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RecordedReply {
    /// Text that the last turn must contain.
    pub expects: Option<String>,
    /// The reply's text.
    pub reply: String,
    /// Tokens of the request, if reported.
    pub input_tokens: Option<u64>,
    /// Tokens of the reply, if reported.
    pub output_tokens: Option<u64>,
}

/// A model that returns recorded replies.
#[derive(Clone, Debug)]
pub struct RecordedModel {
    name: String,
    replies: VecDeque<RecordedReply>,
    given: usize,
    redactor: Redactor,
}

/// Characters of a piece, so that a listener receives several pieces.
const PIECE: usize = 40;

impl RecordedModel {
    /// A model of these replies.
    #[must_use]
    pub fn new(name: impl Into<String>, replies: impl IntoIterator<Item = RecordedReply>) -> Self {
        let replies = replies.into_iter().collect();
        Self { name: name.into(), replies, given: 0, redactor: Redactor::default() }
    }

    /// Reads lines of JSON; empty lines are ignored.
    ///
    /// # Errors
    /// The first invalid line.
    pub fn read(name: impl Into<String>, lines: &str) -> Result<Self, RecordingProblem> {
        let mut replies = Vec::new();
        for (index, line) in lines.lines().enumerate() {
            if line.trim().is_empty() {
                continue;
            }
            let reply = serde_json::from_str(line).map_err(|error| {
                RecordingProblem::Unreadable { line: index + 1, reason: error.to_string() }
            })?;
            replies.push(reply);
        }
        Ok(Self::new(name, replies))
    }

    /// The same replies, with these secrets redacted.
    #[must_use]
    pub fn without(mut self, redactor: Redactor) -> Self {
        self.redactor = redactor;
        self
    }

    fn next(&mut self, request: &Request<'_>) -> Result<RecordedReply, RecordingProblem> {
        let number = self.given + 1;
        let next = self.replies.front();
        let next = next.ok_or(RecordingProblem::Exhausted { replies: self.given })?;
        if let Some(expected) = &next.expects {
            let asked = request.conversation.turns.last().map_or("", |turn| turn.text.as_str());
            if !asked.contains(expected) {
                return Err(RecordingProblem::Unexpected { number, expected: expected.clone() });
            }
        }
        self.given = number;
        Ok(self.replies.pop_front().unwrap_or_default())
    }
}

impl Model for RecordedModel {
    fn name(&self) -> &str {
        &self.name
    }

    fn most_output(&self) -> u64 {
        self.replies.front().and_then(|next| next.output_tokens).unwrap_or(0)
    }

    fn ask(
        &mut self,
        request: &Request<'_>,
        hear: &mut dyn FnMut(AnswerEvent<'_>) -> ControlFlow<()>,
    ) -> Result<Reply, ModelError> {
        if request.stop.is_raised() {
            return Err(ModelErrorKind::Cancelled.into());
        }
        let RecordedReply { reply, input_tokens, output_tokens, .. } =
            self.next(request).map_err(ModelErrorKind::Recording)?;
        let text = self.redactor.redact(&reply);
        let guess = guessed(request, text.len(), u64::MAX);
        let usage = Usage {
            input: Count::value_or(input_tokens, guess.input.tokens()),
            output: Count::value_or(output_tokens, guess.output.tokens()),
        };
        let (said, stop) = say(&text, hear);
        let text = said.to_owned();
        Ok(Reply::of_text(text, usage, stop, Duration::ZERO))
    }
}

/// Passes a text to the listener in pieces until it stops; returns the text passed.
fn say<'t>(
    text: &'t str,
    hear: &mut dyn FnMut(AnswerEvent<'_>) -> ControlFlow<()>,
) -> (&'t str, Stop) {
    let mut rest = text;
    while !rest.is_empty() {
        let end = rest.char_indices().nth(PIECE).map_or(rest.len(), |(index, _)| index);
        let (piece, after) = rest.split_at(end);
        rest = after;
        if hear(AnswerEvent::Text(piece)).is_break() {
            let said = text.len() - rest.len();
            return (text.get(..said).unwrap_or(text), Stop::Listener);
        }
    }
    (text, Stop::Finished)
}
