//! The user's settings, stored as editable text in `<state>/settings.ron`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use lightbench_core::measure::{EnergyUse, ExtraModes, Protocol};
use lightbench_core::models::ModelSettings;
use lightbench_core::worker::server::WithoutSandbox;
use serde::{Deserialize, Serialize};

use super::search::SearchPlan;
use crate::theme::ThemeName;

/// The user's settings; missing fields take their defaults.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Settings {
    /// Version of the file's schema.
    pub schema: u32,
    /// Select the theme.
    pub theme: ThemeName,
    /// Zoom factor; 1 is normal.
    pub zoom: f32,
    /// Set how far an evaluation goes after a save.
    pub mode: Mode,
    /// The name of the selected device; `None` selects the best one.
    pub device: Option<String>,
    /// Recently opened projects, the latest first.
    pub recent: Vec<PathBuf>,
    pub measuring: Measuring,
    pub editor: EditorSettings,
    /// The plan of the next search.
    pub search: SearchPlan,
    /// Language models and agent commands. Only the user's settings hold them: a project can name no command, endpoint
    /// or host.
    pub models: ModelSettings,
    pub python: PythonSettings,
    pub libraries: LibrarySettings,
    pub agents: AgentSettings,
    /// Hosts of devices by the names of `--device ssh:NAME/cuda:0`. Only the user's settings hold them.
    pub hosts: BTreeMap<String, HostSetting>,
    /// Partitions of a Slurm cluster by the names of `--device slurm:NAME`.
    pub slurm: BTreeMap<String, SlurmSetting>,
}

/// How a host is reached. Without an entry: `ssh NAME`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct HostSetting {
    /// Options of `ssh` before the name of the host.
    pub ssh_options: Vec<String>,
    /// A command instead of `ssh`, which runs the arguments that follow it on the host, with its standard streams.
    pub command: Vec<String>,
    /// The folder on the host for the worker program; `None` is the user's cache folder there.
    pub folder: Option<String>,
}

/// What is requested of a Slurm partition.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SlurmSetting {
    /// Allocations that `eval` uses at the same time.
    pub count: u32,
    /// The GPUs of an allocation, as in `--gres=gpu:GPUS`; empty for a partition without GPUs.
    pub gpus: String,
    /// The time limit of an allocation, as `--time` takes it; empty: the default of the partition.
    pub time_limit: String,
    /// Further options of `salloc`.
    pub options: Vec<String>,
    /// The folder on a node for the worker program; `None` is the user's cache folder there.
    pub folder: Option<String>,
    /// How long to wait for an allocation, in seconds.
    pub queue_seconds: u64,
    /// How long an allocation is kept without work, in seconds.
    pub idle_seconds: u64,
}

impl Default for SlurmSetting {
    fn default() -> Self {
        let (gpus, time_limit) = ("1".to_owned(), String::new());
        let (options, folder) = (Vec::new(), None);
        let (count, queue_seconds, idle_seconds) = (1, 3600, 300);
        Self { count, gpus, time_limit, options, folder, queue_seconds, idle_seconds }
    }
}

/// Libraries of headers for kernels. Only the user's settings say where they lie, never a project.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct LibrarySettings {
    /// A checkout of CUTLASS or its include folder; `None` takes the Python package `nvidia-cutlass`.
    pub cutlass: Option<PathBuf>,
}

/// What agents may do through `lightbench mcp`. Only the user's settings decide it, never a project or a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct AgentSettings {
    /// Whether an agent may add kernels to a project.
    pub accept: AcceptPermission,
    /// Evaluations of one server process.
    pub evaluations: u32,
    /// Seconds in which the runs of one server process use the device.
    pub device_seconds: u64,
    /// Seconds until a server process starts no further run.
    pub wall_seconds: u64,
}

/// Whether an agent may add kernels to a project.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AcceptPermission {
    /// No.
    Never,
    /// The user runs a command that the server names.
    #[default]
    Ask,
    /// Yes, if the candidate passes.
    Allow,
}

