//! Searches: started on a thread of their own beside the engine, listed and read from their journals.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use lightbench_core::cancellation::Cancellation;
use lightbench_core::engine::{self, Searching, Wake};
use lightbench_core::history::machine::Machine;
use lightbench_core::no_links;
use lightbench_core::search::{Control, EngineLaboratory, Entry, Journal, JournalError};
use lightbench_core::suggest::knowledge::Knowledge;

use super::Worker;
use crate::commands::bench::fresh_seed;
use crate::commands::search::ordered::{batch, conditions};
use crate::commands::search::place;
use crate::commands::search::terms::{Place, Terms};
use crate::workbench::errand::{Finding, StartedSearch};
use crate::workbench::notices::Weight;
use crate::workbench::search::{Beginning, Plan, ReadSearch, SearchOrder, Writer};

impl Worker {
    pub(super) fn search(&self, order: SearchOrder) {
        let folder = order.project.root.clone();
        let started = self.started(order);
        self.said.say(Finding::Searching(folder, started));
    }

    fn started(&self, asked: SearchOrder) -> Result<StartedSearch, String> {
        let SearchOrder { project, device, beginning, pace } = asked;
        let chosen = self.devices.iter().find(|chosen| chosen.device == device);
        let chosen = chosen.ok_or_else(|| format!("{device} is not here any more"))?;
        let engine = self.engine.as_ref().ok_or("nothing can run on this machine")?;
        let told = |error: &dyn std::fmt::Display| error.to_string();
        let folder = place::folder(&self.session, &project.root).map_err(|error| told(&error))?;
        let machine = place::machine(&self.session).map_err(|error| told(&error))?;
        let place = Place { session: &self.session, project: &project, chosen };
        let (order, journal, beginning, story) = match beginning {
            Beginning::New(kernel, plan) => {
                let seed = fresh_seed().map_err(|error| told(&error))?;
                let mut order = terms(&plan).begun(place, seed)?;
                // Under its own name, with what stands in the editor.
                order.kernel = kernel;
                let path = folder.join(format!("{}.jsonl", order.id));
                let journal = Journal::create(&path, machine).map_err(|error| told(&error))?;
                (order, journal, engine::Beginning::New, None)
            }
            Beginning::Again(name, budget) => {
                let path = place::journal(&folder, &name).map_err(|error| told(&error))?;
                let (journal, read) =
                    Journal::resume(&path, machine).map_err(|error| told(&error))?;
                let plan = Plan { budget, ..Plan::default() };
                let order = terms(&plan).again(place, &read.story)?;
                let story = Box::new(read.story);
                (order, journal, engine::Beginning::Before(story.clone()), Some(story))
            }
        };
        let control = Control::under(&Cancellation::new());
        control.set_pace(pace);
        let conditions = conditions(chosen, order.workload.clone(), order.seed);
        let client = engine.client();
        let laboratory =
            EngineLaboratory::new(client, project, conditions, control.clone(), batch(chosen));
        let wake = Arc::clone(&self.said.wake);
        let wake = Some(Wake(Box::new(move || wake())));
        let begun = (beginning, Some(journal));
        let searching = Searching::start(order, laboratory, begun, control, wake);
        let searcher = Box::new(searching.map_err(|error| told(&error))?);
        Ok(StartedSearch { story, searcher })
    }

    pub(super) fn list_searches(&self, folder: &Path) {
        // A history that cannot be used was said when it was read.
        let place = place::known_folder(&self.session, folder).unwrap_or_default();
        if let Some(link) = place.as_deref().and_then(no_links::first_link) {
            self.said.notice(Weight::Warning, format!("no searches are listed: {link}"));
        }
        let listed = place.map(|journals| place::listed(&journals)).unwrap_or_default();
        self.said.say(Finding::Searches(folder.to_owned(), listed));
    }

    pub(super) fn read_search(&self, folder: &Path, name: &str) {
        let read = || -> Result<ReadSearch, String> {
            let (path, machine) = self.journal(folder, name)?;
            let read = Journal::read(&path, &machine).map_err(|error| error.to_string())?;
            let writer = if read.is_own { Writer::Own } else { Writer::Foreign };
            Ok(ReadSearch { story: Box::new(read.story), writer })
        };
        self.said.say(Finding::Search(folder.to_owned(), read()));
    }

    /// Writes down that a variant of a search that is over is not wanted, and reads the search again.
    pub(super) fn turn_down(&self, folder: &Path, name: &str, variant: usize, why: String) {
        let written = || -> Result<(), String> {
            let told = |error: JournalError| error.to_string();
            let (path, machine) = self.journal(folder, name)?;
            let (mut journal, read) = Journal::resume(&path, machine).map_err(told)?;
            let (mut story, said) = (read.story, Entry::TurnedDown { variant, why });
            // What does not follow would make the journal unreadable.
            story.add(&said).map_err(|error| error.to_string())?;
            journal.append(story.spent.seconds, &said).map_err(told)
        };
        match written() {
            Ok(()) => self.read_search(folder, name),
            Err(why) => {
                self.said.notice(Weight::Error, format!("the rejection is not kept: {why}"));
            }
        }
    }

    /// Where the journal of a search is, and whose seal says whether it was written here.
    fn journal(&self, folder: &Path, name: &str) -> Result<(PathBuf, Machine), String> {
        let told = |error: &dyn std::fmt::Display| error.to_string();
        let journals = place::known_folder(&self.session, folder).map_err(|error| told(&error))?;
        let journals = journals.ok_or("the project has no searches")?;
        let machine = place::machine(&self.session).map_err(|error| told(&error))?;
        let path = place::journal(&journals, name).map_err(|error| told(&error))?;
        Ok((path, machine))
    }

    pub(super) fn learn(&self, knowledge: &Knowledge) {
        if let Err(error) = place::learn(&self.session, knowledge) {
            self.said.notice(Weight::Warning, format!("what was learnt is not kept: {error}"));
        }
    }
}

/// What the window plans, in the terms of the command line, so that both mean the same.
fn terms(plan: &Plan) -> Terms {
    Terms {
        kernel: None,
        workload: None,
        strategy: Some(plan.strategy),
        tuner: plan.tuner,
        operators: plan.operators(),
        roles: plan.roles,
        contrast: plan.contrast,
        forecast: plan.forecast,
        budget: plan.budget,
    }
}
