//! Searches in a laboratory that follows a script: no compiler, no device, the same every time.

mod effort;
mod full_disk;
mod journals;
mod not_judged;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex};

use super::entry::{End, FailureRecord};
use super::rules::Rules;
use super::*;
use crate::evaluate::compare::{ComparedWorkload, Outcome};
use crate::evaluate::{Run, Screening};
use crate::history::machine::Machine;
use crate::measure::timing::{Clock, Mode, Stopped};
use crate::measure::{Comparison, Timing};
use crate::project::{DeviceFacts, Kernel, Project, Purpose};
use crate::search::roles::Roles;
use crate::speed_of_light::code_mix::CodeMix;
use crate::strategies::{StrategyKind, TunerKind};
use crate::suggest::knowledge::Knowledge;
use crate::units::Seconds;
use crate::verify::not_judged::{NotJudged, NotPassed};
use crate::verify::verdict::{
    Checks, Failure, Passed, Refused, Screened, ScreenedTiming, ScreeningTiming, SizeCheck, Step,
    Uncounted, WorkloadTiming,
};

/// How long a kernel takes on a workload, or that something is wrong with it.
type Script = fn(&Kernel, &str) -> Option<f64>;

#[derive(Clone)]
struct Scripted {
    project: Arc<Project>,
    script: Script,
    /// Looks that it takes before somebody stops it.
    patience: Arc<Mutex<usize>>,
    unwanted: Unwanted,
    /// The names of all kernels that it looked at.
    seen: Arc<Mutex<Vec<String>>>,
    /// Comparisons so far.
    compared: Arc<Mutex<usize>>,
    batch: usize,
    interrupts: Interrupts,
    /// How many evaluations of each text the machine has ended.
    interrupted: Arc<Mutex<BTreeMap<String, usize>>>,
}

/// Which part of an evaluation the machine ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Look,
    Checks,
}

/// How many evaluations of a kernel the machine ends in this part.
type Interrupts = fn(&Kernel, Part) -> usize;

/// What a person turns down once this much patience is left.
#[derive(Clone, Default)]
struct Unwanted {
    patience: usize,
    variants: Vec<(usize, String)>,
}

impl Scripted {
    fn workloads(&self) -> Vec<String> {
        let all = self.project.workloads.iter();
        let measured = all.filter(|workload| workload.purpose == Purpose::Measure);
        measured.map(|workload| workload.name.clone()).collect()
    }

    fn time(&self, kernel: &Kernel, workload: &str) -> Option<Timing> {
        let clock = Clock::Events { offset: Seconds(0.0), floor: Seconds(1e-7), without: None };
        let rounds = vec![vec![Seconds((self.script)(kernel, workload)?); 3]; 8];
        Timing::measured(clock, Mode::Cold, rounds, (1, Stopped::Precise), &[])
    }

    /// Whether the machine ends this evaluation.
    fn interrupts(&self, kernel: &Kernel, part: Part) -> bool {
        let mut interrupted = self.interrupted.lock().unwrap();
        let so_far = interrupted.entry(kernel.source.clone()).or_default();
        let ends = *so_far < (self.interrupts)(kernel, part);
        *so_far += usize::from(ends);
        ends
    }

    fn wait(&self) -> Result<(), Interrupted> {
        let mut patience = self.patience.lock().unwrap();
        *patience = patience.checked_sub(1).ok_or(Interrupted::Stopped)?;
        Ok(())
    }
}

fn lost() -> NotPassed {
    let reason = "as the script has it".to_owned();
    NotJudged::DeviceLost { step: Step::Results, reason }.into()
}

fn wrong() -> NotPassed {
    Failure::Refused(Refused::Load("as the script has it".to_owned())).into()
}