impl Default for AgentSettings {
    fn default() -> Self {
        let accept = AcceptPermission::default();
        Self { accept, evaluations: 300, device_seconds: 3600, wall_seconds: 8 * 3600 }
    }
}

/// The Python interpreter. Only the user's settings name it, never a project.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct PythonSettings {
    /// An interpreter or the folder of a virtual environment; `None` takes `python3` from `PATH`.
    pub interpreter: Option<PathBuf>,
    /// Whether Python runs on a machine that cannot confine it.
    pub without_sandbox: WithoutSandbox,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Measuring {
    /// The additional cache condition, besides cold and warm.
    pub besides: ExtraModes,
    /// Set whether full evaluations measure energy.
    pub energy: EnergyUse,
}

impl Measuring {
    /// The timing protocol of a verdict, with the additional measurements.
    #[must_use]
    pub const fn protocol(self) -> Protocol {
        Protocol { besides: self.besides, energy: self.energy, ..Protocol::FINAL }
    }
}

/// Settings of the editor.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct EditorSettings {
    /// The font size, in points.
    pub font_size: f32,
    /// Select the metric in the column beside the source lines.
    pub heat: Heat,
}

/// Select the metric in the column beside the source lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Heat {
    Off,
    /// Executed instructions.
    #[default]
    Instructions,
    /// Sectors of global memory.
    Sectors,
    /// Additional shared-memory passes caused by bank conflicts.
    Conflicts,
    /// Inactive threads of executing warps.
    IdleLanes,
    /// Divergent branches.
    Divergence,
    /// Stall samples of the hardware profiler.
    Stalls,
}

impl Heat {
    pub const ALL: [Self; 7] = [
        Self::Off,
        Self::Instructions,
        Self::Sectors,
        Self::Conflicts,
        Self::IdleLanes,
        Self::Divergence,
        Self::Stalls,
    ];

    /// The name of the metric.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::Off => "nothing",
            Self::Instructions => "warp instructions",
            Self::Sectors => "sectors",
            Self::Conflicts => "bank conflicts",
            Self::IdleLanes => "inactive threads",
            Self::Divergence => "divergent branches",
            Self::Stalls => "waiting",
        }
    }
}

/// Set how far an evaluation goes after a save.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    Off,
    Compile,
    Verify,
    #[default]
    Full,
}

impl Mode {
    pub const ALL: [Self; 4] = [Self::Off, Self::Compile, Self::Verify, Self::Full];

    /// The steps of an evaluation.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::Off => "nothing",
            Self::Compile => "compile",
            Self::Verify => "compile and verify",
            Self::Full => "compile, verify and time",
        }
    }
}

/// The schema version that is written.
pub const SCHEMA: u32 = 1;
/// Maximum number of recent projects.
const MOST_RECENT: usize = 9;
/// Smallest and largest zoom factor.
const ZOOM: (f32, f32) = (0.5, 3.0);

impl Default for Settings {
    fn default() -> Self {
        Self {
            schema: SCHEMA,
            theme: ThemeName::default(),
            zoom: 1.0,
            mode: Mode::default(),
            device: None,
            recent: Vec::new(),
            measuring: Measuring::default(),
            editor: EditorSettings::default(),
            search: SearchPlan::default(),
            models: ModelSettings::default(),
            python: PythonSettings::default(),
            libraries: LibrarySettings::default(),
            agents: AgentSettings::default(),
            hosts: BTreeMap::new(),
            slurm: BTreeMap::new(),
        }
    }
}

impl Default for EditorSettings {
    fn default() -> Self {
        Self { font_size: 13.0, heat: Heat::default() }
    }
}

