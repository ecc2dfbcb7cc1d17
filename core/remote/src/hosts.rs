//! The hosts that a process uses: one connection to each, shared by all that run there.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use lightbench_primitives::cancellation::Cancellation;
use lightbench_primitives::host_name::HostName;

use crate::connection::{ConnectError, Connection, Traffic};
use crate::transport::{HostProgram, Partition, Prompts, Transport};

/// How hosts are reached, and the connections that exist.
#[derive(Clone, Debug, Default)]
pub struct Hosts {
    settings: Arc<HostSettings>,
    connections: Arc<Mutex<BTreeMap<HostName, Slot>>>,
}

/// The connection to one host. The lock is held while the connection is opened, which can take hours for an allocation.
type Slot = Arc<Mutex<Option<Arc<Connection>>>>;

/// How hosts are reached.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HostSettings {
    /// The programs for hosts, one for each architecture.
    pub programs: Vec<HostProgram>,
    /// Hosts that the user's settings describe; any other is reached by `ssh`.
    pub described: Vec<Transport>,
    /// Partitions that the user's settings describe.
    pub partitions: Vec<Partition>,
    /// What is requested of any other partition; it has another name.
    pub unknown: Partition,
    /// Who answers the questions of `ssh`.
    pub prompts: Prompts,
}

impl HostSettings {
    fn transport(&self, host: &HostName) -> Transport {
        match host {
            HostName::Ssh(name) => {
                let described = self.described.iter().find(|known| known.host == *name).cloned();
                described.unwrap_or_else(|| Transport::ssh(name, &[], self.prompts))
            }
            HostName::Slurm { partition, .. } => {
                Transport::slurm(host.to_string(), &self.partition(partition))
            }
        }
    }

    fn partition(&self, name: &str) -> Partition {
        let described = self.partitions.iter().find(|known| known.name == name).cloned();
        described.unwrap_or_else(|| Partition { name: name.to_owned(), ..self.unknown.clone() })
    }
}

impl Hosts {
    /// Without connections.
    #[must_use]
    pub fn new(settings: HostSettings) -> Self {
        Self { settings: Arc::new(settings), connections: Arc::default() }
    }

    /// The hosts that may work at the same time where a user names one: all allocations of a partition.
    #[must_use]
    pub fn named(&self, host: &HostName) -> Vec<HostName> {
        match host {
            HostName::Slurm { partition, number: 1 } => {
                let count = self.settings.partition(partition).count.max(1);
                let each = |number| HostName::Slurm { partition: partition.clone(), number };
                (1..=count).map(each).collect()
            }
            HostName::Ssh(_) | HostName::Slurm { .. } => vec![host.clone()],
        }
    }

    /// The connection to a host. One that does not exist, or is lost, is opened.
    ///
    /// # Errors
    ///
    /// [`ConnectError`].
    pub fn connect(
        &self,
        host: &HostName,
        cancellation: &Cancellation,
    ) -> Result<Arc<Connection>, ConnectError> {
        let slot = Arc::clone(self.connections().entry(host.clone()).or_default());
        let mut slot = slot.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = slot.as_ref().filter(|known| !known.is_lost()) {
            return Ok(Arc::clone(known));
        }
        let transport = self.settings.transport(host);
        let connection = Connection::open(&transport, &self.settings.programs, cancellation)?;
        Ok(Arc::clone(slot.insert(Arc::new(connection))))
    }

    /// The traffic of every connection that exists, by the name of its host. A host to which a connection is being opened is
    /// left out.
    #[must_use]
    pub fn traffic(&self) -> Vec<(String, Traffic)> {
        let connections = self.connections();
        let each = connections.iter().filter_map(|(host, slot)| {
            let connection = slot.try_lock().ok()?;
            Some((host.to_string(), connection.as_ref()?.traffic()))
        });
        each.collect()
    }

    fn connections(&self) -> std::sync::MutexGuard<'_, BTreeMap<HostName, Slot>> {
        self.connections.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
