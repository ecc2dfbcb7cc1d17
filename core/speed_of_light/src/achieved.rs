//! What a kernel achieves: the rate at which it does the work of its task, against the ceiling of a memory or a pipe.
//!
//! The rate counts all bytes and operations of the task. The bound counts the least that any correct kernel must do, so that
//! a kernel at 84 % of the memory bandwidth can be at 74 % of its bound: L2 may retain a part of the outputs.

use std::fmt;

use lightbench_device::Pipe;
use lightbench_units::{BytesPerSecond, FlopsPerSecond, Fraction, Seconds};

use super::bound::{Amount, Bound, Limit};
use super::calibration::MemoryPath;
use super::ceilings::{Ceiling, Ceilings};
use super::minimal_work::MinimalWork;

/// A task that reads or writes at least this fraction of its bytes is compared with reading or writing alone.
const ONE_WAY: f64 = 0.9;

/// The achieved rate of the resource that the task uses longest.
#[derive(Clone, Debug, PartialEq)]
pub enum Achieved {
    /// Bytes of the task through device memory.
    Memory {
        /// Bytes of all inputs and outputs, divided by the time.
        rate: BytesPerSecond,
        /// The highest rate.
        ceiling: BytesPerSecond,
        /// The measured way through memory that the task resembles; `None` for the peak of a device sheet.
        path: Option<MemoryPath>,
    },
    /// Operations of the task on a pipe.
    Pipe {
        /// Operations divided by the time.
        rate: FlopsPerSecond,
        /// The highest rate.
        ceiling: Ceiling<FlopsPerSecond>,
        /// The pipe.
        pipe: Pipe,
    },
}

impl Achieved {
    /// What a time achieves; `bound` decides which resource the task uses longest. `None` if the bound rests on no memory
    /// and no pipe with a known rate.
    #[must_use]
    pub fn new(
        work: &MinimalWork,
        bound: &Bound,
        ceilings: &Ceilings,
        time: Seconds,
    ) -> Option<Self> {
        let memory = memory_ceiling(work, ceilings);
        let pipes = bound.parts.iter().filter_map(|part| match (part.limit, &part.amount) {
            (Limit::Pipe(pipe), Amount::Computed(count, ceiling)) => {
                Some((part.time, pipe, *count, ceiling))
            }
            (Limit::Launch | Limit::Dram | Limit::L2 | Limit::Special | Limit::Pipe(_), _) => None,
        });
        let slowest = pipes.max_by(|a, b| a.0.0.total_cmp(&b.0.0));
        let moving = memory.map(|(ceiling, _)| work.moved() / ceiling);
        match (memory, slowest) {
            (_, Some((computing, pipe, count, ceiling)))
                if moving.is_none_or(|moving| computing > moving) =>
            {
                Some(Self::Pipe { rate: count / time, ceiling: ceiling.clone(), pipe })
            }
            (Some((ceiling, path)), _) if work.moved().0 > 0 => {
                Some(Self::Memory { rate: work.moved() / time, ceiling, path })
            }
            (_, _) => None,
        }
    }

    /// The rate divided by the ceiling.
    #[must_use]
    pub fn fraction(&self) -> Fraction {
        match self {
            Self::Memory { rate, ceiling, .. } => *rate / *ceiling,
            Self::Pipe { rate, ceiling, .. } => *rate / ceiling.value,
        }
    }

    /// The rate alone: `3.41 TB/s`.
    #[must_use]
    pub fn rate(&self) -> String {
        match self {
            Self::Memory { rate, .. } => rate.to_string(),
            Self::Pipe { rate, .. } => rate.to_string(),
        }
    }

    /// The ceiling: `the 4.19 TB/s of a measured copy`, `DRAM's 4.81 TB/s (sheet)`.
    #[must_use]
    pub fn ceiling(&self) -> String {
        match self {
            Self::Memory { ceiling, path: Some(path), .. } => {
                let way = match path {
                    MemoryPath::DramRead => "reading",
                    MemoryPath::DramWrite => "writing",
                    MemoryPath::DramCopy => "copying",
                    MemoryPath::L2Read | MemoryPath::SharedRead => "cached reading",
                };
                format!("{ceiling}, measured by {way}")
            }
            Self::Memory { ceiling, path: None, .. } => format!("{ceiling}, DRAM by the sheet"),
            Self::Pipe { ceiling, pipe, .. } => {
                let origin = if ceiling.origin.is_measured() { "measured" } else { "by the sheet" };
                format!("{}, {pipe} {origin}", ceiling.value)
            }
        }
    }
}

/// `3.41 TB/s (81.4 % of 4.19 TB/s, measured by copying)`.
impl fmt::Display for Achieved {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} ({} of {})", self.rate(), self.fraction(), self.ceiling())
    }
}

/// The measured rate of the way through memory that the task resembles, else the peak of the sheet.
fn memory_ceiling(
    work: &MinimalWork,
    ceilings: &Ceilings,
) -> Option<(BytesPerSecond, Option<MemoryPath>)> {
    let read = (work.read / work.moved()).0;
    let path = if read >= ONE_WAY {
        MemoryPath::DramRead
    } else if read <= 1.0 - ONE_WAY {
        MemoryPath::DramWrite
    } else {
        MemoryPath::DramCopy
    };
    match ceilings.dram_paths.get(&path) {
        Some(measured) => Some((*measured, Some(path))),
        None => ceilings.dram.as_ref().map(|peak| (peak.value, None)),
    }
}
