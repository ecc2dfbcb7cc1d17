//! Tests of the whole window by labels and keys, and of its pictures in every theme.

mod catches;
mod comparing;
mod history;
mod leaving;
mod narrow;
mod numbers;
mod paths;
mod pinning;
mod profiling;
mod searching;
mod starting;
mod stored;
mod teaching;

use std::collections::BTreeMap;
use std::time::Duration;

use egui::{Key, Modifiers};
use egui_kittest::Harness;
use egui_kittest::kittest::Queryable as _;
use lightbench_core::engine::{Ending, Event, Notice};
use lightbench_core::history::RunNumber;
use lightbench_core::history::comparison_runs::WorkloadComparison;
use lightbench_core::measure::Conclusion;
use lightbench_core::speed_of_light::time_comparison::TimeComparison;
use lightbench_core::units::Fraction;
use lightbench_core::verify::verdict::{Failure, Step};

use super::Window;
use crate::testing;
use crate::theme::ThemeName;
use crate::workbench::UiEffect;
use crate::workbench::background_task::{BackgroundTask, HistoryPart, RunComparisons, TaskResult};
use crate::workbench::command::Command;
use crate::workbench::panel::{LayoutName, Panel};
use crate::workbench::problem::{Problem, ProblemSource, Severity, SourceLocation};
use crate::workbench::tests::{
    NOW, Script, WORKLOAD, evaluations, folder, opened, passed, project, read, stored,
};

struct State {
    window: Window,
    now: Duration,
}

/// The window with the RMSNorm sample and a few runs.
fn shown(theme: ThemeName, size: [f32; 2]) -> (Harness<'static, State>, Script) {
    let (mut bench, script) = opened();
    bench.settings.theme = theme;
    let runs = [
        (1, "naive", Some(6.2e-4)),
        (2, "warp-shuffle", Some(1.61e-4)),
        (3, "shared-tree", None),
        (4, "vector16", Some(1.31e-4)),
    ];
    let runs = runs.map(|(number, kernel, seconds)| stored(number, kernel, 0, seconds));
    script.find(TaskResult::History(folder(), runs.into(), HistoryPart::Last));
    let state = State { window: Window::new(bench), now: NOW };
    let harness = testing::harness(theme, size, state, |ui, state: &mut State| {
        state.window.logic(ui.ctx(), state.now);
        state.window.frame(ui, state.now);
    });
    (harness, script)
}

/// Wide enough for the names of all layouts in every theme, so that a snapshot belongs to all of them.
const SIZE: [f32; 2] = [1400.0, 800.0];

fn press(harness: &mut Harness<'static, State>, modifiers: Modifiers, key: Key) {
    harness.key_press_modifiers(modifiers, key);
    harness.run();
}

fn settled(harness: &mut Harness<'static, State>, ending: impl Fn(u64) -> Ending, script: &Script) {
    let (request, _, seed) = evaluations(script).pop().unwrap();
    script.say(Event::Finished { request, ending: ending(seed) });
    harness.run();
}

#[test]
fn every_layout_can_be_seen_in_every_theme() {
    for theme in ThemeName::ALL {
        for layout in LayoutName::ALL {
            let (mut harness, _) = shown(theme, SIZE);
            harness.state_mut().window.carry_out(Command::Layout(layout), NOW);
            harness.run();
            testing::snapshot(&harness, &format!("window-{layout}"));
        }
    }
}

#[test]
fn every_panel_can_be_seen_in_every_theme_and_when_nothing_is_open() {
    for panel in Panel::ALL {
        for theme in ThemeName::ALL {
            let (mut harness, _) = shown(theme, [900.0, 700.0]);
            harness.state_mut().window.carry_out(Command::Show(panel), NOW);
            harness.run();
            // Its larger text leaves out other elements than the text of the other themes.
            if theme == ThemeName::Projector {
                testing::snapshot(&harness, &format!("shown-{}", panel.title()));
            }
        }
        let (mut harness, _) = shown(ThemeName::Dark, [900.0, 700.0]);
        harness.state_mut().window.bench.runs = crate::workbench::runs::Runs::default();
        harness.state_mut().window.carry_out(Command::Show(panel), NOW);
        harness.run();
    }
}

