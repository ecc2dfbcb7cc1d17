//! Requests for the memory accesses of a warp.

use std::sync::Arc;
use std::time::Duration;

use lightbench_core::access::usual_workload;
use lightbench_core::virtual_gpu::machine::WarpId;

use super::Workbench;
use super::background_task::BackgroundTask;
use super::notices::NoticeLevel;
use super::on_demand::{TraceRequest, WarpSelection};

impl Workbench {
    /// The default selection: the first warp, on the largest verification workload.
    #[must_use]
    pub fn default_warp(&self) -> Option<WarpSelection> {
        let opened = self.opened.as_ref()?;
        let workload = usual_workload(&opened.project)?.name.clone();
        let warp = WarpId { block: [0; 3], warp: 0 };
        Some(WarpSelection { kernel: opened.kernel.clone(), workload, warp })
    }

    /// Requests the accesses of a warp.
    pub(super) fn trace(&mut self, wanted: Option<WarpSelection>, now: Duration) {
        let Some(wanted) = wanted.or_else(|| self.default_warp()) else { return };
        let Some(sheet) = self.device().map(|device| device.sheet) else {
            let text = "wait until the devices are detected, then look again";
            self.notices.add(NoticeLevel::Note, text.to_owned(), now);
            return;
        };
        let Some(opened) = &mut self.opened else { return };
        let Ok(kernel) = opened.project.kernel(&wanted.kernel) else { return };
        let tracing = TraceRequest {
            wanted: wanted.clone(),
            project: Arc::clone(&opened.project),
            kernel: Arc::new(kernel.clone()),
            sheet,
        };
        opened.accesses.begin(wanted);
        self.submit(BackgroundTask::Trace(Box::new(tracing)));
    }

    /// Repeats the latest request after its kernel changed.
    pub(super) fn retrace(&mut self, kernel: &str, now: Duration) {
        let wanted = self.opened.as_ref().and_then(|opened| opened.accesses.wanted.clone());
        if let Some(wanted) = wanted.filter(|wanted| wanted.kernel == kernel) {
            self.trace(Some(wanted), now);
        }
    }
}
