//! Tests of searches with a scripted searcher instead of a thread.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use lightbench_core::engine::SearchThreadEvent;
use lightbench_core::history::record::Origin;
use lightbench_core::search::budget::Cost;
use lightbench_core::search::entry::{Basis, End, FailureRecord, ModelExchange, SCHEMA};
use lightbench_core::search::roles::Roles;
use lightbench_core::search::{
    Budget, Decision, Entry, FinishedRun, Header, Pace, Proposal, ScreeningResult, SearchState,
    Verdict, WorkloadTime,
};
use lightbench_core::suggest::descriptor::Descriptor;
use lightbench_core::suggest::knowledge::Knowledge;
use lightbench_core::units::Seconds;

use super::*;
use crate::workbench::background_task::{BackgroundTask, StartedSearch, TaskResult};
use crate::workbench::command::Command;
use crate::workbench::tests::{NOW, Script, WORKLOAD, folder, opened, passed};
use crate::workbench::{UiEffect, Workbench};

/// A scripted searcher, which records how it was controlled.
#[derive(Clone, Debug, Default)]
pub(crate) struct Played(Arc<Mutex<Play>>);

#[derive(Debug, Default)]
struct Play {
    to_hear: VecDeque<SearchThreadEvent>,
    held: Vec<SearchControl>,
    turned_down: Vec<(usize, String)>,
}

impl Played {
    pub(crate) fn say(&self, heard: SearchThreadEvent) {
        self.0.lock().unwrap().to_hear.push_back(heard);
    }

    pub(crate) fn tell(&self, entries: impl IntoIterator<Item = Entry>) {
        entries.into_iter().for_each(|entry| self.say(SearchThreadEvent::Entry(Box::new(entry))));
    }

    fn turned_down(&self) -> Vec<(usize, String)> {
        self.0.lock().unwrap().turned_down.clone()
    }

    fn held(&self) -> Vec<SearchControl> {
        self.0.lock().unwrap().held.clone()
    }
}

impl Searcher for Played {
    fn next_event(&self) -> Option<SearchThreadEvent> {
        self.0.lock().unwrap().to_hear.pop_front()
    }

    fn control(&self, hold: SearchControl) {
        self.0.lock().unwrap().held.push(hold);
    }

    fn reject(&self, variant: usize, why: String) {
        self.tell([Entry::TurnedDown { variant, why: why.clone() }]);
        self.0.lock().unwrap().turned_down.push((variant, why));
    }
}

fn header() -> Header {
    Header {
        schema: SCHEMA.to_owned(),
        id: "20261122-031500-naive-12ab".to_owned(),
        began_at: "2026-11-22T03:15:00Z".parse().unwrap(),
        project: "rmsnorm".to_owned(),
        definition: "0123456789abcdef".to_owned(),
        kernel: "naive".to_owned(),
        device: "virtual:h200".to_owned(),
        device_title: "virtual H200".to_owned(),
        workloads: vec![WORKLOAD.to_owned()],
        strategy: "plan".to_owned(),
        tuner: "local".to_owned(),
        operators: vec!["rules".to_owned(), "tuner".to_owned()],
        roles: Roles::default(),
        contrast: 0,
        budget: Budget { evaluations: Some(80), ..Budget::default() },
        seed: 7,
        program: String::new(),
        knowledge: None,
    }
}

fn times(micros: f64) -> Vec<WorkloadTime> {
    let (workload, basis) = (WORKLOAD.to_owned(), Basis::Modelled);
    vec![WorkloadTime { workload, seconds: Seconds(micros * 1e-6), basis }]
}

/// The text of a kernel with one line per applied variant.
fn source(changes: usize) -> String {
    let project = crate::workbench::tests::project();
    let mut source = project.kernel("naive").unwrap().source.clone();
    for change in 0..changes {
        source.push_str(&format!("// changed {change}\n"));
    }
    source
}

