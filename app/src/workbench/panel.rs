//! Panels and layouts, by name.

use std::fmt;

use lightbench_core::lesson::PanelName;
use serde::{Deserialize, Serialize};

/// A panel. Its stored name keeps its meaning; unknown names are skipped when a layout is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Panel {
    Project,
    Editor,
    /// Problems of the latest read.
    Problems,
    History,
    Result,
    Roofline,
    SpeedOfLight,
    Timing,
    Workloads,
    /// Counters.
    Counters,
    Assembly,
    Compare,
    Resources,
    Device,
    Log,
    Doctor,
    Lesson,
    Access,
    Timeline,
    Search,
    Variant,
    BestSoFar,
    Archive,
}

impl Panel {
    pub const ALL: [Self; 23] = [
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
        Self::Timeline,
        Self::Search,
        Self::Variant,
        Self::BestSoFar,
        Self::Archive,
    ];

    /// The title of its tab.
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
            Self::Timeline => "Timeline",
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

/// A layout of panels.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum LayoutName {
    #[default]
    Edit,
    Compare,
    Search,
    Teach,
    Code,
}

impl LayoutName {
    pub const ALL: [Self; 5] = [Self::Edit, Self::Compare, Self::Search, Self::Teach, Self::Code];
}

impl fmt::Display for LayoutName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Edit => "Edit",
            Self::Compare => "Compare",
            Self::Search => "Search",
            Self::Teach => "Teach",
            Self::Code => "Code",
        })
    }
}
