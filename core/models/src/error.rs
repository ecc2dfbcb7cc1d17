//! Errors of a request to a model.

use std::time::Duration;

use crate::spending::BudgetRefusal;
use crate::usage::Usage;

/// No complete answer.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{trouble}")]
pub struct ModelError {
    /// The error of the last attempt.
    pub trouble: ModelErrorKind,
    /// Usage of the failed last attempt.
    pub usage: Usage,
    /// The attempts before it.
    pub attempts: Vec<Attempt>,
}

impl From<ModelErrorKind> for ModelError {
    fn from(trouble: ModelErrorKind) -> Self {
        Self { trouble, usage: Usage::default(), attempts: Vec::new() }
    }
}

/// An attempt that failed and was followed by another one.
#[derive(Clone, Debug, PartialEq)]
pub struct Attempt {
    /// The error.
    pub trouble: ModelErrorKind,
    /// Usage of the failed attempt.
    pub usage: Usage,
    /// The pause after it.
    pub waited: Duration,
}

/// The kind of an error. Texts of servers and programs in it are redacted and shortened, and are otherwise untrusted.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ModelErrorKind {
    /// Cancelled by the user.
    #[error("stopped on request")]
    Cancelled,
    /// The budget does not allow the request; it was not sent.
    #[error(transparent)]
    Budget(#[from] BudgetRefusal),
    /// The host has no address.
    #[error("`{host}` has no address: {reason}")]
    Address {
        /// As in the settings.
        host: String,
        /// The error of the operating system.
        reason: String,
    },
    /// `http://` to a host that is not this machine.
    #[error(
        "`{host}` is not this machine ({address}), and http:// sends the key and the code unencrypted: use https://, or set `insecure: true` for this model"
    )]
    NotLoopback {
        /// As in the settings.
        host: String,
        /// The resolved address.
        address: String,
    },
    /// The connection was refused or could not be routed.
    #[error("no connection to `{host}`: {reason}")]
    Connection {
        /// As in the settings.
        host: String,
        /// The error of the operating system.
        reason: String,
    },
    /// TLS failed: the certificate or the protocol was rejected.
    #[error("no encrypted connection to `{host}`: {reason}")]
    Encryption {
        /// As in the settings.
        host: String,
        /// The error of the TLS library.
        reason: String,
    },
    /// Something took too long.
    #[error("{waited_for} took more than {} s", limit.as_secs_f64())]
    TimedOut { waited_for: WaitPhase, limit: Duration },
    /// The server is overloaded or limits the request rate.
    #[error("the server asks to wait ({status}){}: {says}", after(*retry_after))]
    Busy {
        /// 429, 503 or 529.
        status: u16,
        /// The requested waiting time, if the server states one.
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
        /// The server's name of the error.
        kind: String,
        /// In its words.
        says: String,
    },
    /// The answer violates the protocol.
    #[error("the answer violates the protocol ({why}): {excerpt}")]
    Garbled {
        /// The violation.
        why: String,
        /// The beginning of the answer.
        excerpt: String,
    },
    /// The answer ended in the middle.
    #[error("the answer ended in the middle, after {received} bytes of text")]
    CutShort {
        /// Bytes of text until then.
        received: usize,
    },
    /// The answer exceeds the requested tokens; the rest is not read, because it would be charged.
    #[error(
        "the answer has more than {limit} bytes, which is more than `max_tokens` allows; the rest was not read"
    )]
    TooLong { limit: usize },
    /// The head of the answer is longer than anything useful.
    #[error(
        "`{host}` sent more than {limit} bytes of headers, and the answer was not read: look at what serves this address"
    )]
    HeadTooLong {
        /// As in the settings.
        host: String,
        limit: usize,
    },
    /// The response is not HTTP.
    #[error("`{host}` does not answer in valid HTTP: {reason}")]
    NotHttp {
        /// As in the settings.
        host: String,
        /// The error of the HTTP library.
        reason: String,
    },
    /// The answer is complete and has no text.
    #[error("the answer has no text: {instead}")]
    NoText {
        /// Its content.
        instead: NonTextAnswer,
    },
    /// All attempts together took too long.
    #[error("no answer within {} s, after {}: {last}", limit.as_secs_f64(), status_text(*attempts))]
    OutOfTime {
        /// Time limit of all attempts, including the pauses between them.
        limit: Duration,
        /// Number of attempts.
        attempts: u32,
        /// The error of the last attempt.
        last: Box<Self>,
    },
    /// The program could not be started.
    #[error("`{program}` cannot be started: {reason}")]
    Start {
        /// The first word of the command.
        program: String,
        /// The error of the operating system.
        reason: String,
    },
    /// The program failed.
    #[error("the command {ending}: {says}")]
    Command {
        ending: Ending,
        /// The last lines of its standard error.
        says: String,
    },
    /// The recorded replies do not match the request.
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

    /// The waiting time that the server requests.
    #[must_use]
    pub fn retry_after(&self) -> Option<Duration> {
        if let Self::Busy { retry_after, .. } = self { *retry_after } else { None }
    }
}

/// The recorded replies do not match the requests.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RecordingProblem {
    /// All were given.
    #[error("all {replies} recorded replies are used, and another one is requested")]
    Exhausted {
        /// The number of replies.
        replies: usize,
    },
    /// The next one is for another question.
    #[error(
        "recorded reply {number} expects a question that contains `{expected}`, and this one does not"
    )]
    Unexpected {
        /// Counted from 1.
        number: usize,
        /// The expected text.
        expected: String,
    },
    /// A line of the file is no reply.
    #[error("line {line} is not a recorded reply: {reason}")]
    Unreadable {
        /// Counted from 1.
        line: usize,
        /// The parser's error.
        reason: String,
    },
}

/// The phase that timed out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaitPhase {
    /// Name resolution and connecting.
    Connection,
    /// Waiting for the first byte of the answer.
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

/// The content of an answer without text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NonTextAnswer {
    /// A tool call, although no tool was offered.
    ToolCall,
    /// Reasoning that is not part of the answer.
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
            Self::Reasoning => formatter.write_str(
                "the answer contains only reasoning; raise `max_tokens` if this limit ended it",
            ),
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
    /// The status is unknown.
    Unknown,
}

impl std::fmt::Display for Ending {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Status(status) => write!(formatter, "ended with status {status}"),
            Self::Signal(signal) => write!(formatter, "was ended by signal {signal}"),
            Self::Unknown => formatter.write_str("ended with an unknown status"),
        }
    }
}
