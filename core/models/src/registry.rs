//! The usable models: validated settings with the keys and variables that they need.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::num::NonZeroU32;
use std::time::Duration;

use crate::agent::{Agent, AgentLimits};
use crate::budget::{BudgetedModel, Ledger};
use crate::conversation::text_bytes;
use crate::endpoint::Endpoint;
use crate::error::ModelErrorKind;
use crate::keys::{KeySource, KeyState, Keyring};
use crate::model::Model;
use crate::proxy::{Proxy, ProxyProblem};
use crate::retry::{RetryPolicy, RetryingModel};
use crate::secret::{Redactor, Secret};
use crate::server::Server;
use crate::settings::{
    AgentSettings, ModelSettings, ServerSettings, SettingsProblem, SettingsProblemKind, TimeLimits,
};
use crate::settings_check;
use crate::spending::Prices;
use crate::stop_signal::StopSignal;

/// The longest answer that is read, in bytes.
const REPLY_BYTES: usize = 4 << 20;

/// All models of a user, checked.
#[derive(Clone, Debug, Default)]
pub struct ModelRegistry {
    entries: BTreeMap<String, Entry>,
    proxy: Option<crate::proxy::ProxySettings>,
}

#[derive(Clone, Debug)]
enum Entry {
    Server(Box<ServerEntry>),
    Agent(AgentSettings),
}

#[derive(Clone, Debug)]
struct ServerEntry {
    settings: ServerSettings,
    endpoint: Endpoint,
    time: TimeLimits,
}

impl Entry {
    fn server(settings: &ServerSettings) -> Result<Self, SettingsProblemKind> {
        let (endpoint, time) = settings_check::server(settings)?;
        Ok(Self::Server(Box::new(ServerEntry { settings: settings.clone(), endpoint, time })))
    }

    fn agent(settings: &AgentSettings) -> Result<Self, SettingsProblemKind> {
        settings_check::agent(settings)?;
        Ok(Self::Agent(settings.clone()))
    }
}

/// The kind of a model, for lists.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A server.
    Server {
        /// Its base address.
        endpoint: String,
        /// Which of its models.
        model: String,
        /// Source of its key.
        key: KeySource,
    },
    /// A program, by its whole path.
    Agent {
        /// The path.
        program: String,
        /// Names of the variables that it gets.
        environment: Vec<String>,
    },
}

/// A model in a list.
#[derive(Clone, Debug)]
pub struct ListedModel {
    /// The name in the settings.
    pub name: String,
    pub kind: Kind,
    /// Whether it has the key that it needs.
    pub key: KeyState,
}

/// Why a model cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OpenError {
    /// No such name.
    #[error("there is no model `{name}` in the settings{}", nearest_names(nearest.as_deref()))]
    Unknown {
        /// The name.
        name: String,
        /// The most similar name in the settings.
        nearest: Option<String>,
    },
    /// The configured source has no key.
    #[error("`{name}` needs a key, and {key} has none")]
    NoKey {
        /// The model.
        name: String,
        /// Where it should be.
        key: KeySource,
    },
    /// The key cannot be read.
    #[error("`{name}` needs a key, and {key} cannot be read: {reason}")]
    UnreadableKey {
        /// The model.
        name: String,
        /// Where it should be.
        key: KeySource,
        /// Why.
        reason: String,
    },
    /// The proxy of the environment makes no sense.
    #[error(transparent)]
    Proxy(#[from] ProxyProblem),
}

/// Why the models of a server are unknown.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ListError {
    /// The server cannot be used.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// It does not answer.
    #[error(transparent)]
    Trouble(#[from] ModelErrorKind),
}

fn nearest_names(nearest: Option<&str>) -> String {
    nearest.map_or_else(String::new, |nearest| format!("; did you mean `{nearest}`?"))
}

/// Keys, variables and proxy for the models. Its debug output contains none of them.
pub struct ModelAccess {
    keys: BTreeMap<String, KeyState>,
    variables: BTreeMap<String, OsString>,
    proxy: Result<Option<Proxy>, ProxyProblem>,
    redactor: Redactor,
}

impl std::fmt::Debug for ModelAccess {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Access").field("redactor", &self.redactor).finish_non_exhaustive()
    }
}

impl ModelAccess {
    /// Removes all known keys from a text.
    #[must_use]
    pub const fn redactor(&self) -> &Redactor {
        &self.redactor
    }
}

