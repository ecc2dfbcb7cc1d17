//! What evaluating commands share: the device that is meant, the processes on it, and where seeds come from.

use std::io;
use std::path::Path;
use std::sync::Arc;

use lightbench_core::calibrate::{Calibrations, Kept};
use lightbench_core::device::{
    Described, Description, DeviceKind, DeviceName, DeviceSheet, Identity, SheetError,
};
use lightbench_core::engine::{DeviceSetting, Engine, Settings};
use lightbench_core::evaluate::Bench;
use lightbench_core::speed_of_light::calibration::Calibration;
use lightbench_core::speed_of_light::ceilings::{Basis, Ceilings, Quantity};
use lightbench_core::speed_of_light::confirmation::PeakEvidence;
use lightbench_core::toolchain::libraries;
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
    /// What more is known where it is one.
    pub(crate) gpu: Option<Gpu>,
}

/// A GPU, and what was measured on it.
#[derive(Debug)]
pub(crate) struct Gpu {
    /// What it says of itself.
    pub(crate) description: Description,
    /// Which one it is, and with which driver.
    pub(crate) identity: Identity,
    /// Its measured ceilings.
    pub(crate) calibration: Option<Arc<Calibration>>,
    /// Why a calibration that is there is not used.
    pub(crate) notice: Option<String>,
    /// What is particular of it, and where its description disagrees with a document or with its calibration.
    pub(crate) remarks: Vec<String>,
}

impl Chosen {
    /// What was measured on this very device, where somebody calibrated it.
    pub(crate) fn calibration(&self) -> Option<&Arc<Calibration>> {
        self.gpu.as_ref()?.calibration.as_ref()
    }

    /// What people should know of the device.
    pub(crate) fn notices(&self) -> Vec<String> {
        self.gpu.iter().filter_map(|gpu| gpu.notice.clone()).collect()
    }

    /// What is particular of the device, and what contradicts its description.
    pub(crate) fn remarks(&self) -> &[String] {
        self.gpu.as_ref().map_or(&[], |gpu| &gpu.remarks)
    }

    /// Where the ceilings of a GPU come from, in one line; none of a virtual device, which plays its sheet.
    pub(crate) fn ceilings(&self) -> Option<String> {
        let gpu = self.gpu.as_ref()?;
        let Some(calibration) = &gpu.calibration else {
            let device = &self.device;
            return Some(format!(
                "ceilings by the description of the device; `lightbench calibrate --device {device}` measures them"
            ));
        };
        let ceilings = Ceilings::of(self.sheet, Some(calibration), Basis::Measured);
        let (pipes, others): (Vec<_>, Vec<_>) = ceilings
            .not_measured()
            .into_iter()
            .partition(|quantity| matches!(quantity, Quantity::Pipe(_)));
        let mut missing: Vec<String> = others.iter().map(ToString::to_string).collect();
        if !pipes.is_empty() {
            missing.push(format!("{} of {} pipes", pipes.len(), ceilings.pipes.len()));
        }
        let day = calibration.date.split('T').next().unwrap_or_default();
        let rest = match missing.as_slice() {
            [] => String::new(),
            missing => format!("; not measured: {}", missing.join(", ")),
        };
        Some(format!("ceilings measured on this device on {day}{rest}"))
    }
}

/// A compiler and stations on a GPU and nothing else: where there is none, no virtual device is of help, and `why` says so.
pub(super) fn open_gpu(
    session: &Session,
    wanted: &str,
    why: &str,
    as_json: bool,
) -> Result<(Bench, Chosen), Outcome> {
    let command = session.worker_command();
    let command = command.map_err(|error| report::environment(&error, as_json))?;
    let (chosen, checker) = on(session, &command, wanted).map_err(|refused| {
        let refused = match refused {
            Unopened::Request(message) => Unopened::Request(message),
            // The rest says to take a virtual one.
            Unopened::Environment(message) => {
                let reason = message.split(';').next().unwrap_or_default();
                Unopened::Environment(format!("{reason}; {why}"))
            }
        };
        refused.outcome(as_json)
    })?;
    let libraries = libraries(&session.surroundings);
    let setting = DeviceSetting { device: chosen.device.clone(), checker, libraries };
    Ok((bench(session, &command, &setting, as_json)?, chosen))
}

fn bench(
    session: &Session,
    command: &WorkerCommand,
    setting: &DeviceSetting,
    as_json: bool,
) -> Result<Bench, Outcome> {
    let stations = Stations::new(command, &setting.device, setting.checker.as_ref());
    let stations = stations.map_err(|error| report::environment(&error, as_json))?;
    let compiler = session.compiler().map_err(|failure| failure.outcome(as_json))?;
    Ok(Bench::new(compiler, stations, setting.libraries.clone()))
}

/// An engine with that device.
pub(super) fn desk<'a>(
    session: &'a Session,
    wanted: Option<&str>,
    as_json: bool,
) -> Result<(Desk<'a>, Chosen), Outcome> {
    let (engine, compiler, chosen) = engine(session, wanted, as_json)?;
    Ok((Desk::new(session, engine, compiler), chosen))
}

/// An engine with that device, and what its compiler is called.
pub(super) fn engine(
    session: &Session,
    wanted: Option<&str>,
    as_json: bool,
) -> Result<(Engine, String, Chosen), Outcome> {
    let (command, setting, chosen) = choose(session, wanted, as_json)?;
    let (engine, compiler) = started(session, command, vec![setting], as_json)?;
    Ok((engine, compiler, chosen))
}

/// An engine that compiles, and has no device.
pub(super) fn compiling_desk(session: &Session, as_json: bool) -> Result<Desk<'_>, Outcome> {
    let command = session.worker_command();
    let command = command.map_err(|error| report::environment(&error, as_json))?;
    let (engine, compiler) = started(session, command, Vec::new(), as_json)?;
    Ok(Desk::new(session, engine, compiler))
}

