//! The device workers of a verification: one process runs the candidate, one the reference.
//!
//! If the candidate runs on a GPU, further processes run it on virtual devices, whose checks a GPU does not have.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use lightbench_device::{Description, DeviceName, DeviceSheet, LocalDevice};
use lightbench_primitives::cancellation::Cancellation;
use lightbench_project::launch::expectation::FaultKind;
use lightbench_project::manifest::Distribution;
use lightbench_python::PythonAccess;
use lightbench_remote::connection::Connection;
use lightbench_remote::folder::CopyError;
use lightbench_tensors::case::Case;
use lightbench_tensors::inputs::InputMode;
use lightbench_worker::command::WorkerCommand;
use lightbench_worker::error::Death;
use lightbench_worker::protocol::{Configuration, Limits};
use lightbench_worker::sandbox::{SandboxPolicy, Sockets};

use super::checkers::Checkers;
use super::compiled_candidate::CompiledReference;
use super::device_session::{
    Inadmissibility, JudgeReport, JudgeRequest, MeasureReport, MeasureRequest, ModuleImage,
    OpenRequest, RunReport, RunRequest, Side,
};
use super::device_worker::{DeviceWorker, WorkerPlace};
use super::fault_report::FaultReport;
use super::output_exchange::OutputExchange;
pub use super::python_results::Conversion;
use super::python_results::{PythonResults, ReferenceChange};
use super::pytorch_call::PytorchWorker;
use super::rehearsal;

mod error;
mod python_calls;
mod pytorch;
mod reference_as_written;
mod sequence;
mod siblings;

pub use error::DeviceWorkerError;
pub(super) use error::replied;
pub use reference_as_written::AsWritten;
use sequence::{Ahead, KnownInadmissible};

/// How long opening a device and loading modules may take.
pub(super) const OPEN_LIMIT: Duration = Duration::from_secs(60);

/// The steps after which the place of a launch that does not end is read, and the time limit of that run.
const STILL_RUNNING: u64 = 1 << 22;
const LOOK_LIMIT: Duration = Duration::from_secs(10);

/// Paths that the CUDA driver writes: the device nodes, and the folder of its own threads, without which it does not
/// start.
const CUDA_WRITES: [&str; 7] = [
    "/proc/self/task",
    "/dev/nvidiactl",
    "/dev/nvidia-uvm",
    "/dev/nvidia-uvm-tools",
    "/dev/nvidia-modeset",
    "/dev/nvidia-caps",
    "/dev/null",
];

/// Where workers pass outputs to each other. Python on a GPU does not write there.
const SHARED_MEMORY: &str = "/dev/shm";

/// GPUs that a machine has at most.
const MOST_GPUS: usize = 32;

/// The processes of a verification.
#[derive(Debug)]
pub struct DeviceWorkers {
    name: DeviceName,
    device: String,
    command: WorkerCommand,
    /// The connection to the device's host; none: this machine.
    connection: Option<Arc<Connection>>,
    candidate: DeviceWorker,
    checker: Option<Checker>,
    reference: DeviceWorker,
    /// The last request that opened the reference's process. The reference is trusted: its process stays open for
    /// further candidates and keeps its results.
    reference_open: Option<OpenRequest>,
    /// The last request that opened the candidate's process.
    candidate_open: Option<OpenRequest>,
    handover: OutputExchange,
    cupti: Vec<PathBuf>,
    python: PythonResults,
    pytorch: PytorchWorker,
    as_written: Vec<(Case, AsWritten)>,
    inadmissible: KnownInadmissible,
    ahead: Ahead,
}

/// A virtual device beside a GPU.
#[derive(Debug)]
struct Checker {
    name: DeviceName,
    device: String,
    all: Checkers,
    taken: CheckerState,
}

/// Whether the virtual devices beside a GPU have loaded the candidate.
#[derive(Clone, Debug, PartialEq, Eq)]
enum CheckerState {
    /// No candidate was loaded.
    NotLoaded,
    /// The candidate is loaded.
    Loaded,
    /// They cannot load it, for this reason: it has instructions that only the GPU supports.
    Refused(String),
}

