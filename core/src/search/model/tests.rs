//! A whole search by recorded replies, good, wrong, cheating and malformed, told the same way every time.

mod agents;
mod calls;

use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use super::*;
use crate::evaluate::compare::ComparedWorkload;
use crate::evaluate::{Run, Screening};
use crate::measure::statistics::Summary;
use crate::measure::timing::{Basis, Clock, Conditions, Mode, Timing};
use crate::models::{RecordedModel, RecordedReply, Secret};
use crate::project::{DeviceFacts, Kernel, Project};
use crate::search::entry::{Decision, End, Entry, FailureRecord, ModelExchange};
use crate::search::state::ActionOutcome;
use crate::search::trajectory;
use crate::search::{
    Budget, CandidateRunner, Explorer, Interrupted, SearchListeners, SearchSetup, SearchState,
};
use crate::speed_of_light::code_mix::CodeMix;
use crate::strategies::{StrategyKind, TunerKind};
use crate::suggest::knowledge::Knowledge;
use crate::units::Seconds;
use crate::verify::not_judged::NotPassed;
use crate::verify::verdict::{
    Checks, Failure, Passed, Refused, Screened, ScreenedTiming, ScreeningTiming, SizeCheck,
    Uncounted, WorkloadTiming,
};

const REPLIES: &str = include_str!("../../../../tests/data/replies/vector-add.jsonl");
const KEY: &str = "key-of-the-test-0123456789";

/// A laboratory that knows the kernels of the recorded replies by their texts.
struct Scripted {
    workloads: Vec<String>,
}

/// What the compiler reports of every kernel without an error.
const RESOURCES: &str = "32 registers";

impl Scripted {
    fn seconds(&self, kernel: &Kernel) -> Result<Seconds, NotPassed> {
        let source = &kernel.source;
        match source {
            _ if source.contains("times_called") => {
                Err(Failure::Refused(Refused::Load("it remembers".to_owned())).into())
            }
            _ if source.contains("float4") && !source.contains("++index") => {
                Err(Failure::Refused(Refused::Load("the tail is missing".to_owned())).into())
            }
            _ if source.contains("float4") => Ok(Seconds(0.5e-3)),
            _ => Ok(Seconds(1e-3)),
        }
    }
}

impl CandidateRunner for Scripted {
    fn screen(
        &mut self,
        kernels: &[Arc<Kernel>],
        _abandon: &BTreeMap<String, Seconds>,
    ) -> Result<Vec<Screening>, Interrupted> {
        let screening = |kernel: &Arc<Kernel>| {
            let verdict = self.seconds(kernel).map(|seconds| {
                let timing = |workload: &String| ScreenedTiming {
                    workload: workload.clone(),
                    timing: ScreeningTiming::Withheld {
                        reason: "scripted".to_owned(),
                        between: Some((seconds, seconds)),
                    },
                };
                let timings = self.workloads.iter().map(timing).collect();
                Screened { checks: Checks::default(), timings, code: CodeMix::default() }
            });
            Screening { candidate: None, seed: 1, verdict, elapsed: Duration::ZERO }
        };
        Ok(kernels.iter().map(screening).collect())
    }

    fn compile(
        &mut self,
        kernel: &Arc<Kernel>,
    ) -> Result<Result<String, FailureRecord>, Interrupted> {
        let fails = kernel.source.contains("does_not_exist");
        let (kind, sentence) = ("compile".to_owned(), "it does not compile: line 9".to_owned());
        Ok(if fails { Err(FailureRecord { kind, sentence }) } else { Ok(RESOURCES.to_owned()) })
    }

