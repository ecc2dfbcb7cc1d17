//! The one thread that does for the window what may take long: files, the history, finding devices.
//!
//! ```text
//!  Workbench ── hand(Errand) ──► this thread ──► Finding ──► Workbench::hear
//!                                  │  wakes the window after each
//!                watched files ────┘
//! ```
//!
//! Errands are carried out one after the other, in the order in which they were handed over, so that what is written is
//! read again by the next. A dialog waits for a person, and so has a thread of its own for as long as it is open.

pub(crate) mod files;
mod folders;
mod keeping;
mod lessons;
mod machine;
mod machine_code;
mod searches;
#[cfg(test)]
mod tests;
mod trials;
mod watch;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::thread::{Builder, JoinHandle};
use std::{io, mem};

use lightbench_core::engine::Engine;
use lightbench_core::history::Store;

use crate::commands::bench::Chosen;
use crate::session::Session;
use crate::workbench::errand::{Clerk, Errand, Finding};
use crate::workbench::notices::Weight;

/// Errands and findings that may wait.
const MOST_WAITING: usize = 4096;

/// Wakes the window.
pub(crate) type Wake = Arc<dyn Fn() + Send + Sync>;

/// The thread, from outside.
#[derive(Debug)]
pub(crate) struct Desk {
    errands: Option<SyncSender<Errand>>,
    findings: Receiver<Finding>,
    said: Says,
    thread: Option<JoinHandle<()>>,
}

/// Where findings go.
#[derive(Clone)]
struct Says {
    findings: SyncSender<Finding>,
    wake: Wake,
}

impl std::fmt::Debug for Says {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Says")
    }
}

impl Says {
    fn say(&self, finding: Finding) {
        // Nobody listens any more: the window is closing.
        self.findings.send(finding).ok();
        (self.wake)();
    }

    fn notice(&self, weight: Weight, text: impl Into<String>) {
        self.say(Finding::Said(weight, text.into()));
    }
}

impl Desk {
    /// Starts the thread.
    ///
    /// # Errors
    /// The system has no more threads.
    pub(crate) fn start(session: Session, wake: Wake) -> io::Result<Self> {
        let (errands, inbox) = sync_channel(MOST_WAITING);
        let (sender, findings) = sync_channel(MOST_WAITING);
        let said = Says { findings: sender, wake };
        let mut worker = Worker {
            session,
            said: said.clone(),
            watch: watch::Watch::default(),
            devices: Vec::new(),
            engine: None,
            reading: None,
        };
        let thread = Builder::new().name("clerk".to_owned()).spawn(move || {
            for errand in inbox {
                worker.carry_out(errand);
            }
        })?;
        Ok(Self { errands: Some(errands), findings, said, thread: Some(thread) })
    }
}

impl Clerk for Desk {
    fn hand(&self, errand: Errand) {
        let Some(errands) = &self.errands else { return };
        let refused = match errands.try_send(errand) {
            Ok(()) => return,
            Err(TrySendError::Full(_)) => "too much is waiting to be done; nothing more is taken",
            Err(TrySendError::Disconnected(_)) => {
                "what writes files has ended; start the program again"
            }
        };
        let finding = Finding::Said(Weight::Error, refused.to_owned());
        // Full as well: the person has more than enough to read.
        self.said.findings.try_send(finding).ok();
    }

    fn next(&self) -> Option<Finding> {
        self.findings.try_recv().ok()
    }
}

impl Drop for Desk {
    fn drop(&mut self) {
        // What was handed over is still done: a text that is being saved is saved.
        drop(self.errands.take());
        // Nobody reads findings any more, so nobody may wait for a reader.
        let (_, nothing) = sync_channel(0);
        drop(mem::replace(&mut self.findings, nothing));
        if let Some(thread) = self.thread.take() {
            // It ended early: that was said when it happened.
            thread.join().ok();
        }
    }
}

/// The thread, from inside.
struct Worker {
    session: Session,
    said: Says,
    watch: watch::Watch,
    /// The devices that were found.
    devices: Vec<Chosen>,
    /// What evaluates on them, for searches.
    engine: Option<Arc<Engine>>,
    /// The history of a folder that is read in parts, as long as there are more.
    reading: Option<(PathBuf, Store)>,
}

impl Worker {
    fn carry_out(&mut self, errand: Errand) {
        match errand {
            Errand::FindMachine => self.find_machine(),
            Errand::FetchCompiler => self.fetch_compiler(),
            Errand::Open(folder) => self.open(&folder),
            Errand::ReadHistory(folder, before) => self.read_history(&folder, Some(before)),
            Errand::Reread(folder) => self.reread(&folder),
            Errand::Save { folder, file, text } => self.save(&folder, file, text),
            Errand::Create { folder, file, text } => self.create(&folder, file, text),
            Errand::Record(recording) => self.record(&recording),
            Errand::Label(folder, number, label) => self.label(&folder, number, label),
            Errand::ReadRun(folder, number) => self.read_run(&folder, number),
            Errand::DisassembleRun { project, run, workload } => {
                self.disassemble_run(&project, &run, &workload);
            }
            Errand::Disassemble(facts) => self.disassemble(facts),
            Errand::KeepJournal(folder, file, text) => self.keep_journal(&folder, &file, &text),
            Errand::ForgetJournal(folder, file) => self.forget_journal(&folder, &file),
            Errand::KeepSettings(settings) => self.keep_settings(&settings),
            Errand::KeepLayouts(text) => self.keep_layouts(&text),
            Errand::AskForFolder => self.ask_for_folder(),
            Errand::ListFolders(folder) => self.list_folders(folder),
            Errand::OpenTyped(typed) => self.open_typed(typed),
            Errand::Export { name, bytes } => self.export(name, bytes),
            Errand::ExportPicture { name, figure, theme } => {
                self.export_picture(name, &figure, theme);
            }
            Errand::Examine => self.examine(),
            Errand::KeepProgress(folder, progress) => self.keep_progress(&folder, &progress),
            Errand::Trace(tracing) => self.trace(*tracing),
            Errand::Try(trial) => self.try_checker(*trial),
            Errand::Search(order) => self.search(*order),
            Errand::ListSearches(folder) => self.list_searches(&folder),
            Errand::ReadSearch(folder, name) => self.read_search(&folder, &name),
            Errand::TurnDown { folder, search, variant, why } => {
                self.turn_down(&folder, &search, variant, why);
            }
            Errand::Learn(knowledge) => self.learn(&knowledge),
        }
    }
}
