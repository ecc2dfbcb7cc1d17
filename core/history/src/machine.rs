//! The identity of the machine that made a run, protected against forgery.
//!
//! A key that never leaves this machine seals each run. A history from another machine has seals of another key or none;
//! its runs, and runs of this machine whose text was changed, count as recorded.

use std::fmt;
use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use super::error::HistoryError;

/// The file of the key in the user's state folder.
const FILE: &str = "history.key";

const KEY_CONTEXT: &str = "lightbench history 2026-11 seal of a run";
const NAME_CONTEXT: &str = "lightbench history 2026-11 name of a machine";

/// The seal of a run.
pub type Seal = [u8; blake3::OUT_LEN];

/// This machine, for this user.
#[derive(Clone)]
pub struct Machine {
    identity: Option<Identity>,
}

#[derive(Clone)]
struct Identity {
    name: String,
    key: [u8; blake3::KEY_LEN],
}

impl Machine {
    /// Opens the machine identity with the key in the user's state folder; creates the key if it is missing.
    ///
    /// # Errors
    /// The folder cannot be written, or the file is not a key.
    pub fn open(state: &Path) -> Result<Self, HistoryError> {
        let path = state.join(FILE);
        let secret = match fs::read(&path) {
            Ok(secret) => secret,
            Err(error) if error.kind() == io::ErrorKind::NotFound => begin(state, &path)?,
            Err(source) => return Err(HistoryError::Files { what: "read", path, source }),
        };
        let secret: [u8; blake3::KEY_LEN] = secret.try_into().map_err(|secret: Vec<u8>| {
            let found = secret.len();
            let source = io::Error::other(format!(
                "the file has {found} bytes and is not a key; if you delete it, all earlier runs count as recorded"
            ));
            HistoryError::Files { what: "use", path, source }
        })?;
        let name = blake3::derive_key(NAME_CONTEXT, &secret);
        let name = blake3::Hash::from_bytes(name).to_hex()[..16].to_owned();
        let key = blake3::derive_key(KEY_CONTEXT, &secret);
        Ok(Self { identity: Some(Identity { name, key }) })
    }

    /// Opens the machine identity without creating a key: without a key, every run of a history counts as recorded.
    ///
    /// # Errors
    /// The file is not a key, or cannot be read.
    pub fn known(state: &Path) -> Result<Self, HistoryError> {
        if state.join(FILE).exists() { Self::open(state) } else { Ok(Self::without_key()) }
    }

    /// A machine without a key: all runs count as recorded.
    #[must_use]
    pub const fn without_key() -> Self {
        Self { identity: None }
    }

    /// A name that does not reveal the key; empty without a key.
    #[must_use]
    pub fn name(&self) -> &str {
        self.identity.as_ref().map_or("", |identity| &identity.name)
    }

    /// Seals a document; `None` without a key.
    #[must_use]
    pub fn seal(&self, document: &str) -> Option<Seal> {
        let identity = self.identity.as_ref()?;
        Some(*blake3::keyed_hash(&identity.key, document.as_bytes()).as_bytes())
    }

    /// Whether this machine sealed this exact document.
    #[must_use]
    pub fn has_sealed(&self, document: &str, seal: Option<&[u8]>) -> bool {
        let (Some(expected), Some(seal)) = (self.seal(document), seal) else { return false };
        // Compared in constant time.
        blake3::Hash::from_bytes(expected) == *seal
    }
}

impl fmt::Debug for Machine {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Machine({})", self.name())
    }
}

/// Creates the key; if two processes do so at the same time, one key stays.
fn begin(state: &Path, path: &PathBuf) -> Result<Vec<u8>, HistoryError> {
    let failed = |source| HistoryError::Files { what: "write", path: path.clone(), source };
    let mut secret = vec![0; blake3::KEY_LEN];
    getrandom::fill(&mut secret).map_err(HistoryError::NoRandomness)?;
    fs::create_dir_all(state).map_err(failed)?;
    let mut file = NamedTempFile::new_in(state).map_err(failed)?;
    file.write_all(&secret).map_err(failed)?;
    file.as_file().sync_all().map_err(failed)?;
    match file.persist_noclobber(path) {
        Ok(_) => Ok(secret),
        Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => {
            fs::read(path).map_err(failed)
        }
        Err(error) => Err(failed(error.error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_machine_that_sealed_knows_the_seal() {
        let (here, there) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let machine = Machine::open(&here.path().join("state")).unwrap();
        let again = Machine::open(&here.path().join("state")).unwrap();
        let other = Machine::open(there.path()).unwrap();
        assert_eq!(machine.name(), again.name());
        assert_ne!(machine.name(), other.name());
        let seal = machine.seal("a run").unwrap();
        let check = |machine: &Machine, document, seal: Option<&[u8]>, known| {
            assert_eq!(machine.has_sealed(document, seal), known, "{machine:?} {document}");
        };
        check(&again, "a run", Some(&seal), true);
        check(&again, "another run", Some(&seal), false);
        check(&again, "a run", Some(&seal[1..]), false);
        check(&again, "a run", None, false);
        check(&other, "a run", Some(&seal), false);
        check(&Machine::without_key(), "a run", Some(&seal), false);
        check(&Machine::without_key(), "a run", None, false);
    }

    #[test]
    fn what_is_no_key_is_an_error_with_its_path() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join(FILE), b"short").unwrap();
        let error = Machine::open(folder.path()).unwrap_err().to_string();
        assert!(error.contains(FILE) && error.contains("5 bytes"), "{error}");
    }
}
