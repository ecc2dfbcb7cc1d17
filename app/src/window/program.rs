//! The window as a program: eframe integration, stored settings and layouts, and dropped files.

use std::env;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use eframe::{CreationContext, NativeOptions, Renderer};
use egui::{Context, RawInput, Ui, ViewportBuilder};
use lightbench_core::lesson::heading;

use super::Window;
use super::deferred_events::DeferredEvents;
use crate::background_worker::files::{LAYOUTS, SESSION, SETTINGS};
use crate::background_worker::{Wake, WorkerHandle};
use crate::session::Session;
use crate::theme;
use crate::workbench::Workbench;
use crate::workbench::command::Command;
use crate::workbench::last_session::LastSession;
use crate::workbench::notices::NoticeLevel;
use crate::workbench::samples::Samples;
use crate::workbench::settings::Settings;

/// Options for the start of the window.
#[derive(Debug)]
pub struct StartOptions {
    /// The session.
    pub session: Session,
    /// A project to open, or a kernel file of it; `None` opens the project of the last session.
    pub open: Option<PathBuf>,
}

/// Shows the window until it is closed.
///
/// # Errors
/// There is no display, or it cannot be drawn to.
pub fn run(starting: StartOptions) -> eframe::Result {
    let viewport = ViewportBuilder::default()
        .with_title("Lightbench")
        .with_app_id("lightbench")
        .with_inner_size([1280.0, 800.0])
        .with_min_inner_size([720.0, 480.0])
        .with_drag_and_drop(true);
    let options = NativeOptions { viewport, renderer: Renderer::Glow, ..NativeOptions::default() };
    let create = |creation: &CreationContext<'_>| -> Result<Box<dyn eframe::App>, Box<dyn std::error::Error + Send + Sync>> {
        Ok(Box::new(Program::new(&creation.egui_ctx, starting)?))
    };
    eframe::run_native("lightbench", options, Box::new(create))
}

struct Program {
    window: Window,
    began: Instant,
    deferred: DeferredEvents,
}

impl Program {
    fn new(context: &Context, starting: StartOptions) -> std::io::Result<Self> {
        theme::install(context);
        let woken = context.clone();
        let wake: Wake = Arc::new(move || woken.request_repaint());
        let state = starting.session.state.clone();
        let mut messages = Vec::new();
        let settings = kept(state.as_deref(), SETTINGS, Settings::from_ron, &mut messages);
        let worker = WorkerHandle::start(starting.session, wake)?;
        let mut bench = Workbench::new(settings.unwrap_or_default(), Box::new(worker));
        bench.samples = samples(state.as_deref());
        let session = kept(state.as_deref(), SESSION, LastSession::from_ron, &mut messages);
        bench.last_session = session.unwrap_or_default();
        let last = bench.last_session.open.clone();
        let mut window = Window::new(bench);
        let arrange = |text: &str| window.arrange(text);
        kept(state.as_deref(), LAYOUTS, arrange, &mut messages);
        let began = Instant::now();
        for message in messages {
            window.bench.notices.add(NoticeLevel::Warning, message, began.elapsed());
        }
        // A project that was deleted or moved is not missed: the start page appears.
        let last = last.filter(|folder| folder.join("project.ron").is_file());
        if let Some(path) = starting.open.or(last) {
            window.carry_out(Command::Open(path), began.elapsed());
        }
        Ok(Self { window, began, deferred: DeferredEvents::default() })
    }
}

/// Reads a stored file; an unreadable one is renamed and reported.
fn kept<T>(
    state: Option<&Path>,
    name: &str,
    read: impl FnOnce(&str) -> Result<T, String>,
    messages: &mut Vec<String>,
) -> Option<T> {
    let path = state?.join(name);
    let text = fs::read_to_string(&path).ok()?;
    match read(&text) {
        Ok(found) => Some(found),
        Err(why) => {
            let aside = path.with_extension("ron.old");
            // If the rename fails, the unreadable file is overwritten later.
            fs::rename(&path, &aside).ok();
            messages.push(format!(
                "{name} cannot be read and was renamed to {}: {why}",
                aside.display()
            ));
            None
        }
    }
}

/// The sample projects below the working directory, else those that were installed with the program.
fn samples(state: Option<&Path>) -> Samples {
    let near = PathBuf::from("sample-projects");
    let folder = if near.is_dir() { Some(near) } else { state.and_then(installed_samples) };
    let Some(folder) = folder else { return Samples::default() };
    let with_heading = |path: PathBuf| heading(&path).map(|heading| (path, heading));
    let lessons = projects(&folder.join("lessons")).into_iter().filter_map(with_heading);
    let mut lessons: Vec<_> = lessons.collect();
    lessons.sort_by_key(|(_, heading)| heading.order);
    Samples { projects: projects(&folder), lessons, recent: None }
}

/// The user's copy of the installed sample projects: they are edited in place, and the installed ones are read-only.
/// Without the space or the right to copy them, there are none.
fn installed_samples(state: &Path) -> Option<PathBuf> {
    let own = state.join("sample-projects");
    if own.is_dir() {
        return Some(own);
    }
    let program = env::current_exe().ok()?;
    let installed = program.parent()?.parent()?.join("share/lightbench/sample-projects");
    let part = state.join("sample-projects.part");
    copy(&installed, &part).ok()?;
    fs::rename(&part, &own).ok()?;
    Some(own)
}

fn copy(from: &Path, to: &Path) -> io::Result<()> {
    if !from.is_dir() {
        return fs::copy(from, to).map(drop);
    }
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        copy(&entry.path(), &to.join(entry.file_name()))?;
    }
    Ok(())
}

/// Projects directly below a folder.
fn projects(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let mut found: Vec<PathBuf> = entries
        .filter_map(Result::ok)
        .filter_map(|entry| entry.path().canonicalize().ok())
        .filter(|path| path.join("project.ron").is_file())
        .collect();
    found.sort();
    found
}

impl eframe::App for Program {
    fn logic(&mut self, context: &Context, _: &mut eframe::Frame) {
        self.window.logic(context, self.began.elapsed());
    }

    fn ui(&mut self, ui: &mut Ui, _: &mut eframe::Frame) {
        let now = self.began.elapsed();
        let dropped = ui.input(|input| {
            input.raw.dropped_files.iter().map(|file| file.path().to_owned()).next()
        });
        if let Some(path) = dropped {
            self.window.carry_out(Command::Open(path), now);
        }
        self.window.frame(ui, now);
    }

    fn raw_input_hook(&mut self, context: &Context, input: &mut RawInput) {
        if self.deferred.split(input.viewport_id, &mut input.events) {
            context.request_repaint_of(input.viewport_id);
        }
    }
}
