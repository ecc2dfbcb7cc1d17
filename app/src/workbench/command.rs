//! All that a person can do in the window: menu, shortcuts, palette and tests come from this one list.

use std::path::PathBuf;
use std::sync::LazyLock;

use lightbench_core::figure::Figure;
use lightbench_core::history::RunNumber;
use lightbench_core::measure::{Besides, EnergyUse};
use lightbench_core::search::Pace;

use super::access::Wanted;
use super::lesson::LessonCommand;
use super::panel::{LayoutName, Panel};
use super::search::SearchCommand;
use super::settings::{Heat, Mode};
use crate::theme::ThemeName;

/// All that a person can do.
#[derive(Clone, Debug, PartialEq)]
pub enum Command {
    /// Ask for a project folder.
    OpenFolder,
    /// Ask for the path of a project, to be typed.
    AskForPath,
    /// What folders there are in a folder that was typed.
    ListFolders(String),
    /// Open the project at a path that was typed.
    OpenTyped(String),
    /// No path is to be typed any more.
    LeavePath,
    /// Open a project, or the project that a kernel file belongs to.
    Open(PathBuf),
    /// Close the project.
    CloseProject,
    /// Write the current text to its file, and start what follows from it.
    Save,
    /// Write every changed text to its file.
    SaveAll,
    /// Leave.
    Quit,
    /// Leave, whatever was not saved.
    QuitAnyway,

    /// Find out about the current kernel as far as the mode says, or all of it where the mode is off.
    Run,
    /// The same for every kernel of the project.
    RunAll,
    /// Something that is measured besides a verdict.
    Measure(MeasureCommand),
    /// Find out what the checker catches in this project.
    TryChecker,
    /// Nobody wants to know that any more.
    StopTrying,
    /// Not wanted any more.
    Stop,
    /// How far to go by itself after a save.
    SetMode(Mode),
    /// Where to run.
    ChooseDevice(String),
    /// Which workload numbers are shown for.
    ChooseWorkload(String),

    /// Show a kernel's text, and what is known of it.
    ChooseKernel(String),
    /// Show a line of a file of the project.
    GoTo(PathBuf, u32, u32),
    /// Bring an open text to the front.
    Front(PathBuf),
    /// Close a text; one that was not saved stays open.
    CloseText(PathBuf),
    /// To the next problem in the text.
    NextProblem,
    /// To the problem before.
    PreviousProblem,
    /// What to do about a text that somebody else changed on disk.
    Resolve(PathBuf, Resolution),
    /// Put back what was not saved when the program ended, or forget it.
    Recover(PathBuf, Recovery),
    /// Something of the text in front.
    Edit(EditCommand),

    /// Look at a run.
    SelectRun(RunNumber),
    /// Compare everything with this run from now on; with none again where it is that run already.
    Pin(RunNumber),
    /// Have families of runs stand together, or all runs in one list.
    GroupRuns,
    /// Ask what a run is to be called; the one that is looked at where none is named.
    AskForLabel(Option<RunNumber>),
    /// Call a run so from now on; an empty text takes its label away.
    Label(RunNumber, String),
    /// Put a run on one side of the comparison.
    Compare(Side, RunNumber),
    /// Compare the run that is looked at with the pinned one, or with the one before.
    CompareSelected,
    /// Hold one more run beside those that are compared, or leave it out again; the one that is looked at where none is
    /// named.
    CompareToo(Option<RunNumber>),
    /// Make the machine code of a run that is compared.
    DisassembleRun(RunNumber),
    /// Exchange the sides of the comparison.
    SwapSides,
    /// Write a run's source into the editor as the kernel's text; it can be undone.
    TakeSource(RunNumber),
    /// The sentence of the verdict.
    CopyVerdict,
    /// The comparison as a table.
    CopyComparison,

