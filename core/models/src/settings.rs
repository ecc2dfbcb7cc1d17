//! The user's settings of models. They are never read from a project: a project can name no command, no endpoint and no
//! host.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::endpoint::EndpointProblem;
use crate::keys::KeySource;
use crate::protocol::{LimitName, Protocol};
use crate::proxy::{ProxyProblem, ProxySettings};
use crate::spending::Prices;

/// All models of a user, by name. An unknown field is an error, because an ignored limit costs money.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ModelSettings {
    /// Hosted and local servers.
    pub servers: BTreeMap<String, ServerSettings>,
    /// Programs.
    pub agents: BTreeMap<String, AgentSettings>,
    /// The proxy; without it, the environment variables apply.
    pub proxy: Option<ProxySettings>,
}

/// A server, as written.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ServerSettings {
    #[serde(default)]
    pub protocol: Protocol,
    /// Its base address, with the version: `https://api.example.com/v1`.
    pub endpoint: String,
    /// Which of its models.
    pub model: String,
    /// Source of its key.
    #[serde(default)]
    pub key: KeySource,
    /// Sampling temperature; `None`: the server's default.
    #[serde(default)]
    pub temperature: Option<f64>,
    /// Whether it is offered tools; some servers reject requests that have them.
    #[serde(default = "offered")]
    pub tools: bool,
    /// Maximum tokens of an answer.
    #[serde(default = "most_tokens")]
    pub max_tokens: u64,
    /// The field name of that limit.
    #[serde(default)]
    pub limit_name: LimitName,
    /// Time limits of each phase.
    #[serde(default)]
    pub time: WrittenTimeLimits,
    /// Attempts in all.
    #[serde(default = "attempts")]
    pub attempts: u32,
    /// Requests per minute; `None`: unlimited.
    #[serde(default)]
    pub requests_per_minute: Option<u32>,
    /// Prices per million tokens; `None`: unknown.
    #[serde(default)]
    pub prices: Option<Prices>,
    /// Permits `http://` to another machine, and so the key and the code unencrypted.
    #[serde(default)]
    pub insecure: bool,
}

impl ServerSettings {
    /// A server without a key, with defaults for all other fields.
    #[must_use]
    pub fn new(endpoint: String, model: String) -> Self {
        Self {
            protocol: Protocol::default(),
            endpoint,
            model,
            key: KeySource::None,
            temperature: None,
            tools: offered(),
            max_tokens: most_tokens(),
            limit_name: LimitName::default(),
            time: WrittenTimeLimits::default(),
            attempts: attempts(),
            requests_per_minute: None,
            prices: None,
            insecure: false,
        }
    }
}

const fn offered() -> bool {
    true
}

/// Time limits of each phase as written, in seconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct WrittenTimeLimits {
    /// Name resolution and connecting.
    pub connection_secs: f64,
    /// From the connection to the first byte of the answer.
    pub beginning_secs: f64,
    /// From one piece of the answer to the next.
    pub piece_secs: f64,
    /// From the question to the end of the answer, in one attempt.
    pub whole_secs: f64,
    /// All attempts of a request with the pauses between them; `None`: the limit of one attempt, and at least
    /// [`QUESTION_SECS`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub question_secs: Option<f64>,
}

/// Default time limit of all attempts of a request, in seconds.
pub const QUESTION_SECS: f64 = 180.0;

impl Default for WrittenTimeLimits {
    fn default() -> Self {
        Self {
            connection_secs: 10.0,
            beginning_secs: QUESTION_SECS,
            piece_secs: 120.0,
            whole_secs: QUESTION_SECS,
            question_secs: None,
        }
    }
}

