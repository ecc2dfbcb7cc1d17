//! Where the files of an interpreter are, found without running it.
//!
//! The sandbox must name the interpreter's folders before the interpreter starts. They follow from its path: a virtual
//! environment has a file `pyvenv.cfg` that names its base; any other interpreter lies in `PREFIX/bin`.

use std::fs::{self, File};
use std::io::Read as _;
use std::path::{Path, PathBuf};

use object::elf::FileHeader64;
use object::read::elf::{FileHeader as _, ProgramHeader as _};
use object::{Endianness, ReadCache};

/// The folders of a prefix that hold the interpreter, its packages and their libraries. A prefix is not read as a whole,
/// because it may be the user's home folder or the root of the file system.
const PREFIX_PARTS: [&str; 8] =
    ["bin", "lib", "lib64", "include", "share", "local/lib", "local/lib64", "pyvenv.cfg"];

/// Folders of distributions that give each package a prefix of its own, and so need the packages' siblings.
const STORES: [&str; 2] = ["/nix/store", "/gnu/store"];

/// The files of an interpreter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Layout {
    /// The interpreter as it is started. In a virtual environment this is the environment's link, by which Python finds
    /// the environment.
    pub(crate) program: PathBuf,
    /// The prefix of the environment, if there is one, then the base prefix; without links.
    pub(crate) prefixes: Vec<PathBuf>,
    /// Files that are executed: the interpreter without links, and its dynamic loader.
    pub(crate) executed: Vec<PathBuf>,
}

impl Layout {
    /// The layout around a program or the folder of a virtual environment; an error is a sentence.
    pub(crate) fn of(path: &Path) -> Result<Self, String> {
        let program = if path.is_dir() { path.join("bin/python3") } else { path.to_owned() };
        let program = behind_pyenv(program)?;
        let unreadable = |error: std::io::Error| format!("it cannot be read: {error}");
        let executed = fs::canonicalize(&program).map_err(unreadable)?;
        let base = prefix_of(&executed)?;
        let (program, prefixes) = match environment(&program) {
            Some((environment, home)) => (program, vec![environment, home, base]),
            None => (executed.clone(), vec![base]),
        };
        let mut found = Vec::new();
        for prefix in prefixes {
            let prefix = fs::canonicalize(&prefix).map_err(|error| {
                format!("its folder `{}` cannot be read: {error}", prefix.display())
            })?;
            if !found.contains(&prefix) {
                found.push(prefix);
            }
        }
        let loader = loader(&executed)?;
        let executed = [executed].into_iter().chain(loader).collect();
        Ok(Self { program, prefixes: found, executed })
    }

    /// The files and folders that this interpreter reads.
    pub(crate) fn readable(&self) -> Vec<PathBuf> {
        let parts = |prefix: &PathBuf| PREFIX_PARTS.map(|part| prefix.join(part));
        let in_store = |store: &&str| self.prefixes.iter().any(|prefix| prefix.starts_with(store));
        let stores = STORES.into_iter().filter(in_store).map(PathBuf::from);
        self.prefixes.iter().flat_map(parts).chain(stores).collect()
    }
}

/// The interpreter that a script of pyenv starts (`ROOT/shims/python3`): the first version that `ROOT/version` names.
/// Such a script starts several programs, which the sandbox refuses.
fn behind_pyenv(program: PathBuf) -> Result<PathBuf, String> {
    let unreadable = |error: std::io::Error| format!("it cannot be read: {error}");
    let mut first = [0_u8; 2];
    let file = File::open(&program).map_err(unreadable)?;
    if file.take(2).read(&mut first).map_err(unreadable)? < 2 || first != *b"#!" {
        return Ok(program);
    }
    let shims = program.parent().filter(|folder| folder.ends_with("shims"));
    let root = shims.and_then(Path::parent).ok_or_else(|| {
        "it is a script that starts an interpreter; name the interpreter itself".to_owned()
    })?;
    let versions = fs::read_to_string(root.join("version"))
        .map_err(|error| format!("it is a script of pyenv, whose version is unknown: {error}"))?;
    let version = versions.split_whitespace().next().filter(|version| *version != "system");
    let version =
        version.ok_or_else(|| "it is a script of pyenv for the system's Python".to_owned())?;
    Ok(root.join("versions").join(version).join("bin/python3"))
}

/// The folder above the one that holds the program.
fn prefix_of(program: &Path) -> Result<PathBuf, String> {
    let prefix = program.parent().and_then(Path::parent);
    prefix.map(Path::to_owned).ok_or_else(|| "it is not in a folder like PREFIX/bin".to_owned())
}

