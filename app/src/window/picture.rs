//! Renders a picture of the window on the processor.

use std::path::{Path, PathBuf};
use std::time::Duration;

use image::RgbaImage;
use lightbench_picture::Painter;

use super::headless::{HeadlessError, HeadlessWindow, Scene};
use crate::session::Session;
use crate::theme::ThemeName;
use crate::workbench::Workbench;
use crate::workbench::command::{Command, MeasureCommand};
use crate::workbench::evaluations::{KernelState, MachineState, Sass};
use crate::workbench::on_demand::OnDemandState;
use crate::workbench::open_project::HistoryState;
use crate::workbench::panel::{LayoutName, Panel};
use crate::workbench::search::SearchCommand;
use crate::workbench::settings::{Heat, Settings};

/// Time limit for reading a project and its history and detecting the machine.
const READY_WITHIN: Duration = Duration::from_secs(60);
/// Time limit for a kernel that is run first.
const RUN_WITHIN: Duration = Duration::from_secs(600);
/// Frames drawn after loading, because layout settles over several frames.
const SETTLING: usize = 6;

/// The content of the picture.
#[derive(Clone, Debug)]
pub struct Subject {
    /// The project, or one of its kernel files; `None` renders the start page.
    pub project: Option<PathBuf>,
    /// The current kernel; `None` takes the first.
    pub kernel: Option<String>,
    /// A single panel; `None` renders the whole window.
    pub panel: Option<Panel>,
    pub layout: LayoutName,
    /// Select the theme.
    pub theme: ThemeName,
    /// Width and height in points.
    pub size: [f32; 2],
    /// Pixels per point.
    pub scale: f32,
    /// Kernels that are run first.
    pub run: Runs,
    /// Whether the kernel is profiled first.
    pub profiling: Profiling,
}

/// Whether the kernel is profiled before the picture is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Profiling {
    /// Not requested.
    NotAsked,
    /// Profile, and show stall samples beside the lines.
    Asked,
}

/// What is run before the picture is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Runs {
    /// Nothing: the history is shown.
    None,
    /// The current kernel.
    One,
    /// Every kernel.
    All,
}

/// Renders the window with typical content: two compared runs in Compare, the newest search in Search, the accesses of
/// a warp in Teach.
///
/// # Errors
/// The project cannot be opened, or a step exceeds its time limit.
pub fn picture(session: Session, subject: &Subject) -> Result<RgbaImage, HeadlessError> {
    let settings = Settings { theme: subject.theme, ..Settings::default() };
    let mut studio = HeadlessWindow::new(session, settings, subject.size, subject.scale)?;
    if let Some(project) = &subject.project {
        studio.carry_out(Command::Open(project.clone()));
        studio.run_until("the project with its history", READY_WITHIN, |bench| {
            bench.opened.as_ref().is_some_and(|opened| opened.history == HistoryState::Whole)
        })?;
    }
    // A lesson changes the layout when it opens; the picture shows the requested one.
    studio.carry_out(Command::Layout(subject.layout));
    studio.run_until("what this machine has", READY_WITHIN, |bench| {
        !matches!(bench.evaluations.machine, MachineState::Detecting)
    })?;
    if let Some(kernel) = &subject.kernel {
        studio.carry_out(Command::ChooseKernel(kernel.clone()));
    }
    run(&mut studio, subject.run)?;
    if subject.profiling == Profiling::Asked {
        profile(&mut studio)?;
    }
    match subject.layout {
        LayoutName::Compare => compare(&mut studio)?,
        LayoutName::Search => look_at_newest_search(&mut studio)?,
        LayoutName::Teach => look_at_warp(&mut studio)?,
        LayoutName::Code => disassemble(&mut studio)?,
        LayoutName::Edit => {}
    }
    Ok(take(&mut studio, subject))
}

