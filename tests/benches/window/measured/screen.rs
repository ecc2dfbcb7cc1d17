//! A screen that nobody sees, whose pixels lie in a file: what is on it is known without asking the program that draws.

use std::fs::{self, File};
use std::os::unix::fs::FileExt as _;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

const WIDTH: u64 = 1280;
const HEIGHT: u64 = 800;
/// Bytes of a row of pixels.
const ROW: u64 = WIDTH * 4;
/// One row in so many is looked at.
const EACH: u64 = 20;
/// How long a screen may take to be there.
const PATIENCE: Duration = Duration::from_secs(30);

/// A process that ends when nobody needs it any more.
pub(crate) struct Running(pub(crate) Child);

impl Drop for Running {
    fn drop(&mut self) {
        self.0.kill().ok();
        self.0.wait().ok();
    }
}

/// A screen of Xvfb.
pub(crate) struct Screen {
    /// What programs are told to draw on.
    pub(crate) name: String,
    pixels: File,
    /// Where the first pixel is.
    first: u64,
    _server: Running,
    _folder: TempDir,
}

impl Screen {
    /// A black screen; none where the machine has no Xvfb.
    pub(crate) fn open() -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        let name = format!(":{}", 900 + std::process::id() % 900);
        let geometry = format!("{WIDTH}x{HEIGHT}x24");
        let server = Command::new("Xvfb")
            .args([&name, "-screen", "0", &geometry, "-nolisten", "tcp", "-noreset", "-fbdir"])
            .arg(folder.path())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn();
        let server = Running(server.ok()?);
        let (path, began) = (folder.path().join("Xvfb_screen0"), Instant::now());
        let socket = format!("/tmp/.X11-unix/X{}", &name[1..]);
        let is_there = || {
            let bytes = fs::metadata(&path).map_or(0, |file| file.len());
            bytes > ROW * HEIGHT && fs::metadata(&socket).is_ok()
        };
        while !is_there() {
            if began.elapsed() > PATIENCE {
                return None;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        let pixels = File::open(&path).unwrap();
        // Before the pixels are a header and colours, as long as the version of the server wants them.
        let first = pixels.metadata().unwrap().len() - ROW * HEIGHT;
        Some(Self { name, pixels, first, _server: server, _folder: folder })
    }

    /// Some rows of pixels, as they are now.
    pub(crate) fn look(&self) -> Vec<u8> {
        let mut seen = vec![0; (HEIGHT / EACH * ROW) as usize];
        for (row, bytes) in (0..).zip(seen.chunks_exact_mut(ROW as usize)) {
            self.pixels.read_exact_at(bytes, self.first + row * EACH * ROW).unwrap();
        }
        seen
    }
}
