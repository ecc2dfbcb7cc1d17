//! Doctor: the NVIDIA driver, its version, GPUs and permissions.

use std::fs;
use std::path::Path;

use lightbench_device::{DescribedGpu, SheetError, cuda};
use nvml_wrapper::Nvml;
use nvml_wrapper::error::NvmlError;

use super::super::{DriverBranch, Version};
use super::{FETCH_COMMAND, Finding, HostEnvironment, State, Topic};

/// The result of querying the driver's management library.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Driver {
    /// The library is not installed.
    Absent,
    /// The library is present and fails.
    Silent { message: String },
    /// The driver answers.
    Present { version: String, cuda: Version, gpus: Vec<Gpu>, remarks: Vec<String> },
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Gpu {
    pub(super) name: String,
    pub(super) compute_capability: (i32, i32),
    pub(super) memory_bytes: u64,
}

/// The driver's branch: from the kernel module's file below `system`, and where there is none (on Windows, for example)
/// from the management library.
#[must_use]
pub fn installed_driver(system: &Path) -> Option<DriverBranch> {
    let from_library = || DriverBranch::parse(&Nvml::init().ok()?.sys_driver_version().ok()?);
    DriverBranch::of_kernel_module(system).or_else(from_library)
}

/// Queries the management library, loaded by name; its absence is a valid result.
pub(super) fn ask() -> Driver {
    match Nvml::init() {
        Ok(nvml) => {
            present(&nvml).unwrap_or_else(|error| Driver::Silent { message: error.to_string() })
        }
        Err(NvmlError::LibloadingError(_)) => Driver::Absent,
        Err(error) => Driver::Silent { message: error.to_string() },
    }
}

fn present(nvml: &Nvml) -> Result<Driver, NvmlError> {
    let cuda = nvml.sys_cuda_driver_version()?;
    let number = |value: i32| u32::try_from(value).unwrap_or_default();
    let cuda = Version::new(
        number(nvml_wrapper::cuda_driver_version_major(cuda)),
        number(nvml_wrapper::cuda_driver_version_minor(cuda)),
    );
    let mut gpus = Vec::new();
    for index in 0..nvml.device_count()? {
        let device = nvml.device_by_index(index)?;
        let capability = device.cuda_compute_capability()?;
        gpus.push(Gpu {
            name: device.name()?,
            compute_capability: (capability.major, capability.minor),
            // Integrated GPUs have no dedicated memory to report.
            memory_bytes: device.memory_info().map_or(0, |memory| memory.total),
        });
    }
    Ok(Driver::Present { version: nvml.sys_driver_version()?, cuda, gpus, remarks: remarks() })
}

/// Contradictions in the descriptions of the GPUs, and special properties of each GPU. If CUDA programs cannot start,
/// nothing can be described; other topics report that.
fn remarks() -> Vec<String> {
    let Ok(all) = cuda::local_gpus() else { return Vec::new() };
    let of = |(ordinal, (attributes, _)): (usize, (_, String))| {
        remarks_of(ordinal, DescribedGpu::from_attributes(&attributes))
    };
    all.into_iter().enumerate().flat_map(of).collect()
}

pub(super) fn remarks_of(
    ordinal: usize,
    described: Result<DescribedGpu, SheetError>,
) -> Vec<String> {
    let of = |remark: &dyn std::fmt::Display| format!("cuda:{ordinal}: {remark}");
    match described {
        Ok(DescribedGpu { notes, disagreements, .. }) => {
            let disagreements = disagreements.iter().map(|one| of(one));
            notes.iter().map(|one| of(one)).chain(disagreements).collect()
        }
        Err(error) => vec![of(&error)],
    }
}

pub(super) fn findings(
    driver: &Driver,
    surroundings: &HostEnvironment,
    compiler: Option<Version>,
) -> Vec<Finding> {
    let mut findings = vec![version(driver, compiler)];
    let Driver::Present { gpus, remarks, .. } = driver else { return findings };
    let described = remarks.iter().fold(gpu(gpus), |finding, remark| finding.note(remark));
    findings.push(described);
    if cfg!(target_os = "linux") {
        findings.push(unified_memory_module(surroundings));
        findings.push(counter_permission(surroundings));
    }
    findings
}

fn version(driver: &Driver, compiler: Option<Version>) -> Finding {
    match driver {
        Driver::Absent => {
            Finding::new(Topic::Driver, State::Info, "no NVIDIA driver; compile facts need none")
        }
        Driver::Silent { message } => {
            let summary = format!("installed, but does not respond: {message}");
            Finding::new(Topic::Driver, State::Problem, summary).advice(
                "restart the machine if the driver was just updated; otherwise `nvidia-smi` shows details",
            )
        }
        Driver::Present { version, cuda, .. } => {
            let summary = format!("{version}, supports CUDA {cuda}");
            match DriverBranch::parse(version).and_then(|branch| unfit(branch, compiler)) {
                Some(unfit) => unfit.finding(summary),
                None => fitting(Finding::new(Topic::Driver, State::Ok, summary), *cuda, compiler),
            }
        }
    }
}

