//! The background worker: one thread that reads and writes files and the history and detects devices for the window.
//!
//! ```text
//!  Workbench ── submit(BackgroundTask) ──► this thread ──► TaskResult ──► Workbench::poll
//!                                             │  wakes the window after each
//!                           watched files ────┘
//! ```
//!
//! Tasks run one after the other in the order of submission, so that a task reads what the previous one wrote. A dialog
//! waits for the user and therefore has a thread of its own while it is open.

mod checker_audit;
pub(crate) mod files;
mod folders;
mod history;
mod lessons;
mod machine;
mod machine_code;
mod new_project;
mod on_virtual_gpu;
mod searches;
#[cfg(test)]
mod tests;
mod watch;

use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::thread::{Builder, JoinHandle};

use crossbeam_channel::{Sender, TrySendError, bounded};
use lightbench_core::coalescing_queue::CoalescingQueue;
use lightbench_core::engine::Engine;
use lightbench_core::history::Store;

use crate::commands::evaluation_setup::ChosenDevice;
use crate::session::Session;
use crate::workbench::background_task::{BackgroundTask, BackgroundWorker, TaskResult};
use crate::workbench::notices::NoticeLevel;

/// Capacity of the task queue.
const QUEUE_CAPACITY: usize = 4096;

/// Wakes the window.
pub(crate) type Wake = Arc<dyn Fn() + Send + Sync>;

/// The handle of the thread.
#[derive(Debug)]
pub(crate) struct WorkerHandle {
    tasks: Option<Sender<BackgroundTask>>,
    results: ResultSender,
    thread: Option<JoinHandle<()>>,
}

/// Sends results and wakes the window. Sending never waits, whether or not the window reads. The tasks that the window
/// submitted limit the number of unread results; repeated notices and reports of changed files coalesce.
#[derive(Clone)]
struct ResultSender {
    results: Arc<CoalescingQueue<TaskResult>>,
    wake: Wake,
}

impl std::fmt::Debug for ResultSender {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("ResultSender")
    }
}

impl ResultSender {
    fn send(&self, result: TaskResult) {
        self.results.push(result);
        (self.wake)();
    }

    fn notice(&self, weight: NoticeLevel, text: impl Into<String>) {
        self.send(TaskResult::Notice(weight, text.into()));
    }
}

impl WorkerHandle {
    /// Starts the thread.
    ///
    /// # Errors
    /// The system cannot start another thread.
    pub(crate) fn start(session: Session, wake: Wake) -> io::Result<Self> {
        let (tasks, inbox) = bounded(QUEUE_CAPACITY);
        let results = ResultSender { results: Arc::default(), wake };
        let mut worker = TaskRunner {
            session,
            results: results.clone(),
            watch: watch::Watch::default(),
            devices: Vec::new(),
            engine: None,
            reading: None,
        };
        let thread = Builder::new().name("background-worker".to_owned()).spawn(move || {
            for task in inbox {
                worker.carry_out(task);
            }
        })?;
        Ok(Self { tasks: Some(tasks), results, thread: Some(thread) })
    }
}

impl BackgroundWorker for WorkerHandle {
    fn submit(&self, task: BackgroundTask) {
        let Some(tasks) = &self.tasks else { return };
        let refused = match tasks.try_send(task) {
            Ok(()) => return,
            Err(TrySendError::Full(_)) => {
                "the background worker's queue is full, so this task was not accepted; try again later"
            }
            Err(TrySendError::Disconnected(_)) => {
                "the background worker has ended, so nothing can be saved; restart Lightbench"
            }
        };
        self.results.results.push(TaskResult::Notice(NoticeLevel::Error, refused.to_owned()));
    }

    fn next_result(&self) -> Option<TaskResult> {
        self.results.results.try_next()
    }
}

impl Drop for WorkerHandle {
    fn drop(&mut self) {
        // Submitted tasks still run: a text that is being saved is saved.
        drop(self.tasks.take());
        if let Some(thread) = self.thread.take() {
            // A panic of the thread was reported when it happened.
            thread.join().ok();
        }
    }
}

/// Runs the tasks on the thread.
struct TaskRunner {
    session: Session,
    results: ResultSender,
    watch: watch::Watch,
    /// The detected devices.
    devices: Vec<ChosenDevice>,
    /// The engine on them, for searches.
    engine: Option<Arc<Engine>>,
    /// The open store of the history that is being read in parts.
    reading: Option<(PathBuf, Store)>,
}

impl TaskRunner {
    fn carry_out(&mut self, task: BackgroundTask) {
        match task {
            BackgroundTask::DetectMachine => self.find_machine(),
            BackgroundTask::FetchCompiler => self.fetch_compiler(),
            BackgroundTask::Open(folder) => self.open(&folder),
            BackgroundTask::ReadHistory(folder, before) => self.read_history(&folder, Some(before)),
            BackgroundTask::ReadRecent(folders) => self.read_recent(&folders),
            BackgroundTask::ReloadProject(folder) => self.reread(&folder),
            BackgroundTask::Save { folder, file, text } => self.save(&folder, file, text),
            BackgroundTask::Create { folder, file, text } => self.create(&folder, file, text),
            BackgroundTask::Record(recording) => self.record(&recording),
            BackgroundTask::Label(folder, number, label) => self.label(&folder, number, label),
            BackgroundTask::ReadRun(folder, number) => self.read_run(&folder, number),
            BackgroundTask::DisassembleRun { project, run, workload } => {
                self.disassemble_run(&project, &run, &workload);
            }
            BackgroundTask::Disassemble(facts) => self.disassemble(facts),
            BackgroundTask::SaveJournal(folder, file, text) => {
                self.keep_journal(&folder, &file, &text);
            }
            BackgroundTask::DeleteJournal(folder, file) => self.forget_journal(&folder, &file),
            BackgroundTask::SaveSettings(settings) => self.keep_settings(&settings),
            BackgroundTask::SaveLayouts(text) => self.keep_layouts(&text),
            BackgroundTask::SaveSession(session) => self.keep_session(&session),
            BackgroundTask::ShowFolderDialog => self.ask_for_folder(),
            BackgroundTask::ShowSourceDialog => self.ask_for_source(),
            BackgroundTask::CheckTexts(folder, texts) => self.check_texts(folder, &texts),
            BackgroundTask::CreateProject(plan) => self.create_project(&plan),
            BackgroundTask::ListFolders(folder) => self.list_folders(folder),
            BackgroundTask::OpenPath(typed) => self.open_typed(typed),
            BackgroundTask::Export { name, bytes } => self.export(name, bytes),
            BackgroundTask::ExportPicture { name, figure, theme } => {
                self.export_picture(name, &figure, theme);
            }
            BackgroundTask::RunDoctor => self.examine(),
            BackgroundTask::SaveProgress(folder, progress) => {
                self.keep_progress(&folder, &progress);
            }
            BackgroundTask::Trace(tracing) => self.trace(*tracing),
            BackgroundTask::Timeline(request) => self.model_timeline(*request),
            BackgroundTask::AuditChecker(trial) => self.try_checker(*trial),
            BackgroundTask::Search(order) => self.search(*order),
            BackgroundTask::ListSearches(folder) => self.list_searches(&folder),
            BackgroundTask::ReadSearch(folder, name) => self.read_search(&folder, &name),
            BackgroundTask::RejectVariant { folder, search, variant, why } => {
                self.turn_down(&folder, &search, variant, why);
            }
            BackgroundTask::SaveKnowledge(knowledge) => self.learn(&knowledge),
        }
    }
}