fn proposed(variant: usize, parent: Option<usize>, origin: Origin, what: &str) -> Entry {
    Entry::Proposed(Box::new(Proposal {
        variant,
        parent,
        origin,
        action: "rule".to_owned(),
        what: what.to_owned(),
        why: "of all open actions it promises the most, 1.30 × where 1.10 × was usual".to_owned(),
        technique: None,
        source: source(variant),
        talk: None,
        cost: Cost::default(),
    }))
}

fn rule(name: &str) -> Origin {
    Origin::Rule { name: name.to_owned() }
}

fn right(variant: usize, micros: f64, cell: [u8; 4]) -> Entry {
    let descriptor = Some(Descriptor { cell, fingerprint: Vec::new() });
    Entry::Looked { variant, look: ScreeningResult::Right { times: times(micros) }, descriptor }
}

fn judged(variant: usize, micros: f64) -> Entry {
    let line =
        format!("{WORKLOAD}: Correct: {micros} µs modelled, limited by memory, 12 % of the bound");
    let verdict = Verdict::Passed {
        times: times(micros),
        lines: vec![line],
        bottleneck: None,
        advised: Vec::new(),
        not_checked: Vec::new(),
    };
    Entry::Judged { variant, verdict }
}

fn decided(variant: usize, decision: Decision) -> Entry {
    Entry::Decided { variant, decision }
}

fn accepted(why: &str) -> Decision {
    Decision::Accepted { why: why.to_owned() }
}

fn wrong(variant: usize, kind: &str, sentence: &str) -> Entry {
    let failed = FailureRecord { kind: kind.to_owned(), sentence: sentence.to_owned() };
    Entry::Looked { variant, look: ScreeningResult::Failed(failed), descriptor: None }
}

/// A search with eight variants: two fail, one is proposed by a model, the best derives from another variant.
pub(crate) fn entries() -> Vec<Entry> {
    let mut model = proposed(
        6,
        Some(2),
        Origin::Model { name: "local".to_owned() },
        "keep the row in registers between both passes",
    );
    if let Entry::Proposed(proposal) = &mut model {
        proposal.talk = Some(ModelExchange {
            model: "local".to_owned(),
            prompt: "Make this kernel faster.\nIt is limited by memory.".to_owned(),
            reply: "Keep the row in registers, so that it is read once.".to_owned(),
        });
    }
    let slower = Decision::Kept {
        why: "modelled at 98.9 % of the time of variant 1: no measurable difference".to_owned(),
    };
    vec![
        Entry::Began(Box::new(header())),
        proposed(0, None, Origin::Person, "`naive` as it is"),
        right(0, 620.0, [0, 0, 1, 0]),
        judged(0, 620.0),
        decided(0, accepted("it is what the search begins with")),
        proposed(1, Some(0), rule("restrict"), "`x` and `y` become `__restrict__`"),
        right(1, 540.0, [0, 1, 1, 0]),
        judged(1, 540.0),
        decided(1, accepted("modelled at 87.1 % of the time of variant 0")),
        proposed(
            2,
            Some(1),
            rule("vector-access"),
            "four elements of `x` in one access of 16 bytes",
        ),
        right(2, 310.0, [1, 1, 1, 0]),
        judged(2, 310.0),
        decided(2, accepted("modelled at 57.4 % of the time of variant 1")),
        proposed(3, Some(0), rule("fast-math"), "`rsqrtf` becomes its approximation"),
        wrong(3, "wrong", "wrong: `y` differs on a held-out workload"),
        decided(3, Decision::Rejected { why: "it is wrong".to_owned() }),
        proposed(4, Some(1), rule("unroll"), "the loop of line 21 is unrolled four times"),
        right(4, 534.0, [0, 2, 1, 0]),
        judged(4, 534.0),
        decided(4, slower),
        proposed(
            5,
            Some(2),
            rule("warp-shuffle"),
            "the tree in shared memory becomes warp shuffles",
        ),
        right(5, 268.0, [1, 1, 3, 0]),
        judged(5, 268.0),
        decided(5, accepted("modelled at 86.5 % of the time of variant 2")),
        model,
        wrong(6, "compile", "does not compile: identifier \"row\" is undefined"),
        decided(6, Decision::Rejected { why: "it does not compile".to_owned() }),
        proposed(7, Some(5), Origin::Tuner, "BLOCK = 256, best of 6 of 6"),
    ]
}

