//! Modelled time of a launch: a lower bound on a device, computed from the counters of the virtual GPU.
//!
//! Inputs are the counters of the launch, the registers and the shared memory of the machine code, and the device sheet. If
//! one is missing, the error names it.

use lightbench_device::{DeviceSheet, Outcome};
use lightbench_virtual_gpu::cost::expansion::Expansion;
use lightbench_virtual_gpu::cost::time;
use lightbench_virtual_gpu::cost::time::{Bound, LaunchShape, LaunchStart, ModelError, Modelled};

use super::KernelFacts;
use super::facts::demand;
use super::job::Build;
use super::occupancy::{Obstacle, Occupancy, Resident, occupancy};

/// A launch of a compiled kernel.
#[derive(Clone, Copy, Debug)]
pub struct CompiledLaunch<'a> {
    /// The compiled kernel.
    pub kernel: &'a KernelFacts,
    /// How it was compiled.
    pub build: Build,
    /// Blocks.
    pub grid: [u32; 3],
    /// Threads of a block.
    pub block: [u32; 3],
    /// Bytes of shared memory beyond what the kernel declares.
    pub dynamic_shared: u64,
    /// The preferred share of shared memory in percent, if the launch states one.
    pub carveout: Option<u8>,
}

/// A bound, and the resident blocks per multiprocessor from which it was computed.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelledTime {
    /// The bound and the band above it.
    pub bound: Bound,
    /// Resident blocks and warps of a multiprocessor.
    pub resident: Resident,
}

