//! Models the time of a launch with the rates of a device sheet: a part of the grid runs and is counted, and a model
//! extrapolates.
//!
//! Two parts of different size show what blocks share: sectors whose number does not grow with the part are shared by
//! all blocks; the others grow with the grid.

use std::num::NonZeroU64;

use lightbench_units::Bytes;
use lightbench_virtual_gpu::cost::Counters;
use lightbench_virtual_gpu::cost::expansion::Expansion;
use lightbench_virtual_gpu::cost::time::{
    Assumption, BAND, Bound, LaunchShape, LaunchStart, LimitingResource, ModelError, Modelled,
    Rates, modelled,
};
use lightbench_virtual_gpu::machine::OnFault;
use lightbench_virtual_gpu::{
    BlockSelection, Checks, FaultKind, LaunchConfig, LaunchError, Machine, Module, Races, Schedule,
    TensorModel, TraceUse,
};

use super::sheet::DeviceSheet;
use super::timing::Residence;

/// Blocks of the part that runs first.
const FEW: NonZeroU64 = match NonZeroU64::new(4) {
    Some(few) => few,
    None => NonZeroU64::MIN,
};

/// Minimum blocks of another part that is larger. Where these would have too many steps, because each block computes
/// many tiles, the other part is one cluster.
const MORE: u64 = 6;

/// Maximum blocks of the larger part.
const MANY: u64 = 48;

/// Blocks that are recorded step by step.
pub(super) const TRACED: u32 = 4;

/// Steps that the larger part should have: some tenths of a second.
const ENOUGH_STEPS: u64 = 1 << 22;

/// Maximum steps of a part: a second or two.
const MOST_STEPS: u64 = 1 << 24;

/// Threads of a warp.
const WARP: u32 = 32;

/// A launch that is modelled.
pub(super) struct Grid {
    pub(super) config: LaunchConfig,
    pub(super) residence: Option<Residence>,
    /// Bytes of all buffers: no grid moves more of them at least.
    pub(super) room: Bytes,
    pub(super) begins: LaunchStart,
}

/// Models one launch and returns its counters. Afterwards the buffers hold only a part of its result, so faults of the
/// part are not reported.
///
/// # Errors
/// The launch is invalid.
pub(super) fn launch(
    machine: &mut Machine,
    kernel: (&Module, &str),
    grid: &Grid,
    sheet: &DeviceSheet,
) -> Result<ModelledLaunch, LaunchError> {
    let withheld = |reason| Ok(ModelledLaunch::withheld(ModelError::Nothing(reason)));
    let Some(rates) = sheet.rates() else {
        return withheld("the sheet does not state multiprocessors and clock");
    };
    let Some(residence) = grid.residence else {
        return withheld("the compiler does not report how many blocks are resident");
    };
    let mut counting = GridCounter { machine, kernel, grid, sheet, residence };
    let (counters, dram) = match counting.whole() {
        Ok(counted) => counted,
        Err(CountingError::Refused(error)) => return Err(error),
        Err(CountingError::Faulted(FaultKind::StepLimit)) => {
            return withheld("a part of the grid exceeds the step limit");
        }
        Err(CountingError::Faulted(_)) => {
            return withheld("a part of the grid faults when it runs alone");
        }
        Err(CountingError::Nothing) => {
            return Ok(ModelledLaunch::withheld(ModelError::NotCounted));
        }
    };
    let threads = grid.config.block.iter().fold(1_u32, |all, side| all.saturating_mul(*side));
    let shape = LaunchShape {
        blocks: counters.blocks.all,
        warps_per_block: threads.div_ceil(WARP),
        resident_blocks: residence.blocks,
        dram,
        begins: grid.begins,
    };
    let modelled = if grid.config.cooperative {
        // The number of polls of a waiting block depends on the simulated order, which no GPU has, so even the bound
        // would be wrong.
        Modelled::Withheld(ModelError::Nothing("its blocks wait for each other"))
    } else {
        modelled_from(&counters, &shape, &rates, sheet)
    };
    Ok(ModelledLaunch { modelled, counted: Some((counters, shape)) })
}

/// The modelled time from counters of a launch that does not compute products.
fn modelled_from(
    counters: &Counters,
    shape: &LaunchShape,
    rates: &Rates,
    sheet: &DeviceSheet,
) -> Modelled {
    let capability = sheet.capability.compute_capability;
    let expansion = Expansion::from_compute_capability((capability.0, capability.1));
    let mut modelled = modelled(counters, shape, rates, expansion);
    if let Modelled::Bound(bound) = &mut modelled
        && counters.total.tensor_multiply_adds() > 0
    {
        bound.assumptions.push(Assumption::ProductsNotComputed);
    }
    modelled
}

/// A modelled launch and its counters.
pub(super) struct ModelledLaunch {
    pub(super) modelled: Modelled,
    pub(super) counted: Option<(Counters, LaunchShape)>,
}

impl ModelledLaunch {
    const fn withheld(reason: ModelError) -> Self {
        Self { modelled: Modelled::Withheld(reason), counted: None }
    }

