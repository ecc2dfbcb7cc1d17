//! The interface of all models, with its request and reply types.

use std::ops::ControlFlow;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::conversation::{Conversation, estimated_tokens};
use crate::error::{Attempt, ModelError, ModelErrorKind};
use crate::stop_signal::StopSignal;
use crate::tools::{Tool, ToolCall};
use crate::usage::Usage;

/// Something that answers: a server, a program, a file of recorded replies.
pub trait Model: Send {
    /// The name in the settings.
    fn name(&self) -> &str;

    /// Maximum tokens of one answer, which a budget must have left.
    fn most_output(&self) -> u64;

    /// Whether it may call tools; others ignore those of a request.
    fn calls_tools(&self) -> bool {
        false
    }

    /// Sends a request and passes on the answer piece by piece; the pieces together are the reply's text.
    ///
    /// # Errors
    /// The answer is incomplete; the error contains the usage.
    fn ask(
        &mut self,
        request: &Request<'_>,
        hear: &mut dyn FnMut(AnswerEvent<'_>) -> ControlFlow<()>,
    ) -> Result<Reply, ModelError>;
}

/// A request to a model.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    pub conversation: &'a Conversation,
    /// Tools that it may call before it answers.
    pub tools: &'a [Tool],
    /// Limits of the answer, where they are lower than those of the settings.
    pub limits: Limits,
    /// Checked in every wait.
    pub stop: &'a StopSignal,
}

impl Request<'_> {
    /// Estimated tokens of the conversation and the tools, never too low for source code.
    pub(crate) fn estimated_tokens(&self) -> u64 {
        let tool = |tool: &Tool| {
            tool.name.len() + tool.description.len() + tool.parameters.to_string().len()
        };
        let tools = estimated_tokens(self.tools.iter().map(tool).sum());
        self.conversation.estimated_tokens().saturating_add(tools)
    }
}

/// Limits of one answer; `None`: those of the settings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// Tokens of the answer.
    pub output_tokens: Option<u64>,
    /// Time from the question to the end of the answer, waits between attempts not counted.
    pub time: Option<Duration>,
}

impl Limits {
    /// The smaller of this limit and that of the settings.
    pub(crate) fn tokens_within(self, most: u64) -> u64 {
        self.output_tokens.map_or(most, |asked| asked.min(most))
    }

    /// The smaller of this limit and that of the settings.
    pub(crate) fn time_within(self, most: Duration) -> Duration {
        self.time.map_or(most, |asked| asked.min(most))
    }
}

/// An event while an answer arrives.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum AnswerEvent<'a> {
    /// The next piece of the answer, without secrets.
    Text(&'a str),
    /// The attempt failed. After a pause the request is repeated, and the text received so far is void.
    Again {
        /// Why.
        trouble: &'a ModelErrorKind,
        /// Length of the pause.
        wait: Duration,
    },
}

/// A complete answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Reply {
    /// The text of the answer, without secrets.
    pub text: String,
    /// Calls whose results it waits for, without secrets; the text may then be empty.
    pub calls: Vec<ToolCall>,
    pub usage: Usage,
    /// Why it ended.
    pub stop: Stop,
    /// The server's name of the model that answered.
    pub model: Option<String>,
    /// From the question to the last piece, of the attempt that succeeded.
    pub took: Duration,
    /// Attempts before this one, each of which failed.
    pub attempts: Vec<Attempt>,
}

impl Reply {
    /// An answer of text alone, at the first attempt.
    #[must_use]
    pub fn of_text(text: String, usage: Usage, stop: Stop, took: Duration) -> Self {
        let (calls, attempts) = (Vec::new(), Vec::new());
        Self { text, calls, usage, stop, model: None, took, attempts }
    }
}

/// Why an answer ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stop {
    /// The answer is complete.
    Finished,
    /// The token limit cut the answer off.
    Length,
    /// The listener stopped the answer.
    Listener,
    /// The model or its provider declined.
    Declined,
    /// The server's name of another reason.
    Other(String),
}
