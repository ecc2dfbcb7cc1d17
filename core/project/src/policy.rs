//! The policy of a project: refused evidence, limits, and baselines.

use std::path::PathBuf;

use super::{
    library::{self, Gemm},
    locate::Located,
    manifest::{BaselineWritten, Evidence, LimitsWritten, PolicyWritten, WorkloadWritten},
    problem::Findings,
    tensor::Tensor,
};

/// Which static evidence refuses a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Policy {
    /// In the order of [`Evidence`], each once.
    pub refuse: Vec<Evidence>,
}

/// Time, memory and steps that one kernel may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Seconds of one compilation.
    pub compile_secs: u64,
    /// Seconds of all launches of one run together.
    pub launch_secs: u64,
    /// Bytes of device memory.
    pub device_bytes: u64,
    /// Instructions of one launch on the virtual GPU.
    pub virtual_steps: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            compile_secs: 30,
            launch_secs: 10,
            device_bytes: 128 << 30,
            virtual_steps: 20_000_000_000,
        }
    }
}

impl Default for Policy {
    fn default() -> Self {
        use Evidence::{
            CachePersistence, Clocks, DeviceGlobals, DeviceLaunch, Heap, Printf, Sleeps,
        };
        Self {
            refuse: vec![
                DeviceGlobals,
                Clocks,
                Sleeps,
                CachePersistence,
                DeviceLaunch,
                Heap,
                Printf,
            ],
        }
    }
}

/// A baseline to compare with.
#[derive(Clone, Debug, PartialEq)]
pub enum Baseline {
    /// A kernel of this project, by name.
    Kernel(String),
    /// A product of matrices by cuBLAS.
    CublasGemm(Gemm),
    /// A function of PyTorch in this file of the project folder, called on the GPU.
    Pytorch(PathBuf),
    /// A number from elsewhere.
    Recorded {
        name: String,
        device: String,
        /// The workload of this project.
        workload: String,
        /// Recorded time.
        seconds: f64,
        /// Where the number is from.
        source: String,
    },
}

pub(super) fn check_policy(
    findings: &mut Findings<'_>,
    at: &Located,
    written: &PolicyWritten,
) -> Policy {
    let Some(refuse) = &written.refuse else { return Policy::default() };
    for (index, evidence) in refuse.iter().enumerate() {
        if refuse[..index].contains(evidence) {
            findings.add(at.field("refuse").item(index), "the same evidence again", "each once");
        }
    }
    let mut refuse = refuse.clone();
    refuse.sort_unstable();
    Policy { refuse }
}

pub(super) fn check_limits(
    findings: &mut Findings<'_>,
    at: &Located,
    written: &LimitsWritten,
) -> Limits {
    let default = Limits::default();
    let mut limit = |field: &str, value: Option<i64>, default: u64, high: i64| {
        value.map_or(default, |value| findings.within(at.field(field), value, 1, high))
    };
    Limits {
        compile_secs: limit("compile_secs", written.compile_secs, default.compile_secs, 600),
        launch_secs: limit("launch_secs", written.launch_secs, default.launch_secs, 3600),
        device_bytes: limit("device_bytes", written.device_bytes, default.device_bytes, 1 << 50),
        virtual_steps: limit(
            "virtual_steps",
            written.virtual_steps,
            default.virtual_steps,
            1_000_000_000_000_000,
        ),
    }
}

pub(super) fn check_baselines(
    findings: &mut Findings<'_>,
    at: &Located,
    written: &[BaselineWritten],
    workloads: &[WorkloadWritten],
    (kernels, tensors): (&[String], &[Tensor]),
) -> Vec<Baseline> {
    let mut baselines = Vec::new();
    for (index, baseline) in written.iter().enumerate() {
        let place = at.item(index);
        baselines.push(match baseline {
            BaselineWritten::Kernel(name) => {
                if !kernels.contains(name) {
                    let known: Vec<&str> = kernels.iter().map(String::as_str).collect();
                    findings.unknown(place.item(0), "kernel", name, &known);
                }
                Baseline::Kernel(name.clone())
            }
            BaselineWritten::Library(library) => {
                Baseline::CublasGemm(library::check(findings, place.item(0), library, tensors))
            }
            BaselineWritten::Pytorch(name) => {
                findings.file_name(place.item(0), name);
                Baseline::Pytorch(PathBuf::from(name))
            }
            BaselineWritten::Recorded { name, device, workload, seconds, source } => {
                for (field, text) in [("name", name), ("device", device), ("source", source)] {
                    findings.line(place.field(field), text);
                }
                if !workloads.iter().any(|known| known.name == *workload) {
                    let known: Vec<&str> =
                        workloads.iter().map(|known| known.name.as_str()).collect();
                    findings.unknown(place.field("workload"), "workload", workload, &known);
                }
                if !(seconds.is_finite() && *seconds > 0.0) {
                    findings.add(
                        place.field("seconds"),
                        format!("{seconds} seconds"),
                        "a finite time above 0",
                    );
                }
                let (name, device, workload) = (name.clone(), device.clone(), workload.clone());
                Baseline::Recorded {
                    name,
                    device,
                    workload,
                    seconds: *seconds,
                    source: source.clone(),
                }
            }
        });
    }
    baselines
}
