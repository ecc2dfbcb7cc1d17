//! Runs a kernel on the virtual GPU with the inputs of one workload, and groups the accesses of one warp by line.

use lightbench_primitives::cancellation::Cancellation;

use super::picture::title;
use crate::compile::Compiler;
use crate::project::{Project, Purpose, Workload};
use crate::verify::compiled_candidate::Origins;
use crate::verify::device_session::accesses::{LaunchAccesses, accesses};
use crate::verify::fault_report::CodePlace;
use crate::virtual_gpu::machine::{AccessedMemory, WarpAccess, WarpId};
use crate::virtual_program::{ProgramRequest, VirtualProgram, VirtualProgramError};

/// The largest number of accesses kept for one launch.
const MOST_ACCESSES: usize = 4096;

/// The accesses of a warp.
#[derive(Clone, Debug, PartialEq)]
pub struct Recording {
    /// The workload.
    pub workload: String,
    /// Which warp.
    pub warp: WarpId,
    /// By line and instruction, ascending.
    pub sites: Vec<Site>,
    /// Accesses that were not kept.
    pub left_out: u64,
}

/// One place in the code that accesses memory.
#[derive(Clone, Debug, PartialEq)]
pub struct Site {
    /// The line in the kernel's own file; `None` if the line table has none.
    pub line: Option<u32>,
    /// The column, which distinguishes accesses of one line; an unrolled loop has several instructions for one column.
    pub column: u32,
    /// The PTX line of its first instruction.
    pub ptx_line: u32,
    /// The title: `load of x`.
    pub title: String,
    /// Each time that the warp executed it, in order; at least once.
    pub executions: Vec<WarpAccess>,
}

/// Why nothing can be seen.
#[derive(Debug, thiserror::Error)]
pub enum AccessError {
    /// The kernel cannot be run.
    #[error(transparent)]
    Program(#[from] VirtualProgramError),
    /// No launch has such a warp.
    #[error("no launch has a warp {} in block {:?}", .0.warp, .0.block)]
    NoSuchWarp(WarpId),
}

/// Compiles and runs the kernel, and records the accesses of the warp.
///
/// # Errors
/// The kernel does not compile or cannot run, or no launch has the warp.
pub fn record(
    compiler: &mut Compiler,
    request: &ProgramRequest<'_>,
    warp: WarpId,
    cancellation: &Cancellation,
) -> Result<Recording, AccessError> {
    let program = VirtualProgram::compile(compiler, request, cancellation)?;
    let launches = accesses(&program.run(), (warp, MOST_ACCESSES));
    let launches = launches.map_err(VirtualProgramError::from)?;
    if launches.is_empty() {
        return Err(AccessError::NoSuchWarp(warp));
    }
    let left_out = launches.iter().map(|launch| launch.accesses.left_out).sum();
    let sites = sites(&program.origins, launches);
    Ok(Recording { workload: request.workload.name.clone(), warp, sites, left_out })
}

/// The default workload for recordings: the largest one for verification, which a virtual device runs quickly.
#[must_use]
pub fn usual_workload(project: &Project) -> Option<&Workload> {
    let elements = |workload: &&Workload| -> u64 {
        workload.extents.iter().map(|extent| extent.elements).sum()
    };
    let verified = project.workloads.iter().filter(|each| each.purpose == Purpose::Verify);
    verified.max_by_key(elements)
}

fn sites(origins: &Origins, launches: Vec<LaunchAccesses>) -> Vec<Site> {
    let mut sites: Vec<Site> = Vec::new();
    for access in launches.into_iter().flat_map(|launch| launch.accesses.all) {
        let object = access.object.as_ref().map(|(name, _)| name.as_str());
        let title = title(access.kind, object, access.memory == AccessedMemory::Shared);
        let ptx_line = access.place.line;
        let (line, column) = own_location(origins, &access);
        let is_it = |site: &&mut Site| match line {
            Some(_) => (site.line, site.column) == (line, column) && site.title == title,
            None => site.line.is_none() && site.ptx_line == ptx_line && site.title == title,
        };
        match sites.iter_mut().find(is_it) {
            Some(site) => site.executions.push(access),
            None => sites.push(Site { line, column, ptx_line, title, executions: vec![access] }),
        }
    }
    sites.sort_by_key(|site| (site.line.unwrap_or(u32::MAX), site.ptx_line));
    sites
}

/// Line and column of the kernel's own file.
fn own_location(origins: &Origins, access: &WarpAccess) -> (Option<u32>, u32) {
    let source = access.source_line.clone().map(|line| (line.file, line.line, line.column));
    let mut place = CodePlace { ptx: (access.place.line, access.place.column), source };
    origins.settle(&mut place);
    match place.source.filter(|(file, ..)| *file == origins.file) {
        Some((_, line, column)) => (Some(line), column),
        None => (None, 0),
    }
}

impl Recording {
    /// The lines with accesses, ascending.
    #[must_use]
    pub fn lines(&self) -> Vec<u32> {
        let mut lines: Vec<u32> = self.sites.iter().filter_map(|site| site.line).collect();
        lines.dedup();
        lines
    }

    /// The accesses of a line.
    pub fn of_line(&self, line: u32) -> impl Iterator<Item = &Site> {
        self.sites.iter().filter(move |site| site.line == Some(line))
    }
}