/// The state of the virtual device beside a GPU.
#[derive(Clone, Copy, Debug)]
pub enum VirtualChecker<'a> {
    /// It has loaded the candidate.
    Open {
        /// Its name.
        device: &'a str,
        /// The GPU that it models.
        sheet: &'static DeviceSheet,
    },
    /// It cannot load the candidate, for this reason.
    Refused(&'a str),
    /// No virtual device has loaded the candidate.
    None,
}

impl DeviceWorkers {
    /// Processes that start when they are needed. `checker` is the virtual device beside a GPU.
    ///
    /// # Errors
    /// There is no place for the folder between them.
    pub fn new(
        command: &WorkerCommand,
        device: &DeviceName,
        checker: Option<&DeviceName>,
    ) -> io::Result<Self> {
        Self::at(&WorkerPlace::Here(command), command, device, checker)
    }

    /// As [`DeviceWorkers::new`], for a device of the host at the other end of a connection. Python and the virtual device
    /// run on this machine.
    ///
    /// # Errors
    /// There is no place for the folder between them, here or there.
    pub fn remote(
        connection: &Arc<Connection>,
        command: &WorkerCommand,
        device: &DeviceName,
        checker: Option<&DeviceName>,
    ) -> io::Result<Self> {
        Self::at(&WorkerPlace::There(connection), command, device, checker)
    }

    fn at(
        place: &WorkerPlace<'_>,
        command: &WorkerCommand,
        device: &DeviceName,
        checker: Option<&DeviceName>,
    ) -> io::Result<Self> {
        let handover = OutputExchange::new(place)?;
        let python = PythonResults::new(command.clone(), device.clone(), place)?;
        let local = device.local;
        let candidate = handle(place, local, handover.path(), &[]);
        let reference = handle(place, local, handover.path(), &[python.folder()]);
        let checker = checker.map(|name| Checker {
            name: name.clone(),
            device: name.to_string(),
            all: Checkers::new(|| {
                handle(&WorkerPlace::Here(command), name.local, handover.here(), &[])
            }),
            taken: CheckerState::NotLoaded,
        });
        let connection = match place {
            WorkerPlace::Here(_) => None,
            WorkerPlace::There(connection) => Some(Arc::clone(connection)),
        };
        let name = device.clone();
        let device = local.to_string();
        let (reference_has, candidate_has) = (None, None);
        let cupti = Vec::new();
        let pytorch =
            PytorchWorker::new(PythonAccess::default(), command.clone(), cuda_device_files());
        Ok(Self {
            python,
            pytorch,
            as_written: Vec::new(),
            inadmissible: KnownInadmissible::default(),
            ahead: Ahead::default(),
            name,
            device,
            command: command.clone(),
            connection,
            candidate,
            checker,
            reference,
            reference_open: reference_has,
            candidate_open: candidate_has,
            handover,
            cupti,
        })
    }

    /// Sets where Python is looked for; without it, references in Python do not run.
    pub fn set_python(&mut self, access: &PythonAccess) {
        self.python.set_access(access);
        self.pytorch.set_access(access);
    }

    /// Sets the paths to try for the CUPTI library, or its name for the system's loader.
    pub fn set_cupti_paths(&mut self, places: &[PathBuf]) {
        self.cupti = places.to_vec();
    }

    /// Whether the connection to the device's host has ended. These processes give no more reports.
    #[must_use]
    pub fn is_disconnected(&self) -> bool {
        self.connection.as_ref().is_some_and(|connection| connection.is_lost())
    }

    /// Whether a virtual device beside a GPU has loaded the candidate. A rehearsal uses none.
    #[must_use]
    pub fn has_checker(&self) -> bool {
        !self.is_rehearsal()
            && self.checker.as_ref().is_some_and(|checker| checker.taken == CheckerState::Loaded)
    }

