//! Every command of the window. The menu, the shortcuts, the command palette and the tests use this one list.

use std::path::PathBuf;
use std::sync::LazyLock;

use lightbench_core::figure::Figure;
use lightbench_core::history::RunNumber;
use lightbench_core::measure::{EnergyUse, ExtraModes};
use lightbench_core::search::Pace;

use super::lesson::LessonCommand;
use super::new_project::NewProjectCommand;
use super::on_demand::WarpSelection;
use super::panel::{LayoutName, Panel};
use super::search::SearchCommand;
use super::settings::{Heat, Mode, Settings};
use crate::theme::ThemeName;

/// A command of the window.
#[derive(Clone, Debug, PartialEq)]
pub enum Command {
    /// Show the dialog that selects a project folder.
    OpenFolder,
    /// Show the field for the path of a project.
    AskForPath,
    /// List the subfolders of a typed folder.
    ListFolders(String),
    /// Open the project at a typed path.
    OpenPath(String),
    /// Close the path field.
    LeavePath,
    /// A command of the dialog that creates a project.
    NewProject(NewProjectCommand),
    Open(PathBuf),
    CloseProject,
    /// Write the current text to its file; the evaluation that the mode asks for follows.
    Save,
    /// Write every changed text to its file.
    SaveAll,
    /// Close the window; asks first if texts are unsaved.
    Quit,
    /// Close the window and discard unsaved texts.
    QuitAnyway,

    /// Evaluate the current kernel as far as the mode says; fully if the mode is off.
    Run,
    /// Evaluate every kernel of the project.
    RunAll,
    /// A measurement besides the verdict.
    Measure(MeasureCommand),
    /// Audit the checker on this project.
    AuditChecker,
    /// Cancel the audit of the checker.
    StopAudit,
    /// Cancel all evaluations.
    Stop,
    /// Set how far an evaluation goes after a save.
    SetMode(Mode),
    /// Select the device.
    ChooseDevice(String),
    /// Select the workload whose numbers are shown.
    ChooseWorkload(String),

    /// Show the text and the results of a kernel.
    ChooseKernel(String),
    /// Show a position in a file of the project.
    GoTo(PathBuf, u32, u32),
    Front(PathBuf),
    /// Close a text; an unsaved text stays open.
    CloseText(PathBuf),
    NextProblem,
    PreviousProblem,
    /// Resolve a conflict between the editor and the file on disk.
    Resolve(PathBuf, Resolution),
    /// Restore or discard a text that was unsaved when the program ended.
    Recover(PathBuf, Recovery),
    /// A command for the text in front.
    Edit(EditCommand),

    /// Show a run.
    SelectRun(RunNumber),
    /// Pin a run as the base of comparison, or unpin it.
    Pin(RunNumber),
    /// Group runs by candidate lineage, or show one list.
    GroupRuns,
    /// Show the field for a run's label; for the shown run if none is given.
    AskForLabel(Option<RunNumber>),
    /// Set the label of a run; an empty text removes it.
    Label(RunNumber, String),
    /// Put a run on one side of the comparison.
    Compare(Side, RunNumber),
    /// Compare the shown run with the pinned run, or with the previous run.
    CompareSelected,
    /// Compare the shown run with another run.
    CompareWith(RunNumber),
    /// Add a run to the comparison, or remove it; the shown run if none is given.
    AddToComparison(Option<RunNumber>),
    /// Disassemble the machine code of a compared run.
    DisassembleRun(RunNumber),
    SwapSides,
    /// Replace the kernel's text by the source of a run; undo restores it.
    TakeSource(RunNumber),
    /// Copy the verdict line.
    CopyVerdict,
    /// Copy the comparison as a Markdown table.
    CopyComparison,

