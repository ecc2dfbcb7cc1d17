//! Sources of keys: an environment variable or the system's keyring, and no other place.

use std::ffi::OsString;

use serde::{Deserialize, Serialize};

use crate::secret::Secret;

/// The source of a key. Settings files never contain the key itself.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum KeySource {
    /// The server needs no key.
    #[default]
    None,
    /// A variable of the environment, by its name.
    Environment(String),
    /// An entry of the system's keyring under the service `lightbench`, by its name.
    Keyring(String),
}

impl std::fmt::Display for KeySource {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::None => formatter.write_str("no key"),
            Self::Environment(name) => write!(formatter, "the variable {name}"),
            Self::Keyring(entry) => write!(formatter, "the keyring's entry {entry}"),
        }
    }
}

/// Something that keeps keys.
pub trait Keyring {
    /// The key of an entry; `None` if there is no such entry.
    ///
    /// # Errors
    /// The keyring does not respond.
    fn key(&self, entry: &str) -> Result<Option<Secret>, KeyError>;
}

/// The keyring does not respond.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the keyring does not respond: {0}")]
pub struct KeyError(pub String);

/// The system's keyring: the Secret Service, the Keychain or the Credential Manager. It may ask the user to unlock it.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemKeyring;

/// The keyring service of our entries.
const SERVICE: &str = "lightbench";

impl Keyring for SystemKeyring {
    fn key(&self, entry: &str) -> Result<Option<Secret>, KeyError> {
        let failed = |error: keyring::Error| KeyError(crate::text::excerpt(&error.to_string()));
        if let Err(error) = keyring::Entry::store_status() {
            return Err(KeyError(crate::text::excerpt(&error.to_string())));
        }
        match keyring::Entry::new(SERVICE, entry).map_err(failed)?.get_password() {
            Ok(password) => Ok(Some(Secret::new(password))),
            Err(keyring::Error::NoEntry) => Ok(None),
            Err(error) => Err(failed(error)),
        }
    }
}

/// A keyring without entries, for programs that must not prompt the user.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoKeyring;

impl Keyring for NoKeyring {
    fn key(&self, _entry: &str) -> Result<Option<Secret>, KeyError> {
        Ok(None)
    }
}

/// The result of looking up a key.
#[derive(Clone, Debug)]
pub enum KeyState {
    /// The server needs no key.
    NotNeeded,
    Present(Secret),
    /// The settings name a source that has no key.
    Missing,
    /// It cannot be read.
    Unreadable(String),
}

impl KeySource {
    pub(crate) fn look_up(
        &self,
        variable: &dyn Fn(&str) -> Option<OsString>,
        keyring: &dyn Keyring,
    ) -> KeyState {
        let present = |key: Secret| match key.is_empty() {
            true => KeyState::Missing,
            false if !fits_header(&key) => {
                KeyState::Unreadable("it contains characters that are invalid in a key".to_owned())
            }
            false => KeyState::Present(key),
        };
        match self {
            Self::None => KeyState::NotNeeded,
            Self::Environment(name) => match variable(name).map(OsString::into_string) {
                None => KeyState::Missing,
                Some(Ok(text)) => present(Secret::new(text)),
                Some(Err(_not_text)) => KeyState::Unreadable("it is not text".to_owned()),
            },
            Self::Keyring(entry) => match keyring.key(entry) {
                Ok(Some(key)) => present(key),
                Ok(None) => KeyState::Missing,
                Err(error) => KeyState::Unreadable(error.to_string()),
            },
        }
    }
}

/// Whether a key is valid in a header: a line end in a key would forge another header.
fn fits_header(key: &Secret) -> bool {
    key.expose().bytes().all(|byte| byte.is_ascii_graphic())
}