/// The folder of the virtual environment around a program, and the prefix of its base.
///
/// Source: Python, the documentation of `site` and `venv`: `pyvenv.cfg` lies beside the program or one folder above; its
/// `home` is the folder of the base interpreter.
fn environment(program: &Path) -> Option<(PathBuf, PathBuf)> {
    let folders = [program.parent()?, program.parent()?.parent()?];
    folders.into_iter().find_map(|folder| {
        let text = fs::read_to_string(folder.join("pyvenv.cfg")).ok()?;
        let keys = text.lines().filter_map(|line| line.split_once('='));
        let mut homes = keys.filter(|(key, _)| key.trim().eq_ignore_ascii_case("home"));
        let home = PathBuf::from(homes.next()?.1.trim());
        Some((folder.to_owned(), home.parent()?.to_owned()))
    })
}

/// The dynamic loader that an ELF program names; `None` for a static program and on systems without ELF.
fn loader(program: &Path) -> Result<Option<PathBuf>, String> {
    if !cfg!(target_os = "linux") {
        return Ok(None);
    }
    let file = File::open(program).map_err(|error| format!("it cannot be read: {error}"))?;
    let data = ReadCache::new(file);
    let named = || -> object::Result<Option<Vec<u8>>> {
        let header = FileHeader64::<Endianness>::parse(&data)?;
        let endian = header.endian()?;
        for segment in header.program_headers(endian, &data)? {
            if let Some(path) = segment.interpreter(endian, &data)? {
                return Ok(Some(path.to_vec()));
            }
        }
        Ok(None)
    };
    let named = named().map_err(|error| format!("it is not a 64-bit ELF program: {error}"))?;
    let Some(named) = named else { return Ok(None) };
    let path = String::from_utf8(named).map_err(|error| format!("its loader: {error}"))?;
    let path = fs::canonicalize(&path)
        .map_err(|error| format!("its loader `{path}` cannot be read: {error}"))?;
    Ok(Some(path))
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    /// A folder with a copy of this test program, which is an ELF program, as `base/bin/python3.11`.
    fn with_base() -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(folder.path()).unwrap();
        fs::create_dir_all(root.join("base/bin")).unwrap();
        let program = root.join("base/bin/python3.11");
        symlink(std::env::current_exe().unwrap(), root.join("link")).unwrap();
        fs::hard_link(fs::canonicalize(root.join("link")).unwrap(), &program)
            .or_else(|_| fs::copy(root.join("link"), &program).map(drop))
            .unwrap();
        symlink("python3.11", root.join("base/bin/python3")).unwrap();
        (folder, root)
    }

    #[test]
    fn a_plain_interpreter_has_one_prefix_and_a_loader() {
        let (_folder, root) = with_base();
        let layout = Layout::of(&root.join("base/bin/python3")).unwrap();
        assert_eq!(layout.program, root.join("base/bin/python3.11"));
        assert_eq!(layout.prefixes, [root.join("base")]);
        let [program, loader] = layout.executed.as_slice() else { panic!("{layout:?}") };
        assert_eq!(*program, root.join("base/bin/python3.11"));
        assert!(loader.is_absolute() && loader.to_string_lossy().contains("ld"), "{loader:?}");
        assert!(!layout.readable().contains(&root.join("base")));
    }

    #[test]
    fn a_virtual_environment_is_started_by_its_link_and_reads_its_base() {
        let (_folder, root) = with_base();
        fs::create_dir_all(root.join("env/bin")).unwrap();
        symlink("../../base/bin/python3", root.join("env/bin/python3")).unwrap();
        let home = format!("version = 3\nhome = {}\n", root.join("base/bin").display());
        fs::write(root.join("env/pyvenv.cfg"), home).unwrap();
        let by_program = Layout::of(&root.join("env/bin/python3")).unwrap();
        assert_eq!(by_program.program, root.join("env/bin/python3"));
        assert_eq!(by_program.prefixes, [root.join("env"), root.join("base")]);
        assert_eq!(Layout::of(&root.join("env")), Ok(by_program));
    }

    #[test]
    fn a_script_of_pyenv_stands_for_its_version() {
        let (_folder, root) = with_base();
        for folder in ["shims", "versions/3.11.7"] {
            fs::create_dir_all(root.join(folder)).unwrap();
        }
        fs::rename(root.join("base/bin"), root.join("versions/3.11.7/bin")).unwrap();
        fs::write(root.join("shims/python3"), "#!/usr/bin/env bash\n").unwrap();
        fs::write(root.join("version"), "3.11.7\n3.10.1\n").unwrap();
        let layout = Layout::of(&root.join("shims/python3")).unwrap();
        assert_eq!(layout.prefixes, [root.join("versions/3.11.7")]);
    }

    #[test]
    fn what_cannot_be_confined_is_refused() {
        let (_folder, root) = with_base();
        let check = |name: &str, text: &str, part: &str| {
            fs::write(root.join(name), text).unwrap();
            let error = Layout::of(&root.join(name)).unwrap_err();
            assert!(error.contains(part), "{error}");
        };
        check("script", "#!/bin/sh\nexec python3\n", "name the interpreter itself");
        check("text", "not a program", "not a 64-bit ELF program");
        let error = Layout::of(&root.join("absent")).unwrap_err();
        assert!(error.contains("cannot be read"), "{error}");
    }
}
