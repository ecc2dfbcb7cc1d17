//! Locks the clocks of a GPU at one frequency, and releases them even if the program is killed.
//!
//! A separate process holds the lock. It releases the clocks when its standard input ends, which happens when its
//! parent ends, however that ends. Signals that terminate a program do not terminate this process.

use std::io::{self, BufRead, Read, Write};

/// Control over the clock of a GPU's multiprocessors.
pub trait ClockControl {
    /// Locks the clock at a frequency in megahertz.
    ///
    /// # Errors
    /// The machine does not permit it, or the GPU does not support it.
    fn lock(&mut self, megahertz: u32) -> Result<(), LockError>;

    /// Lets the GPU choose again.
    ///
    /// # Errors
    /// As [`Self::lock`].
    fn release(&mut self) -> Result<(), LockError>;
}

/// Why clocks were not locked, or not released.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LockError {
    /// Only an administrator may.
    #[error(
        "only an administrator may lock clocks on this machine: `sudo nvidia-smi -i {gpu} -lgc {megahertz},{megahertz}` locks \
         them, `sudo nvidia-smi -i {gpu} -rgc` releases them; then leave out `--lock-clocks`"
    )]
    NotPermitted {
        /// The driver's identifier of the GPU.
        gpu: String,
        /// The requested frequency.
        megahertz: u32,
    },
    /// The GPU cannot do it.
    #[error("the clocks of this GPU cannot be locked")]
    Unsupported,
    /// The GPU belongs to another host.
    #[error("clocks are locked on this machine only, and {0} has this GPU: run `nvidia-smi` there")]
    OtherHost(String),
    /// The device is not a GPU.
    #[error(
        "only the clocks of a GPU can be locked, and {0} is not one; leave out `--lock-clocks`"
    )]
    NoGpu(String),
    /// The driver's library is missing.
    #[error("clocks are locked through NVML, which is missing: {0}")]
    NoLibrary(String),
    /// NVML returned another error.
    #[error("NVML does not lock the clocks: {0}")]
    Refused(String),
    /// The process that would hold the clocks did not reply.
    #[error("the process that holds the clocks did not start: {0}")]
    NoKeeper(String),
}

/// Clocks that are held until this is dropped.
struct Held<'a>(&'a mut dyn ClockControl);

impl Drop for Held<'_> {
    fn drop(&mut self) {
        // No caller can receive the error here; `hold` releases explicitly and reports it.
        self.0.release().ok();
    }
}

/// Holds the clocks until `parent` ends; writes one line that reports success or the reason for failure.
///
/// # Errors
/// The clocks were not locked, or not released.
pub fn hold(
    control: &mut dyn ClockControl,
    megahertz: u32,
    parent: &mut dyn Read,
    told: &mut dyn Write,
) -> Result<(), LockError> {
    if let Err(error) = control.lock(megahertz) {
        writeln!(told, "{error}").ok();
        return Err(error);
    }
    let held = Held(control);
    writeln!(told, "{LOCKED}").and_then(|()| told.flush()).ok();
    let mut ignored = [0; 64];
    loop {
        match parent.read(&mut ignored) {
            Ok(0) => break,
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => break,
        }
    }
    held.0.release()
}

/// The reply after the clocks were locked.
const LOCKED: &str = "locked";

/// Reads the reply of [`hold`].
///
/// # Errors
/// The clocks are not locked, for the returned reason.
pub fn read_lock_reply(told: &mut dyn BufRead) -> Result<(), String> {
    let mut line = String::new();
    let read = told.read_line(&mut line);
    match (read, line.trim()) {
        (Ok(_), LOCKED) => Ok(()),
        (Ok(_), "") => Err("it ended without a reply".to_owned()),
        (Ok(_), reason) => Err(reason.to_owned()),
        (Err(error), _) => Err(error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Plays a GPU, and keeps what was done to it.
    #[derive(Default)]
    struct Scripted {
        refuses: bool,
        done: Vec<String>,
    }

    impl ClockControl for Scripted {
        fn lock(&mut self, megahertz: u32) -> Result<(), LockError> {
            self.done.push(format!("lock {megahertz}"));
            let gpu = "GPU-0".to_owned();
            let error = LockError::NotPermitted { gpu, megahertz };
            (!self.refuses).then_some(()).ok_or(error)
        }

        fn release(&mut self) -> Result<(), LockError> {
            self.done.push("release".to_owned());
            Ok(())
        }
    }

    /// A parent that ends as a script says.
    struct Parent(Vec<io::Result<usize>>);

    impl Read for Parent {
        fn read(&mut self, _buffer: &mut [u8]) -> io::Result<usize> {
            self.0.pop().unwrap_or(Ok(0))
        }
    }

    /// An output that nobody reads any more.
    struct Gone;

    impl Write for Gone {
        fn write(&mut self, _bytes: &[u8]) -> io::Result<usize> {
            Err(io::ErrorKind::BrokenPipe.into())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn check(parent: Vec<io::Result<usize>>, told: &mut dyn Write) {
        let mut control = Scripted::default();
        hold(&mut control, 1410, &mut Parent(parent), told).unwrap();
        assert_eq!(control.done.first().map(String::as_str), Some("lock 1410"));
        assert_eq!(control.done.last().map(String::as_str), Some("release"));
    }

    #[test]
    fn clocks_are_let_go_of_however_the_parent_ends() {
        let broken = || io::Error::from(io::ErrorKind::BrokenPipe);
        let interrupted = || io::Error::from(io::ErrorKind::Interrupted);
        check(Vec::new(), &mut Vec::new());
        check(vec![Err(broken())], &mut Vec::new());
        check(vec![Ok(0), Err(interrupted()), Ok(3)], &mut Vec::new());
        check(Vec::new(), &mut Gone);
    }

    #[test]
    fn a_panic_lets_go_of_them_too() {
        let mut control = Scripted::default();
        let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            let _held = Held(&mut control);
            panic!("something else failed");
        }));
        assert!(caught.is_err() && control.done == ["release"], "{:?}", control.done);
    }

    #[test]
    fn who_may_not_lock_them_is_told_the_administrators_command() {
        let mut control = Scripted { refuses: true, ..Scripted::default() };
        let mut told = Vec::new();
        hold(&mut control, 1410, &mut Parent(Vec::new()), &mut told).unwrap_err();
        assert_eq!(control.done, ["lock 1410"], "what was not locked is not released");
        let reason = read_lock_reply(&mut told.as_slice()).unwrap_err();
        for part in ["sudo nvidia-smi -i GPU-0 -lgc 1410,1410", "-rgc"] {
            assert!(reason.contains(part), "{reason}");
        }
        assert_eq!(read_lock_reply(&mut "locked\n".as_bytes()), Ok(()));
        assert!(read_lock_reply(&mut "".as_bytes()).is_err());
    }
}