    /// The modelled time of a repetition: if all its data fit into L2, the repetition finds them there.
    pub(super) fn repeated(&self, sheet: &DeviceSheet) -> Option<Modelled> {
        let (counters, shape) = self.counted.as_ref()?;
        let least = counters.dram_read().least + counters.dram_written().least;
        let stays = sheet.l2.get().is_some_and(|l2| shape.dram.unwrap_or(least) <= l2);
        let dram = if stays { Some(Bytes(0)) } else { shape.dram };
        let shape = LaunchShape { dram, begins: LaunchStart::AfterOthers, ..*shape };
        Some(modelled_from(counters, &shape, &sheet.rates()?, sheet))
    }
}

/// Models setting a buffer: its bytes at the rate of memory.
pub(super) fn fill(sheet: &DeviceSheet, bytes: Bytes) -> Modelled {
    let (Some(rates), Some(dram)) = (sheet.rates(), sheet.dram_bandwidth.get()) else {
        let reason = "the sheet does not state the memory bandwidth";
        return Modelled::Withheld(ModelError::Nothing(reason));
    };
    let work = bytes / dram;
    let limit =
        if rates.launch >= work { LimitingResource::Launch } else { LimitingResource::Dram };
    Modelled::Bound(Bound {
        time: rates.launch + work,
        limit,
        waits: None,
        band: BAND,
        parts: vec![(LimitingResource::Dram, work)],
        waves: 0.0,
        assumptions: vec![Assumption::Launch(rates.launch)],
    })
}

/// Why there are no counters.
enum CountingError {
    Refused(LaunchError),
    Faulted(FaultKind),
    Nothing,
}

struct GridCounter<'a> {
    machine: &'a mut Machine,
    kernel: (&'a Module, &'a str),
    grid: &'a Grid,
    sheet: &'a DeviceSheet,
    residence: Residence,
}

impl GridCounter<'_> {
    /// Blocks of the grid.
    fn blocks(&self) -> u64 {
        let sides = self.grid.config.grid.iter();
        sides.fold(1_u64, |all, side| all.saturating_mul(u64::from(*side)))
    }

    /// Counters of the grid or of a part; with the estimated bytes of the whole grid if only a part ran.
    fn whole(&mut self) -> Result<(Counters, Option<Bytes>), CountingError> {
        if self.blocks() <= 2 * FEW.get() {
            return Ok((self.count(BlockSelection::All, TRACED)?.0, None));
        }
        // Recorded, because it is the larger part where blocks are long.
        let (first, steps) = match self.count(BlockSelection::Sampled { most: FEW }, TRACED) {
            // Blocks that may wait for each other run all or not at all.
            Err(CountingError::Refused(LaunchError::Sample(_))) => {
                return Ok((self.count(BlockSelection::All, TRACED)?.0, None));
            }
            first => first?,
        };
        let most = ENOUGH_STEPS * first.blocks.run / steps.max(1);
        let (smaller, larger) = if most < MORE {
            let one = BlockSelection::Range { first: 0, count: NonZeroU64::MIN };
            (self.count(one, 0)?.0, first)
        } else {
            let most = NonZeroU64::new(most.min(MANY)).unwrap_or(FEW);
            let (larger, _) = self.count(BlockSelection::Sampled { most }, TRACED)?;
            (first, larger)
        };
        let dram = extrapolated(&smaller, &larger).min(self.grid.room);
        Ok((larger, Some(dram)))
    }

    /// Counters of a part of the grid, and its steps.
    fn count(
        &mut self,
        blocks: BlockSelection,
        traced: u32,
    ) -> Result<(Counters, u64), CountingError> {
        let caches = match blocks {
            BlockSelection::All => self.sheet.cache_sizes(self.residence.shared),
            BlockSelection::Sampled { .. } | BlockSelection::Range { .. } => None,
        };
        let config = LaunchConfig {
            checks: Checks { uninitialized: false, races: Races::Ignored },
            schedule: Schedule::Deterministic,
            on_fault: OnFault::Stop,
            counters: true,
            max_steps: MOST_STEPS,
            // Results are not used, and rarely decide what a kernel does.
            tensor: TensorModel::NotComputed,
            blocks,
            caches,
            trace: (traced > 0).then(|| self.trace(traced)),
            ..self.grid.config.clone()
        };
        let (module, kernel) = self.kernel;
        let report =
            self.machine.launch(module, kernel, &config).map_err(CountingError::Refused)?;
        match report.faults.first() {
            Some(fault) => Err(CountingError::Faulted(fault.kind)),
            None => {
                let counters = report.counters.ok_or(CountingError::Nothing)?;
                Ok((counters, report.steps))
            }
        }
    }

    /// The recorded accesses of this many blocks.
    fn trace(&self, blocks: u32) -> TraceUse {
        self.sheet.trace_use((blocks, self.blocks()), self.residence)
    }
}

/// Bytes to and from memory of the whole grid, at least, as two parts of it suggest.
fn extrapolated(smaller: &Counters, larger: &Counters) -> Bytes {
    let bytes =
        |counters: &Counters| counters.dram_read().least.0 + counters.dram_written().least.0;
    let (known, more) = (bytes(larger), bytes(larger).saturating_sub(bytes(smaller)));
    let (few, many, all) = (smaller.blocks.run, larger.blocks.run, larger.blocks.all);
    let blocks = u128::from(many.saturating_sub(few).max(1));
    let rest = u128::from(more) * u128::from(all.saturating_sub(many)) / blocks;
    Bytes(known.saturating_add(u64::try_from(rest).unwrap_or(u64::MAX)))
}