/// A program, as written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AgentSettings {
    /// The program by its absolute path, and its arguments.
    pub argv: Vec<String>,
    /// Names of the variables that it gets; it gets no other.
    #[serde(default)]
    pub environment: Vec<String>,
    /// From start to end.
    #[serde(default = "agent_secs")]
    pub whole_secs: u32,
    /// Tokens of an answer that a budget sets aside.
    #[serde(default = "most_tokens")]
    pub max_tokens: u64,
    /// Requests per minute; `None`: unlimited.
    #[serde(default)]
    pub requests_per_minute: Option<u32>,
}

impl AgentSettings {
    /// A program without variables, with defaults for all other fields.
    #[must_use]
    pub const fn new(argv: Vec<String>) -> Self {
        Self {
            argv,
            environment: Vec::new(),
            whole_secs: agent_secs(),
            max_tokens: most_tokens(),
            requests_per_minute: None,
        }
    }
}

const fn most_tokens() -> u64 {
    16_384
}

const fn attempts() -> u32 {
    4
}

const fn agent_secs() -> u32 {
    900
}

/// Time limits of each phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeLimits {
    /// Name resolution and connecting.
    pub connection: Duration,
    /// From the connection to the first byte of the answer.
    pub beginning: Duration,
    /// From one piece of the answer to the next.
    pub piece: Duration,
    /// From the question to the end of the answer, in one attempt.
    pub whole: Duration,
    /// All attempts of a question and the pauses between them.
    pub question: Duration,
}

/// A day: the longest accepted time limit.
const LONGEST_SECS: f64 = 86_400.0;
/// The shortest accepted time limit.
const SHORTEST_SECS: f64 = 0.001;

impl TimeLimits {
    pub(crate) fn from_written(written: WrittenTimeLimits) -> Result<Self, SettingsProblemKind> {
        let limit = |field: &'static str, seconds: f64| {
            let (least, most) = (SHORTEST_SECS, LONGEST_SECS);
            let is_sensible = (least..=most).contains(&seconds);
            let duration = is_sensible.then(|| Duration::from_secs_f64(seconds));
            duration.ok_or(SettingsProblemKind::OutOfRange { field, least, most })
        };
        Ok(Self {
            connection: limit("connection_secs", written.connection_secs)?,
            beginning: limit("beginning_secs", written.beginning_secs)?,
            piece: limit("piece_secs", written.piece_secs)?,
            whole: limit("whole_secs", written.whole_secs)?,
            question: match written.question_secs {
                Some(seconds) => limit("question_secs", seconds)?,
                None => limit("whole_secs", written.whole_secs.max(QUESTION_SECS))?,
            },
        })
    }
}

/// A defect in the settings of models.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{}: {kind}", if name.is_empty() { "models" } else { name })]
pub struct SettingsProblem {
    /// Which model; empty for all of them.
    pub name: String,
    pub kind: SettingsProblemKind,
}

/// The kind of a defect.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SettingsProblemKind {
    /// The name cannot be typed.
    #[error("a name is letters, digits, `-`, `_` and `.`, at most {most} of them")]
    Name {
        /// The longest.
        most: usize,
    },
    /// A server and a program have the same name.
    #[error("a server and an agent have this name")]
    NameTwice,
    /// The endpoint.
    #[error(transparent)]
    Endpoint(#[from] EndpointProblem),
    /// The proxy.
    #[error(transparent)]
    Proxy(#[from] ProxyProblem),
    /// A number.
    #[error("`{field}` must be between {least} and {most}")]
    OutOfRange {
        /// Which.
        field: &'static str,
        /// At least this.
        least: f64,
        /// The maximum.
        most: f64,
    },
    /// A field is empty.
    #[error("`{field}` is empty")]
    Empty {
        /// Which.
        field: &'static str,
    },
    /// A field that names a variable or an entry holds something else, perhaps the key itself.
    #[error(
        "`{field}` is not the name of a variable: settings name the variable that holds a key, never the key itself"
    )]
    NoVariable {
        /// Which.
        field: &'static str,
    },
    /// The program is not named by its whole path.
    #[error(
        "`argv` must begin with the program's whole path: it starts in an empty folder and without PATH"
    )]
    RelativeProgram,
}
