//! Runs the built program as a user does: in a folder of its own, with a cache of its own.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// A folder with a copy of the fixture project and an empty cache, gone when the test ends.
pub(crate) struct Bench {
    folder: tempfile::TempDir,
}

/// What the program said.
pub(crate) struct Said {
    pub(crate) status: i32,
    pub(crate) output: String,
    pub(crate) errors: String,
}

impl Bench {
    /// A bench with the fixture project `scale` in it.
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        copy_folder(&repository().join("tests/data/scale"), &folder.path().join("scale"));
        Self { folder }
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// The fixture project.
    pub(crate) fn project(&self) -> PathBuf {
        self.folder.path().join("scale")
    }

    /// Replaces `old` by `new` in a file of the project; the file must contain it.
    pub(crate) fn edit(&self, file: &str, old: &str, new: &str) {
        let path = self.project().join(file);
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.contains(old), "{file} contains {old:?}");
        fs::write(path, text.replacen(old, new, 1)).unwrap();
    }

    /// Writes a file of the project.
    pub(crate) fn write(&self, file: &str, content: impl AsRef<[u8]>) {
        let path = self.project().join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    /// The program with these arguments, not yet started.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_lightbench"));
        command
            .args(arguments)
            .current_dir(self.path())
            .env("NO_COLOR", "1")
            .env("LIGHTBENCH_CACHE", self.cache())
            .stdin(Stdio::null());
        if let Some(toolchain) = toolchain() {
            command.env("LIGHTBENCH_TOOLCHAIN", toolchain);
        }
        command
    }

    /// Runs the program to its end.
    pub(crate) fn run(&self, arguments: &[&str]) -> Said {
        Said::from(self.command(arguments).output().unwrap())
    }

    pub(crate) fn cache(&self) -> PathBuf {
        self.folder.path().join("cache")
    }
}

impl From<Output> for Said {
    fn from(output: Output) -> Self {
        Self {
            status: output.status.code().unwrap_or(-1),
            output: String::from_utf8(output.stdout).unwrap(),
            errors: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

impl Said {
    /// Standard output as JSON.
    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.output)
            .unwrap_or_else(|error| panic!("{error}: {}\n{}", self.output, self.errors))
    }
}