impl ModelRegistry {
    /// Checks settings.
    ///
    /// # Errors
    /// Everything that is wrong with them, at once.
    pub fn new(settings: &ModelSettings) -> Result<Self, Vec<SettingsProblem>> {
        let mut problems = Vec::new();
        let mut entries = BTreeMap::new();
        let checked = settings.servers.iter().map(|(name, server)| (name, Entry::server(server)));
        let agents = settings.agents.iter().map(|(name, agent)| (name, Entry::agent(agent)));
        for (name, entry) in checked.chain(agents) {
            let problem = |kind| SettingsProblem { name: name.clone(), kind };
            problems.extend(settings_check::name(name).map_err(problem).err());
            match entry {
                Ok(entry) => {
                    if entries.insert(name.clone(), entry).is_some() {
                        problems.push(problem(SettingsProblemKind::NameTwice));
                    }
                }
                Err(kind) => problems.push(problem(kind)),
            }
        }
        if let Some(Err(error)) = settings.proxy.as_ref().map(Proxy::from_settings) {
            problems.push(SettingsProblem { name: String::new(), kind: error.into() });
        }
        match problems.is_empty() {
            true => Ok(Self { entries, proxy: settings.proxy.clone() }),
            false => Err(problems),
        }
    }

    /// The names of all models.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.entries.keys().map(String::as_str)
    }

    /// Looks up the keys and variables that the settings name. The keyring may prompt the user.
    #[must_use]
    pub fn access(
        &self,
        variable: &dyn Fn(&str) -> Option<OsString>,
        keyring: &dyn Keyring,
    ) -> ModelAccess {
        let mut keys = BTreeMap::new();
        let mut variables = BTreeMap::new();
        for (name, entry) in &self.entries {
            match entry {
                Entry::Server(server) => {
                    keys.insert(name.clone(), server.settings.key.look_up(variable, keyring));
                }
                Entry::Agent(agent) => {
                    let allowed = agent.environment.iter();
                    variables
                        .extend(allowed.filter_map(|name| Some((name.clone(), variable(name)?))));
                }
            }
        }
        let proxy = match &self.proxy {
            Some(settings) => Proxy::from_settings(settings).map(Some),
            None => Proxy::from_variables(variable),
        };
        let redactor = redactor(&keys, &variables, proxy.as_ref().ok().and_then(Option::as_ref));
        ModelAccess { keys, variables, proxy, redactor }
    }

    /// All models, and whether they have the keys that they need.
    #[must_use]
    pub fn list(&self, access: &ModelAccess) -> Vec<ListedModel> {
        let listed = |(name, entry): (&String, &Entry)| {
            let kind = match entry {
                Entry::Server(server) => Kind::Server {
                    endpoint: server.endpoint.address().to_owned(),
                    model: server.settings.model.clone(),
                    key: server.settings.key.clone(),
                },
                Entry::Agent(agent) => Kind::Agent {
                    program: agent.argv.first().cloned().unwrap_or_default(),
                    environment: agent.environment.clone(),
                },
            };
            let key = access.keys.get(name).cloned().unwrap_or(KeyState::NotNeeded);
            ListedModel { name: name.clone(), kind, key }
        };
        self.entries.iter().map(listed).collect()
    }

    /// Prices of a model per million tokens; `None` if the settings state none.
    #[must_use]
    pub fn prices(&self, name: &str) -> Option<Prices> {
        match self.entries.get(name)? {
            Entry::Server(server) => server.settings.prices,
            Entry::Agent(_) => None,
        }
    }

    /// Opens a model whose requests are charged to `ledger`; `seed` determines the pauses between attempts.
    ///
    /// # Errors
    /// The settings have no such model, or its key is missing.
    pub fn open(
        &self,
        name: &str,
        access: &ModelAccess,
        ledger: &Ledger,
        seed: u64,
    ) -> Result<Box<dyn Model>, OpenError> {
        self.open_with(name, access, ledger, RetryPolicy { seed, ..RetryPolicy::default() })
    }

    /// As [`Self::open`], with an explicit retry policy.
    pub(crate) fn open_with(
        &self,
        name: &str,
        access: &ModelAccess,
        ledger: &Ledger,
        patience: RetryPolicy,
    ) -> Result<Box<dyn Model>, OpenError> {
        let entry = self.entries.get(name).ok_or_else(|| self.unknown(name))?;
        let ledger = ledger.clone();
        match entry {
            Entry::Server(entry) => {
                let ServerEntry { settings, time, .. } = entry.as_ref();
                let server = server(name, entry, access)?;
                let paid = BudgetedModel { model: server, ledger, prices: settings.prices };
                let (attempts, question) = (settings.attempts, time.question);
                let patience = RetryPolicy { attempts, question, ..patience };
                let pace = settings.requests_per_minute.and_then(NonZeroU32::new);
                Ok(Box::new(RetryingModel::new(paid, patience, pace)))
            }
            Entry::Agent(settings) => {
                let agent = agent(name, settings, access, access.redactor.clone());
                let paid = BudgetedModel { model: agent, ledger, prices: None };
                let question = Duration::from_secs(settings.whole_secs.into());
                let patience = RetryPolicy { attempts: 1, question, ..patience };
                let pace = settings.requests_per_minute.and_then(NonZeroU32::new);
                Ok(Box::new(RetryingModel::new(paid, patience, pace)))
            }
        }
    }

    /// The names of the models that a server lists; an agent command lists none.
    ///
    /// # Errors
    /// The settings have no such server, its key is missing, or it returns no list.
    pub fn served(
        &self,
        name: &str,
        access: &ModelAccess,
        stop: &StopSignal,
    ) -> Result<Vec<String>, ListError> {
        match self.entries.get(name).ok_or_else(|| self.unknown(name))? {
            Entry::Server(entry) => Ok(server(name, entry, access)?.served(stop)?),
            Entry::Agent(_) => Ok(Vec::new()),
        }
    }

    fn unknown(&self, name: &str) -> OpenError {
        let distance = |known: &&String| strsim::damerau_levenshtein(name, known);
        let nearest = self.entries.keys().min_by_key(distance);
        let is_near = |known: &&String| strsim::damerau_levenshtein(name, known) <= 3;
        OpenError::Unknown { name: name.to_owned(), nearest: nearest.filter(is_near).cloned() }
    }
}