    fn evaluate(&mut self, kernel: &Arc<Kernel>) -> Result<Run, Interrupted> {
        let verdict = self.seconds(kernel).map(|median| {
            let summary = Summary {
                median,
                interval: (median, median),
                quartiles: (median, median),
                minimum: median,
                samples: 1,
            };
            let timing = Timing {
                clock: Clock::Modelled,
                mode: Mode::Cold,
                summary,
                basis: Basis::Model {
                    bound: median,
                    limit: "scripted".to_owned(),
                    assumptions: Vec::new(),
                },
                conditions: Conditions::default(),
                taint: Vec::new(),
                launch_floor: None,
            };
            let each = self.workloads.iter().map(|workload| WorkloadTiming {
                workload: workload.clone(),
                timings: vec![timing.clone()],
                withheld: None,
                check: SizeCheck::Whole,
                profile: Err(Uncounted::NoVirtualDevice),
                energy: None,
                standing: None,
                baselines: Vec::new(),
            });
            Passed { checks: Checks::default(), timings: each.collect() }
        });
        Ok(Run { candidate: None, seed: 1, verdict, elapsed: Duration::ZERO })
    }

    fn compare(
        &mut self,
        _old: &Arc<Kernel>,
        _new: &Arc<Kernel>,
    ) -> Result<Vec<ComparedWorkload>, Interrupted> {
        Err(Interrupted::Impossible("modelled times are not taken side by side".to_owned()))
    }

    fn batch(&self) -> usize {
        1
    }

    fn rest(&mut self) -> Result<(), Interrupted> {
        Ok(())
    }

    fn turned_down(&mut self) -> Vec<(usize, String)> {
        Vec::new()
    }
}

fn project() -> Arc<Project> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../sample-projects/vector-add");
    Arc::from(Project::load(&folder).unwrap())
}

fn operator(model: RecordedModel, roles: Roles) -> ModelOperator {
    let redactor = Redactor::new([Secret::new(KEY.to_owned())]);
    ModelOperator::new(ModelSetup {
        model: Box::new(model.without(redactor.clone())),
        prices: Some(Prices { input: 1.0, output: 10.0 }),
        redactor,
        sheet: DeviceSheet::named("h200").unwrap(),
        roles,
        contrast: 2,
        stop: StopSignal::never(),
    })
}

/// A search by this operator alone.
fn order_of(operator: ModelOperator, evaluations: Option<usize>) -> SearchSetup {
    let project = project();
    let kernel = Arc::new(project.kernel("naive").unwrap().clone());
    SearchSetup {
        id: "recorded".to_owned(),
        project: Arc::clone(&project),
        kernel,
        workload: None,
        device_names: ("virtual:h200".to_owned(), "H200, virtual".to_owned()),
        device: DeviceFacts::default(),
        strategy: Some(StrategyKind::Greedy),
        tuner: TunerKind::LocalSearch,
        tunes: false,
        operators: vec![Box::new(operator)],
        roles: Roles::default(),
        contrast: 2,
        budget: Budget { evaluations, ..Budget::default() },
        seed: 1,
        knowledge: Knowledge::default(),
    }
}

/// The entries of such a search, and how it ended.
fn search(operator: ModelOperator, evaluations: Option<usize>) -> (Vec<Entry>, SearchState) {
    let order = order_of(operator, evaluations);
    let workloads = order.workloads().iter().map(|each| each.name.clone()).collect();
    let entries = Rc::new(RefCell::new(Vec::new()));
    let heard = Rc::clone(&entries);
    let audience = SearchListeners {
        listener: Box::new(move |entry, _| heard.borrow_mut().push(entry.clone())),
        keeper: Box::new(|_| {}),
    };
    let explorer = Explorer::begin(order, Scripted { workloads }, None, audience).unwrap();
    let (story, _) = explorer.run();
    let mut entries = entries.take();
    if let Some(Entry::Began(header)) = entries.first_mut() {
        header.began_at = jiff::Timestamp::UNIX_EPOCH;
    }
    (entries, story)
}

/// Why there was nothing each time, and what it cost.
fn nothings(entries: &[Entry]) -> Vec<(&str, Cost)> {
    let mut found = Vec::new();
    for entry in entries {
        if let Entry::Nothing { why, cost, .. } = entry {
            found.push((why.as_str(), *cost));
        }
    }
    found
}

fn recorded() -> RecordedModel {
    RecordedModel::read("recorded", REPLIES).unwrap()
}

