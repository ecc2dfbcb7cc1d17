//! Starts searches on their own threads, and lists, reads and annotates their journals.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use lightbench_core::cancellation::Cancellation;
use lightbench_core::engine::{self, EngineRunner, SearchThread, Wake};
use lightbench_core::history::machine::Machine;
use lightbench_core::no_links;
use lightbench_core::search::{Control, Entry, Journal, JournalError};
use lightbench_core::suggest::knowledge::Knowledge;

use super::TaskRunner;
use crate::commands::evaluation_setup::fresh_seed;
use crate::commands::search::journals;
use crate::commands::search::options::{SearchContext, SearchOptions};
use crate::commands::search::prepared::{batch, conditions};
use crate::workbench::background_task::{StartedSearch, TaskResult};
use crate::workbench::notices::NoticeLevel;
use crate::workbench::search::{
    JournalOrigin, LoadedSearch, SearchPlan, SearchRequest, SearchStart,
};

impl TaskRunner {
    pub(super) fn search(&self, order: SearchRequest) {
        let folder = order.project.root.clone();
        let started = self.started(order);
        self.results.send(TaskResult::SearchStarted(folder, started));
    }

    fn started(&self, asked: SearchRequest) -> Result<StartedSearch, String> {
        let SearchRequest { project, device, start: beginning, pace } = asked;
        let chosen = self.devices.iter().find(|chosen| chosen.device == device);
        let chosen = chosen.ok_or_else(|| format!("{device} is not available any more"))?;
        let engine = self
            .engine
            .as_ref()
            .ok_or("this machine cannot evaluate: no compiler or device was found; see Doctor")?;
        let told = |error: &dyn std::fmt::Display| error.to_string();
        let folder =
            journals::folder(&self.session, &project.root).map_err(|error| told(&error))?;
        let machine = journals::machine(&self.session).map_err(|error| told(&error))?;
        let place = SearchContext { session: &self.session, project: &project, chosen };
        let (order, journal, beginning, story) = match beginning {
            SearchStart::New(kernel, plan) => {
                let seed = fresh_seed().map_err(|error| told(&error))?;
                let mut order = terms(&plan).new_search(place, seed)?;
                // The kernel keeps its name and takes the editor's text.
                order.kernel = kernel;
                let path = folder.join(format!("{}.jsonl", order.id));
                let journal = Journal::create(&path, machine).map_err(|error| told(&error))?;
                (order, journal, engine::SearchOrigin::New, None)
            }
            SearchStart::Resumed(name, budget) => {
                let path = journals::journal(&folder, &name).map_err(|error| told(&error))?;
                let (journal, read) =
                    Journal::resume(&path, machine).map_err(|error| told(&error))?;
                let plan = SearchPlan { budget, ..SearchPlan::default() };
                let order = terms(&plan).resume(place, &read.story)?;
                let story = Box::new(read.story);
                (order, journal, engine::SearchOrigin::Resumed(story.clone()), Some(story))
            }
        };
        let control = Control::from_cancellation(&Cancellation::new());
        control.set_pace(pace);
        let conditions = conditions(chosen, order.workload.clone(), order.seed);
        let client = engine.client();
        let laboratory =
            EngineRunner::new(client, project, conditions, control.clone(), batch(chosen));
        let wake = Arc::clone(&self.results.wake);
        let wake = Some(Wake(Box::new(move || wake())));
        let begun = (beginning, Some(journal));
        let searching = SearchThread::start(order, laboratory, begun, control, wake);
        let searcher = Box::new(searching.map_err(|error| told(&error))?);
        Ok(StartedSearch { story, searcher })
    }

    pub(super) fn list_searches(&self, folder: &Path) {
        // A broken history was reported when it was read.
        let place = journals::known_folder(&self.session, folder).unwrap_or_default();
        if let Some(link) = place.as_deref().and_then(no_links::first_link) {
            self.results.notice(NoticeLevel::Warning, format!("searches cannot be listed: {link}"));
        }
        let listed = place.map(|journals| journals::listed(&journals)).unwrap_or_default();
        self.results.send(TaskResult::SearchesListed(folder.to_owned(), listed));
    }

    pub(super) fn read_search(&self, folder: &Path, name: &str) {
        let read = || -> Result<LoadedSearch, String> {
            let (path, machine) = self.journal(folder, name)?;
            let read = Journal::read(&path, &machine).map_err(|error| error.to_string())?;
            let writer = if read.is_own { JournalOrigin::Own } else { JournalOrigin::Foreign };
            Ok(LoadedSearch { story: Box::new(read.story), writer })
        };
        self.results.send(TaskResult::Search(folder.to_owned(), read()));
    }

    /// Records the rejection of a variant of an ended search, and reads the search again.
    pub(super) fn turn_down(&self, folder: &Path, name: &str, variant: usize, why: String) {
        let written = || -> Result<(), String> {
            let told = |error: JournalError| error.to_string();
            let (path, machine) = self.journal(folder, name)?;
            let (mut journal, read) = Journal::resume(&path, machine).map_err(told)?;
            let (mut story, said) = (read.story, Entry::TurnedDown { variant, why });
            // An entry that does not fit would make the journal unreadable.
            story.add(&said).map_err(|error| error.to_string())?;
            journal.append(story.spent.seconds, &said).map_err(told)
        };
        match written() {
            Ok(()) => self.read_search(folder, name),
            Err(why) => {
                self.results
                    .notice(NoticeLevel::Error, format!("the rejection cannot be stored: {why}"));
            }
        }
    }

    /// The path of a search journal, and the key whose seal identifies this machine.
    fn journal(&self, folder: &Path, name: &str) -> Result<(PathBuf, Machine), String> {
        let told = |error: &dyn std::fmt::Display| error.to_string();
        let journals =
            journals::known_folder(&self.session, folder).map_err(|error| told(&error))?;
        let journals = journals.ok_or("the project has no searches")?;
        let machine = journals::machine(&self.session).map_err(|error| told(&error))?;
        let path = journals::journal(&journals, name).map_err(|error| told(&error))?;
        Ok((path, machine))
    }

    pub(super) fn learn(&self, knowledge: &Knowledge) {
        if let Err(error) = journals::save_learnt(&self.session, knowledge) {
            self.results.notice(
                NoticeLevel::Warning,
                format!("learnt knowledge cannot be stored: {error}"),
            );
        }
    }
}

/// The plan as command line options, so that both have the same meaning.
fn terms(plan: &SearchPlan) -> SearchOptions {
    SearchOptions {
        kernel: None,
        workload: None,
        strategy: Some(plan.strategy),
        tuner: plan.tuner,
        operators: plan.operators(),
        recorded: None,
        roles: plan.roles,
        contrast: plan.contrast,
        budget: plan.budget,
    }
}
