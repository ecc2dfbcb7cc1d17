//! Searches of the open project: the running one, and one that is shown from its journal.
//!
//! [`SearchState`] interprets entries in the same way here and when a journal is read. One search runs at a time, on its own
//! thread behind a [`Searcher`]; it stops when the project or the window closes.

mod actions;
mod plan;
mod stored_plan;
mod suggestion;
#[cfg(test)]
pub(crate) mod tests;
mod tree;

use std::sync::Arc;
use std::time::Duration;

use lightbench_core::engine::SearchThreadEvent;
use lightbench_core::project::Project;
use lightbench_core::search::entry::{End, FailureRecord};
use lightbench_core::search::operators::OperatorWait;
use lightbench_core::search::state::Variant;
use lightbench_core::search::{
    Budget, Decision, Entry, Header, Pace, ScreeningResult, SearchState, Verdict,
};
use lightbench_core::suggest::knowledge::Knowledge;

pub use plan::{Participation, SearchPlan, SearchRequest, SearchStart};
pub use suggestion::{ShownSuggestion, Suggestion};
pub use tree::{TreeGuide, TreeRow, tree};

use super::background_task::{DeviceChoice, Recording, Searcher};

/// Searches of the open project.
#[derive(Debug, Default)]
pub struct Searches {
    /// Search journals on disk, the newest first.
    pub listed: Vec<Header>,
    /// The search started or resumed in this window.
    pub current: Option<ActiveSearch>,
    /// A journal that is shown instead.
    pub read: Option<LoadedSearch>,
    /// The selected variant; `None` shows the best one.
    pub selected: Option<usize>,
    pub failures: FailureVisibility,
    pub suggestion: Suggestion,
    /// Stopped searches that have not ended yet.
    leaving: Vec<ActiveSearch>,
}

/// The search started or resumed in this window.
#[derive(Debug)]
pub struct ActiveSearch {
    pub stage: SearchStage,
    /// The story so far; `None` before the first entry.
    pub story: Option<Box<SearchState>>,
    /// The pending answer that the search waits for.
    pub waiting: Option<OperatorWait>,
    /// The limits, which may be wider than those at its start.
    pub budget: Budget,
    searcher: Option<Box<dyn Searcher>>,
    project: Arc<Project>,
    device: DeviceChoice,
    clock: Stopwatch,
}

/// State of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SearchStage {
    Starting,
    Running,
    Paused,
    Stopping,
    Ended,
}

/// A search as read from its journal.
#[derive(Clone, Debug, PartialEq)]
pub struct LoadedSearch {
    pub story: Box<SearchState>,
    pub writer: JournalOrigin,
}

/// Which machine wrote a journal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JournalOrigin {
    /// This machine: the search can be resumed.
    Own,
    /// Another machine, or the journal was edited: read-only.
    Foreign,
}

/// Whether failed variants are listed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FailureVisibility {
    #[default]
    Shown,
    /// Only those from which other variants derive.
    Hidden,
}

/// Running time of a search in seconds, without pauses.
#[derive(Clone, Copy, Debug, Default)]
struct Stopwatch {
    before: f64,
    since: Option<Duration>,
}

/// A command about searches.
#[derive(Clone, Debug, PartialEq)]
pub enum SearchCommand {
    /// Change the plan of the next search.
    Plan(SearchPlan),
    /// Start a search from the current kernel as it is in the editor.
    Start,
    /// Pause before the next step.
    Pause,
    /// Resume the paused search, or the ended one from its journal.
    Resume,
    /// End the search; it can be resumed.
    Stop,
    /// Set the share of the device's time that the search uses.
    Pace(Pace),
    Select(usize),
    ToggleFailures,
    /// Open the variant as a new, unsaved kernel.
    Accept,
    /// Save the variant as a file beside the other kernels, without opening it.
    KeepAsBranch,
    /// Reject the variant, for this reason.
    Reject(String),
    /// Show a search journal.
    OpenJournal(String),
    /// Show the search of this window again.
    ShowCurrent,
    /// Suggest the most promising change of the current kernel.
    Suggest,
    /// Show the next suggestion.
    NextSuggestion,
    /// Open the suggested change as a new, unsaved kernel.
    AcceptSuggestion,
    DismissSuggestion,
}