    Show(Panel),
    /// Select a layout.
    Layout(LayoutName),
    /// Reset the current layout to its default.
    ResetLayout,
    /// Undo the latest change of the layout.
    UndoLayout,
    /// Select the theme.
    Theme(ThemeName),
    ZoomIn,
    ZoomOut,
    ZoomReset,
    /// Show the page of the settings whose texts contain these words.
    ShowSettings(String),
    /// Take these settings and store them.
    ChangeSettings(Box<Settings>),
    /// Show the command palette.
    Palette,
    /// Show the list of kernels and files.
    QuickOpen,
    /// Mark all notices as read.
    DismissNotices,
    /// Run the doctor.
    RunDoctor,
    /// Fetch the compiler with pip.
    FetchCompiler,
    /// Disassemble the machine code of a kernel.
    Disassemble(String),
    /// Copy a text to the clipboard.
    Copy(String),
    /// Save bytes to a file that the user selects.
    Export(String, Vec<u8>),
    /// Save a figure as a picture to a file that the user selects.
    ExportPicture(String, Box<Figure>),
    /// Select the metric in the column beside the source lines.
    SetHeat(Heat),
    /// Open a lesson.
    OpenLesson(PathBuf),
    /// A command of the open lesson.
    Lesson(LessonCommand),
    /// A command about searches.
    Search(SearchCommand),
    /// Record the accesses of a warp; the default warp if none is given.
    Trace(Option<WarpSelection>),
    /// Model the timeline of the current kernel.
    Timeline,
}

/// A measurement besides the verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MeasureCommand {
    /// Profile the current kernel with Nsight Compute.
    Profile,
    /// Set the additional cache condition of timings, besides cold and warm.
    Besides(ExtraModes),
    /// Set whether full evaluations measure energy.
    Energy(EnergyUse),
}

/// A command for the text in front.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EditCommand {
    Undo,
    Redo,
    Find,
    Replace,
    GoToLine,
    ToggleComment,
}

/// Resolution of a text that changed both in the editor and on disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resolution {
    /// Keep the editor's text; saving overwrites the file.
    KeepMine,
    /// Take the text on disk; undo restores the editor's text.
    TakeTheirs,
    /// Show both texts side by side, or the editor alone.
    Compare,
}

/// What to do with a text that was unsaved when the program ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recovery {
    /// Open it in the editor.
    Restore,
    /// Discard it.
    Forget,
}

/// A side of the comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    A,
    B,
}

/// A keyboard shortcut. `control` is the command key on macOS.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shortcut {
    pub modifiers: Modifiers,
    /// The name of the key: `S`, `F5`, `Enter`, `Slash`.
    pub key: &'static str,
}

/// Modifiers of a shortcut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Modifiers {
    None,
    Control,
    Shift,
    ControlShift,
}

/// The menu that contains a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Menu {
    File,
    Edit,
    Run,
    View,
    History,
    Search,
    Teach,
    Help,
}

impl Menu {
    /// All menus, from left to right.
    pub const ALL: [Self; 8] = [
        Self::File,
        Self::Edit,
        Self::Run,
        Self::View,
        Self::History,
        Self::Search,
        Self::Teach,
        Self::Help,
    ];

    #[must_use]
    pub const fn title(self) -> &'static str {
        match self {
            Self::File => "File",
            Self::Edit => "Edit",
            Self::Run => "Run",
            Self::View => "View",
            Self::History => "History",
            Self::Search => "Search",
            Self::Teach => "Teach",
            Self::Help => "Help",
        }
    }
}

/// A command without parameters, as menus and the palette show it.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    pub command: Command,
    pub title: String,
    pub menu: Menu,
    pub shortcuts: Vec<Shortcut>,
}

const fn plain(key: &'static str) -> Shortcut {
    Shortcut { modifiers: Modifiers::None, key }
}

const fn shift(key: &'static str) -> Shortcut {
    Shortcut { modifiers: Modifiers::Shift, key }
}

const fn control(key: &'static str) -> Shortcut {
    Shortcut { modifiers: Modifiers::Control, key }
}

const fn control_shift(key: &'static str) -> Shortcut {
    Shortcut { modifiers: Modifiers::ControlShift, key }
}

/// Every command without parameters, in menu order.
#[must_use]
pub fn entries() -> &'static [Entry] {
    // Read in every frame, and constant.
    static ENTRIES: LazyLock<Vec<Entry>> = LazyLock::new(listed);
    &ENTRIES
}

