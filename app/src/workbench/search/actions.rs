//! Commands about searches, and the handling of search events.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use lightbench_core::evaluate::Run;
use lightbench_core::project::{Kernel, Language};
use lightbench_core::search::entry::End;
use lightbench_core::search::{Budget, Header, SearchState, UnansweredModel, Verdict};

use super::{
    ActiveSearch, FailureVisibility, JournalOrigin, LoadedSearch, SearchCommand, SearchControl,
    SearchEvent, SearchPlan, SearchRequest, SearchStage, SearchStart, Searches, Suggestion, ended,
};
use crate::workbench::background_task::{BackgroundTask, DeviceChoice, StartedSearch};
use crate::workbench::evaluations::MachineState;
use crate::workbench::notices::NoticeLevel;
use crate::workbench::{UiEffect, Workbench};

impl Workbench {
    /// Carries out a command about searches.
    pub(in crate::workbench) fn search(&mut self, command: SearchCommand, now: Duration) {
        let done = match command {
            SearchCommand::Plan(plan) => {
                self.change_settings(|settings| settings.search = plan);
                Ok(())
            }
            SearchCommand::Start => self.start_search(),
            SearchCommand::Pause => self.searches.pause(now),
            SearchCommand::Resume => self.resume_search(now),
            SearchCommand::Stop => self.searches.stop(),
            SearchCommand::Pace(pace) => {
                self.change_settings(|settings| settings.search.pace = pace);
                self.searches.control_search(SearchControl::Pace(pace));
                Ok(())
            }
            SearchCommand::Select(variant) => {
                self.searches.selected = Some(variant);
                Ok(())
            }
            SearchCommand::ToggleFailures => {
                let failures = &mut self.searches.failures;
                *failures = match failures {
                    FailureVisibility::Shown => FailureVisibility::Hidden,
                    FailureVisibility::Hidden => FailureVisibility::Shown,
                };
                Ok(())
            }
            SearchCommand::Accept => self.accept_variant(now),
            SearchCommand::KeepAsBranch => self.keep_as_branch(now),
            SearchCommand::Reject(why) => self.reject_variant(&why, now),
            SearchCommand::OpenJournal(name) => self.open_search_journal(name),
            SearchCommand::ShowCurrent => {
                (self.searches.read, self.searches.selected) = (None, None);
                Ok(())
            }
            SearchCommand::Suggest => self.suggest(),
            SearchCommand::NextSuggestion => self.next_suggestion(),
            SearchCommand::AcceptSuggestion => self.accept_suggestion(now),
            SearchCommand::DismissSuggestion => {
                self.searches.suggestion = Suggestion::None;
                Ok(())
            }
        };
        if let Err(why) = done {
            self.notices.add(NoticeLevel::Warning, why, now);
        }
    }

    fn start_search(&mut self) -> Result<(), String> {
        let (plan, device) = (self.settings.search.clone(), self.device_to_search_on()?);
        if plan.operators().is_empty() {
            return Err("no operator is selected: select rules, tuning or a model".to_owned());
        }
        let kernel = self.current_kernel()?;
        self.begin(device, plan.budget, SearchStart::New(Arc::new(kernel), plan))
    }

    fn begin(
        &mut self,
        device: DeviceChoice,
        budget: Budget,
        beginning: SearchStart,
    ) -> Result<(), String> {
        if self.searches.running().is_some() {
            return Err("another search is running: stop it first".to_owned());
        }
        let opened = self.opened.as_ref().ok_or("open a project first")?;
        let project = Arc::clone(&opened.project);
        let order = SearchRequest {
            project: Arc::clone(&project),
            device: device.name.clone(),
            start: beginning,
            pace: self.settings.search.pace,
        };
        self.submit(BackgroundTask::Search(Box::new(order)));
        self.searches.current = Some(ActiveSearch::starting(project, device, budget));
        (self.searches.read, self.searches.selected) = (None, None);
        Ok(())
    }

    fn device_to_search_on(&self) -> Result<DeviceChoice, String> {
        match (self.device(), &self.evaluations.machine) {
            (Some(device), _) => Ok(device.clone()),
            (None, MachineState::Unusable(why)) => Err(why.clone()),
            (None, MachineState::Detecting | MachineState::Known(_)) => {
                Err("wait until the devices are detected, then try again".to_owned())
            }
        }
    }