impl CandidateRunner for Scripted {
    fn screen(
        &mut self,
        kernels: &[Arc<Kernel>],
        _abandon: &BTreeMap<String, Seconds>,
    ) -> Result<Vec<Screening>, Interrupted> {
        self.wait()?;
        self.seen.lock().unwrap().extend(kernels.iter().map(|kernel| kernel.name.clone()));
        let look = |kernel: &Arc<Kernel>| {
            let timings = self.workloads().into_iter().map(|workload| {
                let glance = ScreeningTiming::Taken(self.time(kernel, &workload)?);
                Some(ScreenedTiming { workload, timing: glance })
            });
            let timings: Option<Vec<_>> = timings.collect();
            let screened = timings.map(|timings| Screened {
                checks: Checks::default(),
                timings,
                code: CodeMix::default(),
            });
            let verdict = match self.interrupts(kernel, Part::Look) {
                true => Err(lost()),
                false => screened.ok_or_else(wrong),
            };
            Screening { candidate: None, seed: 0, verdict, elapsed: std::time::Duration::ZERO }
        };
        Ok(kernels.iter().map(look).collect())
    }

    fn compile(
        &mut self,
        _kernel: &Arc<Kernel>,
    ) -> Result<Result<String, FailureRecord>, Interrupted> {
        Ok(Ok(String::new()))
    }

    fn evaluate(&mut self, kernel: &Arc<Kernel>) -> Result<Run, Interrupted> {
        self.wait()?;
        let timings = self.workloads().into_iter().map(|workload| {
            let timings = vec![self.time(kernel, &workload)?];
            Some(WorkloadTiming {
                workload,
                timings,
                withheld: None,
                check: SizeCheck::Whole,
                profile: Err(Uncounted::NoVirtualDevice),
                energy: None,
                standing: None,
                baselines: Vec::new(),
            })
        });
        let timings: Option<Vec<_>> = timings.collect();
        // What hides from a quick look is found by every check.
        let timings = timings.filter(|_| !kernel.source.contains("__ldcs"));
        let verdict = match timings {
            Some(_) | None if self.interrupts(kernel, Part::Checks) => Err(lost()),
            Some(timings) => Ok(Passed { checks: Checks::default(), timings }),
            None => Err(wrong()),
        };
        Ok(Run { candidate: None, seed: 0, verdict, elapsed: std::time::Duration::ZERO })
    }

    fn compare(
        &mut self,
        old: &Arc<Kernel>,
        new: &Arc<Kernel>,
    ) -> Result<Vec<ComparedWorkload>, Interrupted> {
        self.wait()?;
        *self.compared.lock().unwrap() += 1;
        let each = self.workloads().into_iter().map(|workload| {
            let timings = [self.time(old, &workload), self.time(new, &workload)];
            let [Some(a), Some(b)] = timings else { panic!("both passed") };
            let rounds = |time: f64| {
                let noise = |round: u32| 1.0 + 1e-4 * f64::from(round % 7);
                (0..40).map(|round| vec![Seconds(time * noise(round)); 3]).collect::<Vec<_>>()
            };
            let comparison =
                Comparison::from_rounds(&rounds(a.summary.median.0), &rounds(b.summary.median.0))
                    .unwrap();
            let outcome = Outcome::Measured { timings: Box::new([a, b]), comparison };
            ComparedWorkload { workload, bounds: Vec::new(), outcome }
        });
        Ok(each.collect())
    }

    fn batch(&self) -> usize {
        self.batch
    }

    fn rest(&mut self) -> Result<(), Interrupted> {
        Ok(())
    }

    fn turned_down(&mut self) -> Vec<(usize, String)> {
        let is_due = *self.patience.lock().unwrap() <= self.unwanted.patience;
        if is_due { std::mem::take(&mut self.unwanted.variants) } else { Vec::new() }
    }
}

fn project(name: &str) -> Arc<Project> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../sample-projects").join(name);
    Arc::new(Project::load(&folder).unwrap())
}

/// The first value of a parameter.
fn chosen(kernel: &Kernel, name: &str) -> Option<i64> {
    let parameter = kernel.launch.parameters.iter().find(|parameter| parameter.name == name)?;
    parameter.values.first().copied()
}