fn listed() -> Vec<Entry> {
    let mut entries = Vec::new();
    let mut add = |menu, command, title: &str, shortcuts: &[Shortcut]| {
        let (title, shortcuts) = (title.to_owned(), shortcuts.to_vec());
        entries.push(Entry { command, title, menu, shortcuts });
    };
    add(Menu::File, Command::NewProject(NewProjectCommand::Ask), "New project…", &[control("N")]);
    add(Menu::File, Command::OpenFolder, "Open project…", &[control("O")]);
    add(Menu::File, Command::AskForPath, "Open by its path…", &[control_shift("O")]);
    add(Menu::File, Command::QuickOpen, "Go to…", &[control("P")]);
    add(Menu::File, Command::Save, "Save", &[control("S")]);
    add(Menu::File, Command::SaveAll, "Save all", &[control_shift("S")]);
    let settings = Command::ShowSettings(String::new());
    add(Menu::File, settings, "Settings…", &[control("Comma")]);
    add(Menu::File, Command::CloseProject, "Close project", &[]);
    add(Menu::File, Command::Quit, "Quit", &[control("Q")]);
    let edits: [(EditCommand, &str, &[Shortcut]); 6] = [
        (EditCommand::Undo, "Undo", &[control("Z")]),
        (EditCommand::Redo, "Redo", &[control_shift("Z"), control("Y")]),
        (EditCommand::Find, "Find…", &[control("F")]),
        (EditCommand::Replace, "Replace…", &[control("H")]),
        (EditCommand::GoToLine, "Go to line…", &[control("G")]),
        (EditCommand::ToggleComment, "Toggle comment", &[control("Slash")]),
    ];
    for (edit, title, shortcuts) in edits {
        add(Menu::Edit, Command::Edit(edit), title, shortcuts);
    }
    add(Menu::Edit, Command::NextProblem, "Next problem", &[plain("F8")]);
    add(Menu::Edit, Command::PreviousProblem, "Previous problem", &[shift("F8")]);
    add(Menu::Run, Command::Run, "Run", &[plain("F5"), control("Enter")]);
    add(Menu::Run, Command::RunAll, "Run every kernel", &[control_shift("Enter")]);
    add(Menu::Run, Command::AuditChecker, "Audit the checker", &[]);
    add(Menu::Run, Command::StopAudit, "Stop the audit", &[]);
    add(Menu::Run, Command::Stop, "Stop", &[shift("F5")]);
    for mode in Mode::ALL {
        add(Menu::Run, Command::SetMode(mode), &format!("After a save: {}", mode.words()), &[]);
    }
    for (command, title, shortcuts) in OF_MEASURING {
        add(Menu::Run, Command::Measure(command), title, shortcuts);
    }
    let digits = ["Num1", "Num2", "Num3", "Num4", "Num5"];
    for (layout, digit) in LayoutName::ALL.into_iter().zip(digits) {
        add(Menu::View, Command::Layout(layout), &format!("Layout {layout}"), &[control(digit)]);
    }
    add(Menu::View, Command::UndoLayout, "Undo layout change", &[]);
    add(Menu::View, Command::ResetLayout, "Reset layout", &[]);
    for panel in Panel::ALL {
        add(
            Menu::View,
            Command::Show(panel),
            &format!("Show {}", panel.title().to_lowercase()),
            &[],
        );
    }
    for theme in ThemeName::ALL {
        add(
            Menu::View,
            Command::Theme(theme),
            &format!("Theme {}", theme.to_string().to_lowercase()),
            &[],
        );
    }
    add(Menu::View, Command::ZoomIn, "Zoom in", &[control("Plus"), control("Equals")]);
    add(Menu::View, Command::ZoomOut, "Zoom out", &[control("Minus")]);
    add(Menu::View, Command::ZoomReset, "Normal size", &[control("Num0")]);
    for (command, title, shortcuts) in OF_RUNS {
        add(Menu::History, command, title, shortcuts);
    }
    for (command, title, shortcuts) in OF_SEARCHES {
        add(Menu::Search, Command::Search(command), title, shortcuts);
    }
    for (command, title, shortcuts) in OF_LESSONS {
        add(Menu::Teach, Command::Lesson(command), title, shortcuts);
    }
    add(Menu::Teach, Command::Trace(None), "Look at memory accesses", &[plain("F4")]);
    add(Menu::Run, Command::Timeline, "Model the timeline", &[shift("F4")]);
    add(Menu::Help, Command::Palette, "All commands…", &[control_shift("P")]);
    add(Menu::Help, Command::RunDoctor, "Examine this machine", &[]);
    add(Menu::Help, Command::FetchCompiler, "Fetch the compiler", &[]);
    add(Menu::Help, Command::DismissNotices, "Dismiss notices", &[]);
    entries
}

