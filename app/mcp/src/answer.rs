//! The answer to a call.

use rmcp::model::CallToolResult;
use serde_json::{Map, Value, json};

use crate::page::{Paged, paged};
use crate::untrusted::sealed;

/// The schema of every result.
const SCHEMA: &str = "lightbench.agent/1";

/// The answer to a call. Its document may contain foreign text; the agent receives it sealed.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// What became of the call.
    pub state: State,
    /// The run that the call started or named.
    pub run: Option<String>,
    /// What to do next.
    pub next: Option<&'static str>,
    /// The result, as a command writes it with `--json`.
    pub document: Option<Value>,
    /// The requested page, from 1.
    pub page: usize,
}

/// What became of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// The document is the result. A kernel that failed is a result.
    Finished,
    /// A run has not ended yet.
    Running,
    /// A run was cancelled.
    Cancelled,
    /// The call cannot be carried out.
    Refused,
}

impl State {
    const fn word(self) -> &'static str {
        match self {
            Self::Finished => "finished",
            Self::Running => "running",
            Self::Cancelled => "cancelled",
            Self::Refused => "refused",
        }
    }
}

impl Answer {
    /// A result.
    #[must_use]
    pub const fn finished(document: Value) -> Self {
        let state = State::Finished;
        Self { state, run: None, next: None, document: Some(document), page: 1 }
    }

    /// A call that cannot be carried out, for a reason of the program's own words.
    #[must_use]
    pub const fn refused(next: &'static str) -> Self {
        let (state, next) = (State::Refused, Some(next));
        Self { state, run: None, next, document: None, page: 1 }
    }

    /// The same with a page.
    #[must_use]
    pub fn at_page(self, page: Option<u32>) -> Self {
        let page = page.and_then(|page| usize::try_from(page).ok()).unwrap_or(1);
        Self { page, ..self }
    }

    pub(crate) fn render(self) -> CallToolResult {
        let mut result = Map::new();
        result.insert("schema".to_owned(), SCHEMA.into());
        result.insert("state".to_owned(), self.state.word().into());
        if let Some(run) = self.run {
            result.insert("run".to_owned(), run.into());
        }
        if let Some(next) = self.next {
            result.insert("next".to_owned(), next.into());
        }
        if let Some(document) = self.document {
            match paged(sealed(document), self.page) {
                Paged::Whole(document) => {
                    result.insert("document".to_owned(), document);
                }
                Paged::Part { part, page, pages } => {
                    result.insert("page".to_owned(), json!(page));
                    result.insert("pages".to_owned(), json!(pages));
                    result.insert("untrusted_part".to_owned(), part.into());
                }
            }
        }
        let result = Value::Object(result);
        match self.state {
            State::Refused => CallToolResult::structured_error(result),
            State::Finished | State::Running | State::Cancelled => {
                CallToolResult::structured(result)
            }
        }
    }
}
