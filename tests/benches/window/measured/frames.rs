//! Our share of frames: taking in what happened, laying panels out, and making triangles of them. What the system and its
//! graphics do with the triangles is not ours.

use std::hint::black_box;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use egui::{
    Event, Key, Modifiers, MouseWheelSource, MouseWheelUnit, Pos2, TouchPhase, Vec2, pos2, vec2,
};
use lightbench::window::headless::{HeadlessWindow, Scene};
use lightbench::workbench::command::Command;
use lightbench::workbench::evaluations::MachineState;
use lightbench::workbench::open_project::HistoryState;
use lightbench::workbench::panel::LayoutName;
use lightbench::workbench::search::{SearchCommand, SearchPlan};
use lightbench::workbench::settings::Settings;

use super::edit_abreast;
use super::project::{Ground, LONG};
use super::times::Times;

const SMALL: [f32; 2] = [1280.0, 800.0];
const LARGE: [f32; 2] = [2560.0, 1440.0];
/// Frames of each kind.
const FRAMES: usize = 600;
/// How long frames are drawn beside a search.
const SEARCHING: Duration = Duration::from_secs(40);
/// How long a frame of a screen is.
const SCREEN: Duration = Duration::from_micros(16_667);
const PATIENCE: Duration = Duration::from_secs(300);
/// Whether what needs a compiler can run.
enum Compiler {
    Here,
    Missing,
}

/// The window on a project with so many runs, all of them read.
fn opened(runs: usize, size: [f32; 2]) -> (HeadlessWindow, Compiler) {
    let ground = Ground::with_runs(runs);
    let settings = Settings { device: Some("virtual:h200".to_owned()), ..Settings::default() };
    let mut studio = HeadlessWindow::new(ground.session(), settings, size, 1.0).unwrap();
    let began = Instant::now();
    studio.carry_out(Command::Open(ground.project));
    studio
        .run_until("the history", PATIENCE, |bench| {
            bench.opened.as_ref().is_some_and(|opened| opened.history == HistoryState::Whole)
        })
        .unwrap();
    println!("  {runs} runs are read {:.2?} after the window began", began.elapsed());
    studio
        .run_until("the machine", PATIENCE, |bench| {
            !matches!(bench.evaluations.machine, MachineState::Detecting)
        })
        .unwrap();
    let compiler = match studio.bench().evaluations.machine {
        MachineState::Known(_) => Compiler::Here,
        MachineState::Unusable(_) | MachineState::Detecting => Compiler::Missing,
    };
    studio.carry_out(Command::Layout(LayoutName::Edit));
    (studio, compiler)
}

/// One frame, measured.
fn frame(studio: &mut HeadlessWindow, times: &mut Times, events: Vec<Event>) {
    times.take(|| {
        let output = studio.frame(Scene::Window, events);
        black_box(studio.tessellate(output))
    });
}

/// Frames that nobody measures, until sizes have settled and the text has its colours.
fn settle(studio: &mut HeadlessWindow) {
    for _ in 0..30 {
        studio.frame(Scene::Window, Vec::new());
    }
}

/// A pointer that wanders over everything.
fn wander(index: usize, [width, height]: [f32; 2]) -> Event {
    let turn = index as f32 * 0.031;
    let part = vec2(0.5 + 0.49 * turn.sin(), 0.5 + 0.49 * (turn * 1.618).cos());
    Event::PointerMoved((part * vec2(width, height)).to_pos2())
}

fn wandering(studio: &mut HeadlessWindow, name: &str, size: [f32; 2]) {
    studio.resize(size);
    settle(studio);
    let mut times = Times::default();
    for index in 0..FRAMES {
        frame(studio, &mut times, vec![wander(index, size)]);
    }
    times.print(name);
}

/// The kernel that is open has a verdict, so that panels have something to show.
fn judged(studio: &mut HeadlessWindow, compiler: &Compiler) {
    match compiler {
        Compiler::Here => {
            studio.carry_out(Command::ChooseKernel("vector16".to_owned()));
            studio.carry_out(Command::Run);
            studio.run_until("a verdict", PATIENCE, |bench| !bench.evaluations.is_busy()).unwrap();
        }
        Compiler::Missing => println!("  no compiler is here: panels show the history alone"),
    }
}

/// Edit, as it is at first and with everything beside each other.
pub(crate) fn edit() {
    let (mut studio, compiler) = opened(10_000, SMALL);
    judged(&mut studio, &compiler);
    println!("  goal: median 6 ms");
    wandering(&mut studio, "Edit, 1280x800", SMALL);
    wandering(&mut studio, "Edit, 2560x1440", LARGE);
    studio.arrange(&edit_abreast::layouts()).unwrap();
    wandering(&mut studio, "all 14 panels of Edit beside each other, 2560x1440", LARGE);
    wandering(&mut studio, "all 14 panels of Edit beside each other, 1280x800", SMALL);
}

