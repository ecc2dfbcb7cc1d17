//! The program itself on a screen that nobody sees: when its first frame is there, what it needs, what it does when it is
//! left alone.

use std::fs;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use super::project::Ground;
use super::screen::{Running, Screen};

/// Starts of each kind; the first ones also read the program from disk.
const STARTS: usize = 10;
/// How often the screen is looked at.
const LOOK: Duration = Duration::from_millis(1);
/// How long after its start a window is watched.
const WATCHED: Duration = Duration::from_secs(3);
/// How long it is left alone.
const ALONE: Duration = Duration::from_secs(10);

fn screen() -> Option<Screen> {
    let screen = Screen::open();
    if screen.is_none() {
        println!("  skipped: no Xvfb on this machine");
    }
    screen
}

fn window(screen: &Screen, ground: Option<&Ground>) -> Running {
    let mut program = Command::new(env!("CARGO_BIN_EXE_lightbench"));
    if let Some(ground) = ground {
        program.arg(&ground.project).env("LIGHTBENCH_STATE", &ground.state);
    }
    let program = program
        .current_dir(env!("CARGO_TARGET_TMPDIR"))
        .env("DISPLAY", &screen.name)
        .env_remove("WAYLAND_DISPLAY")
        .env("LIBGL_ALWAYS_SOFTWARE", "1")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    Running(program.unwrap())
}

/// From the start of the process to the first frame on the screen.
pub(crate) fn first_frame() {
    let Some(screen) = screen() else { return };
    println!("  goal: 400 ms with 10,000 runs");
    let ground = Ground::with_runs(10_000);
    for (name, ground) in [("no project", None), ("a project with 10,000 runs", Some(&ground))] {
        let mut first = Vec::new();
        let mut last = Vec::new();
        for _ in 0..STARTS {
            // The last one is gone; a pointer may be there.
            while is_covered(&screen.look()) {
                sleep(LOOK);
            }
            let began = Instant::now();
            let _running = window(&screen, ground);
            let (mut appeared, mut changed, mut seen) = (None, Duration::ZERO, Vec::new());
            while began.elapsed() < WATCHED {
                let now = screen.look();
                if appeared.is_none() && is_covered(&now) {
                    appeared = Some(began.elapsed());
                }
                if now != seen {
                    changed = began.elapsed();
                    seen = now;
                }
                sleep(LOOK);
            }
            first.extend(appeared);
            last.push(changed);
        }
        print(&format!("first frame, {name}"), first);
        print(&format!("nothing changes any more, {name}"), last);
    }
}

/// Whether something is on most of a black screen.
fn is_covered(seen: &[u8]) -> bool {
    seen.iter().filter(|byte| **byte != 0).count() * 2 > seen.len()
}

fn print(name: &str, mut times: Vec<Duration>) {
    times.sort();
    let milliseconds =
        |time: Option<&Duration>| time.map_or(f64::NAN, |time| time.as_secs_f64() * 1e3);
    println!(
        "  {name}: quickest {:.0} ms, median {:.0} ms, slowest {:.0} ms ({} times)",
        milliseconds(times.first()),
        milliseconds(times.get(times.len() / 2)),
        milliseconds(times.last()),
        times.len(),
    );
}

/// What the program needs with a hundred thousand runs, and what it does while nobody touches it.
pub(crate) fn memory() {
    let Some(screen) = screen() else { return };
    println!("  goal: 250 MB with 100,000 runs");
    for runs in [10_000, 100_000] {
        let ground = Ground::with_runs(runs);
        let mut running = window(&screen, Some(&ground));
        let process = running.0.id();
        let began = Instant::now();
        // Three seconds in which it hardly works: everything was read.
        let mut quiet = 0;
        while quiet < 3 {
            let before = ticks(process);
            sleep(Duration::from_secs(1));
            quiet = if ticks(process) - before <= 1 { quiet + 1 } else { 0 };
        }
        let read = began.elapsed() - Duration::from_secs(3);
        let of = |name| status_of(process, name) as f64 * 1024.0 / 1e6;
        println!(
            "  {runs} runs, quiet after {:.1} s: {:.0} MB, of which {:.0} MB its own and {:.0} MB files such as libraries; at most {:.0} MB",
            read.as_secs_f64(),
            of("VmRSS"),
            of("RssAnon"),
            of("RssFile"),
            of("VmHWM"),
        );
        let (before, woken) = (ticks(process), status_of(process, "voluntary_ctxt_switches"));
        sleep(ALONE);
        println!(
            "  left alone for {} s: {} ms on processors, its first thread woke {} times",
            ALONE.as_secs(),
            (ticks(process) - before) * 10,
            status_of(process, "voluntary_ctxt_switches") - woken,
        );
        running.0.kill().ok();
    }
}

/// Hundredths of a second that a process used.
fn ticks(process: u32) -> u64 {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).unwrap();
    let fields: Vec<&str> = stat.rsplit_once(')').unwrap().1.split_whitespace().collect();
    let used = |place: usize| fields[place].parse::<u64>().unwrap();
    used(11) + used(12)
}

/// A number in what the system says of a process: of memory in KiB.
pub(crate) fn status_of(process: u32, name: &str) -> u64 {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
    line.and_then(|rest| rest.split_whitespace().next()?.parse().ok()).unwrap_or(0)
}
