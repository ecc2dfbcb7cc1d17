//! Tests of a lesson by labels and keys, with verdicts like those of the virtual GPU.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use egui::{Key, Modifiers};
use egui_kittest::Harness;
use egui_kittest::kittest::{NodeT as _, Queryable as _};
use lightbench_core::access::{Recording, Site};
use lightbench_core::engine::{Ending, Event};
use lightbench_core::evaluate::Run;
use lightbench_core::history::RunNumber;
use lightbench_core::lesson::recorded::RecordedKind;
use lightbench_core::lesson::{Lesson, Recorded, heading};
use lightbench_core::project::Project;
use lightbench_core::speed_of_light::advice::Advice;
use lightbench_core::speed_of_light::fact::Fact;
use lightbench_core::speed_of_light::limiter::{Bottleneck, Limiter};
use lightbench_core::units::{Bytes, Hertz, Seconds};
use lightbench_core::verify::device_session::timelines::LaunchTimeline;
use lightbench_core::verify::verdict::WorkloadStanding;
use lightbench_core::virtual_gpu::cost::time::{
    Activity, CopyInterval, ModelError, ProductInterval, Span, StallReason, Timeline, WarpTimeline,
};
use lightbench_core::virtual_gpu::error::PtxLocation;
use lightbench_core::virtual_gpu::machine::{AccessKind, AccessedMemory, WarpAccess, WarpId};

use super::{NOW, SIZE, State, evaluations, press};
use crate::testing;
use crate::theme::ThemeName;
use crate::window::Window;
use crate::workbench::background_task::{BackgroundTask, HistoryPart, TaskResult};
use crate::workbench::command::Command;
use crate::workbench::lesson::{AnswerSource, LoadedLesson};
use crate::workbench::panel::{LayoutName, Panel};
use crate::workbench::tests::{Script, bench_on, passed};

fn folder(name: &str) -> PathBuf {
    let lessons = Path::new(env!("CARGO_MANIFEST_DIR")).join("../sample-projects/lessons");
    lessons.join(name).canonicalize().unwrap()
}

pub(super) fn read(name: &str) -> LoadedLesson {
    let project = Project::load(&folder(name)).unwrap();
    let mut lesson = Lesson::read(&project).unwrap().unwrap();
    let run = |kernel: &str, time: f64| Recorded {
        kernel: kernel.to_owned(),
        workload: lesson.workload.clone(),
        device: "NVIDIA H200".to_owned(),
        kind: RecordedKind::Device,
        time: Seconds(time),
    };
    lesson.recorded = vec![run("start", 2.9e-4), run("side-by-side", 3.7e-5)];
    LoadedLesson { lesson: Ok(lesson), progress: None }
}

/// The window with a lesson.
fn shown(name: &str, theme: ThemeName) -> (Harness<'static, State>, Script) {
    let (mut bench, script) = bench_on(&folder(name));
    bench.settings.theme = theme;
    script.find(TaskResult::Lesson(folder(name), Box::new(read(name))));
    script.find(TaskResult::History(folder(name), Vec::new(), HistoryPart::Last));
    let state = State { window: Window::new(bench), now: NOW };
    let harness = testing::harness(theme, SIZE, state, |ui, state: &mut State| {
        state.window.logic(ui.ctx(), state.now);
        state.window.frame(ui, state.now);
    });
    (harness, script)
}

/// A verdict with facts.
fn verdict(seed: u64, workload: &str, facts: &[(Fact, f64)]) -> Run {
    let mut run = passed(seed, 1.2e-4);
    let timing = &mut run.verdict.as_mut().unwrap().timings[0];
    timing.workload = workload.to_owned();
    timing.standing = Some(WorkloadStanding {
        bound: None,
        achieved: None,
        standing: None,
        limiter: Limiter {
            bottleneck: Bottleneck::Unknown,
            busy: None,
            counted_at: None,
            evidence: Vec::new(),
        },
        advice: Advice::Nothing,
        facts: facts.iter().copied().collect::<BTreeMap<_, _>>(),
        launch: None,
        line: "Correct".to_owned(),
    });
    run
}

fn click(harness: &mut Harness<'static, State>, label: &str) {
    harness.get_by_label(label).scroll_to_me();
    harness.run();
    harness.get_by_label(label).click();
    harness.run();
}

