//! Candidates that an agent wants in the project, in the user's state folder until `lightbench accept` is run.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use lightbench_core::display_text::visible;
use lightbench_core::whole_file;
use serde::{Deserialize, Serialize};

/// The name of a candidate begins with this, followed by digits of its hash.
const PREFIX: &str = "c-";
/// Digits of the hash in a name.
const DIGITS: usize = 12;

/// A candidate with the label of its agent.
#[derive(Debug, Serialize, Deserialize)]
pub(in crate::commands) struct StoredCandidate {
    /// The name that the agent's client declares.
    pub(in crate::commands) agent: String,
    /// The text of the kernel.
    pub(in crate::commands) source: String,
}

/// Why there is no such candidate.
#[derive(Debug, thiserror::Error)]
pub(super) enum StoredError {
    #[error(
        "`{}` is not the name of a candidate: expected c- and {DIGITS} hexadecimal digits",
        visible(_0)
    )]
    NotAName(String),
    #[error("there is no candidate {name}: its agent has to call the tool `accept` first")]
    Missing { name: String },
    #[error("the candidate {name} cannot be read: {reason}")]
    Unreadable { name: String, reason: String },
}

/// The name of a candidate: its hash.
pub(in crate::commands) fn name_of(source: &str) -> String {
    let hash = blake3::hash(source.as_bytes()).to_hex();
    format!("{PREFIX}{}", &hash[..DIGITS])
}

/// Keeps a candidate, and returns its name.
pub(in crate::commands) fn keep(state: &Path, candidate: &StoredCandidate) -> io::Result<String> {
    let name = name_of(&candidate.source);
    let file = file(state, &name);
    if let Some(folder) = file.parent() {
        fs::create_dir_all(folder)?;
    }
    whole_file::replace(&file, serde_json::to_string(candidate)?.as_bytes())?;
    Ok(name)
}

/// The candidate of this name.
pub(super) fn read(state: &Path, name: &str) -> Result<StoredCandidate, StoredError> {
    let digits = name.strip_prefix(PREFIX).unwrap_or_default();
    if digits.len() != DIGITS || !digits.bytes().all(|digit| digit.is_ascii_hexdigit()) {
        return Err(StoredError::NotAName(name.to_owned()));
    }
    let unreadable = |reason| StoredError::Unreadable { name: name.to_owned(), reason };
    let text = match fs::read_to_string(file(state, name)) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Err(StoredError::Missing { name: name.to_owned() });
        }
        Err(error) => return Err(unreadable(error.to_string())),
    };
    let candidate: StoredCandidate =
        serde_json::from_str(&text).map_err(|error| unreadable(error.to_string()))?;
    if name_of(&candidate.source) != name {
        return Err(unreadable("its text was changed".to_owned()));
    }
    Ok(candidate)
}

fn file(state: &Path, name: &str) -> PathBuf {
    state.join("agents").join("candidates").join(format!("{name}.json"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_candidate_is_read_under_its_hash_only() {
        let state = tempfile::tempdir().unwrap();
        let candidate = StoredCandidate { agent: "x".to_owned(), source: "kernel".to_owned() };
        let name = keep(state.path(), &candidate).unwrap();
        assert_eq!(read(state.path(), &name).unwrap().source, "kernel");
        let check = |name: &str, part: &str| {
            let error = read(state.path(), name).unwrap_err().to_string();
            assert!(error.contains(part), "{name}: {error}");
        };
        check("c-000000000000", "no candidate");
        check("../../etc/passwd", "is not the name");
        check("c-../../../..", "is not the name");
        let changed = StoredCandidate { source: "another".to_owned(), ..candidate };
        fs::write(file(state.path(), &name), serde_json::to_string(&changed).unwrap()).unwrap();
        check(&name, "was changed");
    }
}