    /// The current kernel, as it is in the editor.
    fn current_kernel(&self) -> Result<Kernel, String> {
        let opened = self.opened.as_ref().ok_or("open a project first")?;
        let kernel = opened.project.kernel(&opened.kernel).map_err(|error| error.to_string())?;
        let text = self.documents.get(&kernel.file).map(|document| &document.text);
        match text.filter(|text| **text != kernel.source) {
            None => Ok(kernel.clone()),
            Some(text) => opened.project.draft(&kernel.name, text.clone()).map_err(|problems| {
                let why = problems.first().map(ToString::to_string).unwrap_or_default();
                format!("`{}` is not a valid kernel as it is in the editor: {why}", kernel.name)
            }),
        }
    }

    fn resume_search(&mut self, now: Duration) -> Result<(), String> {
        if let Some(current) = self.searches.current.as_mut().filter(|current| current.is_alive()) {
            if current.stage == SearchStage::Paused {
                current.stage = SearchStage::Running;
                current.clock.start(now);
                self.searches.control_search(SearchControl::GoOn);
            }
            return Ok(());
        }
        if self.searches.read.as_ref().is_some_and(|read| read.writer == JournalOrigin::Foreign) {
            let why = "another machine wrote this search, so it cannot be resumed here";
            return Err(why.to_owned());
        }
        let story = self.searches.story().ok_or("there is no search to resume")?;
        let header = story.header.clone();
        let budget = extended_budget(story, &self.settings.search);
        let MachineState::Known(found) = &self.evaluations.machine else {
            return Err("wait until the devices are detected, then try again".to_owned());
        };
        let device =
            found.devices.iter().find(|device| device.name.to_string() == header.device).cloned();
        let missing = || {
            format!("this search ran on {}, which this machine does not have", header.device_title)
        };
        self.begin(
            device.ok_or_else(missing)?,
            budget,
            SearchStart::Resumed(header.id.clone(), budget),
        )
    }

    /// Handles the start of a search.
    pub(in crate::workbench) fn search_started(
        &mut self,
        folder: &Path,
        started: Result<StartedSearch, String>,
        now: Duration,
    ) {
        let started = match started {
            Ok(started) => started,
            Err(why) => {
                if let Some(current) = &mut self.searches.current {
                    current.mark_ended(now);
                }
                self.notices.add(
                    NoticeLevel::Error,
                    format!("the search cannot start: {why}"),
                    now,
                );
                return;
            }
        };
        let waits = |current: &&mut ActiveSearch| {
            current.searcher.is_none() && current.is_alive() && current.project.root == folder
        };
        // The project was closed meanwhile: dropping the search stops it.
        let Some(current) = self.searches.current.as_mut().filter(waits) else { return };
        if let Some(story) = started.story {
            current.clock.before = story.spent.seconds;
            current.story = Some(story);
        }
        current.clock.start(now);
        match current.stage {
            SearchStage::Stopping => started.searcher.control(SearchControl::Stop),
            SearchStage::Starting
            | SearchStage::Running
            | SearchStage::Paused
            | SearchStage::Ended => {
                current.stage = SearchStage::Running;
            }
        }
        current.searcher = Some(started.searcher);
    }

    /// Handles pending events of the search.
    pub(in crate::workbench) fn poll_search(&mut self, now: Duration) {
        let compiler = self.evaluations.compiler().to_owned();
        for heard in self.searches.hear(&compiler, now) {
            match heard {
                SearchEvent::Ran(recording) => self.submit(BackgroundTask::Record(recording)),
                SearchEvent::Broken(what) => self.notices.add(NoticeLevel::Error, what, now),
                SearchEvent::Ended(why, knowledge) => {
                    self.report_silent_models(now);
                    self.submit(BackgroundTask::SaveKnowledge(knowledge));
                    if let Some(opened) = &self.opened {
                        self.submit(BackgroundTask::ListSearches(opened.project.root.clone()));
                    }
                    let weight = match why {
                        End::Impossible(_) => NoticeLevel::Error,
                        End::NothingLeft | End::Budget(_) | End::Stopped => NoticeLevel::Note,
                    };
                    self.notices.add(weight, format!("the search ended: {}", ended(&why)), now);
                }
            }
        }
    }

