//! A conversation with a model: a system text and turns.

use serde::{Deserialize, Serialize};

use crate::secret::Redactor;
use crate::tools::{ToolCall, ToolResult};

/// The messages sent to a model.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Conversation {
    /// The system text.
    pub system: String,
    /// The turns, oldest first.
    pub turns: Vec<Turn>,
}

/// One message of a conversation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Turn {
    pub speaker: Role,
    pub text: String,
    /// Calls of the model.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<ToolCall>,
    /// Results of the calls of the turn before.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub results: Vec<ToolResult>,
}

impl Turn {
    fn new(speaker: Role, text: impl Into<String>) -> Self {
        Self { speaker, text: text.into(), calls: Vec::new(), results: Vec::new() }
    }

    fn redacted(&self, redactor: &Redactor) -> Self {
        let result = |result: &ToolResult| ToolResult {
            id: redactor.redact(&result.id),
            text: redactor.redact(&result.text),
        };
        Self {
            speaker: self.speaker,
            text: redactor.redact(&self.text),
            calls: self.calls.iter().map(|call| call.redacted(redactor)).collect(),
            results: self.results.iter().map(result).collect(),
        }
    }

    fn bytes(&self) -> usize {
        let calls = self.calls.iter();
        let calls = calls.map(|call| call.id.len() + call.name.len() + call.arguments.len());
        let results = self.results.iter().map(|result| result.id.len() + result.text.len());
        self.text.len() + calls.chain(results).map(|bytes| bytes + PER_TURN_BYTES).sum::<usize>()
    }
}

/// The author of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Lightbench, on behalf of a person.
    User,
    /// The model.
    Assistant,
}

impl Role {
    /// As both protocols call it.
    pub(crate) const fn role(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Assistant => "assistant",
        }
    }
}

impl Conversation {
    /// A conversation of one question.
    #[must_use]
    pub fn new(system: impl Into<String>, question: impl Into<String>) -> Self {
        Self { system: system.into(), turns: vec![Turn::new(Role::User, question)] }
    }

    /// The conversation extended by the model's reply and the next message.
    #[must_use]
    pub fn answered(mut self, reply: impl Into<String>, next: impl Into<String>) -> Self {
        self.turns.push(Turn::new(Role::Assistant, reply));
        self.turns.push(Turn::new(Role::User, next));
        self
    }

    /// The conversation extended by the model's calls, the text with them, and their results.
    #[must_use]
    pub fn called(
        mut self,
        reply: impl Into<String>,
        calls: Vec<ToolCall>,
        results: Vec<ToolResult>,
    ) -> Self {
        self.turns.push(Turn { calls, ..Turn::new(Role::Assistant, reply) });
        self.turns.push(Turn { results, ..Turn::new(Role::User, "") });
        self
    }

    /// The conversation without secrets, as it is sent, displayed and stored.
    #[must_use]
    pub fn redacted(&self, redactor: &Redactor) -> Self {
        let turns = self.turns.iter().map(|turn| turn.redacted(redactor)).collect();
        Self { system: redactor.redact(&self.system), turns }
    }

    /// Estimated tokens, from the length: one token for three bytes exceeds the count of current vocabularies for code,
    /// so that a budget is not exceeded.
    #[must_use]
    pub fn estimated_tokens(&self) -> u64 {
        let turns: usize = self.turns.iter().map(|turn| turn.bytes() + PER_TURN_BYTES).sum();
        estimated_tokens(self.system.len() + turns)
    }

    /// As one text, for a program that reads it from its standard input.
    #[must_use]
    pub fn to_prompt(&self) -> String {
        let mut prompt = self.system.trim_end().to_owned();
        let is_dialogue = self.turns.len() > 1;
        for turn in &self.turns {
            if !prompt.is_empty() {
                prompt.push_str("\n\n");
            }
            if is_dialogue {
                let said = match turn.speaker {
                    Role::User => "# You are told\n\n",
                    Role::Assistant => "# You answered\n\n",
                };
                prompt.push_str(said);
            }
            prompt.push_str(turn.text.trim_end());
        }
        prompt.push('\n');
        prompt
    }
}

/// Bytes added per turn for its framing.
const PER_TURN_BYTES: usize = 24;

/// Maximum average bytes of text per token over a whole answer. Current vocabularies have three to five bytes of code
/// or English per token; an answer with more than eight exceeds the requested tokens.
pub(crate) const MOST_BYTES_PER_TOKEN: usize = 8;

/// Maximum bytes of text in a number of tokens; short answers get a margin, because a single token may be long.
pub(crate) fn text_bytes(tokens: u64) -> usize {
    const ROOM: usize = 256;
    let tokens = usize::try_from(tokens).unwrap_or(usize::MAX);
    tokens.saturating_mul(MOST_BYTES_PER_TOKEN).saturating_add(ROOM)
}

/// A guess from a number of bytes, never too low for source code.
pub(crate) fn estimated_tokens(bytes: usize) -> u64 {
    u64::try_from(bytes.div_ceil(3)).unwrap_or(u64::MAX)
}