    /// Show a panel.
    Show(Panel),
    /// Arrange panels for something else.
    Layout(LayoutName),
    /// As this arrangement was at first.
    ResetLayout,
    /// As panels were arranged before.
    UndoLayout,
    /// The look.
    Theme(ThemeName),
    /// Everything larger.
    ZoomIn,
    /// Everything smaller.
    ZoomOut,
    /// As large as at first.
    ZoomReset,
    /// All commands, to type and choose from.
    Palette,
    /// All kernels and files, to type and choose from.
    QuickOpen,
    /// Notices were read.
    DismissNotices,
    /// Examine the machine.
    Examine,
    /// Fetch the compiler, with the machine's own package manager.
    FetchCompiler,
    /// Show a kernel's machine code as text.
    Disassemble(String),
    /// Put a text where other programs find it.
    Copy(String),
    /// Write something that a person asked for where they say.
    Export(String, Vec<u8>),
    /// Write a figure as a picture where a person says.
    ExportPicture(String, Box<Figure>),
    /// What the column beside the lines shows.
    SetHeat(Heat),
    /// Begin a lesson, in the folder of its project.
    OpenLesson(PathBuf),
    /// Something of the lesson that is open.
    Lesson(LessonCommand),
    /// Something of searches.
    Search(SearchCommand),
    /// Look at what a warp accesses; the first one where nobody says which.
    Trace(Option<Wanted>),
}

/// Something that is measured besides a verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MeasureCommand {
    /// Have a profiler count what hardware does when the current kernel runs.
    Profile,
    /// Under which condition times are taken too, beside cold and warm ones.
    Besides(Besides),
    /// Whether energy is measured, when all times are taken.
    Energy(EnergyUse),
}

/// Something to do with the text in front.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EditCommand {
    /// Take the last change back.
    Undo,
    /// Make it again.
    Redo,
    /// Look for a text.
    Find,
    /// Put another text in its place.
    Replace,
    /// To a line by its number.
    GoToLine,
    /// Make lines comments, or code again.
    ToggleComment,
}

/// What to do about a text that was changed here and on disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resolution {
    /// What stands here stays; saving writes over the file.
    KeepMine,
    /// What stands on disk replaces what stands here; it can be undone.
    TakeTheirs,
    /// Show both beside each other, or the text alone again.
    Compare,
}

/// What to do about a text that was not saved when the program ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recovery {
    /// Into the editor.
    Restore,
    /// Away.
    Forget,
}

/// A side of the comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The first.
    A,
    /// The second.
    B,
}

/// Keys that do something. `control` is the command key on a Mac.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shortcut {
    /// Which modifiers.
    pub modifiers: Modifiers,
    /// The key by its name: `S`, `F5`, `Enter`, `Slash`.
    pub key: &'static str,
}

/// Modifiers of a shortcut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Modifiers {
    /// None.
    None,
    /// Control.
    Control,
    /// Shift.
    Shift,
    /// Both.
    ControlShift,
}

/// Under which menu a command stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Menu {
    /// Projects and files.
    File,
    /// Text.
    Edit,
    /// Work.
    Run,
    /// Arrangement and look.
    View,
    /// Runs and comparison.
    History,
    /// Searches and suggestions.
    Search,
    /// Lessons.
    Teach,
    /// About this.
    Help,
}

impl Menu {
    /// All of them, from left to right.
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

    /// Its title.
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

/// A command that needs nothing more to be known: it stands in a menu and in the palette.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// The command.
    pub command: Command,
    /// What it is called.
    pub title: String,
    /// Where it stands.
    pub menu: Menu,
    /// Keys for it.
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

/// Every command that needs nothing more to be known, in the order of the menus.
#[must_use]
pub fn entries() -> &'static [Entry] {
    // Asked for in every frame, and always the same.
    static ENTRIES: LazyLock<Vec<Entry>> = LazyLock::new(listed);
    &ENTRIES
}

