//! Lessons: what they say, how far somebody came, and what a warp accesses.

use std::fs;
use std::path::{Path, PathBuf};

use lightbench_core::access::{self, Recording, record};
use lightbench_core::cancellation::Cancellation;
use lightbench_core::compile::Compiler;
use lightbench_core::lesson::Lesson;
use lightbench_core::project::Project;

use super::Worker;
use super::files::write_whole;
use crate::workbench::access::Tracing;
use crate::workbench::errand::Finding;
use crate::workbench::lesson::{LessonRead, Progress};
use crate::workbench::notices::Weight;

/// The folder of progress in our state folder.
const PROGRESS: &str = "lessons";

/// What the inputs come from: the same picture each time.
const SEED: u64 = 1;

impl Worker {
    /// What the lesson of a project says, if it is one.
    pub(super) fn lesson(&self, project: &Project) -> Option<LessonRead> {
        let lesson = Lesson::read(project)?;
        let path = self.progress_of(&project.root);
        let kept = path.and_then(|path| fs::read(path).ok());
        let progress = kept.and_then(|bytes| serde_json::from_slice(&bytes).ok());
        Some(LessonRead { lesson, progress })
    }

    pub(super) fn keep_progress(&self, folder: &Path, progress: &Progress) {
        let Some(path) = self.progress_of(folder) else { return };
        let bytes = serde_json::to_vec_pretty(progress).map_err(std::io::Error::other);
        if let Err(error) = bytes.and_then(|bytes| write_whole(&path, &bytes)) {
            let text = format!("how far you came in the lesson is not kept: {error}");
            self.said.notice(Weight::Warning, text);
        }
    }

    fn progress_of(&self, folder: &Path) -> Option<PathBuf> {
        let state = self.session.state.as_ref()?;
        let name = blake3::hash(folder.as_os_str().as_encoded_bytes());
        Some(state.join(PROGRESS).join(format!("{}.json", &name.to_hex()[..32])))
    }

    /// Looks at a warp on a thread of its own, so that nothing waits for it: a save comes first.
    pub(super) fn trace(&self, tracing: Tracing) {
        let said = self.said.clone();
        let compiler = self.compiler();
        let look = move || {
            let seen = compiler.and_then(|mut compiler| seen(&mut compiler, &tracing));
            let Tracing { wanted, project, .. } = tracing;
            said.say(Finding::Traced(project.root.clone(), wanted, seen));
        };
        let started = std::thread::Builder::new().name("access".to_owned()).spawn(look);
        if let Err(error) = started {
            self.said.notice(Weight::Error, format!("no warp can be looked at: {error}"));
        }
    }

    pub(super) fn compiler(&self) -> Result<Compiler, String> {
        let toolchain = self.toolchain()?;
        let command = self.session.worker_command().map_err(|error| error.to_string())?;
        Ok(Compiler::new(toolchain, command, self.session.surroundings.cache.clone()))
    }
}

fn seen(compiler: &mut Compiler, tracing: &Tracing) -> Result<Recording, String> {
    let Tracing { wanted, project, kernel, sheet } = tracing;
    let workload = project.workload(&wanted.workload).map_err(|error| error.to_string())?;
    let (seed, warp) = (SEED, wanted.warp);
    let wanted = access::Wanted { project, kernel, workload, sheet, seed, warp };
    record(compiler, &wanted, &Cancellation::new()).map_err(|error| error.to_string())
}