/// The same beside a search that runs.
pub(crate) fn while_searching() {
    let (mut studio, compiler) = opened(10_000, SMALL);
    if matches!(compiler, Compiler::Missing) {
        println!("  skipped: no CUDA compiler here; `lightbench doctor --fetch` fetches one");
        return;
    }
    judged(&mut studio, &compiler);
    studio.carry_out(Command::ChooseKernel("naive".to_owned()));
    let mut plan = SearchPlan::default();
    plan.budget.evaluations = None;
    studio.carry_out(Command::Search(SearchCommand::Plan(plan)));
    studio.carry_out(Command::Search(SearchCommand::Start));
    println!("  goal: 99 % within 12 ms");
    for (name, layouts) in [
        ("Edit beside a search, 1280x800", None),
        ("all 14 panels beside a search, 1280x800", Some(edit_abreast::layouts())),
        ("Search beside a search, 1280x800", None),
    ] {
        studio.carry_out(Command::Layout(LayoutName::Edit));
        if let Some(layouts) = layouts {
            studio.arrange(&layouts).unwrap();
        }
        if name.starts_with("Search") {
            studio.carry_out(Command::Layout(LayoutName::Search));
        }
        settle(&mut studio);
        beside_search(&mut studio, name);
    }
    studio.carry_out(Command::Search(SearchCommand::Stop));
}

fn beside_search(studio: &mut HeadlessWindow, name: &str) {
    let evaluated = |studio: &HeadlessWindow| {
        studio.bench().searches.story().map_or(0, |story| story.spent.evaluations)
    };
    let (before, began, mut times) = (evaluated(studio), Instant::now(), Times::default());
    for index in 0.. {
        frame(studio, &mut times, vec![wander(index, SMALL)]);
        std::thread::sleep(SCREEN.saturating_sub(times.last()));
        if began.elapsed() > SEARCHING {
            break;
        }
    }
    println!("  {} evaluations meanwhile", evaluated(studio) - before);
    times.print(name);
}

/// Keys in a long kernel: each is taken, highlighted, laid out and made into triangles in one frame.
pub(crate) fn keys() {
    let (mut studio, _) = opened(10_000, SMALL);
    println!("  goal: 16 ms");
    let key = |key: Key| {
        let pressed = |pressed| Event::Key {
            key,
            physical_key: None,
            pressed,
            repeat: false,
            modifiers: Modifiers::NONE,
        };
        vec![pressed(true), pressed(false)]
    };
    let text = |text: &str| vec![Event::Text(text.to_owned())];
    for (name, line, typed) in [
        ("a letter in the middle of 2,000 lines", 1000, vec![text("a"), text("b"), text(" ")]),
        ("a new line there, and back", 1000, vec![key(Key::Enter), key(Key::Backspace)]),
        (
            "a comment opened at the top, and closed",
            40,
            vec![text("/"), text("*"), key(Key::Backspace), key(Key::Backspace)],
        ),
    ] {
        studio.carry_out(Command::GoTo(PathBuf::from(LONG), line, 1));
        settle(&mut studio);
        let before = studio.bench().documents.front().unwrap().text.clone();
        let mut times = Times::default();
        for index in 0..300 {
            frame(&mut studio, &mut times, typed[index % typed.len()].clone());
        }
        let after = &studio.bench().documents.front().unwrap().text;
        assert!(name.contains("back") || name.contains("closed") || *after != before);
        times.print(name);
    }
}

/// A hundred thousand runs.
pub(crate) fn long_history() {
    let (mut studio, compiler) = opened(100_000, SMALL);
    judged(&mut studio, &compiler);
    println!("  goal: as without scrolling, and with fewer runs");
    wandering(&mut studio, "Edit with 100,000 runs", SMALL);
    let history = pos2(120.0, 600.0);
    scroll(&mut studio, history, "scrolling the newest", -90.0);
    // To the oldest: what was before a run is sought among all of them.
    for _ in 0..20 {
        studio.frame(Scene::Window, wheel(history, -400_000.0));
    }
    scroll(&mut studio, history, "scrolling the oldest", 90.0);
    studio.carry_out(Command::GroupRuns);
    wandering(&mut studio, "Edit with them in families", SMALL);
    scroll(&mut studio, history, "scrolling families", -90.0);
    println!(
        "  peak memory of this process {} MiB",
        super::start::status_of(std::process::id(), "VmHWM") >> 10
    );
}

fn wheel(at: Pos2, by: f32) -> Vec<Event> {
    let wheel = Event::MouseWheel {
        unit: MouseWheelUnit::Point,
        delta: Vec2::new(0.0, by),
        phase: TouchPhase::Move,
        source: MouseWheelSource::Wheel,
        modifiers: Modifiers::NONE,
    };
    vec![Event::PointerMoved(at), wheel]
}

fn scroll(studio: &mut HeadlessWindow, at: Pos2, name: &str, by: f32) {
    let mut times = Times::default();
    for _ in 0..FRAMES {
        frame(studio, &mut times, wheel(at, by));
    }
    times.print(name);
}
