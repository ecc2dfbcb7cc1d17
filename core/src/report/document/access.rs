//! The documents of `lightbench access`: what the threads of a warp access.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::access::{AccessPicture, Site, Units};

/// The instructions of a kernel that access memory, in one warp.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AccessesReport {
    /// The schema of this document.
    pub schema: AccessesSchema,
    /// The kernel.
    pub kernel: String,
    /// The workload.
    pub workload: String,
    /// Each accessing place of the source.
    pub sites: Vec<AccessSite>,
}

/// The schema of an [`AccessesReport`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum AccessesSchema {
    /// The first schema.
    #[serde(rename = "lightbench.accesses/1")]
    V1,
}

/// A place of the source that accesses memory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AccessSite {
    /// The line of the kernel file, from 1; null without line information.
    pub line: Option<u32>,
    /// The column.
    pub column: u32,
    /// The line of the PTX, from 1.
    pub ptx_line: u32,
    /// The access in words.
    pub access: String,
    /// How often the warp executed it.
    pub executions: usize,
}

/// One execution of the accesses of a source line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AccessReport {
    /// The schema of this document.
    pub schema: AccessSchema,
    /// The kernel.
    pub kernel: String,
    /// The workload.
    pub workload: String,
    /// The line of the kernel file, from 1.
    pub line: u32,
    /// The execution, from 1.
    pub execution: usize,
    /// Each access of the line.
    pub accesses: Vec<WarpAccessReport>,
}

/// The schema of an [`AccessReport`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum AccessSchema {
    /// The first schema.
    #[serde(rename = "lightbench.access/1")]
    V1,
}

/// One access of a warp.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WarpAccessReport {
    /// The access in words.
    pub access: String,
    /// The line of the PTX, from 1.
    pub ptx_line: u32,
    /// Bytes per thread.
    pub bytes: u32,
    /// The byte offset of each thread's access from the start of the buffer or of shared memory; null for inactive
    /// threads.
    pub lanes: [Option<u64>; 32],
    /// The efficiency in a sentence.
    pub sentence: String,
    /// The sectors or banks of the access.
    pub units: AccessUnits,
}

/// The sectors or banks of an access.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum AccessUnits {
    /// Sectors of global memory.
    Sectors {
        /// The accessed sectors, ascending.
        sectors: Vec<AccessedSector>,
        /// The least number of sectors for the distinct bytes requested.
        least_sectors: u64,
        /// The fraction of the moved bytes that are requested.
        efficiency: f64,
    },
    /// Banks of shared memory.
    Banks {
        /// The largest number of distinct words in one bank.
        ways: u64,
        /// The number of passes.
        passes: u64,
        /// The number of passes without conflicts.
        least_passes: u64,
    },
}

/// One sector.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AccessedSector {
    /// The index from the start of the buffer; negative before it.
    pub number: i64,
    /// The threads that access it, one bit each.
    pub lanes: u32,
    /// The number of requested bytes.
    pub bytes_used: u32,
}

impl From<&Site> for AccessSite {
    fn from(site: &Site) -> Self {
        Self {
            line: site.line,
            column: site.column,
            ptx_line: site.ptx_line,
            access: site.title.clone(),
            executions: site.executions.len(),
        }
    }
}

impl WarpAccessReport {
    /// One access at a site.
    #[must_use]
    pub fn new(site: &Site, picture: &AccessPicture) -> Self {
        Self {
            access: site.title.clone(),
            ptx_line: site.ptx_line,
            bytes: picture.bytes,
            lanes: picture.lanes,
            sentence: picture.sentence(),
            units: (&picture.units).into(),
        }
    }
}

impl From<&Units> for AccessUnits {
    fn from(units: &Units) -> Self {
        match units {
            Units::Sectors(sectors) => Self::Sectors {
                sectors: sectors
                    .touched
                    .iter()
                    .map(|sector| AccessedSector {
                        number: sector.number,
                        lanes: sector.lanes,
                        bytes_used: sector.used.count_ones(),
                    })
                    .collect(),
                least_sectors: sectors.least,
                efficiency: sectors.efficiency.0,
            },
            Units::Banks(banks) => {
                Self::Banks { ways: banks.ways, passes: banks.passes, least_passes: banks.least }
            }
        }
    }
}