#[test]
fn recorded_replies_drive_a_search_to_the_same_story_every_time() {
    let (entries, story) = search(operator(recorded(), Roles::Proposer), Some(10));
    assert_eq!(story.ended, Some(End::NothingLeft));
    let decisions: Vec<&Decision> =
        story.variants.iter().filter_map(|variant| variant.decision.as_ref()).collect();
    let [
        Decision::Accepted { .. },
        Decision::Rejected { why: wrong },
        Decision::Rejected { why: cheat },
        Decision::Accepted { why: good },
    ] = decisions.as_slice()
    else {
        panic!("{decisions:?}");
    };
    assert!(wrong.contains("the tail is missing") && cheat.contains("it remembers"));
    assert!(good.contains("50.0 % of the time"), "{good}");
    assert_eq!(story.best, Some(3));
    // The malformed replies went back and then were nothing, with what they cost and what was said.
    let unusable = story.attempts.iter().find_map(|attempt| match &attempt.came {
        ActionOutcome::Nothing { talk, .. } => talk.clone(),
        ActionOutcome::Variant(_) => None,
    });
    let is_whole =
        |talk: Box<ModelExchange>| talk.prompt.contains("# What to do") && !talk.reply.is_empty();
    assert!(unusable.is_some_and(is_whole));
    let nothing = nothings(&entries);
    let [(why, cost)] = nothing.as_slice() else { panic!("{nothing:?}") };
    assert!(why.starts_with("none of 4 replies") && why.contains("not in the file"), "{why}");
    assert_eq!(cost.tokens, 3000 + 20 + 3100 + 30 + 3200 + 40 + 3300 + 50);
    assert!((cost.money - (12600.0 + 1400.0) / 1e6).abs() < 1e-12, "{}", cost.money);
    assert_eq!(story.spent.cost.tokens, 12740 + 3400 + 3400 + 3450);
    let (again, _) = search(operator(recorded(), Roles::Proposer), Some(10));
    assert_eq!(entries, again);
}

#[test]
fn everything_that_was_said_is_kept_without_keys() {
    let (entries, story) = search(operator(recorded(), Roles::Proposer), Some(10));
    let proposal = &story.variants[1].proposal;
    let talk = proposal.talk.as_ref().unwrap();
    assert_eq!(talk.model, "recorded");
    assert!(talk.prompt.contains("# What to do") && talk.reply.contains("[redacted]"));
    assert!(proposal.what.contains("[redacted]"), "{}", proposal.what);
    // The next question knows of it.
    let next = story.variants[2].proposal.talk.as_ref().unwrap();
    assert!(next.prompt.contains("the tail is missing"), "{}", next.prompt);
    let journal = serde_json::to_string(&entries).unwrap();
    assert!(!journal.contains(KEY) && journal.contains("[redacted]"));
}

#[test]
fn a_model_that_says_nothing_ends_the_search_by_itself() {
    let (entries, story) = search(operator(RecordedModel::new("mute", []), Roles::Proposer), None);
    assert_eq!(story.ended, Some(End::NothingLeft));
    assert_eq!(story.attempts.len(), 1);
    let nothing = nothings(&entries);
    assert!(nothing[0].0.starts_with("no reply: all 0 recorded replies"), "{nothing:?}");
}

#[test]
fn a_model_that_repeats_itself_ends_the_search_by_itself() {
    let reply = RecordedReply {
        reply: "```json\n{\"BLOCK\": 512}\n```".to_owned(),
        ..RecordedReply::default()
    };
    let model = RecordedModel::new("stuck", vec![reply; 40]);
    let (_, story) = search(operator(model, Roles::Proposer), None);
    assert_eq!(story.ended, Some(End::NothingLeft));
    // Variant 1, and the same again of the first and of itself.
    assert_eq!(story.variants.len(), 2);
}

