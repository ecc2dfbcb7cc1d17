//! Searches of the open project: the one that runs, and one that is looked at.
//!
//! What a search came to is core's [`Story`]: the same entries make the same story here and in a journal. One search runs at a
//! time; it lives on a thread of its own, which a [`Searcher`] stands for, and is stopped when the project or the window closes.

mod orders;
mod plan;
mod suggestion;
#[cfg(test)]
pub(crate) mod tests;
mod tree;
mod written;

use std::sync::Arc;
use std::time::Duration;

use lightbench_core::engine::Heard;
use lightbench_core::project::Project;
use lightbench_core::search::entry::{End, Failed};
use lightbench_core::search::operators::Waiting;
use lightbench_core::search::story::Variant;
use lightbench_core::search::{Budget, Decision, Entry, Header, Look, Pace, Story, Verdict};
use lightbench_core::suggest::knowledge::Knowledge;

pub use plan::{Beginning, Plan, SearchOrder, Taking};
pub use suggestion::{Suggested, Suggestion};
pub use tree::{Rail, TreeRow, tree};

use super::errand::{DeviceChoice, Recording, Searcher};

/// Searches of the open project.
#[derive(Debug, Default)]
pub struct Searches {
    /// Those on disk, the newest first.
    pub listed: Vec<Header>,
    /// The one that was started or resumed here.
    pub current: Option<Current>,
    /// One of those on disk that is looked at instead.
    pub read: Option<ReadSearch>,
    /// The variant that is looked at; where nobody chose, the best.
    pub selected: Option<usize>,
    /// Whether failures are in the list.
    pub failures: Failures,
    /// One change of the current kernel.
    pub suggestion: Suggestion,
    /// Stopped, and not yet over.
    leaving: Vec<Current>,
}

/// The search of this window.
#[derive(Debug)]
pub struct Current {
    /// How far it is.
    pub stage: Stage,
    /// What it came to; none before its first entry.
    pub story: Option<Box<Story>>,
    /// What it waits for, where that is an answer from elsewhere.
    pub waiting: Option<Waiting>,
    /// Its limits, which may be wider than those that it began with.
    pub budget: Budget,
    searcher: Option<Box<dyn Searcher>>,
    project: Arc<Project>,
    device: DeviceChoice,
    clock: Clock,
}

/// How far a search is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// It was asked for.
    Starting,
    /// It runs.
    Running,
    /// It waits until somebody lets it go on.
    Paused,
    /// It was told to stop.
    Stopping,
    /// It is over.
    Ended,
}

/// A search as its journal has it.
#[derive(Clone, Debug, PartialEq)]
pub struct ReadSearch {
    /// What it came to.
    pub story: Box<Story>,
    /// Who wrote it.
    pub writer: Writer,
}

/// Who wrote a journal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Writer {
    /// This machine: it can be gone on from.
    Own,
    /// Another one, or somebody changed it: it can be looked at.
    Foreign,
}

/// Whether failures are listed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Failures {
    /// With their reasons.
    #[default]
    Shown,
    /// Only what other variants come from.
    Hidden,
}

/// Seconds that a search ran, pauses not counted.
#[derive(Clone, Copy, Debug, Default)]
struct Clock {
    before: f64,
    since: Option<Duration>,
}

/// What a person can do about searches.
#[derive(Clone, Debug, PartialEq)]
pub enum SearchCommand {
    /// What the next one is like.
    Plan(Plan),
    /// Search from the kernel that is worked on, as it stands in the editor.
    Start,
    /// It waits before its next step.
    Pause,
    /// The paused one goes on; the ended one is resumed from its journal.
    GoOn,
    /// It ends, and can be resumed.
    Stop,
    /// How much of the device it takes.
    Pace(Pace),
    /// Look at this variant.
    Select(usize),
    /// Hide failures, or show them again.
    ToggleFailures,
    /// The variant becomes a kernel of the project, as a text that is not saved yet.
    Accept,
    /// The variant becomes a file beside the other kernels, and is not opened.
    KeepAsBranch,
    /// The variant is not wanted, for this reason.
    Reject(String),
    /// Look at a search on disk.
    Look(String),
    /// Look at the search of this window again.
    LookBack,
    /// One change of the current kernel: what promises most.
    Suggest,
    /// What promises next.
    NextSuggestion,
    /// The change becomes a kernel of the project, as a text that is not saved yet.
    AcceptSuggestion,
    /// No suggestion is wanted.
    DismissSuggestion,
}