fn started(
    session: &Session,
    command: WorkerCommand,
    devices: Vec<DeviceSetting>,
    as_json: bool,
) -> Result<(Engine, String), Outcome> {
    let toolchain = session.toolchain().map_err(|failure| failure.outcome(as_json))?;
    let compiler = format!("NVRTC {}", toolchain.nvrtc.version);
    let cache = session.surroundings.cache.clone();
    let settings = Settings { command, toolchain, cache, devices, wake: None };
    let engine = Engine::start(settings).map_err(|error| report::environment(&error, as_json))?;
    Ok((engine, compiler))
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
    let libraries = libraries(&session.surroundings);
    let setting = DeviceSetting { device: chosen.device.clone(), checker, libraries };
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
            Ok((Chosen { device, sheet, title, instead: None, gpu: None }, None))
        }
        DeviceName::Cuda(_) => {
            let mut probe = Stations::new(command, &device, None).map_err(environment)?;
            let described = probe.description(&session.cancellation);
            let description = described
                .map_err(|error: StationError| Unopened::Environment(error.to_string()))?;
            let described =
                describe(&description).map_err(|error| Unopened::Environment(error.to_string()))?;
            let twin = described.virtual_twin();
            let twin = twin.map_err(|error| Unopened::Environment(error.to_string()))?;
            let mut remarks = remarks(&described);
            let sheet = Described::kept(described.sheet);
            let (checker, title) = (twin.map(DeviceName::Virtual), description.title.clone());
            let gpu = Identity::of(&description).map(|identity| {
                let (calibration, notice) = calibrated(session.state.as_deref(), &identity.uuid);
                let evidence = PeakEvidence::of(sheet, calibration.as_deref());
                remarks.extend(evidence.suspect.iter().map(ToString::to_string));
                Gpu { description, identity, calibration, notice, remarks }
            });
            Ok((Chosen { device, sheet, title, instead: None, gpu }, checker))
        }
    }
}

/// A GPU described by its attributes; a virtual device by its sheet.
fn describe(description: &Description) -> Result<Described, SheetError> {
    match &description.kind {
        DeviceKind::Cuda { attributes, .. } => Described::of(attributes),
        DeviceKind::Virtual => Ok(Described {
            sheet: DeviceSheet::named(&description.name)?.clone(),
            applied: None,
            disagreements: Vec::new(),
            notes: Vec::new(),
        }),
    }
}

/// What a person should know of a description.
fn remarks(described: &Described) -> Vec<String> {
    let disagreements = described.disagreements.iter().map(ToString::to_string);
    described.notes.iter().cloned().chain(disagreements).collect()
}

/// The calibration of a device, or why the one that is there is not used.
pub(super) fn calibrated(
    state: Option<&Path>,
    uuid: &str,
) -> (Option<Arc<Calibration>>, Option<String>) {
    match state.map(|state| Calibrations::below(state).of(uuid)) {
        None | Some(Kept::Nothing) => (None, None),
        Some(Kept::Usable(calibration)) => (Some(Arc::from(calibration)), None),
        Some(Kept::Unusable { file, reason }) => {
            let file = file.display();
            let notice = format!(
                "the calibration in {file} is not used: {reason}; ceilings are those of the sheet"
            );
            (None, Some(notice))
        }
    }
}

/// A seed that nobody can know beforehand.
pub(crate) fn fresh_seed() -> Result<u64, getrandom::Error> {
    getrandom::u64()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use lightbench_core::device::{Card, ComputeCapability};

    use super::*;
    use crate::commands::calibrate::fixture::calibration;

    fn gpu(state: &Path) -> Chosen {
        let sheet = DeviceSheet::named("h200").unwrap();
        let uuid = calibration().device.uuid;
        let description = Description {
            name: "cuda:0".to_owned(),
            title: "NVIDIA H200".to_owned(),
            capability: ComputeCapability(9, 0),
            memory_bytes: 1 << 37,
            kind: DeviceKind::Cuda {
                uuid: uuid.clone(),
                driver: (13, 0),
                attributes: Box::new(Card::named("h200").unwrap().unwrap().attributes.clone()),
            },
        };
        let (calibration, notice) = calibrated(Some(state), &uuid);
        let identity = Identity { uuid, driver: "CUDA 13.0".to_owned() };
        let remarks = Vec::new();
        let gpu = Some(Gpu { description, identity, calibration, notice, remarks });
        let (device, title) = (DeviceName::Cuda(0), "NVIDIA H200".to_owned());
        Chosen { device, sheet, title, instead: None, gpu }
    }

    #[test]
    fn ceilings_are_those_of_the_calibration_of_this_device() {
        let state = tempfile::tempdir().unwrap();
        let before = gpu(state.path()).ceilings().unwrap();
        assert!(before.contains("lightbench calibrate --device cuda:0"), "{before}");
        let kept = Calibrations::below(state.path());
        let file = kept.keep(&calibration()).unwrap();
        let chosen = gpu(state.path());
        assert!(chosen.calibration().is_some() && chosen.notices().is_empty());
        let line = chosen.ceilings().unwrap();
        assert!(line.starts_with("ceilings measured on this device on 2026-11-21"), "{line}");
        assert!(line.contains("not measured: ") && line.contains("shared memory"), "{line}");
        fs::write(&file, "{").unwrap();
        let chosen = gpu(state.path());
        assert!(chosen.calibration().is_none());
        let notices = chosen.notices();
        assert!(notices[0].contains(&*file.to_string_lossy()), "{notices:?}");
    }
}
