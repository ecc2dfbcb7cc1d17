//! `lightbench suggest --model` and `--print-prompt`: one question to a model about one kernel, outside any search.

use std::sync::Arc;

use lightbench_core::device::DeviceSheet;
use lightbench_core::display_text::{visible, visible_lines};
use lightbench_core::history::definition_hash::definition_hash;
use lightbench_core::history::query::{Filter, Order};
use lightbench_core::history::record::RunRecord;
use lightbench_core::history::text::TextHash;
use lightbench_core::history::{HistoryError, Provenance, StoredRun};
use lightbench_core::models::{Budget, Ledger};
use lightbench_core::project::{Kernel, Project};
use lightbench_core::search::SearchState;
use lightbench_core::search::explore::checked;
use lightbench_core::search::operators::{Draft, NoProposal, Operator as _, ParentVariant};
use lightbench_core::search::prompt::{
    ModelRole, PromptContext, Task, add_run, conversation, single_kernel_state,
};
use lightbench_core::search::roles::Roles;
use lightbench_core::speed_of_light::playbook::{Technique, playbook};
use lightbench_core::suggest::knowledge::Knowledge;
use lightbench_core::whole_file;
use serde_json::json;

use super::changes;
use crate::args;
use crate::commands::history;
use crate::commands::kernel_name::may_be_called;
use crate::commands::search::proposers::Proposers;
use crate::outcome::{Outcome, Status, document};
use crate::report;
use crate::session::Session;

/// Runs of a kernel among which that of its present text is searched.
const MOST_RUNS: usize = 100;

/// The question and its subject.
struct ModelQuestion<'a> {
    arguments: &'a args::Suggest,
    project: Arc<Project>,
    kernel: Arc<Kernel>,
    sheet: &'static DeviceSheet,
    technique: Option<&'static Technique>,
    story: SearchState,
    knowledge: Knowledge,
}

/// Prints the prompt, or asks the model.
pub(super) fn run(
    session: &Session,
    arguments: &args::Suggest,
    project: Box<Project>,
    kernel: Option<&str>,
) -> Result<Outcome, Outcome> {
    let refuse = |error: &dyn std::fmt::Display| report::request(&error, arguments.json);
    let kernel = match (kernel, project.kernels.as_slice()) {
        (Some(name), _) => project.kernel(name).map_err(|error| refuse(&error))?,
        (None, [only]) => only,
        (None, _) => return Err(refuse(&"several kernels; choose one with --kernel NAME")),
    };
    let sheet = DeviceSheet::named(&arguments.device).map_err(|error| refuse(&error))?;
    let technique = match &arguments.technique {
        None => None,
        Some(id) => Some(technique(id).ok_or_else(|| refuse(&unknown(id)))?),
    };
    let kernel = Arc::new(kernel.clone());
    let mut story = single_kernel_state(&project, &kernel, &sheet.virtual_name(), &sheet.title);
    let earlier = newest_run(session, &project, &kernel);
    if let Some(run) = earlier.map_err(|error| report::environment(&error, arguments.json))? {
        add_run(&mut story, &run);
    }
    let (project, knowledge) = (Arc::from(project), Knowledge::seed());
    let question = ModelQuestion { arguments, project, kernel, sheet, technique, story, knowledge };
    match &arguments.model {
        None => question.printed().map_err(|error| refuse(&error)),
        Some(name) => question.answered(session, name),
    }
}

/// The newest run of exactly this text on this machine, for this definition.
fn newest_run(
    session: &Session,
    project: &Project,
    kernel: &Kernel,
) -> Result<Option<RunRecord>, HistoryError> {
    let filter = Filter { kernel: Some(kernel.name.clone()), ..Filter::default() };
    let newest = history::read(session, &project.root, |store| {
        store.newest(&filter, Order::Newest, MOST_RUNS)
    })?;
    let (text, definition) =
        (TextHash::from_content(kernel.source.as_bytes()), definition_hash(project));
    let is_same = |run: &StoredRun| {
        run.provenance == Provenance::Own
            && run.record.definition.as_ref() == Some(&definition)
            && run.record.sources.first().is_some_and(|own| own.text == text)
    };
    let runs = newest.into_iter().flat_map(|(_, listing)| listing.runs);
    Ok(runs.into_iter().find(is_same).map(|run| run.record))
}

fn technique(id: &str) -> Option<&'static Technique> {
    playbook().techniques.iter().find(|technique| technique.id == id)
}

fn unknown(id: &str) -> String {
    let known: Vec<&str> =
        playbook().techniques.iter().map(|technique| technique.id.as_str()).collect();
    format!("unknown technique `{}`; expected one of {}", visible(id), known.join(", "))
}