/// A search event as the workbench uses it.
#[derive(Debug)]
pub(super) enum SearchEvent {
    Ran(Box<Recording>),
    Ended(End, Box<Knowledge>),
    Broken(String),
}

impl Stopwatch {
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

impl ActiveSearch {
    fn starting(project: Arc<Project>, device: DeviceChoice, budget: Budget) -> Self {
        let (stage, clock) = (SearchStage::Starting, Stopwatch::default());
        Self { stage, story: None, waiting: None, budget, searcher: None, project, device, clock }
    }

    /// Whether the search can still produce events.
    #[must_use]
    pub const fn is_alive(&self) -> bool {
        match self.stage {
            SearchStage::Starting
            | SearchStage::Running
            | SearchStage::Paused
            | SearchStage::Stopping => true,
            SearchStage::Ended => false,
        }
    }

    /// Running time in seconds, without pauses.
    #[must_use]
    pub fn seconds(&self, now: Duration) -> f64 {
        self.clock.seconds(now)
    }

    fn poll(&mut self, compiler: &str, now: Duration) -> Vec<SearchEvent> {
        let mut all = Vec::new();
        while let Some(heard) = self.searcher.as_ref().and_then(|searcher| searcher.next_event()) {
            all.extend(self.handle_event(heard, compiler, now));
        }
        all
    }

    fn handle_event(
        &mut self,
        heard: SearchThreadEvent,
        compiler: &str,
        now: Duration,
    ) -> Option<SearchEvent> {
        match heard {
            SearchThreadEvent::Entry(entry) => {
                self.waiting = None;
                self.entry(*entry).err().map(SearchEvent::Broken)
            }
            SearchThreadEvent::Waiting(waiting) => {
                self.waiting = Some(waiting);
                None
            }
            SearchThreadEvent::Ran(kept) => Some(SearchEvent::Ran(Box::new(Recording {
                project: Arc::clone(&self.project),
                kernel: kept.kernel,
                run: Arc::new(kept.run),
                device: self.device.clone(),
                compiler: compiler.to_owned(),
                workload: None,
                origin: kept.origin,
                parent: kept.parent,
            }))),
            SearchThreadEvent::Ended { why, learnt } => {
                if let Some(story) = &mut self.story {
                    story.ended = Some(why.clone());
                }
                self.mark_ended(now);
                Some(SearchEvent::Ended(why, learnt))
            }
            SearchThreadEvent::Panicked => {
                self.mark_ended(now);
                let what = "the search ended by a defect of Lightbench; its journal is complete";
                Some(SearchEvent::Broken(what.to_owned()))
            }
        }
    }

    fn mark_ended(&mut self, now: Duration) {
        self.stage = SearchStage::Ended;
        self.waiting = None;
        self.clock.stop(now);
        // The thread has ended, so no further event follows.
        self.searcher = None;
    }

    fn entry(&mut self, entry: Entry) -> Result<(), String> {
        match (&mut self.story, entry) {
            (None, Entry::Began(header)) => {
                self.story = Some(Box::new(SearchState::new(*header)));
                Ok(())
            }
            (Some(story), entry) => story.add(&entry).map_err(|error| error.to_string()),
            (None, _) => Err("the first entry of a search is not its header".to_owned()),
        }
    }
}

impl Searches {
    #[must_use]
    pub fn story(&self) -> Option<&SearchState> {
        match (&self.read, &self.current) {
            (Some(read), _) => Some(&read.story),
            (None, Some(current)) => current.story.as_deref(),
            (None, None) => None,
        }
    }

    /// The shown variant: the selected one, else the best, else the first.
    #[must_use]
    pub fn shown(&self) -> Option<(usize, &Variant)> {
        let story = self.story()?;
        let number = self.selected.or(story.best).unwrap_or(0);
        Some((number, story.variants.get(number)?))
    }

    /// Shows a journal; if it is of the ended search of this window, it replaces that.
    fn show(&mut self, read: LoadedSearch) {
        let is_same = self.story().is_some_and(|story| story.header.id == read.story.header.id);
        if !is_same {
            self.selected = None;
        }
        let id = |current: &ActiveSearch| Some(current.story.as_ref()?.header.id.clone());
        match &mut self.current {
            Some(current) if id(current).as_ref() == Some(&read.story.header.id) => {
                (current.story, self.read) = (Some(read.story), None);
            }
            Some(_) | None => self.read = Some(read),
        }
    }