/// Faster with wide accesses and with blocks of 128; whoever unrolls is wrong.
fn uneven(kernel: &Kernel, workload: &str) -> Option<f64> {
    let source = &kernel.source;
    if source.contains("UNROLL") {
        return None;
    }
    let mut time = if workload == "stream" { 1e-3 } else { 1e-4 };
    if source.contains("Vector16") {
        time *= 0.8;
    }
    if source.contains("__ldcs") {
        time *= 0.5;
    }
    let block = chosen(kernel, "BLOCK").unwrap_or(256);
    Some(time * (1.0 + 0.1 * ((block as f64) / 128.0).log2().abs()))
}

/// The same times for everything.
fn even(_kernel: &Kernel, _workload: &str) -> Option<f64> {
    Some(1e-3)
}

/// Unrolled loops are much better on average and a little worse on one workload than wide accesses alone, which are better
/// everywhere than what there was.
fn traded(kernel: &Kernel, workload: &str) -> Option<f64> {
    let is_attention = workload == "llama-8b-attention";
    let unrolled = kernel.source.contains("#pragma unroll");
    Some(match (kernel.source.contains("Vector16"), unrolled, is_attention) {
        (false, _, _) => 1e-3,
        (true, false, _) => 0.5e-3,
        (true, true, true) => 0.7e-3,
        (true, true, false) => 0.1e-3,
    })
}

/// Better on average with wide accesses, and worse on one workload.
fn lopsided(kernel: &Kernel, workload: &str) -> Option<f64> {
    let is_wide = kernel.source.contains("Vector16");
    Some(match (is_wide, workload) {
        (true, "llama-8b-attention") => 0.2e-3,
        (true, _) => 1.2e-3,
        (false, _) => 1e-3,
    })
}

/// Wide accesses are better on one workload and worse on the others; a kernel that chooses is as good as the better one.
fn by_size(kernel: &Kernel, workload: &str) -> Option<f64> {
    if kernel.source.contains("#if PARAM_SHAPE") {
        return Some(if workload == "llama-8b-attention" { 0.2e-3 } else { 1e-3 });
    }
    lopsided(kernel, workload)
}

struct Setting {
    project: &'static str,
    strategy: Option<StrategyKind>,
    script: Script,
    evaluations: usize,
    batch: usize,
    interrupts: Interrupts,
}

const USUAL: Setting = Setting {
    project: "vector-add",
    strategy: Some(StrategyKind::Greedy),
    script: uneven,
    evaluations: 40,
    batch: 4,
    interrupts: |_, _| 0,
};

impl Setting {
    fn order(&self, project: &Arc<Project>) -> SearchSetup {
        SearchSetup {
            id: "test".to_owned(),
            project: Arc::clone(project),
            kernel: Arc::new(project.kernel("naive").unwrap().clone()),
            workload: None,
            device_names: ("virtual:h200".to_owned(), "a script".to_owned()),
            device: DeviceFacts::default(),
            strategy: self.strategy,
            tuner: TunerKind::LocalSearch,
            tunes: true,
            operators: vec![Box::new(Rules)],
            roles: Roles::default(),
            contrast: 0,
            budget: Budget { evaluations: Some(self.evaluations), ..Budget::default() },
            seed: 7,
            knowledge: Knowledge::default(),
        }
    }

    fn laboratory(&self, project: &Arc<Project>, patience: usize) -> Scripted {
        let patience = Arc::new(Mutex::new(patience));
        let (project, unwanted) = (Arc::clone(project), Unwanted::default());
        Scripted {
            project,
            script: self.script,
            patience,
            unwanted,
            seen: Arc::default(),
            compared: Arc::default(),
            batch: self.batch,
            interrupts: self.interrupts,
            interrupted: Arc::default(),
        }
    }

    fn run(&self) -> SearchState {
        let project = project(self.project);
        let laboratory = self.laboratory(&project, usize::MAX);
        let explorer =
            Explorer::begin(self.order(&project), laboratory, None, no_listeners()).unwrap();
        explorer.run().0
    }
}

fn no_listeners<'a>() -> SearchListeners<'a> {
    SearchListeners { listener: Box::new(|_, _| {}), keeper: Box::new(|_| {}) }
}

