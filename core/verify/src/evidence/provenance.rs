//! Whose code a finding is: the candidate's, or a toolkit header's that it did not ask for.
//!
//! A policy refuses what the candidate does; what a header does on the way to something else is shown only. Hiding
//! behind a header must not work, so the rule is by kind, and everything that is not excused is the candidate's:
//!
//! * Memory that persists, cache persistence, device-side launch, heap and printf are never excused: no header of the
//!   toolkit's uses them unless it is asked to (`cuda::access_property`, `cuda::ptx::createpolicy`), and no header
//!   declares a device variable that it writes; a store into one, by whatever function, is the candidate's.
//! * Clocks and sleeps are excused inside the functions that wait, and only there: `cuda::ptx::get_sreg_clock64` and
//!   `cuda::std::chrono` return the time to the caller. A wait with a time limit reveals the time too and is not
//!   excused.
//! * Assertions and inline assembly are excused wherever a header has them.
//!
//! All of this rests on line tables, and a text that can write into those is believed nothing ([`Disbelief`]). A file
//! that is not known to be the toolkit's is the candidate's.

use lightbench_compile::source_names;
use lightbench_project::includes::{HeaderPolicy, LineTableHazard, forgery};
use lightbench_project::manifest::Evidence;
use lightbench_project::{Candidate, Language};
use lightbench_ptx::SourceLine;
use lightbench_worker::SCRATCH_PREFIX;

use super::{Found, Origin};

/// Toolkit functions that wait for other threads, and read a clock or sleep meanwhile: the end of their header's path
/// and a part of their mangled name (none: whatever the header has). What these call, such as a poll with a time limit,
/// is not listed: called by the candidate it is a timer. (CUDA 13.5; from `sm_90` on, a block's barrier has no clock.)
const WAITING: [(&str, &str); 8] = [
    ("/cuda/std/__atomic/wait/polling.h", ""),
    ("/cuda/std/__atomic/functions/cuda_local.h", "_if_local"),
    ("/cuda/std/__barrier/barrier.h", ""),
    ("/cuda/__barrier/barrier_block_scope.h", ""),
    ("/cuda/std/__semaphore/atomic_semaphore.h", ""),
    ("/cuda/pipeline", ""),
    ("/cub/agent/single_pass_scan_operators.cuh", "WaitForValid"),
    ("/cub/agent/single_pass_scan_operators.cuh", "TilePrefixCallbackOp"),
];

/// How the mangled names of functions end that wait for so long and no longer (`try_acquire_for<…>`): an identifier is
/// followed by the arguments of a template (`I`) or the end of its scope (`E`).
const TIMED: [&str; 4] = ["_forI", "_forE", "_untilI", "_untilE"];

/// What every wait sleeps with, limited or not.
const SLEEP: &str = "__cccl_thread_sleep_for";

/// Which files are the candidate's, and whether line tables can be believed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Provenance {
    /// The main file as the compiler spells it.
    main: String,
    /// The ends of the paths of the project files that it includes.
    includes: Vec<String>,
    disbelief: Option<Disbelief>,
    language: Language,
}

/// Why everything counts as the candidate's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Disbelief {
    /// The kernel is written in PTX: its line information is what its author wrote.
    Ptx,
    /// A file of the candidate's could write into line tables.
    Text {
        /// The file.
        file: String,
        /// By what.
        forgery: LineTableHazard,
    },
}

impl Provenance {
    /// The files of a candidate.
    #[must_use]
    pub fn from_candidate(candidate: &Candidate) -> Self {
        let main = candidate.file.display().to_string();
        let behind = match candidate.system_headers.as_slice() {
            [] => HeaderPolicy::None,
            [_, ..] => HeaderPolicy::Some,
        };
        let included = candidate.includes.iter().map(|file| (&file.name, &file.text, behind));
        let disbelief = match candidate.language {
            Language::Ptx => Some(Disbelief::Ptx),
            // `tl.inline_asm_elementwise`; without it the PTX and its line table are Triton's.
            Language::Triton => candidate.text.contains("inline_asm").then(|| Disbelief::Text {
                file: main.clone(),
                forgery: LineTableHazard::Assembly,
            }),
            Language::Cuda => {
                let own = (&main, &candidate.text, HeaderPolicy::None);
                std::iter::once(own).chain(included).find_map(|(file, text, behind)| {
                    let forgery = forgery(text, behind)?;
                    Some(Disbelief::Text { file: file.clone(), forgery })
                })
            }
        };
        Self {
            main: source_names::compiler_name(&main),
            includes: candidate.includes.iter().map(|file| format!("/{}", file.name)).collect(),
            disbelief,
            language: candidate.language,
        }
    }

