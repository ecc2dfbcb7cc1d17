//! The document of `lightbench timeline`: what the warps of a block do at each time, as modelled.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::timeline::{WarpRole, bytes_in_flight, name, products_busy};
use crate::units::Hertz;
use crate::verify::device_session::timelines::LaunchTimeline;
use crate::virtual_gpu::cost::time::{Timeline, WarpTimeline};

/// The timelines of the launches of a kernel.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TimelineReport {
    /// The schema of this document.
    pub schema: TimelineSchema,
    /// The kernel.
    pub kernel: String,
    /// The workload.
    pub workload: String,
    /// The device sheet whose rates the model uses.
    pub device: String,
    /// The first launches of the kernel, in order.
    pub launches: Vec<LaunchTimelineReport>,
}

/// The schema of a [`TimelineReport`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum TimelineSchema {
    /// The first schema.
    #[serde(rename = "lightbench.timeline/1")]
    V1,
}

/// The first block of a launch, beside the other blocks that reside on its multiprocessor.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LaunchTimelineReport {
    /// The symbol of the launched function.
    pub symbol: String,
    /// The timeline; null if the launch is not modelled.
    pub block: Option<BlockTimeline>,
    /// Why the launch is not modelled.
    pub withheld: Option<String>,
}

/// What a block does. Times are modelled, and count from its start.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BlockTimeline {
    /// The time at which its last warp ends.
    pub time_s: f64,
    /// The mean number of bytes of asynchronous copies into shared memory under way.
    pub mean_bytes_in_flight: u64,
    /// The fraction of the time in which asynchronous products run.
    pub products_busy_fraction: f64,
    /// The warps.
    pub warps: Vec<ReportedWarp>,
    /// The asynchronous copies into shared memory, by start.
    pub copies: Vec<ReportedCopy>,
    /// The asynchronous products, by start.
    pub products: Vec<ReportedProduct>,
}

/// A warp.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ReportedWarp {
    /// Its index in the block.
    pub warp: u32,
    /// Whether it issues asynchronous copies into shared memory or products: `copies`, `multiplies`, `copies and multiplies`, or `computes`
    /// if it issues neither.
    pub role: String,
    /// What it does, one after the other.
    pub spans: Vec<ReportedSpan>,
}

/// What a warp does for some time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ReportedSpan {
    /// The start.
    pub start_s: f64,
    /// The end.
    pub end_s: f64,
    /// What it does: `runs`, or what it waits for.
    pub activity: String,
}

/// An asynchronous copy into shared memory.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ReportedCopy {
    /// The warp that issued it.
    pub warp: u32,
    /// When it was issued.
    pub start_s: f64,
    /// When all bytes have arrived.
    pub end_s: f64,
    /// Its bytes, in whole sectors of 32.
    pub bytes: u64,
}

/// An asynchronous product.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ReportedProduct {
    /// The warp that issued it.
    pub warp: u32,
    /// When the tensor cores start it.
    pub start_s: f64,
    /// When they have finished it.
    pub end_s: f64,
}

impl LaunchTimelineReport {
    /// The report of a launch.
    #[must_use]
    pub fn new(launch: &LaunchTimeline) -> Self {
        let (block, withheld) = match &launch.timeline {
            Ok(timeline) => (Some(block(timeline)), None),
            Err(reason) => (None, Some(reason.to_string())),
        };
        Self { symbol: launch.kernel.clone(), block, withheld }
    }
}

fn block(timeline: &Timeline) -> BlockTimeline {
    let Hertz(clock) = timeline.clock;
    let reported = |warp: &WarpTimeline| ReportedWarp {
        warp: warp.warp,
        role: WarpRole::from_warp(warp).word().to_owned(),
        spans: warp
            .spans
            .iter()
            .map(|span| ReportedSpan {
                start_s: span.start / clock,
                end_s: span.end / clock,
                activity: name(span.activity).to_owned(),
            })
            .collect(),
    };
    BlockTimeline {
        time_s: timeline.cycles / clock,
        mean_bytes_in_flight: bytes_in_flight(timeline).0,
        products_busy_fraction: products_busy(timeline).0,
        warps: timeline.warps.iter().map(reported).collect(),
        copies: timeline
            .copies
            .iter()
            .map(|copy| ReportedCopy {
                warp: copy.warp,
                start_s: copy.start / clock,
                end_s: copy.end / clock,
                bytes: copy.bytes.0,
            })
            .collect(),
        products: timeline
            .products
            .iter()
            .map(|product| ReportedProduct {
                warp: product.warp,
                start_s: product.start / clock,
                end_s: product.end / clock,
            })
            .collect(),
    }
}
