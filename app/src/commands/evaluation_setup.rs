//! Setup of evaluating commands: device selection, engine and seed.

use std::path::Path;
use std::sync::Arc;

use lightbench_core::calibrate::{Calibrations, StoredCalibration};
use lightbench_core::device::{
    DescribedGpu, Description, DeviceKind, DeviceName, DeviceSheet, Identity, LocalDevice,
    SheetError, cuda,
};
use lightbench_core::engine::{DeviceSetting, Engine, Settings, device_workers};
use lightbench_core::evaluate::EvaluationContext;
use lightbench_core::report::document::ReportedDevice;
use lightbench_core::speed_of_light::calibration::Calibration;
use lightbench_core::speed_of_light::ceilings::{Basis, Ceilings, Quantity};
use lightbench_core::speed_of_light::confirmation::PeakEvidence;
use lightbench_core::toolchain::{Libraries, libraries};
use lightbench_core::verify::device_workers::DeviceWorkerError;
use lightbench_core::worker::command::WorkerCommand;

use super::engine_client::EngineClient;
use super::python_setup;
use crate::outcome::Outcome;
use crate::report;
use crate::session::Session;

/// The default device if there is no GPU.
const WITHOUT_GPU: &str = "virtual:h200";

/// The selected device.
#[derive(Debug)]
pub(crate) struct ChosenDevice {
    pub(crate) device: DeviceName,
    /// Its device sheet.
    pub(crate) sheet: &'static DeviceSheet,
    /// The name shown to the user.
    pub(crate) title: String,
    /// Why it is not a GPU, if the user did not request a virtual device.
    pub(crate) virtual_reason: Option<String>,
    /// Details of a GPU.
    pub(crate) gpu: Option<ChosenGpu>,
}

/// A GPU and its calibration.
#[derive(Debug)]
pub(crate) struct ChosenGpu {
    /// What its driver reports.
    pub(crate) description: Description,
    /// Its identity and driver version.
    pub(crate) identity: Identity,
    /// Its measured ceilings.
    pub(crate) calibration: Option<Arc<Calibration>>,
    /// Why an existing calibration is not used.
    pub(crate) notice: Option<String>,
    /// Its particular properties, and contradictions between its description, documents and calibration.
    pub(crate) remarks: Vec<String>,
}

impl ChosenDevice {
    /// The calibration of this device, if there is one.
    pub(crate) fn calibration(&self) -> Option<&Arc<Calibration>> {
        self.gpu.as_ref()?.calibration.as_ref()
    }

    /// The device as documents describe it.
    pub(crate) fn reported(&self) -> ReportedDevice {
        ReportedDevice {
            device: self.device.to_string(),
            device_title: self.title.clone(),
            instead_of_gpu: self.virtual_reason.clone(),
        }
    }

    /// Notices about the device for the user.
    pub(crate) fn notices(&self) -> Vec<String> {
        self.gpu.iter().filter_map(|gpu| gpu.notice.clone()).collect()
    }

    /// Particular properties of the device, and contradictions to its description.
    pub(crate) fn remarks(&self) -> &[String] {
        self.gpu.as_ref().map_or(&[], |gpu| &gpu.remarks)
    }