/// What the workbench must know of a search.
#[derive(Debug)]
pub(super) enum SearchHeard {
    Ran(Box<Recording>),
    Ended(End, Box<Knowledge>),
    Broken(String),
}

impl Clock {
    fn seconds(self, now: Duration) -> f64 {
        let running = self.since.map_or(Duration::ZERO, |since| now.saturating_sub(since));
        self.before + running.as_secs_f64()
    }

    fn start(&mut self, now: Duration) {
        self.since.get_or_insert(now);
    }

    fn stop(&mut self, now: Duration) {
        *self = Self { before: self.seconds(now), since: None };
    }
}

impl Current {
    fn starting(project: Arc<Project>, device: DeviceChoice, budget: Budget) -> Self {
        let (stage, clock) = (Stage::Starting, Clock::default());
        Self { stage, story: None, waiting: None, budget, searcher: None, project, device, clock }
    }

    /// Whether something may still come of it.
    #[must_use]
    pub const fn is_alive(&self) -> bool {
        match self.stage {
            Stage::Starting | Stage::Running | Stage::Paused | Stage::Stopping => true,
            Stage::Ended => false,
        }
    }

    /// Seconds that it ran.
    #[must_use]
    pub fn seconds(&self, now: Duration) -> f64 {
        self.clock.seconds(now)
    }

    fn hear(&mut self, compiler: &str, now: Duration) -> Vec<SearchHeard> {
        let mut all = Vec::new();
        while let Some(heard) = self.searcher.as_ref().and_then(|searcher| searcher.heard()) {
            all.extend(self.heard(heard, compiler, now));
        }
        all
    }

    fn heard(&mut self, heard: Heard, compiler: &str, now: Duration) -> Option<SearchHeard> {
        match heard {
            Heard::Entry(entry) => {
                self.waiting = None;
                self.entry(*entry).err().map(SearchHeard::Broken)
            }
            Heard::Waiting(waiting) => {
                self.waiting = Some(waiting);
                None
            }
            Heard::Ran(kept) => Some(SearchHeard::Ran(Box::new(Recording {
                project: Arc::clone(&self.project),
                kernel: kept.kernel,
                run: Arc::new(kept.run),
                device: self.device.clone(),
                compiler: compiler.to_owned(),
                workload: None,
                origin: kept.origin,
                parent: kept.parent,
            }))),
            Heard::Ended { why, learnt } => {
                if let Some(story) = &mut self.story {
                    story.ended = Some(why.clone());
                }
                self.over(now);
                Some(SearchHeard::Ended(why, learnt))
            }
            Heard::Panicked => {
                self.over(now);
                let what = "the search ended by a defect of Lightbench; its journal is complete";
                Some(SearchHeard::Broken(what.to_owned()))
            }
        }
    }

    fn over(&mut self, now: Duration) {
        self.stage = Stage::Ended;
        self.waiting = None;
        self.clock.stop(now);
        // The thread has said its last word, so nothing is waited for.
        self.searcher = None;
    }

    fn entry(&mut self, entry: Entry) -> Result<(), String> {
        match (&mut self.story, entry) {
            (None, Entry::Began(header)) => {
                self.story = Some(Box::new(Story::new(*header)));
                Ok(())
            }
            (Some(story), entry) => story.add(&entry).map_err(|error| error.to_string()),
            (None, _) => Err("a search did not begin with what it is about".to_owned()),
        }
    }
}

impl Searches {
    /// What is looked at.
    #[must_use]
    pub fn story(&self) -> Option<&Story> {
        match (&self.read, &self.current) {
            (Some(read), _) => Some(&read.story),
            (None, Some(current)) => current.story.as_deref(),
            (None, None) => None,
        }
    }

    /// The variant that is looked at: the chosen one, else the best, else the first.
    #[must_use]
    pub fn shown(&self) -> Option<(usize, &Variant)> {
        let story = self.story()?;
        let number = self.selected.or(story.best).unwrap_or(0);
        Some((number, story.variants.get(number)?))
    }

    /// A search was read; the one of this window, once it is over, stays that.
    fn show(&mut self, read: ReadSearch) {
        let is_same = self.story().is_some_and(|story| story.header.id == read.story.header.id);
        if !is_same {
            self.selected = None;
        }
        let id = |current: &Current| Some(current.story.as_ref()?.header.id.clone());
        match &mut self.current {
            Some(current) if id(current).as_ref() == Some(&read.story.header.id) => {
                (current.story, self.read) = (Some(read.story), None);
            }
            Some(_) | None => self.read = Some(read),
        }
    }