pub(crate) fn story() -> SearchState {
    SearchState::from_entries(entries()).unwrap().unwrap()
}

/// Starts a search up to the background task.
pub(crate) fn begun(bench: &mut Workbench, script: &Script) -> Played {
    bench.carry_out(Command::Search(SearchCommand::Start), NOW);
    answered(bench, script, None)
}

fn answered(bench: &mut Workbench, script: &Script, story: Option<Box<SearchState>>) -> Played {
    let played = Played::default();
    let searcher = Box::new(played.clone());
    script.find(TaskResult::SearchStarted(folder(), Ok(StartedSearch { story, searcher })));
    bench.poll(NOW);
    played
}

fn newest(bench: &Workbench) -> String {
    bench.notices.newest().next().map(|notice| notice.text.clone()).unwrap_or_default()
}

fn order(bench: &mut Workbench, command: SearchCommand) {
    bench.carry_out(Command::Search(command), NOW);
}

fn stage(bench: &Workbench) -> Option<SearchStage> {
    bench.searches.current.as_ref().map(|current| current.stage)
}

fn over(why: End) -> SearchThreadEvent {
    SearchThreadEvent::Ended { why, learnt: Box::new(Knowledge::seed()) }
}

#[test]
fn a_search_runs_is_held_and_ends() {
    let (mut bench, script) = opened();
    let kernel = bench.opened.as_ref().unwrap().kernel.clone();
    let file = bench.documents.front().unwrap().file.clone();
    bench.documents.get_mut(&file).unwrap().text.push_str("// mine, not saved\n");
    order(&mut bench, SearchCommand::Start);
    assert_eq!(stage(&bench), Some(SearchStage::Starting));
    let handed = script.handed();
    let [BackgroundTask::Search(asked)] = handed.as_slice() else { panic!("{handed:?}") };
    let SearchStart::New(handed, _) = &asked.start else { panic!("{asked:?}") };
    assert_eq!(handed.name, kernel);
    assert!(handed.source.ends_with("// mine, not saved\n"), "what stands in the editor");
    order(&mut bench, SearchCommand::Start);
    assert!(newest(&bench).contains("another search is running"));
    let played = answered(&mut bench, &script, None);
    played.tell(entries());
    bench.poll(NOW);
    assert_eq!(bench.searches.story(), Some(&story()));
    assert_eq!(bench.searches.shown().unwrap().0, 5, "the best, where nobody chose");
    order(&mut bench, SearchCommand::Pause);
    assert_eq!((stage(&bench), bench.searches.is_busy()), (Some(SearchStage::Paused), false));
    let later = NOW + Duration::from_secs(60);
    bench.carry_out(Command::Search(SearchCommand::Resume), later);
    let current = bench.searches.current.as_ref().unwrap();
    assert!(current.seconds(later) < 1.0, "a pause is not counted");
    order(&mut bench, SearchCommand::Pace(Pace::Gentle));
    order(&mut bench, SearchCommand::Stop);
    let expected = [
        SearchControl::Pause,
        SearchControl::GoOn,
        SearchControl::Pace(Pace::Gentle),
        SearchControl::Stop,
    ];
    assert_eq!(played.held(), expected);
    played.say(over(End::Stopped));
    bench.poll(NOW);
    assert_eq!((stage(&bench), bench.searches.is_busy()), (Some(SearchStage::Ended), false));
    let handed = script.handed();
    assert!(
        handed.iter().any(|task| matches!(task, BackgroundTask::SaveKnowledge(_))),
        "{handed:?}"
    );
    order(&mut bench, SearchCommand::Resume);
    let handed = script.handed();
    let [BackgroundTask::Search(again)] = handed.as_slice() else { panic!("{handed:?}") };
    assert!(matches!(&again.start, SearchStart::Resumed(name, _) if *name == header().id));
}

