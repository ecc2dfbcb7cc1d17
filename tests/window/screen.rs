//! A window on a virtual display (Xvfb), used with keys and the mouse, and pictures of its steps.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use image::{Rgb, RgbImage};

/// How long anything may take.
const PATIENCE: Duration = Duration::from_secs(120);
/// How long the window takes at most to draw the effect of an input.
const SETTLING: Duration = Duration::from_millis(700);
const SIZE: (u32, u32) = (1280, 800);

/// A process that ends with the test.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        self.0.kill().ok();
        self.0.wait().ok();
    }
}

/// A display of its own, if the machine can have one.
struct Display {
    name: String,
    /// The folder with the memory of the screen.
    memory: tempfile::TempDir,
    _server: Running,
}

impl Display {
    fn open(offset: u32) -> Option<Self> {
        let number = 200 + 4 * (std::process::id() % 700) + offset;
        let (name, memory) = (format!(":{number}"), tempfile::tempdir().unwrap());
        let screen = format!("{}x{}x24", SIZE.0, SIZE.1);
        let server = Command::new("Xvfb")
            .args([&name, "-screen", "0", &screen, "-nolisten", "tcp", "-noreset", "-fbdir"])
            .arg(memory.path())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn();
        let display = Self { name, memory, _server: Running(server.ok()?) };
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

    /// What xdotool prints, if it succeeds.
    fn tool(&self, arguments: &[&str]) -> Option<String> {
        let said =
            Command::new("xdotool").args(arguments).env("DISPLAY", &self.name).output().ok()?;
        said.status.success().then(|| String::from_utf8_lossy(&said.stdout).trim().to_owned())
    }

    /// The file that holds the screen while the server runs.
    fn screen_file(&self) -> PathBuf {
        self.memory.path().join("Xvfb_screen0")
    }

    /// The screen: an X window dump, whose header has big-endian numbers of 32 bits.
    fn picture(&self) -> RgbImage {
        let dump = fs::read(self.screen_file()).unwrap();
        let number = |index: usize| {
            let bytes = dump[4 * index..4 * index + 4].try_into().unwrap();
            u32::from_be_bytes(bytes) as usize
        };
        let (header, width, height) = (number(0), number(4), number(5));
        let (bits, stride, colors) = (number(11), number(12), number(19));
        assert_eq!(bits, 32, "bits of a pixel");
        let pixels = &dump[header + 12 * colors..];
        RgbImage::from_fn(width as u32, height as u32, |x, y| {
            let at = y as usize * stride + 4 * x as usize;
            Rgb([pixels[at + 2], pixels[at + 1], pixels[at]])
        })
    }
}

/// Asks again until there is an answer.
pub(crate) fn until<T>(what: &str, mut ask: impl FnMut() -> Option<T>) -> T {
    let began = Instant::now();
    loop {
        if let Some(answer) = ask() {
            return answer;
        }
        let limit = PATIENCE.as_secs();
        assert!(began.elapsed() < PATIENCE, "{what} was not available after {limit} s");
        sleep(Duration::from_millis(200));
    }
}

/// A session: a window in a folder of its own.
pub(crate) struct Session {
    display: Display,
    folder: tempfile::TempDir,
    running: Running,
    name: &'static str,
    /// The pictures so far.
    pictures: Vec<RgbImage>,
}

impl Session {
    /// Opens the window in a folder that `prepare` fills; `None`, with a printed reason, without a display.
    pub(crate) fn open(
        name: &'static str,
        offset: u32,
        prepare: impl FnOnce(&Path) -> Option<PathBuf>,
    ) -> Option<Self> {
        let Some(display) = Display::open(offset) else {
            let missing = "no Xvfb or no xdotool on this machine";
            crate::skip::skip(missing, "LIGHTBENCH_REQUIRE_DISPLAY");
            return None;
        };
        let folder = tempfile::tempdir().unwrap();
        let project = prepare(folder.path());
        let log = fs::File::create(folder.path().join("window.log")).unwrap();
        let program = Command::new(env!("CARGO_BIN_EXE_lightbench"))
            .args(project)
            .current_dir(folder.path())
            .env("DISPLAY", &display.name)
            .env_remove("WAYLAND_DISPLAY")
            .env("LIBGL_ALWAYS_SOFTWARE", "1")
            .env("LIGHTBENCH_STATE", folder.path().join("state"))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log)
            .spawn();
        let running = Running(program.unwrap());
        let mut session = Self { display, folder, running, name, pictures: Vec::new() };
        session.focus();
        Some(session)
    }

    fn focus(&mut self) {
        let id = until("a window", || {
            if let Some(status) = self.running.0.try_wait().unwrap() {
                let log = fs::read_to_string(self.path("window.log")).unwrap_or_default();
                panic!("the window ended with {status}: {log}");
            }
            let found = self.display.tool(&["search", "--name", "^Lightbench$"])?;
            found.lines().next().map(str::to_owned)
        });
        until("the focus", || self.display.tool(&["windowfocus", "--sync", &id]));
        sleep(Duration::from_secs(2));
    }