    /// The virtual device beside a GPU, if it has loaded the candidate.
    #[must_use]
    pub fn virtual_checker(&self) -> VirtualChecker<'_> {
        let Some(Checker { name, device, taken, .. }) = &self.checker else {
            return VirtualChecker::None;
        };
        match (taken, name.local) {
            (CheckerState::Loaded, LocalDevice::Virtual(sheet)) => {
                VirtualChecker::Open { device, sheet }
            }
            (CheckerState::Refused(reason), _) => VirtualChecker::Refused(reason),
            (CheckerState::Loaded, LocalDevice::Cuda(_)) | (CheckerState::NotLoaded, _) => {
                VirtualChecker::None
            }
        }
    }

    /// How processes ended that were found dead when they were needed, since the last call.
    pub fn take_replaced(&mut self) -> Vec<Death> {
        let handles = [&mut self.candidate, &mut self.reference].into_iter();
        let mut replaced: Vec<Death> = handles.flat_map(DeviceWorker::take_replaced).collect();
        let checkers = self.checker.as_mut();
        replaced.extend(checkers.into_iter().flat_map(|checker| checker.all.take_replaced()));
        replaced
    }

    /// What the device is.
    ///
    /// # Errors
    /// The machine has no such device.
    pub fn description(
        &mut self,
        cancellation: &Cancellation,
    ) -> Result<Description, DeviceWorkerError> {
        let (side, device) = (Side::Candidate, self.device.clone());
        let opening =
            OpenRequest { side, device, max_steps: 0, modules: Vec::new(), harness_kernels: None };
        replied(self.candidate.call(opening, OPEN_LIMIT, cancellation))
    }

    /// Opens the candidate's device anew and loads both sides.
    ///
    /// # Errors
    /// A device is missing, or cannot load a module.
    pub fn open(
        &mut self,
        candidate: &[ModuleImage],
        reference: &CompiledReference,
        trusted: Option<&ModuleImage>,
        max_steps: u64,
        cancellation: &Cancellation,
    ) -> Result<(), DeviceWorkerError> {
        let opening = |side, device: &str, modules: &[ModuleImage]| OpenRequest {
            side,
            device: device.to_owned(),
            max_steps,
            modules: modules.to_vec(),
            harness_kernels: trusted.cloned(),
        };
        let order = opening(Side::Candidate, &self.device, candidate);
        self.end_ahead();
        self.candidate_open = None;
        replied(self.candidate.call(order.clone(), OPEN_LIMIT, cancellation))?;
        self.candidate_open = Some(order);
        if let Some(Checker { device, all, taken, .. }) = &mut self.checker {
            *taken = match all.open(opening(Side::Candidate, device, candidate), cancellation)? {
                Ok(()) => CheckerState::Loaded,
                Err(reason) => CheckerState::Refused(reason),
            };
        }
        let order = opening(Side::Reference, &self.device, reference.modules());
        self.set_python_reference(reference);
        self.open_reference(order, cancellation)
    }

    /// Opens the device anew without any candidate, for a library that runs in its place. Virtual devices have none.
    ///
    /// # Errors
    /// The device is not there.
    pub fn open_bare(
        &mut self,
        reference: &CompiledReference,
        trusted: Option<&ModuleImage>,
        max_steps: u64,
        cancellation: &Cancellation,
    ) -> Result<(), DeviceWorkerError> {
        let opening = |side, modules: &[ModuleImage]| OpenRequest {
            side,
            device: self.device.clone(),
            max_steps,
            modules: modules.to_vec(),
            harness_kernels: trusted.cloned(),
        };
        let (candidate, order) =
            (opening(Side::Candidate, &[]), opening(Side::Reference, reference.modules()));
        self.end_ahead();
        self.candidate_open = None;
        replied(self.candidate.call(candidate, OPEN_LIMIT, cancellation))?;
        if let Some(checker) = &mut self.checker {
            checker.taken = CheckerState::NotLoaded;
        }
        self.set_python_reference(reference);
        self.open_reference(order, cancellation)
    }

    fn set_python_reference(&mut self, reference: &CompiledReference) {
        let python = match reference {
            CompiledReference::Modules(_) => None,
            CompiledReference::Python(python) => Some(python),
        };
        if self.python.set(python) == ReferenceChange::Changed {
            // The session keeps results of the other one.
            self.reference_open = None;
            self.as_written.clear();
        }
    }

    fn open_reference(
        &mut self,
        order: OpenRequest,
        cancellation: &Cancellation,
    ) -> Result<(), DeviceWorkerError> {
        // A screening needs fewer modules than a verification, and they are the first: the results that the session keeps
        // serve both.
        let is_open = self.reference_open.as_ref().is_some_and(|open| open.serves(&order));
        if is_open && self.reference.is_running() {
            return Ok(());
        }
        self.reference_open = None;
        self.inadmissible.forget();
        match replied(self.reference.call(order.clone(), OPEN_LIMIT, cancellation)) {
            Ok(_) => {
                self.reference_open = Some(order);
                Ok(())
            }
            Err(DeviceWorkerError::Failed(failure)) => {
                Err(DeviceWorkerError::Environment(format!("the reference: {failure}")))
            }
            Err(error) => Err(error.with_reference_role()),
        }
    }

    /// Whether the device models time.
    #[must_use]
    pub fn models_time(&self) -> bool {
        matches!(self.name.local, LocalDevice::Virtual(_))
    }

    /// The input mode of timed runs: a modelled time depends little on values.
    #[must_use]
    pub fn timed_input_mode(&self) -> InputMode {
        if self.models_time() {
            InputMode::Repeating
        } else {
            InputMode::Distribution(Distribution::AsDeclared)
        }
    }

    /// Runs the candidate; what it leaves goes to the folder that [`DeviceWorkers::judge`] reads.
    ///
    /// # Errors
    /// The device cannot run it, or it was stopped.
    pub fn run(
        &mut self,
        mut order: RunRequest,
        limit: Duration,
        cancellation: &Cancellation,
    ) -> Result<RunReport, DeviceWorkerError> {
        order.outputs = Some(self.folder());
        if self.ahead.plan(|| self.candidate.plan(order.clone(), limit))? {
            return Ok(rehearsal::run_report(&order));
        }
        let sequence = self.ahead.sequence();
        let ran = replied(self.candidate.call_in(sequence, order, limit, cancellation));
        if ran.as_ref().is_ok_and(|report| !report.faults.is_empty()) {
            // A GPU's driver takes no further calls from a process whose kernel faulted.
            self.candidate.stop();
        }
        self.unless_cancelled(ran)
    }

    /// Where the candidate still is after many steps, after its limit ended a run on a virtual device.
    pub(super) fn hang_location(
        &mut self,
        order: RunRequest,
        cancellation: &Cancellation,
    ) -> Option<FaultReport> {
        let mut opening = self.candidate_open.clone().filter(|_| self.models_time())?;
        opening.max_steps = STILL_RUNNING;
        replied(self.candidate.call(opening, OPEN_LIMIT, cancellation)).ok()?;
        let looked = replied(self.candidate.call_same(order, LOOK_LIMIT, cancellation));
        // The next request must not end early.
        self.candidate.stop();
        let mut faults = looked.ok()?.faults.into_iter();
        let still = |fault: &FaultReport| fault.kind == FaultKind::StepLimit;
        let details = format!("still running after {STILL_RUNNING} steps");
        faults.find(still).map(|fault| FaultReport { details, ..fault })
    }

    /// Takes the virtual devices beside a GPU out; the caller returns them.
    pub(super) fn take_checkers(&mut self) -> Option<Checkers> {
        self.checker.as_mut().map(|checker| std::mem::take(&mut checker.all))
    }

    /// Returns the virtual devices beside a GPU.
    pub(super) fn return_checkers(&mut self, checkers: Checkers) {
        if let Some(checker) = &mut self.checker {
            checker.all = checkers;
        }
    }

    /// Times candidates; what the first leaves goes to the folder that [`DeviceWorkers::judge`] reads.
    ///
    /// # Errors
    /// The device cannot run them, or it was stopped.
    pub fn measure(
        &mut self,
        mut order: MeasureRequest,
        limit: Duration,
        cancellation: &Cancellation,
    ) -> Result<MeasureReport, DeviceWorkerError> {
        order.outputs = Some(self.folder());
        order.cupti.clone_from(&self.cupti);
        if self.ahead.plan(|| self.candidate.plan(order.clone(), limit))? {
            return Ok(rehearsal::measure_report(&order, self.models_time()));
        }
        let sequence = self.ahead.sequence();
        let measured = replied(self.candidate.call_in(sequence, order, limit, cancellation));
        if matches!(measured, Ok(MeasureReport::Faulted(_))) {
            // As after a run that faulted.
            self.candidate.stop();
        }
        self.unless_cancelled(measured)
    }

    /// Judges the outputs of the previous run.
    ///
    /// # Errors
    /// The reference cannot be run, or it was stopped.
    pub fn judge(
        &mut self,
        mut order: JudgeRequest,
        limit: Duration,
        cancellation: &Cancellation,
    ) -> Result<JudgeReport, DeviceWorkerError> {
        order.outputs = self.folder();
        if let Some(known) = self.inadmissible.find(&order) {
            return Ok(known.clone());
        }
        if self.ahead.plan(|| self.reference.plan(order.clone(), limit))? {
            return Ok(rehearsal::judge_report(&order));
        }
        let judged = self.judge_with_results(order.clone(), limit, cancellation);
        match &judged {
            Ok(report) => self.inadmissible.note(&order, report),
            Err(_) => self.reference_open = None,
        }
        let faulted = matches!(
            &judged,
            Ok(JudgeReport { inadmissible: Some(Inadmissibility::Fault(_)), .. })
        );
        if faulted && !self.models_time() {
            // A GPU's driver takes no further calls from a process whose kernel faulted.
            self.reference.stop();
            if let Some(opening) = self.reference_open.take() {
                self.open_reference(opening, cancellation)?;
            }
        }
        self.unless_cancelled(judged).map_err(DeviceWorkerError::with_reference_role)
    }

    /// Ends all processes because one of them ended; the next order starts fresh ones.
    pub fn replace_all(&mut self, death: Death) {
        self.stop();
        self.candidate.note_replaced(death);
    }

    /// Ends all processes after a cancellation: any of them may hang.
    fn unless_cancelled<Report>(
        &mut self,
        done: Result<Report, DeviceWorkerError>,
    ) -> Result<Report, DeviceWorkerError> {
        if matches!(done, Err(DeviceWorkerError::Cancelled)) {
            self.stop();
        }
        done
    }

    /// Ends all processes; the next order starts them again.
    pub fn stop(&mut self) {
        self.candidate.stop();
        self.reference.stop();
        self.reference_open = None;
        self.python.stop();
        if let Some(checker) = &mut self.checker {
            checker.all.stop();
        }
    }

    /// Copies outputs that this process wrote to the host of the device.
    fn publish_outputs(&self, cancellation: &Cancellation) -> Result<(), DeviceWorkerError> {
        self.handover.publish(None, cancellation).map_err(|error| match error {
            CopyError::Connection(error) => error.into(),
            error @ (CopyError::Read(_) | CopyError::NotStored { .. }) => {
                DeviceWorkerError::Environment(error.to_string())
            }
        })
    }

    fn folder(&self) -> PathBuf {
        self.handover.path().to_owned()
    }
}