    /// Reports models that sent no usable answer during the ended search, because the plan counted on them.
    fn report_silent_models(&mut self, now: Duration) {
        let story = self.searches.current.as_ref().and_then(|current| current.story.as_ref());
        for UnansweredModel { model, why, .. } in
            story.map(|story| story.unanswered_models()).unwrap_or_default()
        {
            let what = format!("model {model} gave no usable answer: {why}");
            self.notices.add(NoticeLevel::Warning, what, now);
        }
    }

    fn open_search_journal(&mut self, name: String) -> Result<(), String> {
        let current = self.searches.current.as_ref().and_then(|current| current.story.as_ref());
        if current.is_some_and(|story| story.header.id == name) {
            (self.searches.read, self.searches.selected) = (None, None);
            return Ok(());
        }
        let opened = self.opened.as_ref().ok_or("open a project first")?;
        self.submit(BackgroundTask::ReadSearch(opened.project.root.clone(), name));
        Ok(())
    }

    pub(in crate::workbench) fn search_read(
        &mut self,
        read: Result<LoadedSearch, String>,
        now: Duration,
    ) {
        match read {
            Ok(read) => self.searches.show(read),
            Err(why) => self.notices.add(NoticeLevel::Error, why, now),
        }
    }

    /// Stores the list of search journals.
    pub(in crate::workbench) fn searches_listed(&mut self, listed: Vec<Header>) {
        self.searches.listed = listed;
    }

    fn accept_variant(&mut self, now: Duration) -> Result<(), String> {
        let (number, variant) = self.searches.shown().ok_or(NO_VARIANT)?;
        if !matches!(variant.verdict, Some(Verdict::Passed { .. })) {
            return Err(format!(
                "variant {number} did not pass verification; it can be kept as a branch"
            ));
        }
        let source = variant.proposal.source.clone();
        self.open_generated(&source, &format!("variant {number}"), now)
    }

    /// Opens generated text as a new kernel: an edit of an empty text, unsaved, which undo reverts.
    fn open_generated(&mut self, source: &str, what: &str, now: Duration) -> Result<(), String> {
        let (_, file) = self.free_name()?;
        self.documents.open(&file, "");
        self.effects.push(UiEffect::GoTo(1, 1));
        self.effects.push(UiEffect::Replace(source.to_owned()));
        let text = format!("{what} is opened as {}, not saved yet", file.display());
        self.notices.add(NoticeLevel::Good, text, now);
        Ok(())
    }

    fn keep_as_branch(&mut self, now: Duration) -> Result<(), String> {
        let (number, variant) = self.searches.shown().ok_or(NO_VARIANT)?;
        let text = variant.proposal.source.clone();
        let (name, file) = self.free_name()?;
        let opened = self.opened.as_ref().ok_or("open a project first")?;
        self.submit(BackgroundTask::Create { folder: opened.project.root.clone(), file, text });
        self.notices.add(NoticeLevel::Good, format!("variant {number} is saved as `{name}`"), now);
        Ok(())
    }

    /// An unused kernel name derived from the searched kernel, else from the current one.
    fn free_name(&self) -> Result<(String, PathBuf), String> {
        let opened = self.opened.as_ref().ok_or("open a project first")?;
        let stem = match self.searches.story() {
            Some(story) => &story.header.kernel,
            None => &opened.kernel,
        };
        let project = &opened.project;
        let language = project.kernel(stem).map_or(Language::Cuda, |kernel| kernel.language);
        let is_free = |(_, file): &(String, PathBuf)| {
            let mut known = project.kernels.iter().chain(&project.wrong);
            self.documents.get(file).is_none() && known.all(|kernel| kernel.file != *file)
        };
        let named = |number: usize| {
            let name = format!("{stem}-{number}");
            let file = PathBuf::from(format!("kernels/{name}.{}", language.extension()));
            (name, file)
        };
        (2..).map(named).find(is_free).ok_or_else(|| "no unused kernel name was found".to_owned())
    }