#[test]
fn finished_runs_are_kept_with_origin_and_parent() {
    let (mut bench, script) = opened();
    let played = begun(&mut bench, &script);
    script.handed();
    let kernel = bench.opened.as_ref().unwrap().project.kernel("naive").unwrap().clone();
    let (origin, parent) = (rule("unroll"), Some("ab".repeat(32)));
    let (kernel, run) = (Arc::new(kernel), passed(3, 1e-4));
    let kept = FinishedRun { kernel, run, origin: origin.clone(), parent: parent.clone() };
    played.say(SearchThreadEvent::Ran(Box::new(kept)));
    bench.poll(NOW);
    let handed = script.handed();
    let [BackgroundTask::Record(recording)] = handed.as_slice() else { panic!("{handed:?}") };
    assert_eq!((&recording.origin, &recording.parent), (&origin, &parent));
}

#[test]
fn what_cannot_go_on_is_a_notice() {
    let check = |heard: Vec<SearchThreadEvent>, expected: &str| {
        let (mut bench, script) = opened();
        let played = begun(&mut bench, &script);
        heard.into_iter().for_each(|heard| played.say(heard));
        bench.poll(NOW);
        assert!(newest(&bench).contains(expected), "{}", newest(&bench));
    };
    check(vec![over(End::Impossible("no reference".to_owned()))], "no reference");
    check(vec![over(End::Budget("80 evaluations".to_owned()))], "80 evaluations");
    check(vec![SearchThreadEvent::Panicked], "a defect of Lightbench");
    let early = Entry::Looked {
        variant: 0,
        look: ScreeningResult::Right { times: times(1.0) },
        descriptor: None,
    };
    check(vec![SearchThreadEvent::Entry(Box::new(early))], "is not its header");
    let (mut bench, script) = opened();
    order(&mut bench, SearchCommand::Start);
    script.find(TaskResult::SearchStarted(folder(), Err("the disk is full".to_owned())));
    bench.poll(NOW);
    assert!(newest(&bench).contains("the disk is full"));
    assert_eq!(stage(&bench), Some(SearchStage::Ended));
}

#[test]
fn a_foreign_journal_is_read_and_not_gone_on_from() {
    let check = |writer: JournalOrigin, can_go_on: bool| {
        let (mut bench, script) = opened();
        script.find(TaskResult::SearchesListed(folder(), vec![header()]));
        bench.poll(NOW);
        assert_eq!(bench.searches.listed.len(), 1);
        order(&mut bench, SearchCommand::OpenJournal(header().id));
        assert!(
            matches!(script.handed().as_slice(), [BackgroundTask::ReadSearch(_, name)] if *name == header().id)
        );
        let read = LoadedSearch { story: Box::new(story()), writer };
        script.find(TaskResult::Search(folder(), Ok(read)));
        bench.poll(NOW);
        assert_eq!(bench.searches.story(), Some(&story()));
        order(&mut bench, SearchCommand::Resume);
        let asked = script.handed().iter().any(|task| matches!(task, BackgroundTask::Search(_)));
        assert_eq!(asked, can_go_on, "{writer:?}");
        assert_eq!(newest(&bench).contains("another machine"), !can_go_on);
    };
    check(JournalOrigin::Own, true);
    check(JournalOrigin::Foreign, false);
}