    /// The search of this window, while it can produce events.
    #[must_use]
    pub fn running(&self) -> Option<&ActiveSearch> {
        self.current.as_ref().filter(|current| current.is_alive())
    }

    /// Whether the window must repaint by itself.
    #[must_use]
    pub fn is_busy(&self) -> bool {
        self.running().is_some_and(|current| current.stage != SearchStage::Paused)
            || !self.leaving.is_empty()
    }

    /// Stops all searches, because another project opens. A stopped search can be resumed.
    pub(super) fn clear(&mut self) {
        let mut leaving = std::mem::take(&mut self.leaving);
        if let Some(current) = self.current.take().filter(ActiveSearch::is_alive) {
            if let Some(searcher) = &current.searcher {
                searcher.control(SearchControl::Stop);
            }
            leaving.push(current);
        }
        // A search whose thread is still starting is stopped when its start is reported.
        leaving.retain(|current| current.searcher.is_some());
        *self = Self { leaving, ..Self::default() };
    }

    /// Handles all pending engine events.
    pub(super) fn hear(&mut self, compiler: &str, now: Duration) -> Vec<SearchEvent> {
        let mut heard = Vec::new();
        for left in &mut self.leaving {
            // Its results still count, although it is not shown.
            let said = left.poll(compiler, now).into_iter();
            heard.extend(said.filter(|said| matches!(said, SearchEvent::Ran(_))));
        }
        self.leaving.retain(ActiveSearch::is_alive);
        if let Some(current) = &mut self.current {
            heard.extend(current.poll(compiler, now));
        }
        heard
    }
}

/// A command to a running search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SearchControl {
    /// Pause before the next step.
    Pause,
    GoOn,
    Stop,
    /// Set the share of the device's time that the search uses.
    Pace(Pace),
}

/// The state of a variant, as the list shows it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum VariantState<'a> {
    /// No result yet.
    Waiting,
    /// Passed the screening.
    Looked,
    /// The best variant.
    Best,
    /// Was the best variant at some time.
    WasBest,
    /// Correct, and a possible parent.
    Kept,
    /// Correct, and not used.
    Rejected,
    Failed(&'a FailureRecord),
    /// The device or the machine ended its evaluation.
    NotJudged,
}

/// The state of a variant, as the list shows it.
#[must_use]
pub fn standing(story: &SearchState, number: usize) -> Option<VariantState<'_>> {
    let variant = story.variants.get(number)?;
    if let Some(failed) = failed(variant) {
        return Some(VariantState::Failed(failed));
    }
    Some(match (&variant.decision, &variant.look) {
        _ if story.best == Some(number) => VariantState::Best,
        (Some(Decision::Accepted { .. }), _) => VariantState::WasBest,
        (Some(Decision::Kept { .. }), _) => VariantState::Kept,
        (Some(Decision::Rejected { .. }), _) => VariantState::Rejected,
        (Some(Decision::NotJudged { .. }), _) => VariantState::NotJudged,
        (None, Some(_)) => VariantState::Looked,
        (None, None) => VariantState::Waiting,
    })
}

/// What failed in a variant.
#[must_use]
pub fn failed(variant: &Variant) -> Option<&FailureRecord> {
    match (&variant.verdict, &variant.look) {
        (Some(Verdict::Failed(failed)), _) | (None, Some(ScreeningResult::Failed(failed))) => {
            Some(failed)
        }
        (Some(Verdict::Passed { .. } | Verdict::NotJudged(_)), _)
        | (
            None,
            Some(
                ScreeningResult::Right { .. }
                | ScreeningResult::Slow { .. }
                | ScreeningResult::NotJudged(_),
            )
            | None,
        ) => None,
    }
}

/// Why a search ended, as text.
#[must_use]
pub fn ended(why: &End) -> String {
    match why {
        End::NothingLeft => "no variants are left to try".to_owned(),
        End::Budget(part) => format!("the budget is exhausted: {part}"),
        End::Stopped => "stopped".to_owned(),
        End::Impossible(why) => format!("it cannot continue: {why}"),
    }
}
