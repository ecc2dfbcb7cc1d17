//! The user's settings, for commands.

use std::fs;
use std::io::ErrorKind;
use std::path::PathBuf;
use std::time::Duration;

use lightbench_core::display_text::visible;
use lightbench_core::remote::hosts::{HostSettings, Hosts};
use lightbench_core::remote::transport::{Allocation, Partition, Shell, Transport};

use crate::background_worker::files::SETTINGS;
use crate::session::{Session, host_settings, prompts};
use crate::workbench::settings::{HostSetting, Settings, SlurmSetting};

/// The file of the settings; `None` without a state folder.
pub(super) fn settings_file(session: &Session) -> Option<PathBuf> {
    Some(session.state.as_ref()?.join(SETTINGS))
}

/// Completes the environment of a session by the folders and programs that the settings name. Settings that cannot be
/// read, which the doctor reports, count as the defaults.
pub fn apply(session: &mut Session) {
    let settings = settings(session).unwrap_or_default();
    session.hosts = Hosts::new(host_settings(HostSettings {
        described: settings.hosts.iter().map(|(name, setting)| transport(name, setting)).collect(),
        partitions: settings.slurm.iter().map(|(name, each)| partition(name, each)).collect(),
        unknown: partition("", &SlurmSetting::default()),
        ..HostSettings::default()
    }));
    let host = &mut session.host;
    host.cutlass = host.cutlass.take().or(settings.libraries.cutlass);
    host.interpreter = host.interpreter.take().or(settings.python.interpreter);
}

/// The command that reaches a host.
fn transport(name: &str, setting: &HostSetting) -> Transport {
    let folder = setting.folder.clone();
    match setting.command.split_first() {
        None => Transport { folder, ..Transport::ssh(name, &setting.ssh_options, prompts()) },
        Some((program, arguments)) => Transport {
            host: name.to_owned(),
            program: program.into(),
            arguments: arguments.iter().map(Into::into).collect(),
            shell: Shell::None,
            folder,
            allocation: None,
        },
    }
}

/// What is requested of a partition.
fn partition(name: &str, setting: &SlurmSetting) -> Partition {
    let stated = |text: &String| Some(text.clone()).filter(|text| !text.is_empty());
    Partition {
        name: name.to_owned(),
        count: setting.count,
        gpus: stated(&setting.gpus),
        time_limit: stated(&setting.time_limit),
        options: setting.options.clone(),
        folder: setting.folder.clone(),
        limits: Allocation {
            queue_limit: Duration::from_secs(setting.queue_seconds),
            idle_limit: Duration::from_secs(setting.idle_seconds),
        },
    }
}

/// The settings; the defaults if there is no file.
///
/// # Errors
/// A sentence with the path: the file cannot be read or parsed.
pub(crate) fn settings(session: &Session) -> Result<Settings, String> {
    let Some(path) = settings_file(session) else { return Ok(Settings::default()) };
    let shown = visible(&path.to_string_lossy()).into_owned();
    let text = match fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Settings::default()),
        Err(error) => return Err(format!("{shown} cannot be read: {error}")),
    };
    Settings::from_ron(&text)
        .map_err(|error| format!("{shown} cannot be parsed: {}", visible(&error)))
}