#[test]
fn a_person_types_saves_and_sees_the_verdict() {
    let (mut harness, script) = shown(ThemeName::Dark, SIZE);
    script.handed();
    let file = harness.state().window.bench.documents.front().unwrap().file.clone();
    let name = file.display().to_string();
    let role = egui::accesskit::Role::MultilineTextInput;
    let editor = harness.get_by_role_and_label(role, &name);
    editor.focus();
    harness.run();
    press(&mut harness, Modifiers::COMMAND, Key::End);
    harness.event(egui::Event::Text("// more".to_owned()));
    harness.run();
    assert!(harness.state().window.bench.documents.any_changed());
    press(&mut harness, Modifiers::COMMAND, Key::S);
    let mut saved = script.handed().into_iter().filter_map(|task| {
        if let BackgroundTask::Save { text, .. } = task { Some(text) } else { None }
    });
    let text = saved.next().expect("Ctrl+S saves");
    assert!(text.contains("// more"));
    script.find(TaskResult::Saved(file.clone(), text.clone(), Ok(())));
    let mut read = project();
    read.kernels.iter_mut().find(|kernel| kernel.file == file).unwrap().source = text;
    script.find(TaskResult::Project(folder(), Box::new(Ok(read))));
    harness.run();
    let kernel = harness.state().window.bench.opened.as_ref().unwrap().kernel.clone();
    settled(&mut harness, |seed| Ending::Evaluated(Box::new(passed(seed, 1.2e-4))), &script);
    let (_, _, seed) = evaluations(&script).pop().unwrap();
    let line = "Correct: 120 µs ± 1 µs cold, measured by CUDA events, 8.4 % faster than the best.";
    let run = Box::new(stored(5, &kernel, seed, Some(1.2e-4)));
    let lines = BTreeMap::from([(WORKLOAD.to_owned(), line.to_owned())]);
    let than = TimeComparison::Measured { ratio: Fraction(0.916), conclusion: Conclusion::Faster };
    let previous = Some((RunNumber(4), than));
    let comparison = WorkloadComparison { previous, best: previous };
    let times = BTreeMap::from([(WORKLOAD.to_owned(), comparison)]);
    script.find(TaskResult::Recorded(folder(), run, RunComparisons { times, lines }));
    harness.run();
    let fields = [
        &format!("#5 {kernel}: correct"),
        "measured: 120 µs ± 0.20 %",
        "previous: 8.40 % faster",
        "best: this run",
    ];
    for field in fields {
        harness.get_by_label(field);
    }
    harness.state_mut().window.carry_out(Command::CopyVerdict, NOW);
    let copied = harness.state_mut().window.bench.take_effects();
    let [UiEffect::Copy(text)] = copied.as_slice() else { panic!("{copied:?}") };
    let (verdict, command) = text.split_once('\n').unwrap();
    assert_eq!(verdict, line);
    let words = shlex::split(command).unwrap();
    assert_eq!(words[..2], ["lightbench", "run"]);
    assert_eq!(words[3..8], ["--kernel", &kernel, "--device", "virtual:h200", "--seed"]);
    assert!(words[8].parse::<u64>().is_ok() && words.len() == 9, "{command}");
    assert_eq!(harness.state().window.bench.shown_run().unwrap().number, RunNumber(5));
    testing::snapshot(&harness, "flow-verdict");
    harness.get_by_label("previous: 8.40 % faster").click();
    harness.run();
    let sides = &harness.state().window.bench.selection.sides;
    let compared = sides.each_ref().map(|side| side.as_ref().map(|side| side.number.0));
    assert_eq!(compared, [Some(4), Some(5)]);
}

#[test]
fn a_problem_is_one_key_away() {
    let (mut harness, _) = shown(ThemeName::Light, SIZE);
    let bench = &mut harness.state_mut().window.bench;
    let document = bench.documents.front_mut().unwrap();
    let place = SourceLocation { file: document.file.clone(), line: 12, column: 5, length: 3 };
    let problem = Problem {
        severity: Severity::Error,
        place: Some(place),
        message: "identifier \"rwo\" is undefined".to_owned(),
        source: ProblemSource::Compiler,
    };
    document.problems = vec![problem.clone()];
    let kernel = bench.opened.as_ref().unwrap().kernel.clone();
    bench.evaluations.kernel_mut(&kernel).compile_problems = vec![problem];
    harness.run();
    press(&mut harness, Modifiers::NONE, Key::F8);
    let file = harness.state().window.bench.documents.front().unwrap().file.clone();
    let place =
        harness.state().window.views.editor.cursor(&file, &harness.state().window.bench.documents);
    assert_eq!(place, Some((12, 5)));
    testing::snapshot(&harness, "flow-problem");
}