fn measure(harness: &mut Harness<'static, State>, script: &Script, facts: &[(Fact, f64)]) {
    harness.get_by_role_and_label(egui::accesskit::Role::Button, "Measure").click();
    harness.run();
    let (request, _, seed) = evaluations(script).pop().expect("something is measured");
    let run = verdict(seed, "stream", facts);
    let ending = Ending::Evaluated(Box::new(run));
    script.say(Event::Finished { request, ending });
    harness.run();
}

const START: &[(Fact, f64)] = &[(Fact::LoadSectors, 32.0), (Fact::StoreSectors, 32.0)];
const SOLVED: &[(Fact, f64)] = &[(Fact::LoadSectors, 4.0), (Fact::StoreSectors, 4.0)];

/// Sixteen accesses of the first kernel, or of the solution.
fn seen(apart: u64) -> Recording {
    let start = 1 << 40;
    let access = |round: u64| WarpAccess {
        place: PtxLocation::default(),
        source_line: None,
        memory: AccessedMemory::Global,
        kind: AccessKind::Load,
        bytes: 4,
        lanes: std::array::from_fn(|lane| Some(start + apart * lane as u64 + 4 * round)),
        object: Some(("x".to_owned(), start)),
    };
    let site = |line: u32, title: &str| Site {
        line: Some(line),
        column: 9,
        ptx_line: line,
        title: title.to_owned(),
        executions: (0..16).map(access).collect(),
    };
    Recording {
        workload: "whole".to_owned(),
        warp: WarpId { block: [0; 3], warp: 0 },
        sites: vec![site(19, "load of x"), site(20, "store to y")],
        left_out: 0,
    }
}

/// 32 words of one bank.
fn seen_in_banks() -> Recording {
    let lanes = std::array::from_fn(|lane| Some(128 * lane as u64));
    let access = WarpAccess {
        place: PtxLocation::default(),
        source_line: None,
        memory: AccessedMemory::Shared,
        kind: AccessKind::Load,
        bytes: 4,
        lanes,
        object: None,
    };
    let site = Site {
        line: Some(31),
        column: 9,
        ptx_line: 31,
        title: "load of shared memory".to_owned(),
        executions: vec![access],
    };
    let warp = WarpId { block: [0; 3], warp: 0 };
    Recording { workload: "tiles".to_owned(), warp, sites: vec![site], left_out: 0 }
}

fn look(harness: &mut Harness<'static, State>, script: &Script, recording: Recording) {
    press(harness, Modifiers::NONE, Key::F4);
    let handed = script.handed();
    let tracing = handed.iter().find_map(|task| {
        if let BackgroundTask::Trace(tracing) = task { Some(tracing.clone()) } else { None }
    });
    let tracing = tracing.expect("somebody looks");
    let root = tracing.project.root.clone();
    script.find(TaskResult::AccessesTraced(root, tracing.wanted.clone(), Ok(recording)));
    harness.run();
}

/// Enters a guess by keyboard; before, there is nothing to commit to.
fn guess(harness: &mut Harness<'static, State>) {
    assert!(harness.get_by_label("Commit").accesskit_node().is_disabled());
    harness.get_by_role(egui::accesskit::Role::Slider).focus();
    harness.run();
    press(harness, Modifiers::NONE, Key::ArrowRight);
    click(harness, "Commit");
}

#[test]
fn a_student_guesses_measures_and_reaches_the_goals() {
    let (mut harness, script) = shown("coalescing", ThemeName::Dark);
    assert_eq!(harness.state().window.bench.opened.as_ref().unwrap().kernel, "start");
    harness.get_by_label("What a warp asks for");
    // Nothing is measured before the user commits to a guess.
    press(&mut harness, Modifiers::NONE, Key::F6);
    assert!(evaluations(&script).is_empty());
    guess(&mut harness);
    measure(&mut harness, &script, START);
    let here = harness.state().window.bench.open_lesson().unwrap().step_progress();
    assert_eq!(here.answer, Some((32.0, AnswerSource::Counted)));
    testing::snapshot(&harness, "lesson-answered");
    press(&mut harness, Modifiers::NONE, Key::F7);
    harness.get_by_label("Side by side");
    guess(&mut harness);
    testing::snapshot(&harness, "lesson-guess");
    measure(&mut harness, &script, START);
    assert!(!harness.state().window.bench.open_lesson().unwrap().step_progress().done);
    click(&mut harness, "Hint 1 of 3");
    harness.get_by_label("Hint 2 of 3");
    measure(&mut harness, &script, SOLVED);
    assert!(harness.state().window.bench.open_lesson().unwrap().step_progress().done);
    let kept = script.handed();
    assert!(kept.iter().any(|task| matches!(task, BackgroundTask::SaveProgress(..))));
    testing::snapshot(&harness, "lesson-reached");
    click(&mut harness, "Compare with the solution");
    harness.get_by_label("Back to the lesson");
    testing::snapshot(&harness, "lesson-solution");
}

