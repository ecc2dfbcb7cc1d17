//! What has to hold for a bound to be one, each a value with a sentence.

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
    #[error("the project's formula counts the bytes; what the outputs have is taken as written")]
    BytesByFormula,
    /// Operations are counted by the project.
    #[error("no algorithm needs fewer operations than the project states")]
    OperationsAsStated,
    /// A cold start.
    #[error("no cache holds anything of the workload at first")]
    EmptyCache,
    /// A warm start.
    #[error("L2 holds up to {0} from the launch before")]
    WarmCache(Bytes),
    /// A warm start on a device without a known L2.
    #[error("the size of L2 is not known, so memory is left out")]
    WarmCacheUnknown,
    /// Measured.
    #[error("up to {0} of the outputs stay in L2 beyond the end of the kernel, as measured")]
    Retained(Bytes),
    /// Not measured, but L2 has a size.
    #[error(
        "up to {0} of the outputs, the whole of L2, may stay there beyond the end: not calibrated"
    )]
    RetainedAtMost(Bytes),
    /// Not measured, and L2 has no known size.
    #[error("the outputs are left out: how much of them L2 keeps is not known")]
    RetainedUnknown,
    /// No launch floor.
    #[error("what a launch costs is left out: not calibrated")]
    NoLaunchFloor,
    /// A rate that nobody states.
    #[error("the rate of {0} is not known, and left out")]
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
    #[error("{} are left out: no rate of a pipe for them is known", name(*.0))]
    NoKnownPipe(OperationKind),
    /// The sheet stands in for a measurement.
    #[error("{0} was not calibrated: the sheet's number instead")]
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
