//! A real window under a display that nobody sees, used with keys alone: from the start page to a verdict.
//!
//! It needs Xvfb, xdotool and software OpenGL; where they are missing the test says so and passes, unless
//! `LIGHTBENCH_REQUIRE_DISPLAY` is set.

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::compiler;
use crate::program::{copy_folder, repository};

/// How long anything may take.
const PATIENCE: Duration = Duration::from_secs(120);

/// A process that ends with the test.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        self.0.kill().ok();
        self.0.wait().ok();
    }
}

/// A display of its own, where the machine can have one.
struct Display {
    name: String,
    _server: Running,
}

impl Display {
    fn open() -> Option<Self> {
        let number = 200 + std::process::id() % 700;
        let name = format!(":{number}");
        let server = Command::new("Xvfb")
            .args([&name, "-screen", "0", "1280x800x24", "-nolisten", "tcp", "-noreset"])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn();
        let display = Self { name, _server: Running(server.ok()?) };
        Command::new("xdotool").arg("version").stdout(Stdio::null()).status().ok()?;
        let began = Instant::now();
        while display.tool(&["getmouselocation"]).is_none() {
            if began.elapsed() > PATIENCE {
                return None;
            }
            sleep(Duration::from_millis(100));
        }
        Some(display)
    }

    /// What xdotool says, where it succeeds.
    fn tool(&self, arguments: &[&str]) -> Option<String> {
        let said =
            Command::new("xdotool").args(arguments).env("DISPLAY", &self.name).output().ok()?;
        said.status.success().then(|| String::from_utf8_lossy(&said.stdout).trim().to_owned())
    }
}

fn required() -> Option<Display> {
    let display = Display::open();
    if display.is_none() {
        crate::skip::skip("no Xvfb or no xdotool on this machine", "LIGHTBENCH_REQUIRE_DISPLAY");
    }
    display
}

/// Asks again until there is an answer.
fn until<T>(what: &str, mut ask: impl FnMut() -> Option<T>) -> T {
    let began = Instant::now();
    loop {
        if let Some(answer) = ask() {
            return answer;
        }
        assert!(
            began.elapsed() < PATIENCE,
            "{what} was not available after {} s",
            PATIENCE.as_secs()
        );
        sleep(Duration::from_millis(200));
    }
}

fn window(display: &Display, folder: &Path) -> Running {
    let log = fs::File::create(folder.join("window.log")).unwrap();
    let program = Command::new(env!("CARGO_BIN_EXE_lightbench"))
        .current_dir(folder)
        .env("DISPLAY", &display.name)
        .env_remove("WAYLAND_DISPLAY")
        .env("LIBGL_ALWAYS_SOFTWARE", "1")
        .env("LIGHTBENCH_STATE", folder.join("state"))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(log)
        .spawn();
    Running(program.unwrap())
}

/// What the history says of the newest run.
fn newest(folder: &Path) -> Option<String> {
    let said = Command::new(env!("CARGO_BIN_EXE_lightbench"))
        .args(["history", "sample-projects/scale", "--json"])
        .current_dir(folder)
        .env("LIGHTBENCH_STATE", folder.join("state"))
        .output()
        .unwrap();
    let history: serde_json::Value = serde_json::from_slice(&said.stdout).ok()?;
    Some(history["runs"].get(0)?["record"]["outcome"]["verdict"].as_str()?.to_owned())
}

#[test]
fn from_the_start_page_to_a_verdict() {
    let (Some(_), Some(display)) = (compiler::required(), required()) else { return };
    let folder = tempfile::tempdir().unwrap();
    let project = folder.path().join("sample-projects/scale");
    fs::create_dir_all(project.parent().unwrap()).unwrap();
    copy_folder(&repository().join("tests/data/scale"), &project);
    // Runs that somebody made here are not this test's.
    fs::remove_dir_all(project.join(".lightbench")).ok();
    let mut running = window(&display, folder.path());
    let id = until("a window", || {
        if let Some(status) = running.0.try_wait().unwrap() {
            let log = fs::read_to_string(folder.path().join("window.log")).unwrap_or_default();
            panic!("the window ended with {status}: {log}");
        }
        let found = display.tool(&["search", "--name", "^Lightbench$"])?;
        found.lines().next().map(str::to_owned)
    });
    until("the focus", || display.tool(&["windowfocus", "--sync", &id]));
    sleep(Duration::from_secs(2));
    display.tool(&["key", "ctrl+p"]);
    sleep(Duration::from_millis(500));
    display.tool(&["type", "scale"]);
    sleep(Duration::from_millis(500));
    display.tool(&["key", "Return"]);
    let settings = folder.path().join("state/settings.ron");
    until("the open project among recent ones", || {
        fs::read_to_string(&settings).ok().filter(|text| text.contains("scale"))
    });
    sleep(Duration::from_secs(2));
    display.tool(&["key", "F5"]);
    let verdict = until("a verdict", || newest(folder.path()));
    assert_eq!(verdict, "passed");
    // It leaves when it is told to, with nothing left behind that runs.
    display.tool(&["key", "ctrl+q"]);
    until("the end of the window", || running.0.try_wait().unwrap());
}
