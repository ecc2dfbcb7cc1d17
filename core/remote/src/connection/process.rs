//! The command that reaches a host, while the connection exists.

use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Time for `salloc` to give its allocation back.
const RELEASE_LIMIT: Duration = Duration::from_secs(10);

/// Time for `scontrol` to report a job.
const REPORT_LIMIT: Duration = Duration::from_secs(2);

/// A running command.
#[derive(Debug)]
pub(super) struct Process {
    pub(super) child: Child,
    /// Whether it is `salloc`, which gives its allocation back where it is asked to end, and not where it is killed.
    pub(super) allocates: bool,
}

impl Process {
    /// Ends the process. Jump hosts of `ssh` end with their input.
    pub(super) fn end(&mut self) {
        if self.allocates {
            self.terminate();
        }
        // Fails only if the process has ended.
        let _ended = self.child.kill();
        let _status = self.child.wait();
    }

    #[cfg(unix)]
    fn terminate(&mut self) {
        use rustix::process::{Pid, Signal, kill_process};
        // A process that has ended and was not waited for keeps its number.
        let ended = |child: &mut Child| !matches!(child.try_wait(), Ok(None));
        if ended(&mut self.child) {
            return;
        }
        if kill_process(Pid::from_child(&self.child), Signal::TERM).is_ok() {
            wait_for(&mut self.child, RELEASE_LIMIT);
        }
    }

    #[cfg(not(unix))]
    fn terminate(&mut self) {}
}

/// Whether the process ended within the limit.
pub(super) fn wait_for(child: &mut Child, limit: Duration) -> bool {
    let deadline = Instant::now() + limit;
    while matches!(child.try_wait(), Ok(None)) {
        if Instant::now() >= deadline {
            return false;
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    true
}

/// What Slurm reports about a job: its state and the reason for it. None: it does not answer, or does not know the job.
pub(super) fn job_state(job: &str) -> Option<String> {
    let is_number = !job.is_empty() && job.bytes().all(|byte| byte.is_ascii_digit());
    if !is_number {
        return None;
    }
    let mut command = Command::new("scontrol");
    command.args(["show", "job", "--oneliner", job]);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().ok()?;
    if !wait_for(&mut child, REPORT_LIMIT) {
        // It ends, or has ended.
        let _ended = child.kill();
        let _status = child.wait();
        return None;
    }
    let text = String::from_utf8(child.wait_with_output().ok()?.stdout).ok()?;
    state_in(&text)
}

/// The state in a line of `scontrol show job --oneliner`.
fn state_in(line: &str) -> Option<String> {
    let field = |name: &str| {
        let mut fields = line.split_whitespace().filter_map(|field| field.split_once('='));
        fields.find(|(key, _)| *key == name).map(|(_, value)| value)
    };
    let state = field("JobState")?;
    Some(match field("Reason").filter(|reason| *reason != "None") {
        None => state.to_owned(),
        Some(reason) => format!("{state}, {reason}"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_state_of_a_job_is_found_in_its_line() {
        let line = |state: &str| format!("JobId=12 JobName=lightbench {state} Dependency=(null)\n");
        let check = |text: &str, expected: Option<&str>| {
            assert_eq!(state_in(text).as_deref(), expected);
        };
        check(&line("JobState=PREEMPTED Reason=None"), Some("PREEMPTED"));
        check(&line("JobState=TIMEOUT Reason=TimeLimit"), Some("TIMEOUT, TimeLimit"));
        check(&line("Priority=1"), None);
        check("", None);
    }
}