#[test]
fn a_lesson_and_its_accesses_can_be_seen_in_every_theme() {
    for theme in ThemeName::ALL {
        let (mut harness, script) = shown("coalescing", theme);
        look(&mut harness, &script, seen(128));
        harness.get_by_label("32 sectors, the minimum is 4: 12.5 % of the bytes moved are used");
        // Its larger text leaves out other elements than the text of the other themes.
        if theme == ThemeName::Projector {
            testing::snapshot(&harness, "lesson");
        }
        look(&mut harness, &script, seen(4));
        harness.get_by_label("4 sectors, the minimum: 100 % of the bytes moved are used");
    }
    let (mut harness, script) = shown("banks", ThemeName::Light);
    look(&mut harness, &script, seen_in_banks());
    harness.get_by_label("A 32-way bank conflict: 32 passes over the banks, the minimum is 1");
    testing::snapshot(&harness, "lesson-banks");
}

#[test]
fn lanes_are_reached_by_keys_and_by_table() {
    let (mut harness, script) = shown("coalescing", ThemeName::Dark);
    look(&mut harness, &script, seen(128));
    harness.get_by_label("Threads of the warp").focus();
    harness.run();
    for key in [Key::ArrowRight, Key::ArrowRight, Key::ArrowRight] {
        press(&mut harness, Modifiers::NONE, key);
    }
    harness.get_by_label("Thread 2 accesses byte 256 of x, sector 8");
    testing::snapshot(&harness, "lesson-lane");
    click(&mut harness, "Table of threads");
    harness.get_by_label("3968");
    testing::snapshot(&harness, "lesson-lanes-table");
}

#[test]
fn locked_lines_refuse_and_say_why() {
    let (mut harness, _) = shown("coalescing", ThemeName::Dark);
    let file = harness.state().window.bench.documents.front().unwrap().file.clone();
    let before = harness.state().window.bench.documents.front().unwrap().text.clone();
    let line = before.lines().position(|line| line.contains("constexpr int per_thread")).unwrap();
    let window = &mut harness.state_mut().window;
    window.carry_out(Command::GoTo(file, line as u32 + 1, 5), NOW);
    for _ in 0..3 {
        harness.run();
    }
    harness.event(egui::Event::Text("x".to_owned()));
    harness.run();
    assert_eq!(harness.state().window.bench.documents.front().unwrap().text, before);
    let notices = &harness.state().window.bench.notices;
    let said = notices.newest().next().unwrap().text.clone();
    assert!(said.contains("how many threads there are"), "{said}");
    testing::snapshot(&harness, "lesson-locked");
}

#[test]
fn a_lesson_shows_its_panels_until_everything_is_wanted() {
    let (mut harness, _) = shown("coalescing", ThemeName::Dark);
    assert!(harness.query_by_label("Counters").is_none());
    click(&mut harness, "Show everything");
    harness.get_by_label("Counters");
    click(&mut harness, "Show everything");
    assert!(harness.query_by_label("Counters").is_none());
    harness.state_mut().window.carry_out(Command::Show(Panel::Resources), NOW);
    harness.run();
    harness.get_by_label("Resources");
}

#[test]
fn a_broken_lesson_is_problems() {
    let (mut bench, script) = bench_on(&folder("coalescing"));
    let project = Project::load(&folder("coalescing")).unwrap();
    let text = std::fs::read_to_string(folder("coalescing").join("lesson.ron")).unwrap();
    let lesson = Lesson::from_text(&project, &text.replace("order: 1", "order: 0"));
    let read = LoadedLesson { lesson, progress: None };
    script.find(TaskResult::Lesson(folder("coalescing"), Box::new(read)));
    bench.poll(NOW);
    let state = State { window: Window::new(bench), now: NOW };
    let mut harness = testing::harness(ThemeName::Dark, SIZE, state, |ui, state: &mut State| {
        state.window.logic(ui.ctx(), state.now);
        state.window.frame(ui, state.now);
    });
    harness.state_mut().window.carry_out(Command::Layout(LayoutName::Teach), NOW);
    harness.run();
    harness.get_by_label("This lesson cannot be used");
    harness.get_by_label_contains("lesson.ron:4");
    testing::snapshot(&harness, "lesson-broken");
}

