//! The panels that there are, and the arrangements of them, by name.

use std::fmt;

use lightbench_core::lesson::PanelName;
use serde::{Deserialize, Serialize};

/// A panel. Its name on disk never changes its meaning; one that is unknown there is left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Panel {
    /// The project: what it computes, its kernels and workloads.
    Project,
    /// The kernel's text.
    Editor,
    /// What is wrong with it.
    Problems,
    /// Every run.
    History,
    /// The newest verdict with its evidence.
    Result,
    /// Times against operations and bytes.
    Roofline,
    /// Each unit against its peak.
    SpeedOfLight,
    /// Samples.
    Timing,
    /// Times of each workload.
    Workloads,
    /// What was counted.
    Counters,
    /// PTX and machine code.
    Assembly,
    /// Two runs side by side.
    Compare,
    /// Registers, shared memory and what fits.
    Resources,
    /// The device.
    Device,
    /// What happened.
    Log,
    /// What the machine has.
    Doctor,
    /// A lesson, step by step.
    Lesson,
    /// Lanes, addresses, sectors and banks.
    Access,
    /// What a search found.
    Search,
    /// One variant of a search, and one suggestion.
    Variant,
    /// The best of a search over its evaluations.
    BestSoFar,
    /// The best of each kind.
    Archive,
}

impl Panel {
    /// All of them.
    pub const ALL: [Self; 22] = [
        Self::Project,
        Self::Editor,
        Self::Problems,
        Self::History,
        Self::Result,
        Self::Roofline,
        Self::SpeedOfLight,
        Self::Timing,
        Self::Workloads,
        Self::Counters,
        Self::Assembly,
        Self::Compare,
        Self::Resources,
        Self::Device,
        Self::Log,
        Self::Doctor,
        Self::Lesson,
        Self::Access,
        Self::Search,
        Self::Variant,
        Self::BestSoFar,
        Self::Archive,
    ];

    /// What its tab says.
    #[must_use]
    pub const fn title(self) -> &'static str {
        match self {
            Self::Project => "Project",
            Self::Editor => "Editor",
            Self::Problems => "Problems",
            Self::History => "History",
            Self::Result => "Result",
            Self::Roofline => "Roofline",
            Self::SpeedOfLight => "Speed of light",
            Self::Timing => "Timing",
            Self::Workloads => "Workloads",
            Self::Counters => "Counters",
            Self::Assembly => "Assembly",
            Self::Compare => "Compare",
            Self::Resources => "Resources",
            Self::Device => "Device",
            Self::Log => "Log",
            Self::Doctor => "Doctor",
            Self::Lesson => "Lesson",
            Self::Access => "Memory access",
            Self::Search => "Search",
            Self::Variant => "Variant",
            Self::BestSoFar => "Best so far",
            Self::Archive => "Kinds",
        }
    }
}

impl From<PanelName> for Panel {
    fn from(name: PanelName) -> Self {
        match name {
            PanelName::Editor => Self::Editor,
            PanelName::Access => Self::Access,
            PanelName::Roofline => Self::Roofline,
            PanelName::SpeedOfLight => Self::SpeedOfLight,
            PanelName::Counters => Self::Counters,
            PanelName::Problems => Self::Problems,
            PanelName::Result => Self::Result,
            PanelName::Workloads => Self::Workloads,
            PanelName::Timing => Self::Timing,
            PanelName::Resources => Self::Resources,
            PanelName::Assembly => Self::Assembly,
            PanelName::History => Self::History,
        }
    }
}

/// An arrangement of panels.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum LayoutName {
    /// Write and look.
    #[default]
    Edit,
    /// Two runs.
    Compare,
    /// Let a search propose.
    Search,
    /// Learn.
    Teach,
}

impl LayoutName {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Edit, Self::Compare, Self::Search, Self::Teach];
}

impl fmt::Display for LayoutName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Edit => "Edit",
            Self::Compare => "Compare",
            Self::Search => "Search",
            Self::Teach => "Teach",
        })
    }
}