/// Why a launch has no modelled time.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum NotModelled {
    /// The launch had a fault, so that its counters are incomplete.
    #[error("the launch had a fault, so its counters give no modelled time")]
    Faulted,
    /// The PTX was not assembled, so that registers and barriers are unknown.
    #[error(
        "occupancy unknown: PTX names neither the registers nor the barriers of the machine code, and this \
         file was not assembled"
    )]
    NotAssembled,
    /// The counted build differs from the build that is timed.
    #[error("no modelled time for a build without optimisation")]
    AsWritten,
    /// The device sheet lacks values for the occupancy or the rates.
    #[error("the device sheet does not state {}", .0.join(", "))]
    Sheet(Vec<&'static str>),
    /// Not one block fits.
    #[error("no block fits on a multiprocessor: {}", lines(.0))]
    NoBlockFits(Vec<Obstacle>),
    /// The model cannot give a time.
    #[error(transparent)]
    Withheld(#[from] ModelError),
}

/// The modelled time of a launch that was counted.
///
/// # Errors
///
/// A missing input, or the reason of the model.
pub fn modelled_time(
    outcome: &Outcome,
    launched: &CompiledLaunch<'_>,
    sheet: &DeviceSheet,
) -> Result<ModelledTime, NotModelled> {
    if !outcome.faults.is_empty() {
        return Err(NotModelled::Faulted);
    }
    let counters = outcome.counters.as_ref().ok_or(ModelError::NotCounted)?;
    match launched.build {
        Build::AsWritten => return Err(NotModelled::AsWritten),
        Build::Optimised => {}
    }
    let CompiledLaunch { kernel, grid, block, dynamic_shared, carveout, .. } = *launched;
    let demand =
        demand(kernel, block, dynamic_shared, carveout).ok_or(NotModelled::NotAssembled)?;
    let limits = sheet.capability.sm_limits().map_err(NotModelled::Sheet)?;
    let rates = sheet
        .rates()
        .ok_or_else(|| NotModelled::Sheet(vec!["the number of multiprocessors or their clock"]))?;
    let resident = match occupancy(&limits, &demand) {
        Occupancy::Resident(resident) => resident,
        Occupancy::CannotLaunch(obstacles) => return Err(NotModelled::NoBlockFits(obstacles)),
    };
    let shape = LaunchShape {
        blocks: grid.iter().fold(1, |all, side| all * u64::from(*side)),
        warps_per_block: demand.threads.div_ceil(limits.warp_size),
        resident_blocks: resident.blocks,
        // All blocks were counted.
        dram: None,
        begins: LaunchStart::First,
    };
    let capability = sheet.capability.compute_capability;
    let expansion = Expansion::from_compute_capability((capability.0, capability.1));
    match time::modelled(counters, &shape, &rates, expansion) {
        Modelled::Bound(bound) => Ok(ModelledTime { bound, resident }),
        Modelled::Withheld(reason) => Err(reason.into()),
    }
}

fn lines(obstacles: &[Obstacle]) -> String {
    obstacles.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}

#[cfg(test)]
mod tests {
    use lightbench_units::Bytes;
    use lightbench_virtual_gpu::cost::time::LimitingResource;
    use lightbench_virtual_gpu::cost::{BlocksRun, Counters};

    use super::*;
    use crate::Resources;

    fn kernel(resources: Option<Resources>) -> KernelFacts {
        KernelFacts {
            expression: None,
            symbol: "k".to_owned(),
            parameters: Vec::new(),
            max_threads: None,
            required_threads: None,
            required_cluster: None,
            uses_dynamic_shared: false,
            resources,
            triton: None,
        }
    }

    fn resources(registers: u32) -> Resources {
        let none = Bytes(0);
        Resources {
            registers,
            spill_stores: none,
            spill_loads: none,
            stack: None,
            static_shared: none,
            constant: none,
            module_constant: none,
            barriers: 1,
            code: none,
        }
    }

    /// A launch that read and wrote a gigabyte, and did nothing else.
    fn copied() -> Outcome {
        let mut counters = Counters {
            compulsory_read_bytes: 1 << 30,
            compulsory_written_bytes: 1 << 30,
            ..Counters::default()
        };
        counters.total.warp_instructions = 1 << 20;
        counters.blocks = BlocksRun { run: 1 << 16, all: 1 << 16 };
        Outcome { counters: Some(counters), ..Outcome::default() }
    }

    fn check(
        outcome: &Outcome,
        kernel: &KernelFacts,
        build: Build,
    ) -> Result<ModelledTime, NotModelled> {
        let sheet = DeviceSheet::named("h200").unwrap();
        let grid = [1 << 16, 1, 1];
        let launched = CompiledLaunch {
            kernel,
            build,
            grid,
            block: [256, 1, 1],
            dynamic_shared: 0,
            carveout: None,
        };
        modelled_time(outcome, &launched, sheet)
    }

    #[test]
    fn registers_decide_how_many_blocks_are_resident_and_memory_the_time() {
        let found = check(&copied(), &kernel(Some(resources(64))), Build::Optimised).unwrap();
        assert_eq!(found.resident.blocks, 4);
        assert_eq!(found.bound.limit, LimitingResource::Dram);
        assert!(found.bound.time.0 > f64::from(1 << 31) / 4.8e12, "{:?}", found.bound.time);
        let found = check(&copied(), &kernel(Some(resources(32))), Build::Optimised).unwrap();
        assert_eq!(found.resident.blocks, 8);
    }

    #[test]
    fn a_missing_input_is_named_instead_of_a_number() {
        let assembled = kernel(Some(resources(64)));
        let found = check(&copied(), &kernel(None), Build::Optimised);
        assert_eq!(found, Err(NotModelled::NotAssembled));
        let found = check(&copied(), &assembled, Build::AsWritten);
        assert_eq!(found, Err(NotModelled::AsWritten));
        let found = check(&Outcome::default(), &assembled, Build::Optimised);
        assert_eq!(found, Err(NotModelled::Withheld(ModelError::NotCounted)));
        let fault = lightbench_device::LaunchFault::Reported {
            kind: lightbench_virtual_gpu::FaultKind::OutOfBounds,
            kernel: "k".to_owned(),
            buffer: None,
            details: String::new(),
        };
        let found =
            check(&Outcome { faults: vec![fault], ..copied() }, &assembled, Build::Optimised);
        assert_eq!(found, Err(NotModelled::Faulted));
        let found = check(&copied(), &kernel(Some(resources(300))), Build::Optimised);
        assert!(matches!(found, Err(NotModelled::NoBlockFits(_))), "{found:?}");
    }
}
