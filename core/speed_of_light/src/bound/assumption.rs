//! Assumptions of a bound, each a value with a sentence.

use lightbench_device::Pipe;
use lightbench_project::manifest::OperationKind;
use lightbench_units::Bytes;

use super::Limit;
use crate::permitted_pipes::PipeChoice;

/// Something that has to hold.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Assumption {
    /// Bytes are counted by tensors.
    #[error("every input is read once and every output written once")]
    EveryInputOnce,
    /// Bytes are counted by the project.
    #[error(
        "the project's formula gives the bytes read; all bytes of the outputs count as written"
    )]
    BytesByFormula,
    /// Operations are counted by the project.
    #[error("no algorithm needs fewer operations than the project states")]
    OperationsAsStated,
    /// A cold start.
    #[error("no cache holds data of the workload at the start")]
    EmptyCache,
    /// A warm start.
    #[error("L2 holds up to {0} from the previous launch")]
    WarmCache(Bytes),
    /// A warm start on a device without a known L2.
    #[error("memory is left out: the size of L2 is unknown")]
    WarmCacheUnknown,
    /// Measured.
    #[error("up to {0} of the outputs stay in L2 after the kernel ends (measured)")]
    Retained(Bytes),
    /// Not measured, but L2 has a size.
    #[error(
        "up to {0} of the outputs (all of L2) may stay in L2 after the kernel ends: not calibrated"
    )]
    RetainedAtMost(Bytes),
    /// Not measured, and L2 has no known size.
    #[error("the outputs are left out: the amount that L2 retains is unknown")]
    RetainedUnknown,
    /// No launch floor.
    #[error("the launch overhead is left out: not calibrated")]
    NoLaunchFloor,
    /// A rate that neither the device sheet nor a calibration states.
    #[error("{0} is left out: its rate is unknown")]
    UnknownRate(&'static str),
    /// A stated peak that a calibration refutes.
    #[error(
        "{0} is left out: the calibration of this device exceeds the stated peak, which is suspect"
    )]
    SuspectPeak(Limit),
    /// A kind of operation from which no bound follows.
    #[error("{} are left out: {why}", name(*kind))]
    LeftOut {
        /// The kind.
        kind: OperationKind,
        /// Why.
        why: &'static str,
    },
    /// The pipe that the physical bound takes.
    #[error("{} take {} on {}: {}", name(*kind), products(way.products), way.pipe, way.because)]
    OnePipe {
        /// The kind.
        kind: OperationKind,
        /// How.
        way: PipeChoice,
    },
    /// The pipe that the method names.
    #[error("{} run on {pipe}, which the task's precision names", name(*kind))]
    Named {
        /// The kind.
        kind: OperationKind,
        /// The pipe.
        pipe: Pipe,
    },
    /// No permitted pipe has a known rate.
    #[error("{} are left out: no pipe with a known rate executes them", name(*.0))]
    NoKnownPipe(OperationKind),
    /// A device-sheet value is used instead of a measurement.
    #[error("{0} is not calibrated: the value of the device sheet is used")]
    NotMeasured(Limit),
}

const fn name(kind: OperationKind) -> &'static str {
    match kind {
        OperationKind::Arithmetic => "sums and products",
        OperationKind::Contraction => "matrix products",
        OperationKind::Special => "functions",
        OperationKind::Integer => "integer operations",
        OperationKind::Compare => "comparisons",
    }
}

fn products(count: u32) -> String {
    if count == 1 { "one operation".to_owned() } else { format!("{count} operations each") }
}
