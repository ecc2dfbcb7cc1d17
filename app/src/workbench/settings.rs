//! What a person prefers, kept as text that can be read and edited: `<state>/settings.ron`.

use std::path::{Path, PathBuf};

use lightbench_core::measure::{Besides, EnergyUse, Protocol};
use lightbench_core::models::ModelSettings;
use serde::{Deserialize, Serialize};

use super::search::Plan;
use crate::theme::ThemeName;

/// What a person prefers. What a file does not say is as at first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Settings {
    /// How the file is to be read.
    pub schema: u32,
    /// The look.
    pub theme: ThemeName,
    /// How large everything is; 1 is normal.
    pub zoom: f32,
    /// How far to go by itself after a save.
    pub mode: Mode,
    /// The device by its name; none for the best that there is.
    pub device: Option<String>,
    /// Projects that were open, the last first.
    pub recent: Vec<PathBuf>,
    /// How times are taken.
    pub measuring: Measuring,
    /// The editor.
    pub editor: EditorSettings,
    /// What the next search is like.
    pub search: Plan,
    /// Language models and agent commands. Only here: a project can name no command, endpoint or host.
    pub models: ModelSettings,
}

/// How times are taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Measuring {
    /// Under which condition too, beside cold and warm.
    pub besides: Besides,
    /// Whether energy is measured, when all times are taken.
    pub energy: EnergyUse,
}

impl Measuring {
    /// As a verdict's times are taken, with what is wanted besides.
    #[must_use]
    pub const fn protocol(self) -> Protocol {
        Protocol { besides: self.besides, energy: self.energy, ..Protocol::FINAL }
    }
}

/// What a person prefers in the editor.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct EditorSettings {
    /// The size of letters, in points.
    pub font_size: f32,
    /// What the column beside the lines shows.
    pub heat: Heat,
}

/// What the column beside the lines shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Heat {
    /// Nothing.
    Off,
    /// Instructions that were executed.
    #[default]
    Instructions,
    /// Sectors of global memory.
    Sectors,
    /// Passes over shared memory that conflicts cost.
    Conflicts,
    /// Lanes that had nothing to do while their warp executed.
    IdleLanes,
    /// Branches that parted a warp.
    Divergence,
    /// Samples of warps that waited, as a profiler saw them on a GPU.
    Stalls,
}

/// How far to go by itself after a save.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// Nothing.
    Off,
    /// To machine code.
    Compile,
    /// To right or wrong.
    Verify,
    /// To a time.
    #[default]
    Full,
}

impl Mode {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Off, Self::Compile, Self::Verify, Self::Full];

    /// In words.
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

/// The schema that is written.
pub const SCHEMA: u32 = 1;
/// Projects that are remembered.
const MOST_RECENT: usize = 9;
/// Sizes that can be read and that fit.
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
            search: Plan::default(),
            models: ModelSettings::default(),
        }
    }
}

impl Default for EditorSettings {
    fn default() -> Self {
        Self { font_size: 13.0, heat: Heat::default() }
    }
}

impl Settings {
    /// Reads a file's text.
    ///
    /// # Errors
    /// What is wrong with it, in a sentence.
    pub fn from_ron(text: &str) -> Result<Self, String> {
        let mut settings: Self = ron::from_str(text).map_err(|error| error.to_string())?;
        if settings.schema > SCHEMA {
            return Err(format!("schema {} is newer than {SCHEMA}", settings.schema));
        }
        settings.set_zoom(settings.zoom);
        settings.recent.truncate(MOST_RECENT);
        // A model that is set up no more could not be unticked.
        let Self { search, models, .. } = &mut settings;
        let is_known =
            |name: &String| models.servers.contains_key(name) || models.agents.contains_key(name);
        search.models.retain(is_known);
        Ok(settings)
    }

    /// The text of a file.
    ///
    /// # Errors
    /// A path that no text can hold.
    pub fn to_ron(&self) -> Result<String, ron::Error> {
        ron::ser::to_string_pretty(self, ron::ser::PrettyConfig::default())
    }

    /// Sets how large everything is, within what can be read.
    pub fn set_zoom(&mut self, zoom: f32) {
        self.zoom = if zoom.is_finite() { zoom.clamp(ZOOM.0, ZOOM.1) } else { 1.0 };
    }

    /// A project was opened.
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
        check("(schema: 7)", Err("newer"));
        check("(theme: green)", Err("green"));
        check("(search: (minutes: Some(0.0)))", Err("0 is no limit"));
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