/// Commands for measurements besides the verdict.
const OF_MEASURING: [(MeasureCommand, &str, &[Shortcut]); 6] = [
    (MeasureCommand::Profile, "Profile on the GPU", &[control("F5")]),
    (MeasureCommand::Besides(ExtraModes::Nothing), "Take times: cold and warm", &[]),
    (MeasureCommand::Besides(ExtraModes::Graph), "Take times: also graph replays", &[]),
    (MeasureCommand::Besides(ExtraModes::Server), "Take times: also after idle periods", &[]),
    (MeasureCommand::Energy(EnergyUse::Measure), "Also measure energy", &[]),
    (MeasureCommand::Energy(EnergyUse::Skip), "Do not measure energy", &[]),
];

/// Lesson commands without parameters.
const OF_LESSONS: [(LessonCommand, &str, &[Shortcut]); 6] = [
    (LessonCommand::Next, "Next step", &[plain("F7")]),
    (LessonCommand::Previous, "Previous step", &[shift("F7")]),
    (LessonCommand::Measure, "Measure", &[plain("F6")]),
    (LessonCommand::Hint, "Show a hint", &[]),
    (LessonCommand::Solution, "Compare with the solution", &[]),
    (LessonCommand::Everything, "Show everything", &[]),
];

/// Run commands without parameters.
const OF_RUNS: [(Command, &str, &[Shortcut]); 7] = [
    (Command::CompareSelected, "Compare", &[control("D")]),
    (Command::AddToComparison(None), "Add to comparison", &[control_shift("D")]),
    (Command::SwapSides, "Swap sides", &[]),
    (Command::GroupRuns, "Group runs by family, or show one list", &[]),
    (Command::AskForLabel(None), "Label run…", &[plain("F2")]),
    (Command::CopyVerdict, "Copy verdict", &[]),
    (Command::CopyComparison, "Copy comparison as Markdown", &[]),
];

/// Search commands without parameters.
const OF_SEARCHES: [(SearchCommand, &str, &[Shortcut]); 12] = [
    (SearchCommand::Start, "Search from this kernel", &[plain("F9")]),
    (SearchCommand::Pause, "Pause search", &[]),
    (SearchCommand::Resume, "Resume search", &[]),
    (SearchCommand::Stop, "Stop search", &[shift("F9")]),
    (SearchCommand::Pace(Pace::Full), "Search at full pace", &[]),
    (SearchCommand::Pace(Pace::Gentle), "Search at a gentle pace", &[]),
    (SearchCommand::ToggleFailures, "Hide or show failures", &[]),
    (SearchCommand::Accept, "Accept variant", &[control_shift("A")]),
    (SearchCommand::KeepAsBranch, "Keep variant as a branch", &[]),
    (SearchCommand::Suggest, "Suggest a change", &[control_shift("G")]),
    (SearchCommand::NextSuggestion, "Next suggestion", &[]),
    (SearchCommand::AcceptSuggestion, "Accept suggestion", &[]),
];

impl Shortcut {
    /// The shortcut as menus show it.
    #[must_use]
    pub fn words(self) -> String {
        let modifiers = match self.modifiers {
            Modifiers::None => "",
            Modifiers::Control => "Ctrl+",
            Modifiers::Shift => "Shift+",
            Modifiers::ControlShift => "Ctrl+Shift+",
        };
        let key = match self.key {
            "Slash" => "/",
            "Comma" => ",",
            "Plus" => "+",
            "Equals" => "=",
            "Minus" => "-",
            other => other.strip_prefix("Num").unwrap_or(other),
        };
        format!("{modifiers}{key}")
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn no_two_commands_share_a_title_or_keys() {
        let (mut titles, mut keys) = (BTreeSet::new(), BTreeSet::new());
        for entry in entries() {
            assert!(titles.insert(&entry.title), "{} twice", entry.title);
            for shortcut in &entry.shortcuts {
                assert!(keys.insert(shortcut.words()), "{} twice", shortcut.words());
            }
        }
    }

    #[test]
    fn every_menu_has_something() {
        for menu in Menu::ALL {
            assert!(entries().iter().any(|entry| entry.menu == menu), "{}", menu.title());
        }
    }
}