/// What a story comes to, without its clock.
fn gist(story: &SearchState) -> Vec<String> {
    let told = |variant: &Variant| {
        let Variant { proposal, decision, tried, .. } = variant;
        format!(
            "{} of {:?} by {}: {} → {decision:?} ({} tried)",
            proposal.variant,
            proposal.parent,
            proposal.origin,
            proposal.what,
            tried.len()
        )
    };
    let mut lines: Vec<String> = story.variants.iter().map(told).collect();
    lines.push(format!("{:?} {:?} {}", story.best, story.ended, story.spent.evaluations));
    lines
}

fn source(story: &SearchState, variant: Option<usize>) -> &str {
    variant.map_or("", |variant| &story.variants[variant].proposal.source)
}

#[test]
fn a_search_finds_what_is_faster_and_says_why() {
    let story = Setting { project: "softmax", evaluations: 200, ..USUAL }.run();
    let best = story.best.unwrap();
    assert!(source(&story, story.best).contains("Vector16"), "{:#?}", gist(&story));
    assert!(story.speedup(best).unwrap() > 1.2);
    for variant in &story.variants {
        let decision = variant.decision.as_ref().unwrap();
        assert!(!decision.why().is_empty() && !variant.proposal.why.is_empty());
    }
}

#[test]
fn what_is_wrong_is_never_accepted() {
    let story = Setting { evaluations: 200, ..USUAL }.run();
    let mut rejected = 0;
    for variant in &story.variants {
        let source = &variant.proposal.source;
        let is_wrong = source.contains("UNROLL") || source.contains("__ldcs");
        if is_wrong {
            rejected += 1;
            let decision = &variant.decision;
            assert!(matches!(decision, Some(Decision::Rejected { .. })), "{decision:?}");
        }
    }
    assert!(rejected >= 2, "the script has some that are: {:#?}", gist(&story));
}

#[test]
fn the_same_seed_searches_the_same_way() {
    for strategy in StrategyKind::ALL {
        let setting = Setting { strategy: Some(*strategy), ..USUAL };
        assert_eq!(gist(&setting.run()), gist(&setting.run()), "{strategy}");
    }
}

#[test]
fn a_budget_is_kept() {
    for evaluations in [1, 2, 7, 8, 9, 10, 11, 12, 20] {
        let story = Setting { evaluations, ..USUAL }.run();
        // What looks better still goes through every check; no further look begins.
        assert!(story.spent.evaluations <= evaluations, "{:?}", story.spent);
        assert!(matches!(story.ended, Some(End::Budget(_))), "{:?}", story.ended);
    }
}

#[test]
fn nothing_is_better_where_all_are_alike() {
    let story = Setting { script: even, evaluations: 500, ..USUAL }.run();
    assert_eq!(story.best, Some(0));
    assert_eq!(story.ended, Some(End::NothingLeft), "{:#?}", gist(&story));
}

#[test]
fn a_gain_on_average_does_not_pay_for_a_loss_on_a_workload() {
    let story = Setting { project: "softmax", script: lopsided, evaluations: 100, ..USUAL }.run();
    assert_eq!(story.best, Some(0), "{:#?}", gist(&story));
    let kept = story.variants.iter().filter_map(|variant| variant.decision.as_ref());
    assert!(kept.into_iter().any(|decision| decision.why().contains("of the time of the first")));
}

#[test]
fn a_gain_may_cost_something_of_what_the_search_itself_gained() {
    let story = Setting { project: "softmax", script: traded, evaluations: 200, ..USUAL }.run();
    let text = source(&story, story.best);
    assert!(text.contains("Vector16") && text.contains("#pragma unroll"), "{:#?}", gist(&story));
}

