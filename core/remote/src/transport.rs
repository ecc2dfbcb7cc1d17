//! The command that reaches a host, and the shell script with which it starts the supervisor there.

use std::ffi::OsString;
use std::io::{self, Write as _};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

use flate2::Compression;
use flate2::write::GzEncoder;

/// The time limit of a connection to a host that exists.
const CONNECT_LIMIT: Duration = Duration::from_secs(120);

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
    /// Where the command is `salloc`: its limits.
    pub allocation: Option<Allocation>,
}

/// The limits of an allocation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Allocation {
    /// How long to wait for it.
    pub queue_limit: Duration,
    /// How long it is kept without work.
    pub idle_limit: Duration,
}

/// A partition of a Slurm cluster, and what is requested of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Partition {
    /// Its name.
    pub name: String,
    /// Allocations at the same time.
    pub count: u32,
    /// The GPUs of an allocation, as in `--gres=gpu:GPUS`; none: a partition without GPUs.
    pub gpus: Option<String>,
    /// The time limit of an allocation, as `--time` takes it; none: the default of the partition.
    pub time_limit: Option<String>,
    /// Further options of `salloc`.
    pub options: Vec<String>,
    /// The folder on a node for the program; none: the user's cache folder.
    pub folder: Option<String>,
    /// The limits on this machine.
    pub limits: Allocation,
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
        let (shell, folder, allocation) = (Shell::Login, None, None);
        Self { host, program, arguments, shell, folder, allocation }
    }

    /// An allocation of one node of a partition, which ends with this machine's end of the streams: the supervisor ends,
    /// `srun` ends with it, and `salloc` gives the node back.
    #[must_use]
    pub fn slurm(host: String, partition: &Partition) -> Self {
        let Partition { name, gpus, time_limit, options, folder, limits, count: _ } = partition;
        let gpus = gpus.as_ref().map(|gpus| format!("--gres=gpu:{gpus}"));
        let one_task = ["--nodes=1", "--ntasks=1"].map(str::to_owned);
        let mut arguments = vec![format!("--partition={name}"), "--job-name=lightbench".to_owned()];
        arguments.extend(one_task.clone());
        arguments.extend(gpus.clone());
        arguments.extend(time_limit.as_ref().map(|limit| format!("--time={limit}")));
        arguments.extend(options.iter().cloned());
        // All memory of the allocation.
        arguments.extend(["srun", "--exact", "--mem=0"].map(str::to_owned));
        arguments.extend(one_task);
        arguments.extend(gpus);
        let arguments = arguments.into_iter().map(OsString::from).collect();
        let (program, shell, folder) = ("salloc".into(), Shell::None, folder.clone());
        Self { host, program, arguments, shell, folder, allocation: Some(*limits) }
    }

    /// The time limit of a connection, which includes questions of `ssh`, the wait for an allocation, and the transfer of
    /// the program.
    pub(crate) fn connect_limit(&self) -> Duration {
        self.allocation.map_or(CONNECT_LIMIT, |allocation| allocation.queue_limit)
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
        // They change how `srun` passes the streams.
        for variable in ["SLURM_LABELIO", "SLURM_UNBUFFEREDIO", "SLURM_STDINMODE"] {
            command.env_remove(variable);
        }
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
