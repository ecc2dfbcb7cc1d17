//! What is said to a model: a system text and turns.

use serde::{Deserialize, Serialize};

use crate::secret::Redactor;

/// Everything that a model is told.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Conversation {
    /// What holds for the whole conversation.
    pub system: String,
    /// What was said, the oldest first.
    pub turns: Vec<Turn>,
}

/// One thing that was said.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Turn {
    /// Who said it.
    pub speaker: Role,
    /// What.
    pub text: String,
}

/// Who says something.
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
        let first = Turn { speaker: Role::User, text: question.into() };
        Self { system: system.into(), turns: vec![first] }
    }

    /// The conversation as it goes on: what the model said, and what it is told about that.
    #[must_use]
    pub fn answered(mut self, reply: impl Into<String>, next: impl Into<String>) -> Self {
        self.turns.push(Turn { speaker: Role::Assistant, text: reply.into() });
        self.turns.push(Turn { speaker: Role::User, text: next.into() });
        self
    }

    /// Without secrets: as it is sent, shown and stored.
    #[must_use]
    pub fn redacted(&self, redactor: &Redactor) -> Self {
        let turn = |turn: &Turn| Turn { speaker: turn.speaker, text: redactor.redact(&turn.text) };
        Self { system: redactor.redact(&self.system), turns: self.turns.iter().map(turn).collect() }
    }

    /// How many tokens it is, guessed from its length: a token for three bytes is more than code takes with today's
    /// vocabularies, so that a budget errs on the safe side.
    #[must_use]
    pub fn estimated_tokens(&self) -> u64 {
        let turns: usize = self.turns.iter().map(|turn| turn.text.len() + PER_TURN_BYTES).sum();
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

/// What surrounds a turn, counted as text.
const PER_TURN_BYTES: usize = 24;

/// The most bytes of text that a token holds on average over a whole answer. Vocabularies of today hold three to five
/// bytes of code or English in a token; an answer beyond eight has more tokens than were asked for.
pub(crate) const MOST_BYTES_PER_TOKEN: usize = 8;

/// The most bytes of text that so many tokens hold; short answers get some room, since a single token may be long.
pub(crate) fn text_bytes(tokens: u64) -> usize {
    const ROOM: usize = 256;
    let tokens = usize::try_from(tokens).unwrap_or(usize::MAX);
    tokens.saturating_mul(MOST_BYTES_PER_TOKEN).saturating_add(ROOM)
}

/// A guess from a number of bytes, never too low for source code.
pub(crate) fn estimated_tokens(bytes: usize) -> u64 {
    u64::try_from(bytes.div_ceil(3)).unwrap_or(u64::MAX)
}
