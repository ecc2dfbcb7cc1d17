//! Language models and agent commands: a conversation goes in, text comes out in pieces, and what it cost is known.
//!
//! ```text
//!  settings.ron ──► ModelSettings ──► Roster ──► open("name") ──► Box<dyn Model>
//!   (as written)       check            │ keys, proxy, ledger            │ ask
//!                                       ▼                                ▼
//!                          Patient ► Paid ► Server | AgentCommand     Reply ──► reply::parse ──► Parsed
//!                          again,    budget  one attempt                          (pure)
//!                          pacing
//! ```
//!
//! Nothing here reads the environment, a project or a clock of its own accord: variables, the
//! keyring and the seed are handed over. Everything that comes back has passed the [`Redactor`].

mod agent;
mod budget;
mod check;
mod conversation;
mod endpoint;
mod error;
mod events;
mod http;
mod keys;
mod model;
mod patience;
mod protocol;
mod proxy;
mod recorded;
pub mod reply;
mod roster;
mod secret;
mod server;
mod settings;
mod stop;
mod text;

pub use agent::{Agent, AgentLimits};
pub use budget::{Budget, Ledger, Money, Prices, Refusal, Spent};
pub use conversation::{Conversation, Speaker, Turn};
pub use endpoint::{Endpoint, EndpointProblem};
pub use error::{Ending, Instead, ModelError, Trouble, Wait};
pub use keys::{KeyError, KeySource, KeyState, Keyring, NoKeyring, SystemKeyring};
pub use model::{Attempt, Count, Heard, Limits, Model, Reply, Request, Stop, Usage};
pub use patience::{Patience, Patient};
pub use proxy::{ProxyProblem, ProxySettings};
pub use recorded::{Recorded, RecordedReply, RecordingProblem};
pub use roster::{Access, Kind, ListError, Listed, OpenError, Roster};
pub use secret::{RedactedStream, Redactor, Secret};
pub use settings::{
    AgentSettings, LimitName, ModelSettings, QUESTION_SECS, ServerSettings, SettingsProblem,
    SettingsProblemKind, TimeLimits, WrittenTimeLimits,
};
pub use stop::StopSign;

pub use protocol::Protocol;

#[cfg(test)]
mod tests;