    /// A path below the session's folder.
    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    /// Presses keys one after another: `ctrl+p`, `Return`.
    pub(crate) fn keys(&self, keys: &[&str]) {
        for key in keys {
            self.tool(&["key", "--clearmodifiers", key]);
            sleep(Duration::from_millis(150));
        }
        sleep(SETTLING);
    }

    pub(crate) fn write(&self, text: &str) {
        self.tool(&["type", "--delay", "15", "--", text]);
        sleep(SETTLING);
    }

    /// Clicks at a position of the screen, for as long as a person does.
    pub(crate) fn click(&self, x: u32, y: u32) {
        let (x, y) = (x.to_string(), y.to_string());
        let press = ["sleep", "0.2", "mousedown", "1", "sleep", "0.1", "mouseup", "1"];
        self.tool(&[&["mousemove", &x, &y], &press[..]].concat());
        sleep(SETTLING);
    }

    /// Turns the wheel at a position: away from the user where `steps` is positive.
    pub(crate) fn wheel(&self, (x, y): (u32, u32), steps: i32) {
        self.tool(&["mousemove", &x.to_string(), &y.to_string()]);
        let button = if steps > 0 { "4" } else { "5" };
        self.tool(&["click", "--repeat", &steps.unsigned_abs().to_string(), button]);
        sleep(SETTLING);
    }

    fn tool(&self, arguments: &[&str]) -> String {
        self.display.tool(arguments).unwrap_or_else(|| panic!("xdotool {arguments:?} failed"))
    }

    /// Keeps a picture of a step in `target/pictures/sessions`. It must show something that no earlier picture showed.
    pub(crate) fn picture(&mut self, step: &str) {
        // Away from everything that reacts to the pointer.
        self.tool(&["mousemove", "700", "799"]);
        sleep(SETTLING);
        let picture = self.display.picture();
        let number = self.pictures.len() + 1;
        self.save(&picture, &format!("{number}-{step}"));
        for (earlier, number) in self.pictures.iter().zip(1..) {
            assert!(*earlier != picture, "{step} looks like step {number} of {}", self.name);
        }
        self.pictures.push(picture);
    }

    /// Writes a picture to `target/pictures/sessions`.
    fn save(&self, picture: &RgbImage, step: &str) {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("../pictures/sessions");
        fs::create_dir_all(&folder).unwrap();
        picture.save(folder.join(format!("{}-{step}.png", self.name))).unwrap();
    }

    /// The verdicts of a project's runs, oldest first: the word of each, with its kernel.
    pub(crate) fn verdicts(&self, project: &str) -> Vec<(String, String)> {
        let history = self.history(project, &[]);
        let run = |run: &serde_json::Value| {
            let record = &run["record"];
            let text = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_owned();
            (text(&record["kernel"]), text(&record["outcome"]["verdict"]))
        };
        history["runs"].as_array().into_iter().flatten().rev().map(run).collect()
    }

    /// The history of a project; null while it cannot be read.
    pub(crate) fn history(&self, project: &str, options: &[&str]) -> serde_json::Value {
        let said = Command::new(env!("CARGO_BIN_EXE_lightbench"))
            .args(["history", project, "--json"])
            .args(options)
            .current_dir(self.folder.path())
            .env("LIGHTBENCH_STATE", self.path("state"))
            .output()
            .unwrap();
        serde_json::from_slice(&said.stdout).unwrap_or_default()
    }

    /// The window's process.
    pub(crate) fn process(&self) -> u32 {
        self.running.0.id()
    }

    /// Waits for the next verdict, and checks kernel and word.
    pub(crate) fn expect_verdict(&self, project: &str, number: usize, expected: (&str, &str)) {
        let (kernel, verdict) = until(&format!("verdict {number} of {project}"), || {
            self.verdicts(project).into_iter().nth(number - 1)
        });
        assert_eq!((kernel.as_str(), verdict.as_str()), expected);
        sleep(SETTLING);
    }

    /// Quits by key; nothing is left behind that runs.
    pub(crate) fn quit(mut self) {
        self.keys(&["ctrl+q"]);
        until("the end of the window", || self.running.0.try_wait().unwrap());
    }
}

/// A failed test leaves a picture and the folder.
impl Drop for Session {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            return;
        }
        if self.display.screen_file().exists() {
            self.save(&self.display.picture(), "failed");
        }
        self.folder.disable_cleanup(true);
        let log = fs::read_to_string(self.path("window.log")).unwrap_or_default();
        println!("{} failed in {}; {log}", self.name, self.folder.path().display());
    }
}