#[test]
fn variants_that_are_fast_on_different_workloads_become_one() {
    let strategy = Some(StrategyKind::Plan);
    let script = by_size;
    let story = Setting { project: "softmax", strategy, script, evaluations: 100, ..USUAL }.run();
    let best = &story.variants[story.best.unwrap()].proposal;
    assert_eq!(best.origin.to_string(), "rule by-shape", "{:#?}", gist(&story));
    assert!(
        best.what.contains(" where ") && best.what.contains(", otherwise variant "),
        "{best:?}"
    );
    assert!(best.source.contains("#if PARAM_SHAPE == 0"));
    // Rules go on with each of its two kernels.
    let of_sides = story.attempts.iter().filter(|tried| tried.action.starts_with("rule:first/"));
    let made = of_sides.filter(|tried| matches!(tried.came, state::ActionOutcome::Variant(_)));
    assert!(made.count() > 0, "{:#?}", gist(&story));
}

#[test]
fn a_sweep_finds_the_best_configuration() {
    let setting = Setting { strategy: None, project: "softmax", script: uneven, ..USUAL };
    let story = setting.run();
    assert_eq!(story.variants[0].tried.len(), 4, "every one of the space");
    let text = source(&story, story.best);
    assert!(text.contains("\"BLOCK\": [128, 64, 32, 256]"), "{:#?}", gist(&story));
}

#[test]
fn a_kernel_that_is_wrong_is_no_beginning() {
    fn never(_kernel: &Kernel, _workload: &str) -> Option<f64> {
        None
    }
    let story = Setting { script: never, ..USUAL }.run();
    assert!(matches!(&story.ended, Some(End::Impossible(why)) if why.contains("does not pass")));
}

/// A journal in a folder of its own, with the key that sealed it.
struct Kept {
    folder: tempfile::TempDir,
    machine: Machine,
}

impl Kept {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let machine = Machine::open(&folder.path().join("state")).unwrap();
        Self { folder, machine }
    }

    fn path(&self) -> std::path::PathBuf {
        self.folder.path().join("journal.jsonl")
    }

    fn begin(&self, setting: &Setting, patience: usize) -> SearchState {
        let project = project(setting.project);
        let journal = Journal::create(&self.path(), self.machine.clone()).unwrap();
        let laboratory = setting.laboratory(&project, patience);
        let order = setting.order(&project);
        Explorer::begin(order, laboratory, Some(journal), no_listeners()).unwrap().run().0
    }

    fn resume(&self, setting: &Setting) -> SearchState {
        let project = project(setting.project);
        let (journal, read) = Journal::resume(&self.path(), self.machine.clone()).unwrap();
        let laboratory = setting.laboratory(&project, usize::MAX);
        let order = setting.order(&project);
        Explorer::resume(order, laboratory, read.story, Some(journal), no_listeners()).run().0
    }
}

#[test]
fn a_search_that_was_stopped_anywhere_comes_to_the_same_end() {
    for strategy in [Some(StrategyKind::Greedy), Some(StrategyKind::Plan), None] {
        let setting = Setting { strategy, evaluations: 24, ..USUAL };
        let whole = gist(&setting.run());
        for patience in 0..30 {
            let kept = Kept::new();
            let stopped = kept.begin(&setting, patience);
            if stopped.ended != Some(End::Stopped) {
                break;
            }
            assert_eq!(gist(&kept.resume(&setting)), whole, "stopped after {patience}");
        }
    }
}

#[test]
fn a_kill_loses_nothing_that_was_said() {
    let setting = Setting { evaluations: 16, ..USUAL };
    let whole = gist(&setting.run());
    let kept = Kept::new();
    kept.begin(&setting, usize::MAX);
    let text = std::fs::read_to_string(kept.path()).unwrap();
    let ends: Vec<usize> = text.match_indices('\n').map(|(at, _)| at + 1).collect();
    // Behind the header and the first proposal, at every line and in the middle of some.
    for (number, end) in ends.iter().enumerate().skip(1) {
        let torn = if number % 3 == 0 { (end + 40).min(text.len()) } else { *end };
        std::fs::write(kept.path(), &text[..torn]).unwrap();
        let resumed = kept.resume(&setting);
        assert_eq!(gist(&resumed), whole, "killed at line {number}");
        let read = Journal::read(&kept.path(), &kept.machine).unwrap();
        assert!(read.is_own && gist(&read.story) == whole, "what is written says the same");
    }
}

