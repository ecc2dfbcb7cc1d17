//! Requests for the timeline of the current kernel.

use std::sync::Arc;
use std::time::Duration;

use super::Workbench;
use super::background_task::BackgroundTask;
use super::notices::NoticeLevel;
use super::on_demand::{TimelineRequest, TimelineSelection};

impl Workbench {
    /// What a request would model now: the current kernel, workload and device.
    #[must_use]
    pub fn timeline_selection(&self) -> Option<TimelineSelection> {
        let (opened, device) = (self.opened.as_ref()?, self.device()?);
        Some(TimelineSelection {
            kernel: opened.kernel.clone(),
            workload: opened.workload.clone(),
            device: &device.sheet.name,
        })
    }

    /// Requests the timeline of the current kernel.
    pub(super) fn model_timeline(&mut self, now: Duration) {
        let (Some(wanted), Some(sheet)) =
            (self.timeline_selection(), self.device().map(|device| device.sheet))
        else {
            let text = "open a project and wait until the devices are detected, then try again";
            self.notices.add(NoticeLevel::Note, text.to_owned(), now);
            return;
        };
        let Some(opened) = &mut self.opened else { return };
        let Ok(kernel) = opened.project.kernel(&wanted.kernel) else { return };
        let request = TimelineRequest {
            wanted: wanted.clone(),
            project: Arc::clone(&opened.project),
            kernel: Arc::new(kernel.clone()),
            sheet,
        };
        opened.timelines.begin(wanted);
        self.submit(BackgroundTask::Timeline(Box::new(request)));
    }

    /// Repeats the latest request after its kernel changed.
    pub(super) fn repeat_timeline(&mut self, kernel: &str, now: Duration) {
        let wanted = self.opened.as_ref().and_then(|opened| opened.timelines.wanted.as_ref());
        if wanted.is_some_and(|wanted| wanted.kernel == kernel)
            && self.timeline_selection().as_ref() == wanted
        {
            self.model_timeline(now);
        }
    }
}
