//! A call of a tool, and the way back for its answer.

use serde_json::{Map, Value};
use tokio::sync::oneshot;

use crate::answer::Answer;

/// A call of a known tool.
#[derive(Debug)]
pub struct Call {
    /// The tool.
    pub tool: &'static str,
    /// Its arguments, as the agent wrote them.
    pub arguments: Map<String, Value>,
    /// The name that the client declares: a label, not an identity.
    pub client: Option<String>,
    /// The way back.
    pub reply: Reply,
}

/// The way back for one answer.
#[derive(Debug)]
pub struct Reply(pub(crate) oneshot::Sender<Answer>);

impl Reply {
    /// Sends the answer. A client that has cancelled its call or gone away does not receive it.
    pub fn send(self, answer: Answer) {
        self.0.send(answer).ok();
    }
}