fn listed() -> Vec<Entry> {
    let mut entries = Vec::new();
    let mut add = |menu, command, title: &str, shortcuts: &[Shortcut]| {
        let (title, shortcuts) = (title.to_owned(), shortcuts.to_vec());
        entries.push(Entry { command, title, menu, shortcuts });
    };
    add(Menu::File, Command::OpenFolder, "Open project…", &[control("O")]);
    add(Menu::File, Command::AskForPath, "Open by its path…", &[control_shift("O")]);
    add(Menu::File, Command::QuickOpen, "Go to…", &[control("P")]);
    add(Menu::File, Command::Save, "Save", &[control("S")]);
    add(Menu::File, Command::SaveAll, "Save all", &[control_shift("S")]);
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
    add(Menu::Run, Command::TryChecker, "Try the checker", &[]);
    add(Menu::Run, Command::StopTrying, "Stop trying the checker", &[]);
    add(Menu::Run, Command::Stop, "Stop", &[shift("F5")]);
    for mode in Mode::ALL {
        add(Menu::Run, Command::SetMode(mode), &format!("After a save: {}", mode.words()), &[]);
    }
    for (command, title, shortcuts) in OF_MEASURING {
        add(Menu::Run, Command::Measure(command), title, shortcuts);
    }
    let digits = ["Num1", "Num2", "Num3", "Num4"];
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
    add(Menu::Help, Command::Palette, "All commands…", &[control_shift("P")]);
    add(Menu::Help, Command::Examine, "Examine this machine", &[]);
    add(Menu::Help, Command::FetchCompiler, "Fetch the compiler", &[]);
    add(Menu::Help, Command::DismissNotices, "Dismiss notices", &[]);
    entries
}

/// What is measured besides a verdict.
const OF_MEASURING: [(MeasureCommand, &str, &[Shortcut]); 6] = [
    (MeasureCommand::Profile, "Profile on the GPU", &[control("F5")]),
    (MeasureCommand::Besides(Besides::Nothing), "Take times: cold and warm", &[]),
    (MeasureCommand::Besides(Besides::Graph), "Take times: replayed as a graph too", &[]),
    (MeasureCommand::Besides(Besides::Server), "Take times: after random pauses too", &[]),
    (MeasureCommand::Energy(EnergyUse::Measure), "Measure energy too", &[]),
    (MeasureCommand::Energy(EnergyUse::Skip), "Measure no energy", &[]),
];

/// What needs nothing more to be known about lessons.
const OF_LESSONS: [(LessonCommand, &str, &[Shortcut]); 6] = [
    (LessonCommand::Next, "Next step", &[plain("F7")]),
    (LessonCommand::Previous, "Previous step", &[shift("F7")]),
    (LessonCommand::Measure, "Measure", &[plain("F6")]),
    (LessonCommand::Hint, "Show a hint", &[]),
    (LessonCommand::Solution, "Compare with the solution", &[]),
    (LessonCommand::Everything, "Show everything", &[]),
];

/// What needs nothing more to be known about runs.
const OF_RUNS: [(Command, &str, &[Shortcut]); 7] = [
    (Command::CompareSelected, "Compare", &[control("D")]),
    (Command::CompareToo(None), "Add to comparison", &[control_shift("D")]),
    (Command::SwapSides, "Swap sides", &[]),
    (Command::GroupRuns, "Families of runs, or one list", &[]),
    (Command::AskForLabel(None), "Label run…", &[plain("F2")]),
    (Command::CopyVerdict, "Copy verdict", &[]),
    (Command::CopyComparison, "Copy comparison as Markdown", &[]),
];

/// What needs nothing more to be known about searches.
const OF_SEARCHES: [(SearchCommand, &str, &[Shortcut]); 12] = [
    (SearchCommand::Start, "Search from this kernel", &[plain("F9")]),
    (SearchCommand::Pause, "Pause search", &[]),
    (SearchCommand::GoOn, "Go on with search", &[]),
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
    /// As it is written in menus.
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