    fn reject_variant(&mut self, why: &str, now: Duration) -> Result<(), String> {
        let (number, _) = self.searches.shown().ok_or(NO_VARIANT)?;
        let why = why.trim();
        if why.is_empty() {
            return Err("enter a reason for the rejection".to_owned());
        }
        if number == 0 {
            let what = "the first variant is the base of comparison and cannot be rejected";
            return Err(what.to_owned());
        }
        let searches = &self.searches;
        let searcher = match (&searches.read, &searches.current) {
            (None, Some(current)) => current.searcher.as_ref(),
            (Some(_), _) | (None, None) => None,
        };
        match (searcher, &searches.read) {
            (Some(searcher), _) => searcher.reject(number, why.to_owned()),
            (None, Some(read)) if read.writer == JournalOrigin::Foreign => {
                let what = "another machine wrote this search: it is read-only";
                return Err(what.to_owned());
            }
            (None, _) => {
                let opened = self.opened.as_ref().ok_or("open a project first")?;
                let search = searches.story().map(|story| story.header.id.clone());
                let folder = opened.project.root.clone();
                let (search, why) = (search.unwrap_or_default(), why.to_owned());
                self.submit(BackgroundTask::RejectVariant { folder, search, variant: number, why });
            }
        }
        let text = format!("variant {number} is rejected: {why}");
        self.notices.add(NoticeLevel::Note, text, now);
        Ok(())
    }

    fn suggest(&mut self) -> Result<(), String> {
        let kernel = Arc::new(self.current_kernel()?);
        let opened = self.opened.as_ref().ok_or("open a project first")?;
        let evaluated =
            self.evaluations.kernel(&kernel.name).and_then(|known| known.evaluated.as_ref());
        let advised = evaluated.map(|evaluated| advised(&evaluated.run)).unwrap_or_default();
        self.searches.suggestion = Suggestion::most_promising(&opened.project, &kernel, &advised);
        Ok(())
    }

    fn next_suggestion(&mut self) -> Result<(), String> {
        match std::mem::take(&mut self.searches.suggestion) {
            Suggestion::Shown(shown) => {
                self.searches.suggestion = Suggestion::Shown(Box::new(shown.next()));
                Ok(())
            }
            Suggestion::None | Suggestion::Nothing(_) => self.suggest(),
        }
    }

    fn accept_suggestion(&mut self, now: Duration) -> Result<(), String> {
        let Suggestion::Shown(shown) = std::mem::take(&mut self.searches.suggestion) else {
            return Err("there is no suggestion".to_owned());
        };
        self.open_generated(&shown.draft.source, "the suggestion", now)
    }
}

/// Techniques that the latest verdict advises, with their expected speedups.
fn advised(run: &Run) -> Vec<(String, f64)> {
    let Ok(passed) = &run.verdict else { return Vec::new() };
    let standing = passed.timings.iter().find_map(|timing| timing.standing.as_ref());
    let all = standing.into_iter().flat_map(|standing| standing.advice.all());
    all.map(|advised| {
        let gain = &advised.gain;
        let middle = gain.from.map_or(gain.to, |from| (from * gain.to).sqrt());
        (advised.technique.id.clone(), middle)
    })
    .collect()
}

const NO_VARIANT: &str = "no variant is selected";

/// A budget with room left: exhausted limits are extended by the plan's evaluations and seconds.
fn extended_budget(story: &SearchState, plan: &SearchPlan) -> Budget {
    let mut budget = story.header.budget;
    let spent = &story.spent;
    if budget.evaluations.is_some_and(|most| spent.evaluations >= most) {
        budget.evaluations = plan.budget.evaluations.map(|more| spent.evaluations + more);
    }
    if budget.seconds.is_some_and(|most| spent.seconds >= most) {
        budget.seconds = plan.budget.seconds.map(|more| spent.seconds + more);
    }
    budget
}

impl Searches {
    fn control_search(&self, hold: SearchControl) {
        let searcher = self.current.as_ref().and_then(|current| current.searcher.as_ref());
        if let Some(searcher) = searcher {
            searcher.control(hold);
        }
    }

    fn pause(&mut self, now: Duration) -> Result<(), String> {
        let running = self.current.as_mut().filter(|current| current.stage == SearchStage::Running);
        let current = running.ok_or("no search is running")?;
        current.stage = SearchStage::Paused;
        current.clock.stop(now);
        self.control_search(SearchControl::Pause);
        Ok(())
    }

    fn stop(&mut self) -> Result<(), String> {
        let running = self.current.as_mut().filter(|current| current.is_alive());
        running.ok_or("no search is running")?.stage = SearchStage::Stopping;
        self.control_search(SearchControl::Stop);
        Ok(())
    }
}
