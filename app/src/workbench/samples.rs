//! What there is to begin with: sample projects, and lessons in their order.

use std::path::PathBuf;

use lightbench_core::lesson::Heading;

/// What there is to begin with.
#[derive(Clone, Debug, Default)]
pub struct Samples {
    /// Folders of projects.
    pub projects: Vec<PathBuf>,
    /// Folders of lessons with what they are about, the first one first.
    pub lessons: Vec<(PathBuf, Heading)>,
}