fn run(studio: &mut HeadlessWindow, what: Runs) -> Result<(), HeadlessError> {
    studio.carry_out(match what {
        Runs::None => return Ok(()),
        Runs::One => Command::Run,
        Runs::All => Command::RunAll,
    });
    let recorded = |(_, known): (&String, &KernelState)| {
        known.evaluated.as_ref().is_none_or(|each| each.number.is_some())
    };
    let is_over =
        |bench: &Workbench| !bench.evaluations.is_busy() && bench.evaluations.all().all(recorded);
    studio.run_until("the verdict", RUN_WITHIN, is_over)
}

fn profile(studio: &mut HeadlessWindow) -> Result<(), HeadlessError> {
    studio.carry_out(Command::Measure(MeasureCommand::Profile));
    studio.carry_out(Command::SetHeat(Heat::Stalls));
    studio.run_until("what hardware counts", RUN_WITHIN, |bench| !bench.evaluations.is_busy())?;
    // To the line with the most stall samples.
    let hottest = studio.bench().counted().and_then(|(counted, _)| {
        let lines = &counted.hardware.stalls.as_ref().ok()?.lines;
        let own = lines.iter().find(|line| Path::new(&line.file) == counted.kernel.file)?;
        Some((counted.kernel.file.clone(), own.line))
    });
    if let Some((file, line)) = hottest {
        studio.carry_out(Command::GoTo(file, line, 1));
    }
    Ok(())
}

/// Disassembles the current kernel, if it was compiled.
fn disassemble(studio: &mut HeadlessWindow) -> Result<(), HeadlessError> {
    let Some(kernel) = studio.bench().opened.as_ref().map(|opened| opened.kernel.clone()) else {
        return Ok(());
    };
    studio.carry_out(Command::Disassemble(kernel.clone()));
    studio.run_until("the machine code", READY_WITHIN, |bench| {
        bench.evaluations.kernel(&kernel).is_none_or(|known| {
            known.facts.is_none() || !matches!(known.sass, Sass::Unread | Sass::Reading)
        })
    })
}

/// Compares the shown run with another one, if there is one.
fn compare(studio: &mut HeadlessWindow) -> Result<(), HeadlessError> {
    studio.carry_out(Command::CompareSelected);
    if studio.bench().selection.sides.iter().any(Option::is_none) {
        return Ok(());
    }
    studio.run_until("both runs", READY_WITHIN, |bench| bench.compared().is_some())
}

fn look_at_newest_search(studio: &mut HeadlessWindow) -> Result<(), HeadlessError> {
    let newest = studio.bench().searches.listed.first().map(|header| header.id.clone());
    let Some(newest) = newest else { return Ok(()) };
    studio.carry_out(Command::Search(SearchCommand::OpenJournal(newest)));
    studio.run_until("the newest search", READY_WITHIN, |bench| bench.searches.read.is_some())
}

/// Records the accesses of the first warp of a lesson's kernel, if the machine can evaluate.
fn look_at_warp(studio: &mut HeadlessWindow) -> Result<(), HeadlessError> {
    if studio.bench().open_lesson().is_none() || studio.bench().device().is_none() {
        return Ok(());
    }
    studio.carry_out(Command::Trace(None));
    studio.run_until("what a warp accesses", RUN_WITHIN, |bench| {
        let seen = bench.opened.as_ref().map(|opened| &opened.accesses.state);
        !matches!(seen, Some(OnDemandState::Nothing | OnDemandState::Running))
    })
}

fn take(studio: &mut HeadlessWindow, subject: &Subject) -> RgbaImage {
    // A user would have read these notices by now.
    studio.carry_out(Command::DismissNotices);
    let scene = subject.panel.map_or(Scene::Window, Scene::Panel);
    let mut painter = Painter::default();
    for _ in 0..SETTLING {
        let mut output = studio.frame(scene, Vec::new());
        painter.update(&mut output.textures_delta);
        studio.wait_for_wake(Duration::from_millis(30));
    }
    let mut output = studio.frame(scene, Vec::new());
    painter.update(&mut output.textures_delta);
    painter.frame(&studio.context, &output, subject.theme.tokens().surface.window.0)
}