#[test]
fn variants_become_kernels_only_when_somebody_says_so() {
    let (mut bench, script) = opened();
    let played = begun(&mut bench, &script);
    played.tell(entries());
    bench.poll(NOW);
    script.handed();
    let before = bench.documents.front().unwrap().clone();
    bench.take_effects();
    order(&mut bench, SearchCommand::Select(3));
    order(&mut bench, SearchCommand::Accept);
    assert!(newest(&bench).contains("did not pass"), "{}", newest(&bench));
    order(&mut bench, SearchCommand::Select(5));
    order(&mut bench, SearchCommand::Accept);
    let wishes = bench.take_effects();
    assert!(wishes.contains(&UiEffect::Replace(source(5))), "{wishes:?}");
    let front = bench.documents.front().unwrap();
    assert_eq!(front.file.display().to_string(), "kernels/naive-2.cu");
    assert_eq!(bench.documents.get(&before.file).unwrap().text, before.text);
    order(&mut bench, SearchCommand::KeepAsBranch);
    let handed = script.handed();
    let [BackgroundTask::Create { file, text, .. }] = handed.as_slice() else {
        panic!("{handed:?}")
    };
    assert_eq!((file.display().to_string(), text), ("kernels/naive-3.cu".to_owned(), &source(5)));
    order(&mut bench, SearchCommand::Reject(" ".to_owned()));
    assert!(newest(&bench).contains("enter a reason"));
    order(&mut bench, SearchCommand::Reject("too clever".to_owned()));
    assert_eq!(played.turned_down(), [(5, "too clever".to_owned())]);
    assert!(newest(&bench).contains("too clever"));
    order(&mut bench, SearchCommand::Select(0));
    order(&mut bench, SearchCommand::Reject("slow".to_owned()));
    assert!(newest(&bench).contains("base of comparison"));
}

#[test]
fn a_change_is_suggested_the_most_promising_first() {
    let (mut bench, script) = opened();
    order(&mut bench, SearchCommand::Suggest);
    let mut gains = Vec::new();
    let mut seen = BTreeMap::new();
    loop {
        let Suggestion::Shown(shown) = &bench.searches.suggestion else { panic!("none") };
        if seen.insert(shown.at, shown.draft.what.clone()).is_some() {
            break;
        }
        assert_ne!(shown.draft.source, shown.kernel.source);
        assert!(!shown.reason.is_empty());
        gains.push(shown.gain);
        order(&mut bench, SearchCommand::NextSuggestion);
    }
    assert!(gains.len() > 1 && gains.is_sorted_by(|a, b| a >= b), "{gains:?}");
    let before = bench.documents.front().unwrap().clone();
    order(&mut bench, SearchCommand::AcceptSuggestion);
    assert!(matches!(bench.searches.suggestion, Suggestion::None));
    assert_ne!(bench.documents.front().unwrap().file, before.file);
    assert_eq!(bench.documents.get(&before.file).unwrap().text, before.text);
    assert!(script.handed().is_empty(), "nothing is written before somebody saves");
}

#[test]
fn another_project_stops_the_search() {
    let (mut bench, script) = opened();
    let played = begun(&mut bench, &script);
    played.tell(entries());
    bench.poll(NOW);
    bench.carry_out(Command::CloseProject, NOW);
    assert_eq!(played.held(), [SearchControl::Stop]);
    assert!(bench.searches.story().is_none() && bench.searches.is_busy());
    played.say(over(End::Stopped));
    bench.poll(NOW);
    assert!(!bench.searches.is_busy());
}

#[test]
fn the_tree_has_children_below_parents_and_hides_failures() {
    let story = story();
    let check = |failures: FailureVisibility, expected: &[(usize, &[TreeGuide])]| {
        let rows = tree(&story, failures);
        let found: Vec<(usize, &[TreeGuide])> =
            rows.iter().map(|row| (row.variant, row.guides.as_slice())).collect();
        assert_eq!(found, expected);
    };
    use TreeGuide::{Blank, Branch, Corner, Through};
    check(
        FailureVisibility::Shown,
        &[
            (0, &[]),
            (1, &[Branch]),
            (2, &[Through, Branch]),
            (5, &[Through, Through, Branch]),
            (7, &[Through, Through, Through, Corner]),
            (6, &[Through, Through, Corner]),
            (4, &[Through, Corner]),
            (3, &[Corner]),
        ],
    );
    check(
        FailureVisibility::Hidden,
        &[
            (0, &[]),
            (1, &[Corner]),
            (2, &[Blank, Branch]),
            (5, &[Blank, Through, Corner]),
            (7, &[Blank, Through, Blank, Corner]),
            (4, &[Blank, Corner]),
        ],
    );
}
