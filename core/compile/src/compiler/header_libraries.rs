//! The libraries of headers that kernels name: their folders, and what identifies their content.
//!
//! The content is hashed at the first use, because two folders may state the same version and differ.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use lightbench_project::candidate::LibraryVersion;
use lightbench_project::launch::HeaderLibrary;
use lightbench_toolchain::{Cutlass, INSTALL_CUTLASS};

use super::Compiler;
use crate::error::CompileError;

/// Maximum number of files of a library: CUTLASS 4.2 has 802.
const MOST_FILES: usize = 20_000;
/// Maximum size of a library: CUTLASS 4.2 has 27 MB.
const MOST_BYTES: u64 = 512 << 20;

/// The libraries whose folders were read, with what identifies them.
#[derive(Debug, Default)]
pub(super) struct ReadLibraries {
    known: Vec<(LibraryVersion, PathBuf)>,
}

impl Compiler {
    /// The versions and folders of libraries.
    ///
    /// # Errors
    /// [`CompileError::LibraryMissing`] for the first library that this machine lacks.
    pub(super) fn libraries(
        &mut self,
        wanted: &[HeaderLibrary],
    ) -> Result<Vec<(LibraryVersion, PathBuf)>, CompileError> {
        wanted.iter().map(|library| self.library(*library)).collect()
    }

    fn library(
        &mut self,
        library: HeaderLibrary,
    ) -> Result<(LibraryVersion, PathBuf), CompileError> {
        let known = &mut self.libraries.known;
        if let Some(found) = known.iter().find(|(version, _)| version.library == library) {
            return Ok(found.clone());
        }
        let missing = |reason| CompileError::LibraryMissing { library, reason };
        let found = match (library, &self.toolchain.cutlass) {
            (HeaderLibrary::Cutlass, Cutlass::Found(found)) => found,
            (
                HeaderLibrary::Cutlass,
                absent @ (Cutlass::NotThere { .. } | Cutlass::NotInstalled),
            ) => return Err(missing(format!("{absent}; {INSTALL_CUTLASS}"))),
        };
        let folder = found.folder.clone();
        let content = content_hash(&folder)
            .map_err(|error| missing(format!("`{}`: {error}", folder.display())))?;
        let version = LibraryVersion { library, version: found.version.clone(), content };
        known.push((version.clone(), folder.clone()));
        Ok((version, folder))
    }
}

/// What identifies a library in cache keys.
pub(super) fn identity(versions: &[LibraryVersion]) -> String {
    let one = |LibraryVersion { library, version, content }: &LibraryVersion| {
        format!(" with {library} {version} {content}")
    };
    versions.iter().map(one).collect()
}

/// The hash of the names and texts of all files below a folder, in the order of their names.
fn content_hash(folder: &Path) -> io::Result<String> {
    let mut files = Vec::new();
    let mut pending = vec![folder.to_owned()];
    let mut bytes = 0_u64;
    while let Some(next) = pending.pop() {
        for entry in fs::read_dir(next)? {
            let entry = entry?;
            let metadata = entry.metadata()?;
            if metadata.is_dir() {
                pending.push(entry.path());
            } else if metadata.is_file() {
                bytes = bytes.saturating_add(metadata.len());
                files.push(entry.path());
            }
            // Links are not followed: the sandbox permits only what lies in the folder.
            if files.len() + pending.len() > MOST_FILES || bytes > MOST_BYTES {
                let limits = format!("more than {MOST_FILES} files or {MOST_BYTES} bytes");
                return Err(io::Error::other(limits));
            }
        }
    }
    files.sort();
    let mut hasher = blake3::Hasher::new();
    for file in files {
        let name = file.strip_prefix(folder).unwrap_or(&file).to_string_lossy().into_owned();
        hasher.update(&(name.len() as u64).to_le_bytes());
        hasher.update(name.as_bytes());
        hasher.update(blake3::hash(&fs::read(&file)?).as_bytes());
    }
    Ok(hasher.finalize().to_hex().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_content_is_the_names_and_texts_of_the_files() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::create_dir(at("cute")).unwrap();
        fs::write(at("cute/a.hpp"), "one").unwrap();
        fs::write(at("b.h"), "two").unwrap();
        let hash = || content_hash(folder.path()).unwrap();
        let first = hash();
        assert_eq!(first, hash());
        fs::write(at("cute/a.hpp"), "One").unwrap();
        assert_ne!(first, hash(), "a text");
        fs::write(at("cute/a.hpp"), "one").unwrap();
        assert_eq!(first, hash(), "not the time of the last change");
        fs::rename(at("b.h"), at("c.h")).unwrap();
        assert_ne!(first, hash(), "a name");
        assert!(content_hash(&at("absent")).is_err());
    }
}
