//! What evaluating commands share: the device that is meant, the processes on it, and where seeds come from.

use std::io;

use lightbench_core::device::{DeviceName, DeviceSheet};
use lightbench_core::engine::{DeviceSetting, Engine, Settings};
use lightbench_core::evaluate::Bench;
use lightbench_core::verify::stations::{StationError, Stations};
use lightbench_core::worker::command::WorkerCommand;

use super::desk::Desk;
use crate::outcome::Outcome;
use crate::report;
use crate::session::Session;

/// The device where there is no GPU.
const WITHOUT_GPU: &str = "virtual:h200";

/// The device that everything runs on.
#[derive(Debug)]
pub(crate) struct Chosen {
    /// Its name.
    pub(crate) device: DeviceName,
    /// Its sheet.
    pub(crate) sheet: &'static DeviceSheet,
    /// What people call it.
    pub(crate) title: String,
    /// Why it is not a GPU, where nobody asked for a virtual one.
    pub(crate) instead: Option<String>,
}

/// A compiler and stations on the device that is asked for, else on the first GPU, else on a virtual one.
pub(super) fn open(
    session: &Session,
    wanted: Option<&str>,
    as_json: bool,
) -> Result<(Bench, Chosen), Outcome> {
    let (command, setting, chosen) = choose(session, wanted, as_json)?;
    let stations = Stations::new(&command, &setting.device, setting.checker.as_ref());
    let stations = stations.map_err(|error| report::environment(&error, as_json))?;
    let compiler = session.compiler().map_err(|failure| failure.outcome(as_json))?;
    Ok((Bench { compiler, stations }, chosen))
}

/// An engine with that device.
pub(super) fn desk<'a>(
    session: &'a Session,
    wanted: Option<&str>,
    as_json: bool,
) -> Result<(Desk<'a>, Chosen), Outcome> {
    let (command, setting, chosen) = choose(session, wanted, as_json)?;
    let toolchain = session.toolchain().map_err(|failure| failure.outcome(as_json))?;
    let compiler = format!("NVRTC {}", toolchain.nvrtc.version);
    let cache = session.surroundings.cache.clone();
    let settings = Settings { command, toolchain, cache, devices: vec![setting], wake: None };
    let engine = Engine::start(settings).map_err(|error| report::environment(&error, as_json))?;
    Ok((Desk::new(session, engine, compiler), chosen))
}

fn choose(
    session: &Session,
    wanted: Option<&str>,
    as_json: bool,
) -> Result<(WorkerCommand, DeviceSetting, Chosen), Outcome> {
    let command = session.worker_command();
    let command = command.map_err(|error| report::environment(&error, as_json))?;
    let (chosen, checker) = match wanted {
        Some(name) => on(session, &command, name).map_err(|refused| refused.outcome(as_json))?,
        None => match on(session, &command, "cuda:0") {
            Ok(found) => found,
            Err(Unopened::Environment(reason)) => {
                let opened = on(session, &command, WITHOUT_GPU);
                let (chosen, checker) = opened.map_err(|refused| refused.outcome(as_json))?;
                (Chosen { instead: Some(reason), ..chosen }, checker)
            }
            Err(refused) => return Err(refused.outcome(as_json)),
        },
    };
    let setting = DeviceSetting { device: chosen.device.clone(), checker };
    Ok((command, setting, chosen))
}

/// Why there is no such device.
pub(crate) enum Unopened {
    Request(String),
    Environment(String),
}

impl Unopened {
    /// In a sentence.
    pub(crate) fn reason(&self) -> &str {
        match self {
            Self::Request(message) | Self::Environment(message) => message,
        }
    }

    fn outcome(&self, as_json: bool) -> Outcome {
        match self {
            Self::Request(message) => report::request(message, as_json),
            Self::Environment(message) => report::environment(message, as_json),
        }
    }
}

/// The device, and the virtual one beside it where it is a GPU.
pub(crate) fn on(
    session: &Session,
    command: &WorkerCommand,
    name: &str,
) -> Result<(Chosen, Option<DeviceName>), Unopened> {
    let device = DeviceName::parse(name).map_err(|error| Unopened::Request(error.to_string()))?;
    let environment = |error: io::Error| Unopened::Environment(error.to_string());
    match &device {
        DeviceName::Virtual(sheet) => {
            let (sheet, title) = (*sheet, format!("virtual {}", sheet.title));
            Ok((Chosen { device, sheet, title, instead: None }, None))
        }
        DeviceName::Cuda(_) => {
            let mut probe = Stations::new(command, &device, None).map_err(environment)?;
            let described = probe.description(&session.cancellation);
            let description = described
                .map_err(|error: StationError| Unopened::Environment(error.to_string()))?;
            let sheet = DeviceSheet::of_gpu(&description.title, description.capability)
                .map_err(|error| Unopened::Environment(error.to_string()))?;
            let checker = DeviceName::Virtual(sheet);
            Ok((Chosen { device, sheet, title: description.title, instead: None }, Some(checker)))
        }
    }
}

/// A seed that nobody can know beforehand.
pub(super) fn fresh_seed() -> Result<u64, getrandom::Error> {
    getrandom::u64()
}
