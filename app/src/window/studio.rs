//! The same window without a display or a GPU: its frames are made and not shown. Pictures and measurements use it.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, sync_channel};
use std::time::{Duration, Instant};

use egui::{ClippedPrimitive, Context, Event, FullOutput, RawInput, Rect, Vec2, ViewportId, pos2};

use super::Window;
use crate::clerk::{Desk, Wake};
use crate::session::Session;
use crate::theme;
use crate::workbench::Workbench;
use crate::workbench::command::Command;
use crate::workbench::errand::{Clerk, Errand, Finding};
use crate::workbench::notices::Weight;
use crate::workbench::panel::Panel;
use crate::workbench::settings::Settings;

/// Where nobody is told that something happened, it is looked for this often.
const AGAIN: Duration = Duration::from_millis(50);

/// Why something is not there.
#[derive(Debug, thiserror::Error)]
pub enum StudioError {
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

/// What is in view.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scene {
    /// The whole window.
    Window,
    /// One panel in all the room that there is.
    Panel(Panel),
}

/// A window that nobody sees, and the errands that it has done.
#[derive(Debug)]
pub struct Studio {
    pub(super) window: Window,
    pub(super) context: Context,
    input: RawInput,
    began: Instant,
    woken: Receiver<()>,
}

impl Studio {
    /// A window of so many points, with so many pixels in each.
    ///
    /// # Errors
    /// The system has no more threads.
    pub fn new(
        session: Session,
        settings: Settings,
        size: [f32; 2],
        scale: f32,
    ) -> Result<Self, StudioError> {
        let context = Context::default();
        theme::install(&context);
        // One is enough: whoever wakes finds out what happened.
        let (bell, woken) = sync_channel(1);
        let wake: Wake = Arc::new(move || {
            bell.try_send(()).ok();
        });
        let clerk = Onlooker(Desk::start(session, wake)?);
        let window = Window::new(Workbench::new(settings, Box::new(clerk)));
        let mut input = RawInput {
            screen_rect: Some(Rect::from_min_size(pos2(0.0, 0.0), Vec2::from(size))),
            focused: true,
            ..RawInput::default()
        };
        if let Some(viewport) = input.viewports.get_mut(&ViewportId::ROOT) {
            viewport.native_pixels_per_point = Some(scale);
        }
        Ok(Self { window, context, input, began: Instant::now(), woken })
    }

    /// Since it was made.
    #[must_use]
    pub fn now(&self) -> Duration {
        self.began.elapsed()
    }

    /// What is shown.
    #[must_use]
    pub const fn bench(&self) -> &Workbench {
        &self.window.bench
    }

    /// Does what a person would want.
    pub fn order(&mut self, command: Command) {
        // What earlier ones wished for comes first.
        self.window.grant(&self.context);
        let now = self.now();
        self.window.carry_out(command, now);
        self.window.grant(&self.context);
    }

    /// Arranges panels as a file of layouts says.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn arrange(&mut self, layouts: &str) -> Result<(), String> {
        self.window.arrange(layouts)
    }

    /// Another size in points.
    pub fn resize(&mut self, size: [f32; 2]) {
        self.input.screen_rect = Some(Rect::from_min_size(pos2(0.0, 0.0), Vec2::from(size)));
    }

    /// Waits until something is there, and draws nothing.
    ///
    /// # Errors
    /// It is not there within the limit, or no project can be opened.
    pub fn until(
        &mut self,
        what: &'static str,
        limit: Duration,
        is_there: impl Fn(&Workbench) -> bool,
    ) -> Result<(), StudioError> {
        let began = Instant::now();
        loop {
            let now = self.now();
            self.window.logic(&self.context, now);
            let bench = &self.window.bench;
            if is_there(bench) {
                return Ok(());
            }
            let newest = bench.notices.newest().next().filter(|_| bench.opened.is_none());
            if let Some(error) = newest.filter(|notice| notice.weight == Weight::Error) {
                return Err(StudioError::Project(error.text.clone()));
            }
            if began.elapsed() > limit {
                return Err(StudioError::TooLong { what, limit });
            }
            self.rest(AGAIN);
        }
    }

    /// Waits until something happens, at most so long.
    pub fn rest(&self, limit: Duration) {
        // Nothing heard in this time is nothing to hear.
        self.woken.recv_timeout(limit).ok();
    }

    /// A frame in which a person did this.
    pub fn frame(&mut self, scene: Scene, events: Vec<Event>) -> FullOutput {
        let now = self.now();
        let input = RawInput { time: Some(now.as_secs_f64()), events, ..self.input.clone() };
        self.window.logic(&self.context, now);
        let window = &mut self.window;
        self.context.run_ui(input, |ui| match scene {
            Scene::Panel(panel) => window.only(panel, ui, now),
            Scene::Window => window.frame(ui, now),
        })
    }

    /// The triangles of a frame, which are what a GPU is given.
    #[must_use]
    pub fn tessellate(&self, output: FullOutput) -> Vec<ClippedPrimitive> {
        self.context.tessellate(output.shapes, output.pixels_per_point)
    }
}

/// A clerk that changes nothing that a person prefers or has not saved: it only looks.
#[derive(Debug)]
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
