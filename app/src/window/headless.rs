//! The window without a display or a GPU: its frames are computed and not shown. Pictures and benchmarks use it.

use std::sync::Arc;
use std::time::{Duration, Instant};

use egui::{ClippedPrimitive, Context, Event, FullOutput, RawInput, Rect, Vec2, ViewportId, pos2};
use lightbench_core::wake_signal::WakeSignal;

use super::Window;
use crate::background_worker::{Wake, WorkerHandle};
use crate::session::Session;
use crate::theme;
use crate::workbench::Workbench;
use crate::workbench::background_task::{BackgroundTask, BackgroundWorker, TaskResult};
use crate::workbench::command::Command;
use crate::workbench::notices::NoticeLevel;
use crate::workbench::panel::Panel;
use crate::workbench::settings::Settings;

/// Polling interval if no wake-up arrives.
const AGAIN: Duration = Duration::from_millis(50);

/// A missing number, with its reason or remedy.
#[derive(Debug, thiserror::Error)]
pub enum HeadlessError {
    /// The system cannot start another thread.
    #[error("the window cannot be started: {0}")]
    Start(#[from] std::io::Error),
    /// A step exceeded its time limit.
    #[error("{what} was not available after {} s", limit.as_secs())]
    TooLong { what: &'static str, limit: Duration },
    /// The project cannot be opened.
    #[error("{0}")]
    Project(String),
}

/// What is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scene {
    /// The whole window.
    Window,
    /// A single panel in the whole window.
    Panel(Panel),
}

/// A window without a display, and its background worker.
#[derive(Debug)]
pub struct HeadlessWindow {
    pub(super) window: Window,
    pub(super) context: Context,
    input: RawInput,
    began: Instant,
    woken: WakeSignal,
}

impl HeadlessWindow {
    /// A window of this size in points and scale in pixels per point.
    ///
    /// # Errors
    /// The system cannot start another thread.
    pub fn new(
        session: Session,
        settings: Settings,
        size: [f32; 2],
        scale: f32,
    ) -> Result<Self, HeadlessError> {
        let context = Context::default();
        theme::install(&context);
        let woken = WakeSignal::new();
        let signal = woken.clone();
        let wake: Wake = Arc::new(move || signal.raise());
        let worker = ForwardingWorker(WorkerHandle::start(session, wake)?);
        let window = Window::new(Workbench::new(settings, Box::new(worker)));
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

    /// The time since the window was created.
    #[must_use]
    pub fn now(&self) -> Duration {
        self.began.elapsed()
    }

    /// The selected metric.
    #[must_use]
    pub const fn bench(&self) -> &Workbench {
        &self.window.bench
    }

    /// Carries out a command.
    pub fn carry_out(&mut self, command: Command) {
        // Effects of earlier commands come first.
        self.window.apply_effect(&self.context);
        let now = self.now();
        self.window.carry_out(command, now);
        self.window.apply_effect(&self.context);
    }

    /// Reads layouts from a file's text.
    ///
    /// # Errors
    /// The problem, in a sentence.
    pub fn arrange(&mut self, layouts: &str) -> Result<(), String> {
        self.window.arrange(layouts)
    }

    /// Sets the size, in points.
    pub fn resize(&mut self, size: [f32; 2]) {
        self.input.screen_rect = Some(Rect::from_min_size(pos2(0.0, 0.0), Vec2::from(size)));
    }

    /// Waits for a condition without drawing.
    ///
    /// # Errors
    /// The limit passed, or the project cannot be opened.
    pub fn run_until(
        &mut self,
        what: &'static str,
        limit: Duration,
        is_there: impl Fn(&Workbench) -> bool,
    ) -> Result<(), HeadlessError> {
        let began = Instant::now();
        loop {
            let now = self.now();
            self.window.logic(&self.context, now);
            let bench = &self.window.bench;
            if is_there(bench) {
                return Ok(());
            }
            let newest = bench.notices.newest().next().filter(|_| bench.opened.is_none());
            if let Some(error) = newest.filter(|notice| notice.weight == NoticeLevel::Error) {
                return Err(HeadlessError::Project(error.text.clone()));
            }
            if began.elapsed() > limit {
                return Err(HeadlessError::TooLong { what, limit });
            }
            self.wait_for_wake(AGAIN);
        }
    }

    /// Waits for a wake-up, at most `limit`.
    pub fn wait_for_wake(&self, limit: Duration) {
        let _is_woken = self.woken.wait_for(limit);
    }

    /// Draws a frame with these input events.
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

    /// The triangles of a frame, as a GPU would receive them.
    #[must_use]
    pub fn tessellate(&self, output: FullOutput) -> Vec<ClippedPrimitive> {
        self.context.tessellate(output.shapes, output.pixels_per_point)
    }
}

/// A background worker that reads only: it drops tasks that would change settings or unsaved texts.
#[derive(Debug)]
struct ForwardingWorker(WorkerHandle);

impl BackgroundWorker for ForwardingWorker {
    fn submit(&self, task: BackgroundTask) {
        let is_of_a_person = matches!(
            task,
            BackgroundTask::SaveSettings(_)
                | BackgroundTask::SaveLayouts(_)
                | BackgroundTask::SaveSession(_)
                | BackgroundTask::SaveJournal(..)
                | BackgroundTask::DeleteJournal(..)
                | BackgroundTask::Save { .. }
        );
        if !is_of_a_person {
            self.0.submit(task);
        }
    }

    fn next_result(&self) -> Option<TaskResult> {
        self.0.next_result()
    }
}