/// A process that writes outputs to `folder` and may read the folders `read`.
fn handle(
    place: &WorkerPlace<'_>,
    device: LocalDevice,
    folder: &Path,
    read: &[&Path],
) -> DeviceWorker {
    let write = vec![folder.to_owned()];
    let (policy, limits) = match device {
        LocalDevice::Virtual(_) => {
            let read = read.iter().map(|folder| folder.to_path_buf()).collect();
            (SandboxPolicy { read, write, ..SandboxPolicy::default() }, Limits::default())
        }
        LocalDevice::Cuda(_) => (cuda_policy(write), cuda_limits()),
    };
    DeviceWorker::new(place, Configuration { options: (), policy, limits })
}

/// The files that the driver writes.
fn cuda_device_files() -> Vec<PathBuf> {
    let gpus = (0..MOST_GPUS).map(|number| PathBuf::from(format!("/dev/nvidia{number}")));
    CUDA_WRITES.iter().map(PathBuf::from).chain(gpus).collect()
}

/// The driver reads all over the system: its libraries, the kernel's files about devices.
fn cuda_policy(mut write: Vec<PathBuf>) -> SandboxPolicy {
    write.extend(cuda_device_files());
    write.push(SHARED_MEMORY.into());
    let read = vec!["/".into()];
    SandboxPolicy { read, write, sockets: Sockets::Local, ..SandboxPolicy::default() }
}

/// The driver maps the memory of all devices into the address space.
fn cuda_limits() -> Limits {
    Limits { address_space_bytes: None, ..Limits::default() }
}

#[cfg(test)]
mod tests;