#[test]
fn a_trajectory_has_a_line_for_every_action() {
    let (entries, _) = search(operator(recorded(), Roles::Proposer), Some(10));
    let mut text = Vec::new();
    assert_eq!(trajectory::export(&entries, &mut text).unwrap(), 4);
    let lines: Vec<serde_json::Value> = String::from_utf8(text)
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let came: Vec<&str> =
        lines.iter().map(|line| line["outcome"]["came"].as_str().unwrap()).collect();
    assert_eq!(came, ["variant", "variant", "variant", "nothing"]);
    let last = &lines[2];
    assert_eq!(last["schema"], trajectory::SCHEMA);
    assert_eq!(last["action"]["operator"], "model:recorded");
    assert_eq!(last["state"]["variant"], 0);
    assert_eq!(last["state"]["times"][0]["seconds"], 1e-3);
    assert!((last["outcome"]["gain"].as_f64().unwrap() - 2.0).abs() < 1e-9, "{last}");
    assert!(last["outcome"]["decision"]["accepted"].is_object(), "{last}");
    assert!(last["action"]["talk"]["reply"].as_str().unwrap().contains("first draft"));
}

/// What a model of these replies is told and says for one proposal.
fn proposed(roles: Roles, replies: &[(&str, &str)]) -> Result<Draft, NoProposal> {
    let replies = replies.iter().map(|(expects, reply)| RecordedReply {
        expects: Some((*expects).to_owned()),
        reply: (*reply).to_owned(),
        ..RecordedReply::default()
    });
    let replies: VecDeque<RecordedReply> = replies.collect();
    let mut operator = operator(RecordedModel::new("recorded", replies), roles);
    let project = project();
    let kernel = Arc::new(project.kernel("naive").unwrap().clone());
    let (_, story) = search(self::operator(RecordedModel::new("mute", []), roles), Some(1));
    let advised = [("larger-blocks".to_owned(), 1.3)];
    let subject = ParentVariant {
        project: &project,
        kernel: &kernel,
        bottleneck: Some("memory"),
        advised: &advised,
        knowledge: &Knowledge::default(),
        story: &story,
        variant: 0,
    };
    let actions = operator.actions(&subject);
    let keys: Vec<&str> = actions.iter().map(|action| action.key.as_str()).collect();
    assert_eq!(keys, ["model:recorded:larger-blocks", "model:recorded:free"]);
    assert!(actions.iter().all(|action| action.repeatable && action.expected_gain > 0.0));
    operator.propose(&subject, &actions[0], &mut |_| Ok(String::new()))
}

const JUDGED: &str =
    r#"{"bottleneck": "waiting", "method": "more loads", "plan": "four elements a thread"}"#;

#[test]
fn a_judge_names_one_plan_and_the_coder_carries_it_out() {
    let draft = proposed(
        Roles::CoderAndJudge,
        &[
            ("exactly one bottleneck", "It waits."),
            ("no JSON object", JUDGED),
            (
                "Bottleneck: waiting\nMethod: more loads\nPlan: four",
                "```json\n{\"BLOCK\": 512}\n```",
            ),
        ],
    );
    let draft = draft.unwrap();
    assert!(draft.source.contains("[512, 256, 128, 1024]"), "{}", draft.source);
    assert_eq!(draft.technique.as_deref(), Some("larger-blocks"));
    assert_eq!(draft.origin, Origin::Model { name: "recorded".to_owned() });
    assert!(draft.what.starts_with("Bottleneck: waiting"), "{}", draft.what);
    let talk = draft.talk.unwrap();
    assert!(talk.prompt.contains("It waits.") && talk.prompt.contains("more loads"));
    assert!(talk.reply.contains("512") && draft.cost.tokens > 0);
}

#[test]
fn a_planner_plans_and_the_coder_carries_it_out() {
    let draft = proposed(
        Roles::PlannerThenCoder,
        &[
            ("Plan how to apply", "1. Make blocks larger."),
            ("Carry out this plan", "idea: larger blocks\n```json\n{\"BLOCK\": 1024}\n```"),
        ],
    );
    assert_eq!(draft.unwrap().what, "larger blocks");
}

#[test]
fn an_answer_that_never_fits_is_nothing_and_its_talk_is_kept() {
    let block = "no fenced block";
    let replies = [("", "no"), (block, "no!"), (block, "No."), (block, "never")];
    let nothing = proposed(Roles::Proposer, &replies).unwrap_err();
    assert!(nothing.why.starts_with("none of 4 replies could be used"), "{}", nothing.why);
    let talk = nothing.talk.unwrap();
    assert!(talk.prompt.contains("no!") && talk.reply == "never");
    assert!(nothing.cost.tokens > 0);
}