impl Settings {
    /// Reads the settings from text.
    ///
    /// # Errors
    /// The problem, in a sentence.
    pub fn from_ron(text: &str) -> Result<Self, String> {
        let mut settings: Self = ron::from_str(text).map_err(|error| error.to_string())?;
        if settings.schema > SCHEMA {
            return Err(format!("schema {} is newer than {SCHEMA}", settings.schema));
        }
        settings.set_zoom(settings.zoom);
        settings.recent.truncate(MOST_RECENT);
        // Otherwise a model that was removed from the settings could not be deselected.
        let Self { search, models, .. } = &mut settings;
        let is_known =
            |name: &String| models.servers.contains_key(name) || models.agents.contains_key(name);
        search.models.retain(is_known);
        Ok(settings)
    }

    /// The settings as text.
    ///
    /// # Errors
    /// A path is not valid Unicode.
    pub fn to_ron(&self) -> Result<String, ron::Error> {
        ron::ser::to_string_pretty(self, ron::ser::PrettyConfig::default())
    }

    /// Sets the zoom factor, clamped to the allowed range.
    pub fn set_zoom(&mut self, zoom: f32) {
        self.zoom = if zoom.is_finite() { zoom.clamp(ZOOM.0, ZOOM.1) } else { 1.0 };
    }

    /// Adds a project to the recent ones.
    pub fn remember(&mut self, project: &Path) {
        self.recent.retain(|known| known != project);
        self.recent.insert(0, project.to_owned());
        self.recent.truncate(MOST_RECENT);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_again() {
        let mut settings = Settings { theme: ThemeName::Projector, ..Settings::default() };
        settings.remember(Path::new("/projects/softmax"));
        settings.editor.heat = Heat::Sectors;
        settings.search.contrast = 7;
        let text = settings.to_ron().unwrap();
        assert_eq!(Settings::from_ron(&text), Ok(settings));
    }

    #[test]
    fn files_of_others_are_read_as_far_as_they_make_sense() {
        let check = |text: &str, expected: Result<f32, &str>| {
            let read = Settings::from_ron(text).map(|settings| settings.zoom);
            match (read, expected) {
                (Ok(zoom), Ok(expected)) => assert_eq!(zoom, expected, "{text}"),
                (Err(error), Err(part)) => assert!(error.contains(part), "{text}: {error}"),
                (read, expected) => panic!("{text}: {read:?}, expected {expected:?}"),
            }
        };
        check("()", Ok(1.0));
        check("(zoom: 99.0)", Ok(3.0));
        check("(zoom: NaN)", Ok(1.0));
        check("(theme: light, unheard_of: 3)", Ok(1.0));
        let python = "(python: (interpreter: Some(\"/env\"), without_sandbox: permitted))";
        check(python, Ok(1.0));
        let python = Settings::from_ron(python).unwrap().python;
        assert_eq!(python.interpreter.as_deref(), Some(Path::new("/env")));
        assert_eq!(python.without_sandbox, WithoutSandbox::Permitted);
        let libraries =
            Settings::from_ron("(libraries: (cutlass: Some(\"/cutlass\")))").unwrap().libraries;
        assert_eq!(libraries.cutlass.as_deref(), Some(Path::new("/cutlass")));
        let agents = Settings::from_ron("(agents: (accept: allow))").unwrap().agents;
        assert_eq!(agents, AgentSettings { accept: AcceptPermission::Allow, ..Default::default() });
        check("(schema: 7)", Err("newer"));
        check("(theme: green)", Err("green"));
        check("(search: (minutes: Some(0.0)))", Err("0 is not a valid limit"));
        let forgotten = "(search: (operators: [\"rules\", \"model:gone\"]))";
        assert!(Settings::from_ron(forgotten).unwrap().search.models.is_empty());
        check("{", Err("1:"));
    }

    #[test]
    fn recent_projects_are_few_and_each_once() {
        let mut settings = Settings::default();
        for number in [1, 2, 1, 3, 4, 5, 6, 7, 8, 9, 10, 11] {
            settings.remember(Path::new(&format!("/p{number}")));
        }
        assert_eq!(settings.recent.len(), MOST_RECENT);
        assert_eq!(settings.recent[0], Path::new("/p11"));
        settings.remember(Path::new("/p9"));
        assert_eq!(settings.recent.iter().filter(|path| path.ends_with("p9")).count(), 1);
    }
}
