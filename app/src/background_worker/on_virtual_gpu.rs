//! What the virtual GPU of this process finds out about a kernel: the memory accesses of a warp, and the timeline.

use lightbench_core::access::{Recording, record};
use lightbench_core::cancellation::Cancellation;
use lightbench_core::compile::Compiler;
use lightbench_core::timeline;
use lightbench_core::verify::device_session::timelines::LaunchTimeline;
use lightbench_core::virtual_program::ProgramRequest;

use super::TaskRunner;
use crate::workbench::background_task::TaskResult;
use crate::workbench::notices::NoticeLevel;
use crate::workbench::on_demand::{TimelineRequest, TraceRequest};

/// The seed of the inputs, constant so that the picture is reproducible.
const SEED: u64 = 1;

impl TaskRunner {
    /// Records the accesses of a warp.
    pub(super) fn trace(&self, request: TraceRequest) {
        self.beside("access", move |compiler| {
            let seen = compiler.and_then(|mut compiler| seen(&mut compiler, &request));
            let TraceRequest { wanted, project, .. } = request;
            TaskResult::AccessesTraced(project.root.clone(), wanted, seen)
        });
    }

    /// Models the launches of a kernel.
    pub(super) fn model_timeline(&self, request: TimelineRequest) {
        self.beside("timeline", move |compiler| {
            let found = compiler.and_then(|mut compiler| modelled(&mut compiler, &request));
            let TimelineRequest { wanted, project, .. } = request;
            TaskResult::TimelineModelled(project.root.clone(), wanted, found)
        });
    }

    /// Sends a result from a thread of its own, so that a save does not wait for it.
    fn beside(
        &self,
        name: &str,
        find: impl FnOnce(Result<Compiler, String>) -> TaskResult + Send + 'static,
    ) {
        let results = self.results.clone();
        let compiler = self.compiler();
        let send = move || results.send(find(compiler));
        if let Err(error) = std::thread::Builder::new().name(name.to_owned()).spawn(send) {
            let text = format!("the kernel cannot run on the virtual GPU: {error}");
            self.results.notice(NoticeLevel::Error, text);
        }
    }
}

fn seen(compiler: &mut Compiler, request: &TraceRequest) -> Result<Recording, String> {
    let TraceRequest { wanted, project, kernel, sheet } = request;
    let workload = project.workload(&wanted.workload).map_err(|error| error.to_string())?;
    let program = ProgramRequest { project, kernel, workload, sheet, seed: SEED };
    let recording = record(compiler, &program, wanted.warp, &Cancellation::new());
    recording.map_err(|error| error.to_string())
}

fn modelled(
    compiler: &mut Compiler,
    request: &TimelineRequest,
) -> Result<Vec<LaunchTimeline>, String> {
    let TimelineRequest { wanted, project, kernel, sheet } = request;
    let workload = project.workload(&wanted.workload).map_err(|error| error.to_string())?;
    let program = ProgramRequest { project, kernel, workload, sheet, seed: SEED };
    let found = timeline::model(compiler, &program, &Cancellation::new());
    found.map_err(|error| error.to_string())
}
