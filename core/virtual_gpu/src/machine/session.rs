//! A session: a launch that can be paused, inspected, resumed and restarted.
//!
//! A session keeps the machine as it was before the launch. Each command runs the launch from its beginning to the
//! requested step, which is exact because the deterministic schedule has one order only. Going back to an earlier
//! step is therefore as easy as going on. The cost is the time of the steps before, and a second copy of the
//! buffers.

use std::sync::Arc;

use super::Machine;
use super::launch::{LaunchConfig, LaunchError, Report, Schedule};
use super::paused::Paused;
use super::watch::{PauseFilter, ThreadId, Watch};
use crate::lower::{self, Program};
use crate::module::Module;

/// Where a session pauses next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PausePoint {
    /// At the end of the launch.
    End,
    /// Before the step with this number; it may be an earlier step.
    Step(u64),
    /// Before the next instruction that this thread executes.
    Instruction(ThreadId),
    /// Before the next instruction that begins a PTX line.
    PtxLine {
        /// Counted from one.
        line: u32,
        /// Only if this thread executes it.
        thread: Option<ThreadId>,
    },
    /// Before the next instruction that begins a source line.
    SourceLine {
        /// The file name in the line information of the compiler.
        file: String,
        /// Counted from one.
        line: u32,
        /// Only if this thread executes it.
        thread: Option<ThreadId>,
    },
}

#[derive(Clone, Debug)]
pub enum SessionState {
    /// Before an instruction.
    Paused(Box<Paused>),
    /// At the end of the launch.
    Ended(Box<EndedLaunch>),
}

/// A launch that has ended.
#[derive(Clone, Debug)]
pub struct EndedLaunch {
    /// The machine, with the buffers as the launch left them.
    pub machine: Machine,
    pub report: Report,
}

/// A launch that can be paused and resumed.
#[derive(Clone, Debug)]
pub struct Session<'m> {
    start: Machine,
    module: &'m Module,
    kernel: String,
    config: LaunchConfig,
    state: SessionState,
}

impl<'m> Session<'m> {
    /// Prepares a launch and pauses before its first instruction.
    ///
    /// The machine is copied: writes of the launch are visible in [`SessionState`] only.
    ///
    /// # Errors
    ///
    /// As [`Machine::launch`]; also every schedule except the deterministic one.
    pub fn new(
        machine: &Machine,
        module: &'m Module,
        kernel: &str,
        config: &LaunchConfig,
    ) -> Result<Self, LaunchError> {
        match config.schedule {
            Schedule::Deterministic => {}
            Schedule::Parallel { .. }
            | Schedule::Independent { .. }
            | Schedule::Adversarial { .. } => {
                return Err(LaunchError::Unavailable(
                    "stepping with a schedule other than the deterministic one",
                ));
            }
        }
        let state = run(machine, module, kernel, config, first_step())?;
        let (start, kernel, config) = (machine.clone(), kernel.to_owned(), config.clone());
        Ok(Self { start, module, kernel, config, state })
    }

    #[must_use]
    pub fn state(&self) -> &SessionState {
        &self.state
    }

    /// Continues from the current state. At the end only [`PausePoint::Step`] has an effect: it goes back.
    ///
    /// # Errors
    ///
    /// Only those that [`Session::new`] already returned.
    pub fn run(&mut self, until: &PausePoint) -> Result<&SessionState, LaunchError> {
        let from = match &self.state {
            SessionState::Paused(paused) => paused.step() + 1,
            SessionState::Ended(_) if matches!(until, PausePoint::Step(_)) => 0,
            SessionState::Ended(_) => return Ok(&self.state),
        };
        let watch = match until {
            PausePoint::End => {
                Watch { from, stops: PauseFilter::Never, ..first_step().at(u64::MAX) }
            }
            PausePoint::Step(step) => first_step().at(*step),
            PausePoint::Instruction(thread) => {
                let thread = Some(*thread);
                Watch { from, stops: PauseFilter::Always, thread, ..first_step().at(u64::MAX) }
            }
            PausePoint::PtxLine { line, thread } => {
                let program = self.program()?;
                let stops = starts(&program, |pc| program.place(self.module, pc).0.line == *line);
                Watch { from, stops, thread: *thread, ..first_step().at(u64::MAX) }
            }
            PausePoint::SourceLine { file, line, thread } => {
                let program = self.program()?;
                let stops = starts(&program, |pc| {
                    let found = program.place(self.module, pc).1;
                    found.is_some_and(|found| found.line == *line && found.file == *file)
                });
                Watch { from, stops, thread: *thread, ..first_step().at(u64::MAX) }
            }
        };
        self.state = run(&self.start, self.module, &self.kernel, &self.config, watch)?;
        Ok(&self.state)
    }

    /// Goes back to before the first instruction.
    ///
    /// # Errors
    ///
    /// Only those that [`Session::new`] already returned.
    pub fn restart(&mut self) -> Result<&SessionState, LaunchError> {
        self.run(&PausePoint::Step(0))
    }

    fn program(&self) -> Result<Arc<Program>, LaunchError> {
        let functions = self.module.functions.iter();
        let id = functions.zip(0..).find(|(function, _)| function.name == self.kernel);
        let Some((_, id)) = id else { return Err(LaunchError::UnknownKernel(self.kernel.clone())) };
        lower::program(self.module, super::super::module::FunctionId(id))
            .map_err(LaunchError::Unsupported)
    }
}

/// Pauses before the first instruction of the launch.
fn first_step() -> Watch {
    Watch {
        step: 0,
        from: 0,
        stops: PauseFilter::Never,
        thread: None,
        found: None,
        recording: None,
    }
}

impl Watch {
    fn at(self, step: u64) -> Self {
        Self { step, ..self }
    }
}

/// The instructions of a line whose predecessor belongs to another line.
fn starts(program: &Program, is_there: impl Fn(u32) -> bool) -> PauseFilter {
    let there: Vec<bool> = (0..program.ops.len() as u32).map(is_there).collect();
    let first = |pc: usize| there[pc] && (pc == 0 || !there[pc - 1]);
    PauseFilter::At((0..there.len()).map(first).collect())
}

fn run(
    start: &Machine,
    module: &Module,
    kernel: &str,
    config: &LaunchConfig,
    watch: Watch,
) -> Result<SessionState, LaunchError> {
    let mut machine = start.clone();
    let mut done = machine.watched_launch(module, kernel, config, Some(watch))?;
    Ok(match done.found.take() {
        Some(found) => {
            SessionState::Paused(Box::new(Paused::new(machine, module, done, found, config)))
        }
        None => SessionState::Ended(Box::new(EndedLaunch { machine, report: done.report })),
    })
}