    /// One line with the source of a GPU's ceilings; `None` for a virtual device, which uses its sheet.
    pub(crate) fn ceilings(&self) -> Option<String> {
        let gpu = self.gpu.as_ref()?;
        let Some(calibration) = &gpu.calibration else {
            let device = &self.device;
            return Some(format!(
                "ceilings from the device's description; `lightbench calibrate --device {device}` measures them"
            ));
        };
        let ceilings = Ceilings::new(self.sheet, Some(calibration), Basis::Measured);
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

/// A compiler and worker processes on a GPU only; `why` explains why a virtual device does not suffice.
pub(super) fn open_gpu(
    session: &Session,
    wanted: &str,
    why: &str,
    as_json: bool,
) -> Result<(EvaluationContext, ChosenDevice), Outcome> {
    let command = session.worker_command();
    let command = command.map_err(|error| report::environment(&error, as_json))?;
    let (chosen, checker) = open_device(session, &command, wanted).map_err(|refused| {
        let refused = match refused {
            OpenError::Request(message) => OpenError::Request(message),
            // The rest of the message proposes a virtual device.
            OpenError::Environment(message) => {
                let reason = message.split(';').next().unwrap_or_default();
                OpenError::Environment(format!("{reason}; {why}"))
            }
        };
        refused.outcome(as_json)
    })?;
    let libraries = device_libraries(session, &chosen.device)
        .map_err(|error| report::environment(&error, as_json))?;
    let setting = DeviceSetting { device: chosen.device.clone(), checker, libraries };
    Ok((bench(session, &command, &setting, as_json)?, chosen))
}

fn bench(
    session: &Session,
    command: &WorkerCommand,
    setting: &DeviceSetting,
    as_json: bool,
) -> Result<EvaluationContext, Outcome> {
    let (device, checker) = (&setting.device, setting.checker.as_ref());
    let workers = device_workers(&session.hosts, command, device, checker, &session.cancellation);
    let workers = workers.map_err(|error| report::environment(&error, as_json))?;
    let compiler = python_setup::compiler(session).map_err(|failure| failure.outcome(as_json))?;
    Ok(EvaluationContext::new(compiler, workers, setting.libraries.clone()))
}

/// An engine client for the device.
pub(super) fn engine_client<'a>(
    session: &'a Session,
    wanted: Option<&str>,
    as_json: bool,
) -> Result<(EngineClient<'a>, ChosenDevice), Outcome> {
    let (engine, compiler, chosen) = engine(session, wanted, as_json)?;
    Ok((EngineClient::new(session, engine, compiler), chosen))
}

/// An engine for the device, and the name of its compiler.
pub(super) fn engine(
    session: &Session,
    wanted: Option<&str>,
    as_json: bool,
) -> Result<(Engine, String, ChosenDevice), Outcome> {
    let (command, setting, chosen) = choose(session, wanted, as_json)?;
    let (engine, compiler) = start_engine(session, command, vec![setting], as_json)?;
    Ok((engine, compiler, chosen))
}

/// The names of the devices that one name stands for: all GPUs of this machine, or those of all allocations of a Slurm
/// partition.
fn each_of(session: &Session, name: &str) -> Result<Vec<String>, Outcome> {
    if name == ALL_GPUS {
        let gpus = cuda::local_gpus().map_err(|error| report::environment(&error, false))?;
        // Without a GPU, opening the first one says why.
        return Ok((0..gpus.len().max(1)).map(|ordinal| format!("cuda:{ordinal}")).collect());
    }
    let Ok(DeviceName { host: Some(host), local }) = DeviceName::parse(name) else {
        // A name that cannot be parsed is reported where it is opened.
        return Ok(vec![name.to_owned()]);
    };
    let hosts = session.hosts.named(&host).into_iter();
    Ok(hosts.map(|host| DeviceName { host: Some(host), local }.to_string()).collect())
}

/// The name of all GPUs of this machine.
const ALL_GPUS: &str = "cuda:all";

/// An engine for several devices, the name of its compiler, and the devices; without a name, for the default device.
pub(super) fn engine_for_devices(
    session: &Session,
    wanted: &[String],
) -> Result<(Engine, String, Vec<ChosenDevice>), Outcome> {
    let names: Vec<Option<String>> = match wanted {
        [] => vec![None],
        names => {
            let each = names.iter().map(|name| each_of(session, name));
            let each = each.collect::<Result<Vec<_>, _>>()?;
            each.into_iter().flatten().map(Some).collect()
        }
    };
    let (mut settings, mut devices): (Vec<DeviceSetting>, Vec<ChosenDevice>) = Default::default();
    let mut worker = None;
    for name in names {
        let (command, setting, chosen) = choose(session, name.as_deref(), false)?;
        if settings.iter().any(|other| other.device == setting.device) {
            let message = format!(
                "device {} is named twice; a device evaluates one candidate at a time",
                setting.device
            );
            return Err(report::request(&message, false));
        }
        settings.push(setting);
        devices.push(chosen);
        worker.get_or_insert(command);
    }
    let command = match worker {
        Some(command) => command,
        None => session.worker_command().map_err(|error| report::environment(&error, false))?,
    };
    let (engine, compiler) = start_engine(session, command, settings, false)?;
    Ok((engine, compiler, devices))
}

/// An engine client that compiles and has no device.
pub(super) fn compiling_client(
    session: &Session,
    as_json: bool,
) -> Result<EngineClient<'_>, Outcome> {
    let command = session.worker_command();
    let command = command.map_err(|error| report::environment(&error, as_json))?;
    let (engine, compiler) = start_engine(session, command, Vec::new(), as_json)?;
    Ok(EngineClient::new(session, engine, compiler))
}

