//! Files of the open project that change on disk, whoever changes them.

use std::path::Path;
use std::time::Duration;

use notify::{RecommendedWatcher, RecursiveMode};
use notify_debouncer_full::{
    DebounceEventResult, DebouncedEvent, Debouncer, RecommendedCache, new_debouncer,
};

use super::Says;
use crate::workbench::errand::Finding;

/// Several changes within this time are one: editors write in steps.
const TOGETHER: Duration = Duration::from_millis(60);

/// What is watched; one project at a time.
#[derive(Debug, Default)]
pub(super) struct Watch {
    debouncer: Option<Debouncer<RecommendedWatcher, RecommendedCache>>,
}

impl Watch {
    /// Watches a folder from now on, and nothing else.
    pub(super) fn begin(&mut self, folder: &Path, said: &Says) -> Result<(), notify::Error> {
        self.debouncer = None;
        let (says, root) = (said.clone(), folder.to_owned());
        let heard = move |result: DebounceEventResult| {
            // An error here is a lost event: reading again finds out what there is.
            let concerns = match result {
                Ok(events) => events.iter().any(is_change),
                Err(_) => true,
            };
            if concerns {
                says.say(Finding::Changed(root.clone()));
            }
        };
        let mut debouncer = new_debouncer(TOGETHER, None, heard)?;
        debouncer.watch(folder, RecursiveMode::Recursive)?;
        self.debouncer = Some(debouncer);
        Ok(())
    }
}

/// Whether a project may be another one now. That a file was read is no change: reading the project again reads them all,
/// and would never end.
fn is_change(event: &DebouncedEvent) -> bool {
    !event.kind.is_access() && event.paths.iter().any(|path| is_ours(path))
}

/// Whether a file is one that a project consists of.
fn is_ours(path: &Path) -> bool {
    let extension = path.extension().and_then(|extension| extension.to_str());
    matches!(extension, Some("cu" | "cuh" | "h" | "hpp" | "ptx" | "ron" | "md"))
}
