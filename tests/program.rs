//! Runs the built program as a user does: in a folder of its own, with nothing of the machine's but the compiler.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;

use crate::compiler;

/// A folder with a copy of the fixture project, gone when the test ends.
pub(crate) struct Bench {
    folder: tempfile::TempDir,
    cache: PathBuf,
}

/// What the program said.
#[derive(Debug)]
pub(crate) struct Said {
    pub(crate) status: i32,
    pub(crate) output: String,
    pub(crate) errors: String,
}

impl Bench {
    /// A bench with the fixture project `scale` in it, and the cache that all tests of this run share.
    pub(crate) fn new() -> Self {
        Self::with_cache(shared_cache().to_owned())
    }

    /// A bench whose cache has no kernels yet; the compiler's headers are the shared ones.
    pub(crate) fn with_own_cache() -> Self {
        let bench = Self::with_cache(PathBuf::new());
        let cache = bench.path().join("cache");
        fs::create_dir(&cache).unwrap();
        let headers = shared_cache().join("headers");
        fs::create_dir_all(&headers).unwrap();
        #[cfg(unix)]
        std::os::unix::fs::symlink(headers, cache.join("headers")).unwrap();
        Self { cache, ..bench }
    }

    /// A bench that begins with nothing, not even the compiler's headers.
    pub(crate) fn with_empty_cache() -> Self {
        let bench = Self::with_cache(PathBuf::new());
        Self { cache: bench.path().join("cache"), ..bench }
    }

    fn with_cache(cache: PathBuf) -> Self {
        let folder = tempfile::tempdir().unwrap();
        copy_folder(&repository().join("tests/data/scale"), &folder.path().join("scale"));
        fs::create_dir(folder.path().join("temporary")).unwrap();
        Self { folder, cache }
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// The fixture project.
    pub(crate) fn project(&self) -> PathBuf {
        self.path().join("scale")
    }

    /// Where the program and its workers keep what they need for the moment.
    pub(crate) fn temporary(&self) -> PathBuf {
        self.path().join("temporary")
    }

    pub(crate) fn cache(&self) -> &Path {
        &self.cache
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
            .env_clear()
            .env("HOME", self.path())
            .env("TMPDIR", self.temporary())
            .env("NO_COLOR", "1")
            .env("LIGHTBENCH_CACHE", &self.cache)
            .stdin(Stdio::null());
        if let Some(found) = compiler::found() {
            command
                .env("LIGHTBENCH_TOOLCHAIN", &found.toolchain.nvrtc.library)
                .env("PATH", std::env::join_paths(&found.program_folders).unwrap());
        }
        command
    }

    /// Runs the program to its end.
    pub(crate) fn run(&self, arguments: &[&str]) -> Said {
        Said::from(self.command(arguments).output().unwrap())
    }

    /// Every file and folder of the project and of the temporary folder, with what is in the files.
    pub(crate) fn listing(&self) -> Vec<(PathBuf, String)> {
        let mut entries = Vec::new();
        list(&self.project(), &mut entries);
        list(&self.temporary(), &mut entries);
        entries.sort();
        entries
    }

    /// Running processes whose temporary files are in this bench: the program and its workers.
    pub(crate) fn processes(&self) -> Vec<String> {
        let marker = self.path().as_os_str().as_encoded_bytes();
        let is_ours = |process: &PathBuf| {
            let environment = fs::read(process.join("environ")).unwrap_or_default();
            environment.windows(marker.len()).any(|window| window == marker)
        };
        let Ok(all) = fs::read_dir("/proc") else { return Vec::new() };
        let processes = all.filter_map(Result::ok).map(|entry| entry.path()).filter(is_ours);
        processes.map(|process| process.display().to_string()).collect()
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

    /// Everything that a person sees.
    pub(crate) fn everything(&self) -> String {
        format!("{}{}", self.output, self.errors)
    }

    /// Says what came when something else was expected.
    pub(crate) fn expect(&self, status: i32, parts: &[&str]) {
        let everything = self.everything();
        assert_eq!(self.status, status, "the exit status of\n{everything}");
        for part in parts {
            assert!(everything.contains(part), "{part:?} in\n{everything}");
        }
    }
}

/// A cache whose headers stay from run to run and whose kernels are those of this run.
pub(crate) fn shared_cache() -> &'static Path {
    static CACHE: OnceLock<PathBuf> = OnceLock::new();
    CACHE.get_or_init(|| {
        let cache = Path::new(env!("CARGO_TARGET_TMPDIR")).join("cache");
        fs::remove_dir_all(cache.join("kernels")).ok();
        fs::create_dir_all(&cache).unwrap();
        cache
    })
}

pub(crate) fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

pub(crate) fn copy_folder(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy_folder(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

fn list(folder: &Path, entries: &mut Vec<(PathBuf, String)>) {
    let Ok(found) = fs::read_dir(folder) else { return };
    for entry in found.filter_map(Result::ok) {
        let metadata = fs::symlink_metadata(entry.path()).unwrap();
        // Large files are told apart by their length; a pipe must not be opened at all.
        let content = match metadata.len() {
            ..100_000 if metadata.is_file() => fs::read(entry.path()).unwrap_or_default(),
            length if metadata.is_file() => format!("{length} bytes").into_bytes(),
            _ => Vec::new(),
        };
        entries.push((entry.path(), String::from_utf8_lossy(&content).into_owned()));
        if metadata.is_dir() {
            list(&entry.path(), entries);
        }
    }
}