fn start_engine(
    session: &Session,
    command: WorkerCommand,
    devices: Vec<DeviceSetting>,
    as_json: bool,
) -> Result<(Engine, String), Outcome> {
    let toolchain = session.toolchain().map_err(|failure| failure.outcome(as_json))?;
    let compiler = format!("NVRTC {}", toolchain.nvrtc.version);
    let cache = session.host.cache.clone();
    let python = python_setup::access(session);
    let hosts = session.hosts.clone();
    let settings = Settings { command, hosts, toolchain, python, cache, devices, wake: None };
    let engine = Engine::start(settings).map_err(|error| report::environment(&error, as_json))?;
    Ok((engine, compiler))
}

fn choose(
    session: &Session,
    wanted: Option<&str>,
    as_json: bool,
) -> Result<(WorkerCommand, DeviceSetting, ChosenDevice), Outcome> {
    let command = session.worker_command();
    let command = command.map_err(|error| report::environment(&error, as_json))?;
    let (chosen, checker) = match wanted {
        Some(name) => {
            open_device(session, &command, name).map_err(|refused| refused.outcome(as_json))?
        }
        None => match open_device(session, &command, "cuda:0") {
            Ok(found) => found,
            Err(OpenError::Environment(reason)) => {
                let opened = open_device(session, &command, WITHOUT_GPU);
                let (chosen, checker) = opened.map_err(|refused| refused.outcome(as_json))?;
                (ChosenDevice { virtual_reason: Some(reason), ..chosen }, checker)
            }
            Err(refused) => return Err(refused.outcome(as_json)),
        },
    };
    let libraries = device_libraries(session, &chosen.device)
        .map_err(|error| report::environment(&error, as_json))?;
    let setting = DeviceSetting { device: chosen.device.clone(), checker, libraries };
    Ok((command, setting, chosen))
}

/// Why the device cannot be opened.
pub(crate) enum OpenError {
    Request(String),
    Environment(String),
}

