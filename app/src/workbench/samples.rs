//! Sample projects and lessons that the start page offers.

use std::path::PathBuf;

use lightbench_core::lesson::Heading;

/// Sample projects and lessons.
#[derive(Clone, Debug, Default)]
pub struct Samples {
    /// Folders of projects.
    pub projects: Vec<PathBuf>,
    /// Folders of lessons with their headings, in order.
    pub lessons: Vec<(PathBuf, Heading)>,
}
