//! What can go wrong between a question and its answer.

use std::time::Duration;

use crate::budget::BudgetRefusal;
use crate::model::{Attempt, Usage};
use crate::recorded::RecordingProblem;

/// No complete answer.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{trouble}")]
pub struct ModelError {
    /// What went wrong, the last time.
    pub trouble: ModelErrorKind,
    /// What the last attempt used up all the same.
    pub usage: Usage,
    /// The attempts before it.
    pub attempts: Vec<Attempt>,
}

impl From<ModelErrorKind> for ModelError {
    fn from(trouble: ModelErrorKind) -> Self {
        Self { trouble, usage: Usage::default(), attempts: Vec::new() }
    }
}

/// What went wrong. Texts of servers and programs in it are without secrets, bounded, and not to be trusted otherwise.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ModelErrorKind {
    /// Somebody asked to stop.
    #[error("stopped on request")]
    Cancelled,
    /// The budget does not allow the question; nothing was sent.
    #[error(transparent)]
    Budget(#[from] BudgetRefusal),
    /// The host has no address.
    #[error("`{host}` has no address: {reason}")]
    Address {
        /// As in the settings.
        host: String,
        /// As the system says it.
        reason: String,
    },
    /// `http://` to a host that is not this machine.
    #[error(
        "`{host}` is not this machine ({address}), and http:// sends the key and the code unencrypted: use https://, or set `insecure: true` for this model"
    )]
    NotLoopback {
        /// As in the settings.
        host: String,
        /// What it resolved to.
        address: String,
    },
    /// Nobody answers there, or the way there is closed.
    #[error("no connection to `{host}`: {reason}")]
    Connection {
        /// As in the settings.
        host: String,
        /// As the system says it.
        reason: String,
    },
    /// The server is not who it should be, or does not encrypt as it should.
    #[error("no encrypted connection to `{host}`: {reason}")]
    Encryption {
        /// As in the settings.
        host: String,
        /// As the library says it.
        reason: String,
    },
    /// Something took too long.
    #[error("{waited_for} took more than {} s", limit.as_secs_f64())]
    TimedOut {
        /// What.
        waited_for: WaitPhase,
        /// How long it may take.
        limit: Duration,
    },
    /// The server asks for patience.
    #[error("the server asks to wait ({status}){}: {says}", after(*retry_after))]
    Busy {
        /// 429, 503 or 529.
        status: u16,
        /// How long to wait, if it said so.
        retry_after: Option<Duration>,
        /// In the server's words.
        says: String,
    },
    /// The server refused or failed.
    #[error("the server answered {status}: {says}")]
    Status {
        /// The HTTP status.
        status: u16,
        /// In the server's words.
        says: String,
    },
    /// The server points elsewhere, which is not followed: the key is for this host alone.
    #[error(
        "the server redirects ({status}) to `{to}`, which is not followed: put the right endpoint into the settings"
    )]
    Redirected {
        /// The HTTP status.
        status: u16,
        /// Where to.
        to: String,
    },
    /// The server reports an error inside its answer.
    #[error("the server reports `{kind}`: {says}")]
    Reported {
        /// What it calls the error.
        kind: String,
        /// In its words.
        says: String,
    },
    /// The answer is not what the protocol says.
    #[error("the answer is not what the protocol says ({why}): {excerpt}")]
    Garbled {
        /// What is wrong with it.
        why: String,
        /// How it begins.
        excerpt: String,
    },
    /// The answer ended in the middle.
    #[error("the answer ended in the middle, after {received} bytes of text")]
    CutShort {
        /// Bytes of text until then.
        received: usize,
    },
    /// The answer is longer than the tokens that were asked for, so that the rest is not read: whoever counts would
    /// charge for it.
    #[error(
        "the answer has more than {limit} bytes, which is more than `max_tokens` allows; the rest was not read"
    )]
    TooLong {
        /// The most that is read.
        limit: usize,
    },
    /// The head of the answer is longer than anything useful.
    #[error(
        "`{host}` sent more than {limit} bytes of headers, and the answer was not read: look at what serves this address"
    )]
    HeadTooLong {
        /// As in the settings.
        host: String,
        /// The most that is read.
        limit: usize,
    },
    /// What came is not HTTP.
    #[error("`{host}` does not answer in valid HTTP: {reason}")]
    NotHttp {
        /// As in the settings.
        host: String,
        /// As the library says it.
        reason: String,
    },
    /// The answer is complete, and there is no text in it.
    #[error("the answer has no text: {instead}")]
    NoText {
        /// What there is instead.
        instead: NonTextAnswer,
    },
    /// All attempts together took too long.
    #[error("no answer within {} s, after {}: {last}", limit.as_secs_f64(), status_text(*attempts))]
    OutOfTime {
        /// What all attempts may take, with the pauses between them.
        limit: Duration,
        /// How many there were.
        attempts: u32,
        /// What went wrong in the last one.
        last: Box<Self>,
    },
    /// The program could not be started.
    #[error("`{program}` cannot be started: {reason}")]
    Start {
        /// The first word of the command.
        program: String,
        /// As the system says it.
        reason: String,
    },
    /// The program failed.
    #[error("the command {ending}: {says}")]
    Command {
        /// How it ended.
        ending: Ending,
        /// The last of what it wrote to its standard error.
        says: String,
    },
    /// The recorded replies do not go with what was asked.
    #[error(transparent)]
    Recording(#[from] RecordingProblem),
}

