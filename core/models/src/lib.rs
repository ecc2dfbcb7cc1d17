//! Language models and agent commands: each takes a conversation and returns text in pieces, with the tokens and money
//! spent.
//!
//! ```text
//!  settings.ron ──► ModelSettings ──► ModelRegistry ──► open("name") ──► Box<dyn Model>
//!   (as written)       check            │ keys, proxy, ledger               │ ask
//!                                       ▼                                   ▼
//!               RetryingModel ► BudgetedModel ► Server | AgentCommand     Reply ──► reply::parse ──► Parsed
//!               retries, rate   budget          one attempt                         (pure)
//!               limit
//! ```
//!
//! This crate reads no environment variables, no project and no clock on its own: variables, the keyring and the seed
//! are parameters. All returned text has passed the [`Redactor`].

mod agent;
mod budget;
mod conversation;
mod endpoint;
mod error;
mod events;
mod http;
mod keys;
mod model;
mod protocol;
mod proxy;
mod recorded;
mod registry;
pub mod reply;
mod retry;
mod secret;
mod server;
mod settings;
mod settings_check;
mod spending;
mod stop_signal;
mod text;
mod tools;
mod usage;

pub use agent::{Agent, AgentLimits};
pub use budget::Ledger;
pub use conversation::{Conversation, Role, Turn};
pub use endpoint::{Endpoint, EndpointProblem};
pub use error::{
    Attempt, Ending, ModelError, ModelErrorKind, NonTextAnswer, RecordingProblem, WaitPhase,
};
pub use keys::{KeyError, KeySource, KeyState, Keyring, NoKeyring, SystemKeyring};
pub use model::{AnswerEvent, Limits, Model, Reply, Request, Stop};
pub use proxy::{ProxyProblem, ProxySettings};
pub use recorded::{RecordedModel, RecordedReply};
pub use registry::{Kind, ListError, ListedModel, ModelAccess, ModelRegistry, OpenError};
pub use retry::{RetryPolicy, RetryingModel};
pub use secret::{RedactedStream, Redactor, Secret};
pub use settings::{
    AgentSettings, ModelSettings, QUESTION_SECS, ServerSettings, SettingsProblem,
    SettingsProblemKind, TimeLimits, WrittenTimeLimits,
};
pub use spending::{Budget, BudgetRefusal, Money, Prices, Spent};
pub use stop_signal::StopSignal;
pub use tools::{Tool, ToolCall, ToolResult};
pub use usage::{Count, Usage};

pub use protocol::{LimitName, Protocol};

#[cfg(test)]
mod tests;
