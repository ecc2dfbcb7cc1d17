//! Watches the files of the open project.

use std::path::Path;
use std::time::Duration;

use notify::{RecommendedWatcher, RecursiveMode};
use notify_debouncer_full::{
    DebounceEventResult, DebouncedEvent, Debouncer, RecommendedCache, new_debouncer,
};

use super::ResultSender;
use crate::workbench::background_task::TaskResult;

/// Changes within this time are reported as one: editors write in several steps.
const TOGETHER: Duration = Duration::from_millis(60);

/// The watched project, at most one.
#[derive(Debug, Default)]
pub(super) struct Watch {
    debouncer: Option<Debouncer<RecommendedWatcher, RecommendedCache>>,
}

impl Watch {
    /// Watches this folder instead of the previous one.
    pub(super) fn begin(
        &mut self,
        folder: &Path,
        said: &ResultSender,
    ) -> Result<(), notify::Error> {
        self.debouncer = None;
        let (says, root) = (said.clone(), folder.to_owned());
        let heard = move |result: DebounceEventResult| {
            // An error is a lost event: reading the project again finds the present state.
            let concerns = match result {
                Ok(events) => events.iter().any(is_change),
                Err(_) => true,
            };
            if concerns {
                says.send(TaskResult::Changed(root.clone()));
            }
        };
        let mut debouncer = new_debouncer(TOGETHER, None, heard)?;
        debouncer.watch(folder, RecursiveMode::Recursive)?;
        self.debouncer = Some(debouncer);
        Ok(())
    }
}

/// Whether an event can change the project. Read accesses do not count: reloading the project reads its files, which
/// would loop.
fn is_change(event: &DebouncedEvent) -> bool {
    !event.kind.is_access() && event.paths.iter().any(|path| is_ours(path))
}

/// Whether a project contains this file.
fn is_ours(path: &Path) -> bool {
    let extension = path.extension().and_then(|extension| extension.to_str());
    matches!(extension, Some("cu" | "cuh" | "h" | "hpp" | "ptx" | "py" | "ron" | "md"))
}
