//! The one thing that every model can do, and what it is given and gives back.

use std::ops::ControlFlow;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::conversation::Conversation;
use crate::error::{ModelError, ModelErrorKind};
use crate::stop_signal::StopSignal;

/// Something that answers: a server, a program, a file of recorded replies.
pub trait Model: Send {
    /// What it is called in the settings.
    fn name(&self) -> &str;

    /// The most tokens that one answer may have: what a budget must have left for it.
    fn most_output(&self) -> u64;

    /// Asks, and hears the answer piece by piece; the pieces together are the reply's text.
    ///
    /// # Errors
    /// When there is no complete answer; what was used up is known all the same.
    fn ask(
        &mut self,
        request: &Request<'_>,
        hear: &mut dyn FnMut(AnswerEvent<'_>) -> ControlFlow<()>,
    ) -> Result<Reply, ModelError>;
}

/// What is asked.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// What is said.
    pub conversation: &'a Conversation,
    /// What the answer may take, where that is less than the settings allow.
    pub limits: Limits,
    /// Looked at in every wait.
    pub stop: &'a StopSignal,
}

/// What one answer may take; none: as the settings say.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// Tokens of the answer.
    pub output_tokens: Option<u64>,
    /// Time from the question to the end of the answer, waits between attempts not counted.
    pub time: Option<Duration>,
}

impl Limits {
    /// The smaller of this and what the settings allow.
    pub(crate) fn tokens_within(self, most: u64) -> u64 {
        self.output_tokens.map_or(most, |asked| asked.min(most))
    }

    /// The smaller of this and what the settings allow.
    pub(crate) fn time_within(self, most: Duration) -> Duration {
        self.time.map_or(most, |asked| asked.min(most))
    }
}

/// What a listener hears while an answer comes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum AnswerEvent<'a> {
    /// The next piece of the answer, without secrets.
    Text(&'a str),
    /// The attempt failed; after a wait everything begins again, and what was heard is void.
    Again {
        /// Why.
        trouble: &'a ModelErrorKind,
        /// How long the wait is.
        wait: Duration,
    },
}

/// A complete answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Reply {
    /// What the model said, without secrets.
    pub text: String,
    /// What it used up.
    pub usage: Usage,
    /// Why it ended.
    pub stop: Stop,
    /// What the server calls the model that answered.
    pub model: Option<String>,
    /// From the question to the last piece, of the attempt that succeeded.
    pub took: Duration,
    /// Attempts before this one, each of which failed.
    pub attempts: Vec<Attempt>,
}

/// An attempt that failed and was followed by another one.
#[derive(Clone, Debug, PartialEq)]
pub struct Attempt {
    /// What went wrong.
    pub trouble: ModelErrorKind,
    /// What it used up all the same.
    pub usage: Usage,
    /// How long was waited afterwards.
    pub waited: Duration,
}

/// Why an answer ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stop {
    /// The model had said everything.
    Finished,
    /// The most tokens that it may say were reached: the answer is cut.
    Length,
    /// The listener wanted no more.
    Listener,
    /// The model or its provider declined.
    Declined,
    /// What the server calls it.
    Other(String),
}

/// What an exchange used up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Tokens of what was said to the model.
    pub input: Count,
    /// Tokens of what it said.
    pub output: Count,
}

/// A number of tokens, and where it comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Count {
    /// Reported by the server.
    Reported(u64),
    /// Guessed from the length of the text.
    Estimated(u64),
}

impl Default for Count {
    fn default() -> Self {
        Self::Reported(0)
    }
}

impl Count {
    /// The number alone.
    #[must_use]
    pub const fn tokens(self) -> u64 {
        match self {
            Self::Reported(tokens) | Self::Estimated(tokens) => tokens,
        }
    }

    /// What was reported, or else the guess.
    pub(crate) fn value_or(reported: Option<u64>, estimate: u64) -> Self {
        reported.map_or(Self::Estimated(estimate), Self::Reported)
    }
}
