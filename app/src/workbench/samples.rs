//! Projects and lessons that the start page offers.

use std::collections::BTreeMap;
use std::path::PathBuf;

use lightbench_core::lesson::Heading;

use super::recent_history::RecentHistory;

/// Projects and lessons of the start page.
#[derive(Clone, Debug, Default)]
pub struct Samples {
    /// Folders of projects.
    pub projects: Vec<PathBuf>,
    /// Folders of lessons with their headings, in order.
    pub lessons: Vec<(PathBuf, Heading)>,
    /// The newest runs of recent projects; `None` until they were requested.
    pub recent: Option<BTreeMap<PathBuf, RecentHistory>>,
}
