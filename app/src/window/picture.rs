//! The same window without a display or a GPU, drawn on the processor into an image.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, sync_channel};
use std::time::{Duration, Instant};

use egui::{Context, RawInput, Rect, Vec2, ViewportId, pos2};
use image::RgbaImage;
use lightbench_picture::Painter;

use super::Window;
use crate::clerk::{Desk, Wake};
use crate::session::Session;
use crate::theme::{self, ThemeName};
use crate::workbench::Workbench;
use crate::workbench::command::Command;
use crate::workbench::errand::{Clerk, Errand, Finding};
use crate::workbench::evaluations::Machine;
use crate::workbench::opened::HistoryRead;
use crate::workbench::panel::{LayoutName, Panel};
use crate::workbench::settings::Settings;

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

/// Why there is no picture.
#[derive(Debug, thiserror::Error)]
pub enum PictureError {
    /// The system has no more threads.
    #[error("the window cannot be started: {0}")]
    Start(#[from] std::io::Error),
    /// Something took too long.
    #[error("{what} was not there after {} s", limit.as_secs())]
    TooLong {
        /// What.
        what: &'static str,
        /// The limit.
        limit: Duration,
    },
    /// The project cannot be opened.
    #[error("{0}")]
    Project(String),
}

/// Draws the window with what it would show.
///
/// # Errors
/// The project cannot be opened, or something takes too long.
pub fn picture(session: Session, subject: &Subject) -> Result<RgbaImage, PictureError> {
    let mut studio = Studio::new(session, subject)?;
    if let Some(project) = &subject.project {
        studio.window.carry_out(Command::Open(project.clone()), Duration::ZERO);
        studio.until("the project with its history", READY_WITHIN, |window| {
            window.bench.opened.as_ref().is_some_and(|opened| opened.history == HistoryRead::Whole)
        })?;
    }
    // A lesson arranges panels when it opens; a picture is of what was asked for.
    studio.settle();
    studio.window.carry_out(Command::Layout(subject.layout), Duration::ZERO);
    studio.until("what this machine has", READY_WITHIN, |window| {
        !matches!(window.bench.evaluations.machine, Machine::Looking)
    })?;
    let now = studio.now();
    if let Some(kernel) = &subject.kernel {
        studio.window.carry_out(Command::ChooseKernel(kernel.clone()), now);
    }
    match subject.run {
        Runs::None => {}
        Runs::One => studio.window.carry_out(Command::Run, now),
        Runs::All => studio.window.carry_out(Command::RunAll, now),
    }
    if subject.run != Runs::None {
        studio.until("the verdict", RUN_WITHIN, |window| {
            let bench = &window.bench;
            let recorded = |(_, known): (&String, &crate::workbench::evaluations::Known)| {
                known.evaluated.as_ref().is_none_or(|each| each.number.is_some())
            };
            !bench.evaluations.is_busy() && bench.evaluations.all().all(recorded)
        })?;
    }
    if subject.layout == LayoutName::Compare {
        studio.compare()?;
    }
    Ok(studio.take(subject))
}

/// A clerk that changes nothing that a person prefers or has not saved: it only looks.
struct Onlooker(Desk);

impl Clerk for Onlooker {
    fn hand(&self, errand: Errand) {
        let is_of_a_person = matches!(
            errand,
            Errand::KeepSettings(_)
                | Errand::KeepLayouts(_)
                | Errand::KeepJournal(..)
                | Errand::ForgetJournal(..)
                | Errand::Save { .. }
        );
        if !is_of_a_person {
            self.0.hand(errand);
        }
    }

    fn next(&self) -> Option<Finding> {
        self.0.next()
    }
}

struct Studio {
    window: Window,
    context: Context,
    painter: Painter,
    input: RawInput,
    began: Instant,
    woken: Receiver<()>,
}

impl Studio {
    fn new(session: Session, subject: &Subject) -> std::io::Result<Self> {
        let context = Context::default();
        theme::install(&context);
        // One is enough: whoever wakes finds out what happened.
        let (bell, woken) = sync_channel(1);
        let wake: Wake = Arc::new(move || {
            bell.try_send(()).ok();
        });
        let clerk = Onlooker(Desk::start(session, wake)?);
        let settings = Settings { theme: subject.theme, ..Settings::default() };
        let mut window = Window::new(Workbench::new(settings, Box::new(clerk)));
        window.carry_out(Command::Layout(subject.layout), Duration::ZERO);
        let size = Vec2::from(subject.size);
        let mut input = RawInput {
            screen_rect: Some(Rect::from_min_size(pos2(0.0, 0.0), size)),
            focused: true,
            ..RawInput::default()
        };
        if let Some(viewport) = input.viewports.get_mut(&ViewportId::ROOT) {
            viewport.native_pixels_per_point = Some(subject.scale);
        }
        Ok(Self {
            window,
            context,
            painter: Painter::default(),
            input,
            began: Instant::now(),
            woken,
        })
    }

    fn now(&self) -> Duration {
        self.began.elapsed()
    }

    /// Has wishes granted that came of what was read.
    fn settle(&mut self) {
        self.window.grant(&self.context);
    }

    /// Waits until something is there.
    fn until(
        &mut self,
        what: &'static str,
        limit: Duration,
        is_there: impl Fn(&Window) -> bool,
    ) -> Result<(), PictureError> {
        let began = Instant::now();
        loop {
            let now = self.now();
            self.window.logic(&self.context, now);
            if is_there(&self.window) {
                return Ok(());
            }
            if self.window.bench.opened.is_none() {
                let error = self.window.bench.notices.newest().next();
                if let Some(error) =
                    error.filter(|notice| notice.weight == crate::workbench::notices::Weight::Error)
                {
                    return Err(PictureError::Project(error.text.clone()));
                }
            }
            if began.elapsed() > limit {
                return Err(PictureError::TooLong { what, limit });
            }
            // Nothing heard in this time is nothing to hear: look again.
            self.woken.recv_timeout(Duration::from_millis(50)).ok();
        }
    }

    /// Puts the run that is shown beside another one, where there is another.
    fn compare(&mut self) -> Result<(), PictureError> {
        let now = self.now();
        self.window.carry_out(Command::CompareSelected, now);
        if self.window.bench.selection.sides.iter().all(Option::is_some) {
            self.until("both runs", READY_WITHIN, |window| window.bench.compared().is_some())?;
        }
        Ok(())
    }

    fn take(&mut self, subject: &Subject) -> RgbaImage {
        // Notices that a person would have read by now.
        self.window.bench.notices.dismiss();
        for _ in 0..SETTLING {
            let mut output = self.frame(subject);
            self.painter.update(&mut output.textures_delta);
            self.woken.recv_timeout(Duration::from_millis(30)).ok();
        }
        let mut output = self.frame(subject);
        self.painter.update(&mut output.textures_delta);
        let background = theme::ThemeName::tokens(subject.theme).surface.window.0;
        self.painter.frame(&self.context, &output, background)
    }

    fn frame(&mut self, subject: &Subject) -> egui::FullOutput {
        let now = self.now();
        let mut input = self.input.clone();
        input.time = Some(now.as_secs_f64());
        self.window.logic(&self.context, now);
        let window = &mut self.window;
        self.context.run_ui(input, |ui| match subject.panel {
            Some(panel) => window.only(panel, ui, now),
            None => window.frame(ui, now),
        })
    }
}
