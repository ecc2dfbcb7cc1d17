//! Tools that a model may call before it answers.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::secret::Redactor;

/// A tool as it is offered to a model.
#[derive(Clone, Debug, PartialEq)]
pub struct Tool {
    /// Letters, digits and underscores.
    pub name: &'static str,
    /// What it returns, and when to call it.
    pub description: &'static str,
    /// JSON schema of its arguments, which are one object.
    pub parameters: Value,
}

/// A call by a model.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolCall {
    /// The model's identifier of the call.
    pub id: String,
    pub name: String,
    /// JSON, as the model wrote it.
    pub arguments: String,
}

/// The result of a call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolResult {
    /// The identifier of the call.
    pub id: String,
    pub text: String,
}

impl ToolCall {
    /// The call without secrets.
    pub(crate) fn redacted(&self, redactor: &Redactor) -> Self {
        let [id, name, arguments] =
            [&self.id, &self.name, &self.arguments].map(|text| redactor.redact(text));
        Self { id, name, arguments }
    }

    /// The arguments as protocols with objects have them: an empty object for what is no object, so that the server accepts
    /// the conversation.
    pub(crate) fn object(&self) -> Value {
        let parsed = serde_json::from_str(&self.arguments).ok();
        parsed.filter(Value::is_object).unwrap_or_else(|| Value::Object(serde_json::Map::new()))
    }
}
