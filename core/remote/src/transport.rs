//! The command that reaches a host, and the shell script with which it starts the supervisor there.

use std::ffi::OsString;
use std::io::{self, Write as _};
use std::path::PathBuf;
use std::process::{Command, Stdio};

use flate2::Compression;
use flate2::write::GzEncoder;

/// A command that runs a shell command on another host, with its standard streams.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transport {
    /// The host, as the user names it.
    pub host: String,
    /// The program on this machine.
    pub program: PathBuf,
    /// Its arguments before the shell command.
    pub arguments: Vec<OsString>,
    /// How it takes the shell command.
    pub shell: Shell,
    /// The folder on the host for the program; none: the user's cache folder.
    pub folder: Option<String>,
}

/// How a command takes a shell command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shell {
    /// As one argument, which the user's login shell on the host evaluates (`ssh`).
    Login,
    /// As the arguments `sh`, `-c` and the command (`kubectl exec`).
    None,
}

/// Who answers the questions of `ssh`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Prompts {
    /// The program that the user's variable `SSH_ASKPASS` names.
    AskPass,
    /// Nobody: `ssh` fails instead of asking.
    #[default]
    None,
}

/// A program for hosts of one architecture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostProgram {
    /// The architecture as `uname -m` prints it.
    pub architecture: String,
    /// The file on this machine.
    pub file: PathBuf,
}

impl Transport {
    /// The user's own `ssh`, with the user's configuration, keys, agents and policy for host keys.
    #[must_use]
    pub fn ssh(host: &str, options: &[String], prompts: Prompts) -> Self {
        let mut arguments: Vec<OsString> = options.iter().map(Into::into).collect();
        arguments.push("-T".into());
        if prompts == Prompts::None {
            arguments.push("-oBatchMode=yes".into());
        }
        arguments.extend(["--".into(), host.into()]);
        let (host, program) = (host.to_owned(), "ssh".into());
        Self { host, program, arguments, shell: Shell::Login, folder: None }
    }

    /// The process, in a group of its own, so that Ctrl-C in the terminal does not reach it.
    pub(crate) fn command(&self, script: &str) -> Command {
        let mut command = Command::new(&self.program);
        command.args(&self.arguments);
        match self.shell {
            Shell::Login => command.arg(format!("sh -c '{script}'")),
            Shell::None => command.args(["sh", "-c", script]),
        };
        // A terminal would stop a process of another group that asks; `ssh` asks the program instead.
        command.env("SSH_ASKPASS_REQUIRE", "force");
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        command
    }

    /// The script that starts the program on the host, and installs it first where the host does not have it.
    ///
    /// It is one line without quotes or characters that login shells other than `sh` interpret inside single quotes. A
    /// file is complete when it has its name, so that two machines may install the same program at once.
    pub(crate) fn script(&self, word: &str, programs: &[(HostProgram, String)]) -> String {
        let cases = programs
            .iter()
            .map(|(program, hash)| format!("\"Linux {}\") h={hash};; ", program.architecture));
        let cases: String = cases.collect();
        let folder = self.folder.as_deref().map_or_else(
            || "${XDG_CACHE_HOME:-$HOME/.cache}/lightbench".to_owned(),
            |folder| folder.replace(['\'', '"', '\\', '!', '$', '`', '\n'], "_"),
        );
        let fail = |reason: &str| format!("{{ echo \"{word} failed {reason}\"; exit 1; }}");
        let (other, make, write, execute) = (
            fail("there is no program for $(uname -s) $(uname -m)"),
            fail("the folder $d cannot be made"),
            fail("the program cannot be written to $d"),
            fail("programs in $d cannot be executed: name another folder in the settings"),
        );
        format!(
            "umask 077; h=; case \"$(uname -s) $(uname -m)\" in {cases}esac; \
             [ -n \"$h\" ] || {other}; d=\"{folder}/worker/$h\"; p=\"$d/lightbench-worker\"; \
             if ! [ -f \"$p\" ]; then mkdir -p \"$d\" || {make}; echo \"{word} need $(uname -m)\"; \
             read s; t=\"$p.$$\"; \
             head -c \"$s\" | gzip -dc > \"$t\" && chmod 700 \"$t\" && mv -f \"$t\" \"$p\" || \
             {{ rm -f \"$t\"; {write}; }}; fi; \
             [ -x \"$p\" ] || {execute}; exec \"$p\" remote {word}"
        )
    }
}

impl HostProgram {
    /// The program with the hash of its content, which names its folder on a host.
    pub(crate) fn hashed(&self) -> io::Result<(Self, String)> {
        let mut hasher = blake3::Hasher::new();
        hasher.update_reader(std::fs::File::open(&self.file)?)?;
        Ok((self.clone(), hasher.finalize().to_hex().to_string()))
    }

    /// Its compressed bytes.
    pub(crate) fn compressed(&self) -> io::Result<Vec<u8>> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(&std::fs::read(&self.file)?)?;
        encoder.finish()
    }
}