    /// The search of this window, as long as something may come of it.
    #[must_use]
    pub fn running(&self) -> Option<&Current> {
        self.current.as_ref().filter(|current| current.is_alive())
    }

    /// Whether the window must look again by itself.
    #[must_use]
    pub fn is_busy(&self) -> bool {
        self.running().is_some_and(|current| current.stage != Stage::Paused)
            || !self.leaving.is_empty()
    }

    /// Another project: nothing of this one is wanted any more. What runs is stopped, and can be resumed.
    pub(super) fn clear(&mut self) {
        let mut leaving = std::mem::take(&mut self.leaving);
        if let Some(current) = self.current.take().filter(Current::is_alive) {
            if let Some(searcher) = &current.searcher {
                searcher.hold(Hold::Stop);
            }
            leaving.push(current);
        }
        // A thread that was not heard of yet is stopped when its finding comes.
        leaving.retain(|current| current.searcher.is_some());
        *self = Self { leaving, ..Self::default() };
    }

    /// Hears everything that was said since the last time.
    pub(super) fn hear(&mut self, compiler: &str, now: Duration) -> Vec<SearchHeard> {
        let mut heard = Vec::new();
        for left in &mut self.leaving {
            // What it found out counts, and nobody looks at it any more.
            let said = left.hear(compiler, now).into_iter();
            heard.extend(said.filter(|said| matches!(said, SearchHeard::Ran(_))));
        }
        self.leaving.retain(Current::is_alive);
        if let Some(current) = &mut self.current {
            heard.extend(current.hear(compiler, now));
        }
        heard
    }
}

/// Holds a search back, or lets it go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hold {
    /// It waits before its next step.
    Pause,
    /// It goes on.
    GoOn,
    /// It ends.
    Stop,
    /// How much of the device it takes.
    Pace(Pace),
}

/// What is to be said of a variant before anything else.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Standing<'a> {
    /// Nothing was found out yet.
    Waiting,
    /// A quick look saw nothing wrong.
    Looked,
    /// It is the best of all.
    Best,
    /// It was the best for a time.
    WasBest,
    /// It is there to go on from.
    Kept,
    /// It is right, and not used.
    Rejected,
    /// It is predicted to be slow, and was not looked at.
    Skipped,
    /// It is wrong.
    Failed(&'a Failed),
    /// The device or the machine ended its evaluation.
    NotJudged,
}

/// What is to be said of a variant before anything else.
#[must_use]
pub fn standing(story: &Story, number: usize) -> Option<Standing<'_>> {
    let variant = story.variants.get(number)?;
    if let Some(failed) = failed(variant) {
        return Some(Standing::Failed(failed));
    }
    Some(match (&variant.decision, &variant.look) {
        _ if story.best == Some(number) => Standing::Best,
        (Some(Decision::Accepted { .. }), _) => Standing::WasBest,
        (Some(Decision::Kept { .. }), _) => Standing::Kept,
        (Some(Decision::Rejected { .. }), _) => Standing::Rejected,
        (Some(Decision::Skipped { .. }), _) => Standing::Skipped,
        (Some(Decision::NotJudged { .. }), _) => Standing::NotJudged,
        (None, Some(_)) => Standing::Looked,
        (None, None) => Standing::Waiting,
    })
}

/// What is wrong with a variant.
#[must_use]
pub fn failed(variant: &Variant) -> Option<&Failed> {
    match (&variant.verdict, &variant.look) {
        (Some(Verdict::Failed(failed)), _) | (None, Some(Look::Failed(failed))) => Some(failed),
        (Some(Verdict::Passed { .. } | Verdict::NotJudged(_)), _)
        | (None, Some(Look::Right { .. } | Look::Slow { .. } | Look::NotJudged(_)) | None) => None,
    }
}

/// Why a search ended, in words.
#[must_use]
pub fn ended(why: &End) -> String {
    match why {
        End::NothingLeft => "nothing is left to try".to_owned(),
        End::Budget(part) => format!("the budget is used up: {part}"),
        End::Stopped => "stopped".to_owned(),
        End::Impossible(why) => format!("it cannot go on: {why}"),
    }
}