fn status_text(attempts: u32) -> String {
    if attempts == 1 { "1 attempt".to_owned() } else { format!("{attempts} attempts") }
}

fn after(retry_after: Option<Duration>) -> String {
    retry_after.map_or_else(String::new, |wait| format!(", for {} s", wait.as_secs_f64()))
}

impl ModelErrorKind {
    /// Whether another attempt may help.
    #[must_use]
    pub fn is_passing(&self) -> bool {
        match self {
            Self::Address { .. }
            | Self::Connection { .. }
            | Self::TimedOut { .. }
            | Self::Busy { .. }
            | Self::CutShort { .. } => true,
            Self::Status { status, .. } => matches!(status, 408 | 409 | 425 | 500..=599),
            Self::Reported { kind, .. } => {
                matches!(
                    kind.as_str(),
                    "overloaded_error" | "api_error" | "server_error" | "rate_limit_error"
                )
            }
            Self::Cancelled
            | Self::Budget(_)
            | Self::NotLoopback { .. }
            | Self::Encryption { .. }
            | Self::Redirected { .. }
            | Self::Garbled { .. }
            | Self::TooLong { .. }
            | Self::HeadTooLong { .. }
            | Self::NotHttp { .. }
            | Self::NoText { .. }
            | Self::OutOfTime { .. }
            | Self::Start { .. }
            | Self::Command { .. }
            | Self::Recording(_) => false,
        }
    }

    /// How long the server asks to wait.
    #[must_use]
    pub fn retry_after(&self) -> Option<Duration> {
        if let Self::Busy { retry_after, .. } = self { *retry_after } else { None }
    }
}

/// What was waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaitPhase {
    /// Name resolution and connecting.
    Connection,
    /// The beginning of the answer.
    Beginning,
    /// The next piece.
    NextPiece,
    /// The whole answer.
    Whole,
}

impl std::fmt::Display for WaitPhase {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(match self {
            Self::Connection => "connecting",
            Self::Beginning => "the beginning of the answer",
            Self::NextPiece => "the next piece of the answer",
            Self::Whole => "the answer",
        })
    }
}

/// What an answer without text has instead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NonTextAnswer {
    /// A call of a tool, though none was offered.
    ToolCall,
    /// Reasoning that is not part of the answer, up to the most tokens or not.
    Reasoning,
    /// A refusal, in the model's words.
    Refusal(String),
    /// Nothing at all.
    Nothing,
}

impl std::fmt::Display for NonTextAnswer {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::ToolCall => formatter.write_str("the model calls a tool, and none was offered"),
            Self::Reasoning => formatter
                .write_str("the model only reasoned; raise `max_tokens` if that is what ended it"),
            Self::Refusal(says) if says.is_empty() => formatter.write_str("the model declines"),
            Self::Refusal(says) => write!(formatter, "the model declines: {says}"),
            Self::Nothing => formatter.write_str("it is empty"),
        }
    }
}

/// How a program ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// With this exit status.
    Status(i32),
    /// By this signal.
    Signal(i32),
    /// Nobody knows.
    Unknown,
}

impl std::fmt::Display for Ending {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Status(status) => write!(formatter, "ended with status {status}"),
            Self::Signal(signal) => write!(formatter, "was ended by signal {signal}"),
            Self::Unknown => formatter.write_str("ended, nobody knows how"),
        }
    }
}
