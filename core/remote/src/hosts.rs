//! The hosts that a process uses: one connection to each, shared by all that run there.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use lightbench_primitives::cancellation::Cancellation;

use crate::connection::{ConnectError, Connection, Traffic};
use crate::transport::{HostProgram, Prompts, Transport};

/// How hosts are reached, and the connections that exist.
#[derive(Clone, Debug, Default)]
pub struct Hosts {
    settings: Arc<HostSettings>,
    connections: Arc<Mutex<BTreeMap<String, Arc<Connection>>>>,
}

/// How hosts are reached.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HostSettings {
    /// The programs for hosts, one for each architecture.
    pub programs: Vec<HostProgram>,
    /// Hosts that the user's settings describe; any other is reached by `ssh`.
    pub described: Vec<Transport>,
    /// Who answers the questions of `ssh`.
    pub prompts: Prompts,
}

impl Hosts {
    /// Without connections.
    #[must_use]
    pub fn new(settings: HostSettings) -> Self {
        Self { settings: Arc::new(settings), connections: Arc::default() }
    }

    /// The connection to a host. One that does not exist, or is lost, is opened.
    ///
    /// # Errors
    ///
    /// [`ConnectError`].
    pub fn connect(
        &self,
        host: &str,
        cancellation: &Cancellation,
    ) -> Result<Arc<Connection>, ConnectError> {
        let mut connections = self.connections.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = connections.get(host).filter(|known| !known.is_lost()) {
            return Ok(Arc::clone(known));
        }
        let described = self.settings.described.iter().find(|known| known.host == host).cloned();
        let prompts = self.settings.prompts;
        let transport = described.unwrap_or_else(|| Transport::ssh(host, &[], prompts));
        let connection = Connection::open(&transport, &self.settings.programs, cancellation)?;
        let connection = Arc::new(connection);
        connections.insert(host.to_owned(), Arc::clone(&connection));
        Ok(connection)
    }

    /// The traffic of every connection that exists, by the name of its host.
    #[must_use]
    pub fn traffic(&self) -> Vec<(String, Traffic)> {
        let connections = self.connections.lock().unwrap_or_else(PoisonError::into_inner);
        connections.iter().map(|(host, known)| (host.clone(), known.traffic())).collect()
    }
}
