//! A picture of the window with what it would show, drawn on the processor.

use std::path::{Path, PathBuf};
use std::time::Duration;

use image::RgbaImage;
use lightbench_picture::Painter;

use super::studio::{Scene, Studio, StudioError};
use crate::session::Session;
use crate::theme::ThemeName;
use crate::workbench::Workbench;
use crate::workbench::access::Seen;
use crate::workbench::command::{Command, MeasureCommand};
use crate::workbench::evaluations::{Known, Machine};
use crate::workbench::opened::HistoryRead;
use crate::workbench::panel::{LayoutName, Panel};
use crate::workbench::search::SearchCommand;
use crate::workbench::settings::{Heat, Settings};

/// How long a project, its history and the machine may take to be read.
const READY_WITHIN: Duration = Duration::from_secs(60);
/// How long a kernel may take that is run first.
const RUN_WITHIN: Duration = Duration::from_secs(600);
/// Frames after everything is there: sizes settle over a few.
const SETTLING: usize = 6;

/// What is drawn.
#[derive(Clone, Debug)]
pub struct Subject {
    /// The project, or a kernel file of it; none for the page that the window starts with.
    pub project: Option<PathBuf>,
    /// Which kernel is worked on; none for the first.
    pub kernel: Option<String>,
    /// Only this panel; none for the whole window.
    pub panel: Option<Panel>,
    /// How panels are arranged.
    pub layout: LayoutName,
    /// The look.
    pub theme: ThemeName,
    /// Width and height in points.
    pub size: [f32; 2],
    /// Pixels in a point.
    pub scale: f32,
    /// Kernels that are run first.
    pub run: Runs,
    /// Whether a profiler runs the kernel first.
    pub profiling: Profiling,
}

/// Whether a profiler runs the kernel before the picture is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Profiling {
    /// Nobody asked.
    NotAsked,
    /// It does, and lines show where warps waited.
    Asked,
}

/// What is run before the picture is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Runs {
    /// Nothing: the history is shown.
    None,
    /// The kernel that is worked on.
    One,
    /// Every kernel.
    All,
}

/// Draws the window with what it would show: in the layout Compare two runs, in Search the newest
/// search, in Teach what a warp accesses.
///
/// # Errors
/// The project cannot be opened, or something takes too long.
pub fn picture(session: Session, subject: &Subject) -> Result<RgbaImage, StudioError> {
    let settings = Settings { theme: subject.theme, ..Settings::default() };
    let mut studio = Studio::new(session, settings, subject.size, subject.scale)?;
    if let Some(project) = &subject.project {
        studio.order(Command::Open(project.clone()));
        studio.until("the project with its history", READY_WITHIN, |bench| {
            bench.opened.as_ref().is_some_and(|opened| opened.history == HistoryRead::Whole)
        })?;
    }
    // A lesson arranges panels when it opens; a picture is of what was asked for.
    studio.order(Command::Layout(subject.layout));
    studio.until("what this machine has", READY_WITHIN, |bench| {
        !matches!(bench.evaluations.machine, Machine::Looking)
    })?;
    if let Some(kernel) = &subject.kernel {
        studio.order(Command::ChooseKernel(kernel.clone()));
    }
    run(&mut studio, subject.run)?;
    if subject.profiling == Profiling::Asked {
        profile(&mut studio)?;
    }
    match subject.layout {
        LayoutName::Compare => compare(&mut studio)?,
        LayoutName::Search => look_at_newest_search(&mut studio)?,
        LayoutName::Teach => look_at_warp(&mut studio)?,
        LayoutName::Edit => {}
    }
    Ok(take(&mut studio, subject))
}

fn run(studio: &mut Studio, what: Runs) -> Result<(), StudioError> {
    studio.order(match what {
        Runs::None => return Ok(()),
        Runs::One => Command::Run,
        Runs::All => Command::RunAll,
    });
    let recorded = |(_, known): (&String, &Known)| {
        known.evaluated.as_ref().is_none_or(|each| each.number.is_some())
    };
    let is_over =
        |bench: &Workbench| !bench.evaluations.is_busy() && bench.evaluations.all().all(recorded);
    studio.until("the verdict", RUN_WITHIN, is_over)
}

fn profile(studio: &mut Studio) -> Result<(), StudioError> {
    studio.order(Command::Measure(MeasureCommand::Profile));
    studio.order(Command::SetHeat(Heat::Stalls));
    studio.until("what hardware counts", RUN_WITHIN, |bench| !bench.evaluations.is_busy())?;
    // To the line with the most waiting.
    let hottest = studio.bench().counted().and_then(|(counted, _)| {
        let lines = &counted.hardware.stalls.as_ref().ok()?.lines;
        let own = lines.iter().find(|line| Path::new(&line.file) == counted.kernel.file)?;
        Some((counted.kernel.file.clone(), own.line))
    });
    if let Some((file, line)) = hottest {
        studio.order(Command::GoTo(file, line, 1));
    }
    Ok(())
}

/// Puts the run that is shown beside another one, where there is another.
fn compare(studio: &mut Studio) -> Result<(), StudioError> {
    studio.order(Command::CompareSelected);
    if studio.bench().selection.sides.iter().any(Option::is_none) {
        return Ok(());
    }
    studio.until("both runs", READY_WITHIN, |bench| bench.compared().is_some())
}

fn look_at_newest_search(studio: &mut Studio) -> Result<(), StudioError> {
    let newest = studio.bench().searches.listed.first().map(|header| header.id.clone());
    let Some(newest) = newest else { return Ok(()) };
    studio.order(Command::Search(SearchCommand::Look(newest)));
    studio.until("the newest search", READY_WITHIN, |bench| bench.searches.read.is_some())
}

/// Has the first warp of a lesson's kernel looked at, where something can run.
fn look_at_warp(studio: &mut Studio) -> Result<(), StudioError> {
    if studio.bench().taught().is_none() || studio.bench().device().is_none() {
        return Ok(());
    }
    studio.order(Command::Trace(None));
    studio.until("what a warp accesses", RUN_WITHIN, |bench| {
        let seen = bench.opened.as_ref().map(|opened| &opened.accesses.seen);
        !matches!(seen, Some(Seen::Nothing | Seen::Looking))
    })
}

fn take(studio: &mut Studio, subject: &Subject) -> RgbaImage {
    // Notices that a person would have read by now.
    studio.order(Command::DismissNotices);
    let scene = subject.panel.map_or(Scene::Window, Scene::Panel);
    let mut painter = Painter::default();
    for _ in 0..SETTLING {
        let mut output = studio.frame(scene, Vec::new());
        painter.update(&mut output.textures_delta);
        studio.rest(Duration::from_millis(30));
    }
    let mut output = studio.frame(scene, Vec::new());
    painter.update(&mut output.textures_delta);
    painter.frame(&studio.context, &output, subject.theme.tokens().surface.window.0)
}