    /// Why everything counts as the candidate's; none if line tables are believed.
    #[must_use]
    pub fn disbelief(&self) -> Option<&Disbelief> {
        self.disbelief.as_ref()
    }

    /// Whether a finding says nothing about the kernel: Triton writes most memory accesses as inline assembly.
    pub(super) fn is_of_the_compiler(&self, found: &Found) -> bool {
        self.language == Language::Triton
            && found.evidence == Evidence::InlineAssembly
            && matches!(found.origin, Origin::Toolkit(_))
    }

    pub(super) fn is_ptx(&self) -> bool {
        self.disbelief == Some(Disbelief::Ptx)
    }

    /// Whose code something is, given its kind and its lines, the innermost first.
    pub(super) fn origin(&self, evidence: Evidence, source: &[SourceLine]) -> Origin {
        if self.disbelief.is_some() {
            return Origin::Candidate;
        }
        let header = source.first().filter(|line| self.is_toolkit(&line.file));
        let toolkit = Origin::Toolkit(header.map(|line| line.file.clone()));
        match evidence {
            // A text without `asm`, in any spelling, has none of its own: this holds where line tables say nothing,
            // as for the headers that are part of the compiler (`cuda_fp16.h`).
            Evidence::InlineAssembly => toolkit,
            Evidence::Trap if header.is_some() => toolkit,
            Evidence::Clocks | Evidence::Sleeps if self.waits(source) => toolkit,
            Evidence::Trap
            | Evidence::Clocks
            | Evidence::Sleeps
            | Evidence::DeviceGlobals
            | Evidence::CachePersistence
            | Evidence::DeviceLaunch
            | Evidence::Heap
            | Evidence::Printf => Origin::Candidate,
        }
    }

    /// Whether a toolkit function that waits without a limit is reached, from the innermost line outwards, before any
    /// line of the candidate's: a callback of the candidate's inside such a function is its own.
    fn waits(&self, source: &[SourceLine]) -> bool {
        let toolkit = || source.iter().take_while(|line| self.is_toolkit(&line.file));
        let named = |line: &SourceLine, part: &str| {
            line.function.as_deref().is_some_and(|function| function.contains(part))
        };
        let waiting = |line: &SourceLine| {
            let file = line.file.replace('\\', "/");
            WAITING.iter().any(|(header, part)| file.ends_with(header) && named(line, part))
        };
        let timed =
            |line: &SourceLine| TIMED.iter().any(|end| named(line, end)) && !named(line, SLEEP);
        toolkit().any(waiting) && !toolkit().any(timed)
    }

    /// Whether a file of the line tables is a header of the toolkit's. The compiler reads nothing but texts in memory,
    /// which it places in its working folder, and those headers.
    fn is_toolkit(&self, file: &str) -> bool {
        let absolute = file.starts_with('/') || file.get(1..2) == Some(":");
        let ours = file == self.main
            || file.starts_with(source_names::FOLDER)
            || file.contains(SCRATCH_PREFIX)
            || self.includes.iter().any(|name| file.ends_with(name.as_str()));
        absolute && !ours
    }
}

#[cfg(test)]
pub(super) fn from_files(
    main: &str,
    includes: &[&str],
    disbelief: Option<Disbelief>,
) -> Provenance {
    Provenance {
        main: source_names::compiler_name(main),
        includes: includes.iter().map(|name| format!("/{name}")).collect(),
        disbelief,
        language: Language::Cuda,
    }
}