/// Why a driver does not load what the compiler generates.
enum Unfit {
    /// No supported compiler fits.
    TooOld,
    /// Another compiler fits.
    OtherCompiler { compiler: Version },
}

fn unfit(branch: DriverBranch, compiler: Option<Version>) -> Option<Unfit> {
    if branch < DriverBranch::FIRST_FOR_12 {
        return Some(Unfit::TooOld);
    }
    let compiler = compiler.filter(|compiler| !branch.loads(*compiler))?;
    Some(Unfit::OtherCompiler { compiler })
}

impl Unfit {
    fn finding(self, summary: String) -> Finding {
        let finding = Finding::new(Topic::Driver, State::Problem, summary);
        let (first, current) = (DriverBranch::FIRST_FOR_12, DriverBranch::FIRST_FOR_13);
        match self {
            Self::TooOld => finding
                .note(format!(
                    "no kernel runs on this GPU: the oldest supported compiler, NVRTC 12.9, needs driver {first} or newer"
                ))
                .advice(format!(
                    "install driver {first} or newer, {current} for NVRTC 13.x (nvidia.com/drivers)"
                )),
            Self::OtherCompiler { compiler } => finding
                .note(format!(
                    "does not load the output of NVRTC {compiler}, which needs driver {current} or newer; NVRTC 12.9 fits"
                ))
                .command(FETCH_COMMAND),
        }
    }
}

fn fitting(finding: Finding, cuda: Version, compiler: Option<Version>) -> Finding {
    match compiler {
        Some(compiler) if cuda.is_earlier_release(compiler) => finding.note(format!(
            "older than the compiler ({compiler}): runs its cubins, not its PTX; Lightbench loads cubins"
        )),
        Some(_) | None => finding,
    }
}

fn gpu(gpus: &[Gpu]) -> Finding {
    let describe = |gpu: &Gpu| {
        let (major, minor) = gpu.compute_capability;
        format!("{}, compute capability {major}.{minor}, {} GiB", gpu.name, gpu.memory_bytes >> 30)
    };
    let Some((first, others)) = gpus.split_first() else {
        let summary = "the driver lists no GPU; compile facts need none";
        return Finding::new(Topic::Gpu, State::Info, summary);
    };
    let finding = Finding::new(Topic::Gpu, State::Ok, describe(first));
    others.iter().fold(finding, |finding, gpu| finding.note(describe(gpu)))
}

/// CUDA needs a device file that only this module makes; the management library does not.
fn unified_memory_module(surroundings: &HostEnvironment) -> Finding {
    let device = surroundings.system.join("dev/nvidia-uvm");
    if device.exists() {
        return Finding::new(Topic::UnifiedMemoryModule, State::Ok, "loaded").at(&device);
    }
    Finding::new(
        Topic::UnifiedMemoryModule,
        State::Problem,
        "not loaded: CUDA programs cannot start",
    )
    .note("in a container, ask for the `compute` capability (NVIDIA_DRIVER_CAPABILITIES)")
    .command("sudo nvidia-modprobe -u -c=0")
}

/// `RmProfilingAdminOnly` in the driver's list of settings (NVIDIA, ERR_NVGPUCTRPERM).
fn counter_permission(surroundings: &HostEnvironment) -> Finding {
    let settings = surroundings.system.join("proc/driver/nvidia/params");
    let Ok(text) = fs::read_to_string(&settings) else {
        let summary = "unknown: the driver's settings cannot be read";
        return Finding::new(Topic::CounterPermission, State::Info, summary).at(&settings);
    };
    let value = text.lines().find_map(|line| line.strip_prefix("RmProfilingAdminOnly:"));
    match value.map(str::trim) {
        Some("0") => Finding::new(Topic::CounterPermission, State::Ok, "readable by every user"),
        Some(_) if is_administrator() => {
            Finding::new(Topic::CounterPermission, State::Ok, "readable: you are the administrator")
                .note("in a container this also requires CAP_SYS_ADMIN")
        }
        Some(_) => Finding::new(
            Topic::CounterPermission,
            State::Problem,
            "only the administrator may read them",
        )
        .note("the setting takes effect after the next restart of the machine")
        .command(
            "echo 'options nvidia NVreg_RestrictProfilingToAdminUsers=0' | \
             sudo tee /etc/modprobe.d/nvidia-counters.conf",
        ),
        None => Finding::new(
            Topic::CounterPermission,
            State::Info,
            "the driver does not report who may read them",
        )
        .at(&settings),
    }
}

#[cfg(unix)]
fn is_administrator() -> bool {
    rustix::process::geteuid().is_root()
}

#[cfg(not(unix))]
fn is_administrator() -> bool {
    false
}