impl OpenError {
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

/// Opens the device; for a GPU also the virtual device for small workloads.
pub(crate) fn open_device(
    session: &Session,
    command: &WorkerCommand,
    name: &str,
) -> Result<(ChosenDevice, Option<DeviceName>), OpenError> {
    let device = DeviceName::parse(name).map_err(|error| OpenError::Request(error.to_string()))?;
    match device.local {
        LocalDevice::Virtual(sheet) => {
            let title = format!("virtual {}", sheet.title);
            Ok((ChosenDevice { device, sheet, title, virtual_reason: None, gpu: None }, None))
        }
        LocalDevice::Cuda(_) => {
            let (hosts, cancellation) = (&session.hosts, &session.cancellation);
            let probe = device_workers(hosts, command, &device, None, cancellation);
            let described = probe.map_err(OpenError::Environment)?.description(cancellation);
            let description = described.map_err(|error: DeviceWorkerError| {
                OpenError::Environment(match &device.host {
                    None => error.to_string(),
                    Some(host) => format!("{host}: {error}"),
                })
            })?;
            let described = describe(&description)
                .map_err(|error| OpenError::Environment(error.to_string()))?;
            let twin = described.virtual_twin();
            let twin = twin.map_err(|error| OpenError::Environment(error.to_string()))?;
            let mut remarks = remarks(&described);
            let sheet = DescribedGpu::kept(described.sheet);
            let (checker, title) =
                (twin.map(|sheet| LocalDevice::Virtual(sheet).into()), description.title.clone());
            let gpu = Identity::from_description(&description).map(|identity| {
                let (calibration, notice) =
                    load_calibration(session.state.as_deref(), &identity.uuid);
                let evidence = PeakEvidence::new(sheet, calibration.as_deref());
                remarks.extend(evidence.suspect.iter().map(ToString::to_string));
                ChosenGpu { description, identity, calibration, notice, remarks }
            });
            Ok((ChosenDevice { device, sheet, title, virtual_reason: None, gpu }, checker))
        }
    }
}

/// The libraries beside a device: those of its host.
fn device_libraries(session: &Session, device: &DeviceName) -> Result<Libraries, String> {
    let Some(host) = &device.host else { return Ok(libraries(&session.host)) };
    let connection = session.hosts.connect(host, &session.cancellation);
    let connection = connection.map_err(|error| error.to_string())?;
    connection.facts().map_err(|error| format!("{host}: {error}"))
}

/// Describes a GPU by its attributes, a virtual device by its sheet.
fn describe(description: &Description) -> Result<DescribedGpu, SheetError> {
    match &description.kind {
        DeviceKind::Cuda { attributes, .. } => DescribedGpu::from_attributes(attributes),
        DeviceKind::Virtual => Ok(DescribedGpu {
            sheet: DeviceSheet::named(&description.name)?.clone(),
            applied: None,
            disagreements: Vec::new(),
            notes: Vec::new(),
        }),
    }
}

/// Remarks about a description, for the user.
fn remarks(described: &DescribedGpu) -> Vec<String> {
    let disagreements = described.disagreements.iter().map(ToString::to_string);
    described.notes.iter().cloned().chain(disagreements).collect()
}

/// The calibration of a device, or why an existing one is not used.
pub(super) fn load_calibration(
    state: Option<&Path>,
    uuid: &str,
) -> (Option<Arc<Calibration>>, Option<String>) {
    match state.map(|state| Calibrations::in_state_folder(state).load(uuid)) {
        None | Some(StoredCalibration::Nothing) => (None, None),
        Some(StoredCalibration::Usable(calibration)) => (Some(Arc::from(calibration)), None),
        Some(StoredCalibration::Unusable { file, reason }) => {
            let file = file.display();
            let notice = format!(
                "the calibration in {file} is not used: {reason}; the sheet's ceilings apply"
            );
            (None, Some(notice))
        }
    }
}

/// An unpredictable seed.
pub(crate) fn fresh_seed() -> Result<u64, getrandom::Error> {
    getrandom::u64()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use lightbench_core::device::{Card, ComputeCapability};

    use super::*;
    use crate::commands::calibrate::fixture::calibration;

    fn gpu(state: &Path) -> ChosenDevice {
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
                attributes: Box::new(Card::find("h200").unwrap().unwrap().attributes.clone()),
            },
        };
        let (calibration, notice) = load_calibration(Some(state), &uuid);
        let identity = Identity { uuid, driver: "CUDA 13.0".to_owned() };
        let remarks = Vec::new();
        let gpu = Some(ChosenGpu { description, identity, calibration, notice, remarks });
        let (device, title) = (LocalDevice::Cuda(0).into(), "NVIDIA H200".to_owned());
        ChosenDevice { device, sheet, title, virtual_reason: None, gpu }
    }

    #[test]
    fn ceilings_are_those_of_the_calibration_of_this_device() {
        let state = tempfile::tempdir().unwrap();
        let before = gpu(state.path()).ceilings().unwrap();
        assert!(before.contains("lightbench calibrate --device cuda:0"), "{before}");
        let kept = Calibrations::in_state_folder(state.path());
        let file = kept.store(&calibration()).unwrap();
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