fn server(name: &str, entry: &ServerEntry, access: &ModelAccess) -> Result<Server, OpenError> {
    let ServerEntry { settings, endpoint, time } = entry;
    Ok(Server {
        name: name.to_owned(),
        protocol: settings.protocol,
        endpoint: endpoint.clone(),
        model: settings.model.clone(),
        key: key(name, settings, access)?,
        proxy: access.proxy.clone()?.and_then(|proxy| proxy.for_host(endpoint)),
        most_tokens: settings.max_tokens,
        limit_name: settings.limit_name,
        temperature: settings.temperature,
        tools: settings.tools,
        time: *time,
        reply_bytes: REPLY_BYTES,
        redactor: access.redactor.clone(),
    })
}

fn agent(name: &str, settings: &AgentSettings, access: &ModelAccess, redactor: Redactor) -> Agent {
    let value = |name: &String| Some((name.clone(), access.variables.get(name)?.clone()));
    let mut argv = settings.argv.iter();
    Agent {
        name: name.to_owned(),
        program: argv.next().map(Into::into).unwrap_or_default(),
        arguments: argv.cloned().collect(),
        environment: settings.environment.iter().filter_map(value).collect(),
        limits: AgentLimits {
            time: Duration::from_secs(settings.whole_secs.into()),
            reply_bytes: REPLY_BYTES.min(text_bytes(settings.max_tokens)),
            most_tokens: settings.max_tokens,
        },
        redactor,
    }
}

fn key(
    name: &str,
    settings: &ServerSettings,
    access: &ModelAccess,
) -> Result<Option<Secret>, OpenError> {
    let (name, key) = (name.to_owned(), settings.key.clone());
    match access.keys.get(&name) {
        Some(KeyState::NotNeeded) => Ok(None),
        Some(KeyState::Present(secret)) => Ok(Some(secret.clone())),
        Some(KeyState::Unreadable(reason)) => {
            Err(OpenError::UnreadableKey { name, key, reason: reason.clone() })
        }
        Some(KeyState::Missing) | None => Err(OpenError::NoKey { name, key }),
    }
}

/// A redactor of all known secrets: keys, the proxy's password, and the values of agent variables whose names indicate
/// a secret.
fn redactor(
    keys: &BTreeMap<String, KeyState>,
    variables: &BTreeMap<String, OsString>,
    proxy: Option<&Proxy>,
) -> Redactor {
    let keys = keys.values().filter_map(|state| match state {
        KeyState::Present(key) => Some(key.clone()),
        KeyState::NotNeeded | KeyState::Missing | KeyState::Unreadable(_) => None,
    });
    let named = variables.iter().filter(|(name, _)| contains_secret(name));
    let named = named.map(|(_, value)| Secret::new(value.to_string_lossy().into_owned()));
    let password = proxy.and_then(Proxy::password).cloned();
    Redactor::new(keys.chain(named).chain(password))
}

fn contains_secret(variable: &str) -> bool {
    let name = variable.to_ascii_uppercase();
    ["KEY", "TOKEN", "SECRET", "PASSWORD", "CREDENTIAL"].iter().any(|word| name.contains(word))
}