#[test]
fn lessons_stand_on_the_page_to_begin_with() {
    let (mut bench, _) = bench_on(&folder("coalescing"));
    bench.carry_out(Command::CloseProject, NOW);
    for name in ["coalescing", "banks", "divergence", "reduction"] {
        bench.samples.lessons.push((folder(name), heading(&folder(name)).unwrap()));
    }
    let state = State { window: Window::new(bench), now: NOW };
    let mut harness = testing::harness(ThemeName::Dark, SIZE, state, |ui, state: &mut State| {
        state.window.logic(ui.ctx(), state.now);
        state.window.frame(ui, state.now);
    });
    testing::snapshot(&harness, "lesson-start");
    let label = "3  Divergence";
    harness.get_by_label(label).click();
    harness.run();
}

#[test]
fn what_was_recorded_and_guessed_is_drawn_and_is_no_run() {
    let (mut harness, _) = shown("coalescing", ThemeName::Light);
    press(&mut harness, Modifiers::NONE, Key::F7);
    harness.get_by_label("What a warp asks for");
    harness.get_by_label("This step is incomplete; press Skip step to go on without it");
    click(&mut harness, "Skip step");
    harness.get_by_label("Side by side");
    guess(&mut harness);
    assert_eq!(harness.state().window.bench.runs.rows().len(), 0);
    let label = format!("Roofline of {}", "NVIDIA H200 SXM 141 GB");
    harness.get_by_label(&label).focus();
    harness.run();
    press(&mut harness, Modifiers::NONE, Key::End);
    press(&mut harness, Modifiers::NONE, Key::Enter);
    assert_eq!(harness.state().window.bench.selection.run, None::<RunNumber>);
    testing::snapshot(&harness, "lesson-recorded");
}

/// A timeline of two launches: a warp that copies beside one that multiplies, and a launch without a model.
fn launches() -> Vec<LaunchTimeline> {
    let span = |start, end, activity| Span { start, end, activity };
    let waits = Activity::Waits(StallReason::Barriers);
    let warps = vec![
        WarpTimeline {
            warp: 0,
            spans: vec![span(0.0, 100.0, Activity::Runs), span(100.0, 900.0, waits)],
            copies: 1,
            products: 0,
        },
        WarpTimeline {
            warp: 1,
            spans: vec![span(0.0, 400.0, waits), span(400.0, 1000.0, Activity::Runs)],
            copies: 0,
            products: 1,
        },
    ];
    let copies = vec![CopyInterval { warp: 0, start: 0.0, end: 400.0, bytes: Bytes(4096) }];
    let products = vec![ProductInterval { warp: 1, start: 450.0, end: 1000.0 }];
    let timeline = Timeline { cycles: 1000.0, clock: Hertz(1e9), warps, copies, products };
    let launch = |kernel: &str, timeline| LaunchTimeline { kernel: kernel.to_owned(), timeline };
    vec![launch("scale", Ok(timeline)), launch("_Z7combinePf", Err(ModelError::NotCounted))]
}

#[test]
fn a_timeline_is_modelled_on_request_and_again_for_another_workload() {
    let (mut harness, script) = shown("coalescing", ThemeName::Dark);
    press(&mut harness, Modifiers::SHIFT, Key::F4);
    harness.get_by_label("Modelling…");
    let handed = script.handed();
    let asked = handed.iter().find_map(|task| {
        if let BackgroundTask::Timeline(request) = task { Some(request.clone()) } else { None }
    });
    let asked = asked.expect("a kernel is modelled");
    let root = asked.project.root.clone();
    let answer = |found| TaskResult::TimelineModelled(root.clone(), asked.wanted.clone(), found);
    script.find(answer(Err("the sheet lacks a rate".to_owned())));
    harness.run();
    harness.get_by_label("The kernel cannot be modelled");
    script.find(answer(Ok(launches())));
    harness.run();
    harness.get_by_label("Launch");
    testing::snapshot(&harness, "timeline");
    let state = harness.state_mut();
    state.window.carry_out(Command::ChooseWorkload("other".to_owned()), NOW);
    harness.run();
    harness.get_by_label("press Model for the selected kernel, workload and device");
}
