//! Finds a working pip on the machine and runs one install with it.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::super::program::{self, Limits};
use super::{FetchError, HostEnvironment, Lock};

/// Time limit of `pip --version`, with margin for a slow disk.
const PROBE_LIMIT: Duration = Duration::from_secs(30);

/// Lines of pip's output that an error carries.
const TAIL_LINES: usize = 12;

/// A command that starts pip, seen to answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Pip {
    program: OsString,
    arguments: &'static [&'static str],
    /// Output of `--version`.
    pub(crate) version: String,
}

impl Pip {
    /// The first pip on `PATH` that answers: `python3 -m pip` of each Python, else `pip3`, `pip`.
    ///
    /// A virtual environment may carry a Python without pip, so one silent Python is not the end.
    pub(crate) fn find(
        surroundings: &HostEnvironment,
        scratch: &Path,
        limits: &Limits<'_>,
    ) -> Result<Self, FetchError> {
        const WAYS: [(&str, &[&str]); 4] =
            [("python3", &["-m", "pip"]), ("python", &["-m", "pip"]), ("pip3", &[]), ("pip", &[])];
        let mut tried = Vec::new();
        for (name, arguments) in WAYS {
            for program in surroundings.all_on_path(name) {
                let mut pip = Self { program: program.into(), arguments, version: String::new() };
                let mut said = Vec::new();
                let left = limits.limit.saturating_sub(limits.begin.elapsed());
                let limit = PROBE_LIMIT.min(left);
                let probe = Limits { begin: Instant::now(), limit, ..*limits };
                let mut command = pip.command();
                command.arg("--version").stdin(Stdio::null());
                let answer = program::run(&mut command, scratch, &probe, &mut |line| {
                    said.push(line.to_owned());
                });
                limits.check()?;
                if answer.is_ok_and(|status| status.success()) && !said.is_empty() {
                    pip.version = said.swap_remove(0);
                    return Ok(pip);
                }
                tried.push(format!("`{}` does not work", pip.name()));
            }
        }
        if tried.is_empty() {
            tried.push("no python3, python, pip3 or pip on PATH".to_owned());
        }
        Err(FetchError::NoPip { tried: tried.join(", "), advice: ADVICE })
    }

    /// The command as the user would type it.
    pub(crate) fn name(&self) -> String {
        let program = self.program.to_string_lossy();
        [program.as_ref()]
            .into_iter()
            .chain(self.arguments.iter().copied())
            .collect::<Vec<_>>()
            .join(" ")
    }

    /// Installs into `staging/packages`, with pip's temporary files in `staging`.
    ///
    /// The user's configuration (index, proxy, certificates) applies, except for the two settings that conflict with a
    /// separate target folder.
    pub(super) fn install(
        &self,
        requirements: &[String],
        staging: &Path,
        lock: &Lock,
        limits: &Limits<'_>,
        on_line: &mut dyn FnMut(&str),
    ) -> Result<(), FetchError> {
        let mut command = self.command();
        let input = lock
            .shared_as_input()
            .map_err(|source| FetchError::Start { program: self.name(), source })?;
        command
            .stdin(input)
            .args(["install", "--no-deps", "--only-binary=:all:", "--no-input", "--no-compile"])
            .args(["--disable-pip-version-check", "--no-color", "--progress-bar=off"])
            .arg("--target")
            .arg(staging.join("packages"))
            .args(requirements)
            .env("PIP_USER", "0")
            .env("PIP_REQUIRE_VIRTUALENV", "0")
            .env("PIP_ROOT_USER_ACTION", "ignore")
            .env("PYTHONUNBUFFERED", "1")
            .env("TMPDIR", staging)
            .env("TEMP", staging);
        let mut tail = VecDeque::new();
        let status = program::run(&mut command, staging, limits, &mut |line| {
            if tail.len() == TAIL_LINES {
                tail.pop_front();
            }
            tail.push_back(line.to_owned());
            on_line(line);
        })?;
        if status.success() {
            return Ok(());
        }
        let tail = Vec::from(tail).join("\n");
        Err(FetchError::PipFailed { program: self.name(), status: status.to_string(), tail })
    }

    fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.args(self.arguments);
        command
    }
}

const ADVICE: &str = if cfg!(target_os = "linux") {
    "Debian and Ubuntu: `sudo apt install python3-pip`; Fedora: `sudo dnf install python3-pip`"
} else {
    "from python.org"
};