#[test]
fn what_a_person_turns_down_is_no_best_and_is_not_gone_on_from() {
    let setting = Setting { evaluations: 30, ..USUAL };
    let project = project(setting.project);
    let best = setting.run().best.unwrap();
    // While it runs: written down after the step, and at the latest at its end.
    let mut laboratory = setting.laboratory(&project, usize::MAX);
    laboratory.unwanted =
        Unwanted { patience: usize::MAX - 8, variants: vec![(1, "too clever".to_owned())] };
    let explorer =
        Explorer::begin(setting.order(&project), laboratory, None, no_listeners()).unwrap();
    let story = explorer.run().0;
    assert_eq!(story.variants[1].turned_down.as_deref(), Some("too clever"));
    assert!(matches!(story.ended, Some(End::Budget(_) | End::NothingLeft)), "{:?}", story.ended);
    // Also where the search was stopped before it heard.
    let mut laboratory = setting.laboratory(&project, 8);
    laboratory.unwanted = Unwanted { patience: 0, variants: vec![(1, "too clever".to_owned())] };
    let explorer =
        Explorer::begin(setting.order(&project), laboratory, None, no_listeners()).unwrap();
    let story = explorer.run().0;
    assert_eq!(story.ended, Some(End::Stopped));
    assert_eq!(story.variants[1].turned_down.as_deref(), Some("too clever"));
    // When it is over: the end stays, the best is the one before, and a resumed search goes on elsewhere.
    let kept = Kept::new();
    let before = kept.begin(&Setting { evaluations: 20, ..setting }, usize::MAX);
    let unwanted = before.best.unwrap();
    let (mut journal, _) = Journal::resume(&kept.path(), kept.machine.clone()).unwrap();
    let word = Entry::TurnedDown { variant: unwanted, why: "it spills".to_owned() };
    journal.append(1.0, &word).unwrap();
    let told = Journal::read(&kept.path(), &kept.machine).unwrap().story;
    assert!(told.ended == before.ended && told.best < Some(unwanted), "{:?}", told.best);
    let after = kept.resume(&setting);
    assert!(after.variants.len() > before.variants.len() && after.best != Some(unwanted));
    let new = &after.variants[before.variants.len()..];
    assert!(new.iter().all(|variant| variant.proposal.parent != Some(unwanted)), "{best}");
    let first = Entry::TurnedDown { variant: 0, why: "slow".to_owned() };
    assert!(told.clone().add(&first).is_err());
}

#[test]
fn a_journal_from_elsewhere_is_read_and_not_gone_on_from() {
    let setting = Setting { evaluations: 6, ..USUAL };
    let kept = Kept::new();
    let story = kept.begin(&setting, usize::MAX);
    let other = Machine::open(&kept.folder.path().join("other")).unwrap();
    let read = Journal::read(&kept.path(), &other).unwrap();
    assert!(!read.is_own && gist(&read.story) == gist(&story));
    let refused = Journal::resume(&kept.path(), other).unwrap_err();
    assert!(matches!(refused, JournalError::Foreign(_)), "{refused}");
    let check = |change: &dyn Fn(&str) -> String, expected: &str| {
        let text = std::fs::read_to_string(kept.path()).unwrap();
        std::fs::write(kept.path(), change(&text)).unwrap();
        let said = Journal::resume(&kept.path(), kept.machine.clone()).unwrap_err().to_string();
        assert!(said.contains(expected), "{said}");
        std::fs::write(kept.path(), text).unwrap();
    };
    check(&|text| text.replace("about as fast", "much faster"), "not written by this machine");
    check(&|text| text.replacen("lightbench.search/1", "lightbench.search/9", 1), "search/9");
    check(&|text| text.lines().skip(1).fold(String::new(), |all, line| all + line + "\n"), "");
    check(&|_| "{}\n".to_owned(), "line 1");
    check(&|_| String::new(), "empty");
    check(&|text| text.replacen("\"variant\":1", "\"variant\":5", 1), "variant 5 is out of order");
}