#[test]
fn commands_are_found_by_typing() {
    let (mut harness, _) = shown(ThemeName::Dark, SIZE);
    press(&mut harness, Modifiers::COMMAND.plus(Modifiers::SHIFT), Key::P);
    harness.event(egui::Event::Text("theme light".to_owned()));
    harness.run();
    testing::snapshot(&harness, "flow-palette");
    press(&mut harness, Modifiers::NONE, Key::Enter);
    assert_eq!(harness.state().window.bench.settings.theme, ThemeName::Light);
    press(&mut harness, Modifiers::COMMAND, Key::P);
    harness.event(egui::Event::Text("vector".to_owned()));
    harness.run();
    press(&mut harness, Modifiers::NONE, Key::Enter);
    assert_eq!(harness.state().window.bench.opened.as_ref().unwrap().kernel, "vector16");
}

#[test]
fn a_worker_that_hung_is_a_notice() {
    let (mut harness, script) = shown(ThemeName::Dark, SIZE);
    press(&mut harness, Modifiers::NONE, Key::F5);
    let limit = Duration::from_secs(2);
    script.say(Event::Noticed(Notice::Killed { step: Step::Results, limit }));
    let failure = || Failure::TimedOut { step: Step::Results, workload: None, limit, at: None };
    settled(
        &mut harness,
        |seed| {
            let mut run = passed(seed, 1e-4);
            run.verdict = Err(failure().into());
            Ending::Evaluated(Box::new(run))
        },
        &script,
    );
    let notices = &harness.state().window.bench.notices;
    assert!(notices.newest().any(|notice| notice.text.contains("killed")));
    let bench = &harness.state().window.bench;
    let kernel = &bench.opened.as_ref().unwrap().kernel;
    assert_eq!(bench.evaluations.kernel(kernel).unwrap().running, None);
    testing::snapshot(&harness, "flow-hung");
}

#[test]
fn nothing_is_lost_without_asking() {
    let (mut harness, script) = shown(ThemeName::Dark, SIZE);
    {
        let document = harness.state_mut().window.bench.documents.front_mut().unwrap();
        document.text.push_str("// mine\n");
        document.touch(NOW);
    }
    let mut read = project();
    let file = harness.state().window.bench.documents.front().unwrap().file.clone();
    let kernel = read.kernels.iter_mut().find(|kernel| kernel.file == file).unwrap();
    kernel.source.push_str("// theirs\n");
    script.find(TaskResult::Project(folder(), Box::new(Ok(read))));
    harness.run();
    testing::snapshot(&harness, "flow-conflict");
    harness.get_by_label("Compare both").click();
    harness.run();
    harness.get_by_label("On disk");
    testing::snapshot(&harness, "flow-conflict-both");
    harness.get_by_label("Compare both").click();
    harness.run();
    assert!(harness.query_by_label("On disk").is_none());
    press(&mut harness, Modifiers::COMMAND, Key::Q);
    testing::snapshot(&harness, "flow-leaving");
    harness.get_by_label("Stay").click();
    harness.run();
    harness.get_by_label("Take the file's").click();
    harness.run();
    let text = harness.state().window.bench.documents.front().unwrap().text.clone();
    assert!(text.ends_with("// theirs\n"), "{text}");
}

#[test]
fn a_window_that_is_left_alone_is_not_drawn_again() {
    let (mut harness, _) = shown(ThemeName::Dark, SIZE);
    // `run` fails if the window requests frames endlessly.
    harness.run();
    assert!(harness.run() <= 2);
}

#[test]
fn many_runs_scroll_as_few_do() {
    let (mut harness, script) = shown(ThemeName::Dark, SIZE);
    let runs: Vec<_> = (5..3_000).map(|number| stored(number, "naive", 0, Some(1e-4))).collect();
    script.find(TaskResult::History(folder(), runs, HistoryPart::Last));
    harness.run();
    let rows = harness.query_all_by_label_contains("naive passed").count();
    assert!(rows < 60, "{rows} rows are laid out");
}
