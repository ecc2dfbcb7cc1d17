//! The two protocols of servers: requests and the interpretation of responses. Pure functions.

mod chat;
mod messages;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::conversation::Conversation;
use crate::events::Event;
use crate::model::Stop;
use crate::secret::Secret;
use crate::tools::{Tool, ToolCall};

/// The protocol of a server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Protocol {
    /// Chat completions, which nearly all hosted and local servers support: `POST /chat/completions`.
    #[default]
    ChatCompletions,
    /// Messages: `POST /messages`.
    Messages,
}

/// The field name of the token limit in chat completions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LimitName {
    /// `max_tokens`: nearly all servers.
    #[default]
    MaxTokens,
    /// `max_completion_tokens`, which newer hosted models require.
    MaxCompletionTokens,
}

/// The content of a request.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RequestContent<'a> {
    pub(crate) model: &'a str,
    pub(crate) conversation: &'a Conversation,
    pub(crate) tools: &'a [Tool],
    pub(crate) most_tokens: u64,
    pub(crate) temperature: Option<f64>,
    pub(crate) limit_name: LimitName,
}

impl RequestContent<'_> {
    /// The field with the offered tools, if there are any.
    fn tools_field(&self, offered: impl Fn(&Tool) -> Value) -> Option<(String, Value)> {
        let tools = self.tools.iter().map(offered).collect();
        (!self.tools.is_empty()).then_some(("tools".to_owned(), tools))
    }
}

/// State of an answer besides its text.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Progress {
    pub(crate) input: Option<u64>,
    pub(crate) output: Option<u64>,
    pub(crate) stop: Option<Stop>,
    pub(crate) model: Option<String>,
    /// Bytes of the answer besides its text: reasoning, tool calls.
    pub(crate) beside_bytes: usize,
    /// Calls of tools, as far as they have arrived.
    pub(crate) calls: Vec<ToolCall>,
    /// Why the model declines, in its words.
    pub(crate) refusal: String,
    /// The server signalled the end of the answer.
    pub(crate) is_over: bool,
}

impl Progress {
    /// The call with this index, counted from 0 among the calls of the answer; none far beyond the others.
    fn call(&mut self, index: usize) -> Option<&mut ToolCall> {
        if self.calls.len() == index && index < MOST_CALLS {
            self.calls.push(ToolCall::default());
        }
        self.calls.get_mut(index)
    }
}

/// Calls of one answer that are read.
const MOST_CALLS: usize = 64;

/// Why an event is no part of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum EventError {
    /// It violates the protocol.
    Garbled(String),
    /// It is an error that the server reports.
    Reported { kind: String, says: String },
}

impl From<serde_json::Error> for EventError {
    fn from(error: serde_json::Error) -> Self {
        Self::Garbled(error.to_string())
    }
}

impl Protocol {
    pub(crate) const fn path(self) -> &'static str {
        match self {
            Self::ChatCompletions => "/chat/completions",
            Self::Messages => "/messages",
        }
    }

    /// Headers of this protocol; the key's header is last.
    pub(crate) fn headers(self, key: Option<&Secret>) -> Vec<(&'static str, String)> {
        let mut headers = vec![("content-type", "application/json".to_owned())];
        match self {
            Self::ChatCompletions => {
                headers
                    .extend(key.map(|key| ("authorization", format!("Bearer {}", key.expose()))));
            }
            Self::Messages => {
                headers.push(("anthropic-version", "2023-06-01".to_owned()));
                headers.extend(key.map(|key| ("x-api-key", key.expose().to_owned())));
            }
        }
        headers
    }

    pub(crate) fn body(self, asked: &RequestContent<'_>) -> Value {
        match self {
            Self::ChatCompletions => chat::body(asked),
            Self::Messages => messages::body(asked),
        }
    }

    /// The text of an event, if any; other information goes into `progress`.
    pub(crate) fn read(self, event: &Event, progress: &mut Progress) -> Result<String, EventError> {
        match self {
            Self::ChatCompletions => chat::read(event, progress),
            Self::Messages => messages::read(event, progress),
        }
    }

    /// The text of an answer that came in one piece, from servers that do not stream.
    pub(crate) fn read_whole(
        self,
        body: &str,
        progress: &mut Progress,
    ) -> Result<String, EventError> {
        match self {
            Self::ChatCompletions => chat::read_whole(body, progress),
            Self::Messages => messages::read_whole(body, progress),
        }
    }
}

/// A reported number of tokens; `None` if the value is not a count.
fn reported(value: Option<&Value>) -> Option<u64> {
    value.and_then(Value::as_u64)
}

/// An error, in the forms in which servers write it.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum WrittenError {
    Object {
        message: String,
        #[serde(default, rename = "type")]
        kind: Option<String>,
    },
    Text(String),
}

impl From<WrittenError> for EventError {
    fn from(error: WrittenError) -> Self {
        match error {
            WrittenError::Object { message, kind } => {
                Self::Reported { kind: kind.unwrap_or_else(|| "error".to_owned()), says: message }
            }
            WrittenError::Text(says) => Self::Reported { kind: "error".to_owned(), says },
        }
    }
}

#[derive(Debug, Deserialize)]
struct ErrorBody {
    error: WrittenError,
}

/// The message of an error response, extracted from its JSON if it is JSON.
pub(crate) fn words_of_refusal(body: &str) -> String {
    match serde_json::from_str(body) {
        Ok(ErrorBody { error: WrittenError::Object { message, .. } }) => message,
        Ok(ErrorBody { error: WrittenError::Text(text) }) => text,
        Err(_other_form) => body.to_owned(),
    }
}