impl ModelQuestion<'_> {
    fn subject(&self) -> ParentVariant<'_> {
        ParentVariant {
            project: &self.project,
            kernel: &self.kernel,
            bottleneck: None,
            advised: &[],
            knowledge: &self.knowledge,
            story: &self.story,
            variant: 0,
        }
    }

    /// The first prompt. Later prompts of a coder also contain the judge's or planner's answers.
    fn printed(&self) -> Result<Outcome, String> {
        let voice = match self.arguments.roles {
            Roles::Proposer => ModelRole::Coder,
            Roles::CoderAndJudge => ModelRole::Judge,
            Roles::PlannerThenCoder => ModelRole::Planner,
        };
        let subject = self.subject();
        let setting = PromptContext { subject: &subject, sheet: self.sheet, contrast: 0 };
        let task = self.technique.map_or(Task::Free, Task::Technique);
        let said = conversation(&setting, task, voice, None).map_err(|error| error.to_string())?;
        Ok(Outcome::passed(match self.arguments.json {
            true => document(&json!({ "schema": "lightbench.prompt/1", "conversation": said })),
            false => visible_lines(&said.to_prompt()) + "\n",
        }))
    }

    fn answered(&self, session: &Session, name: &str) -> Result<Outcome, Outcome> {
        let refuse = |error: String| report::request(&error, self.arguments.json);
        if let Some(name) = &self.arguments.write {
            may_be_called(&self.project, name).map_err(refuse)?;
        }
        let proposers = Proposers {
            session,
            sheet: self.sheet,
            roles: self.arguments.roles,
            contrast: 0,
            seed: 0,
            recorded: None,
            ledger: Ledger::new(Budget::default()),
        };
        let mut operator = proposers.single_model(name).map_err(refuse)?;
        let subject = self.subject();
        let technique = self.technique.map(|technique| technique.id.as_str());
        let action = operator.action(&subject, technique);
        let mut check = |text: &str| {
            checked(&self.project, &self.kernel.name, subject.story, text)?;
            Ok("The launch block is valid. The code was not compiled.".to_owned())
        };
        match operator.propose(&subject, &action, &mut check) {
            Ok(draft) => self.shown(&draft),
            Err(nothing) => Err(unanswered(session, name, &nothing)),
        }
    }

    fn shown(&self, draft: &Draft) -> Result<Outcome, Outcome> {
        let arguments = self.arguments;
        let written = match &arguments.write {
            Some(name) => Some(self.written(name, draft)?),
            None => None,
        };
        let diff = changes(&self.kernel, &draft.source);
        if arguments.json {
            return Ok(Outcome::passed(document(&json!({
                "schema": "lightbench.suggest/1",
                "kernel": self.kernel.name,
                "what": draft.what,
                "technique": draft.technique,
                "source": draft.source,
                "diff": arguments.diff.then_some(&diff),
                "written": written,
                "talk": draft.talk,
                "cost": draft.cost,
            }))));
        }
        let mut text = format!("{}\n\n", visible_lines(&draft.what));
        match (&written, arguments.diff) {
            (_, true) => text += &visible_lines(&diff),
            (None, false) => text += &visible_lines(&draft.source),
            (Some(_), false) => {}
        }
        text += &format!("\n{} tokens, {:.4} of money\n", draft.cost.tokens, draft.cost.money);
        if let (Some(path), Some(name)) = (written, &arguments.write) {
            let root = self.project.root.display().to_string();
            let (root, name) = (visible(&root), visible(name));
            text += &format!("wrote {path}\n\nnext: lightbench run {root} --kernel {name}\n");
        }
        Ok(Outcome::passed(text))
    }

    fn written(&self, name: &str, draft: &Draft) -> Result<String, Outcome> {
        let refuse = |error: String| report::request(&error, self.arguments.json);
        let kernel = self.project.draft(name, draft.source.clone()).map_err(|problems| {
            let first = problems.first().map_or_else(String::new, ToString::to_string);
            refuse(format!("the answer is not a valid kernel of this project: {first}"))
        })?;
        let path = self.project.root.join(&kernel.file);
        let shown = visible(&path.display().to_string()).into_owned();
        whole_file::create(&path, kernel.source.as_bytes())
            .map_err(|error| report::unwritten(&path, &error, self.arguments.json))?;
        Ok(shown)
    }
}

/// Why there is no kernel, with the model's last answer.
fn unanswered(session: &Session, name: &str, nothing: &NoProposal) -> Outcome {
    let status = match session.cancellation.is_cancelled() {
        true => Status::Interrupted,
        false => Status::KernelFailed,
    };
    let mut message = format!("{}: {}", visible(name), visible_lines(&nothing.why));
    if let Some(talk) = nothing.talk.as_ref().filter(|talk| !talk.reply.is_empty()) {
        message += &format!("\n\nits answer:\n{}", visible_lines(&talk.reply));
    }
    Outcome::failed(status, message)
}
