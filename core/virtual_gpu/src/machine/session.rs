//! A launch that can be paused, looked at, resumed and restarted: the same machine, told where to pause.
//!
//! A session keeps the machine as it was before the launch. Each move runs the launch from its beginning to the wanted
//! place, which is exact because the deterministic schedule has one order only; so going back to an earlier step is as
//! easy as going on. The price is the time of the steps before, and a second copy of the buffers.

use std::sync::Arc;

use super::Machine;
use super::launch::{LaunchConfig, LaunchError, Report, Schedule};
use super::paused::Paused;
use super::watch::{Stops, Thread, Watch};
use crate::lower::{self, Program};
use crate::module::Module;

/// How far a session goes on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Until {
    /// To the end of the launch.
    End,
    /// Before the step of that number; earlier ones can be gone back to.
    Step(u64),
    /// Before the next instruction of the warp of this thread that it takes part in.
    Instruction(Thread),
    /// Before the next instruction that begins a line of the PTX.
    PtxLine {
        /// Counted from one.
        line: u32,
        /// Only when this thread comes there.
        thread: Option<Thread>,
    },
    /// Before the next instruction that begins a line of a source file.
    SourceLine {
        /// The file as the compiler names it.
        file: String,
        /// Counted from one.
        line: u32,
        /// Only when this thread comes there.
        thread: Option<Thread>,
    },
}

/// Where a session is.
#[derive(Clone, Debug)]
pub enum State {
    /// Before an instruction.
    Paused(Box<Paused>),
    /// At the end of the launch.
    Ended(Box<Ended>),
}

/// A launch that has ended.
#[derive(Clone, Debug)]
pub struct Ended {
    /// The machine with what the launch left in its buffers.
    pub machine: Machine,
    /// What came of it.
    pub report: Report,
}

/// A launch under control.
#[derive(Clone, Debug)]
pub struct Session<'m> {
    start: Machine,
    module: &'m Module,
    kernel: String,
    config: LaunchConfig,
    state: State,
}

impl<'m> Session<'m> {
    /// Prepares a launch and pauses before its first instruction.
    ///
    /// The machine is copied: what the launch writes is seen in [`State`] only.
    ///
    /// # Errors
    ///
    /// What [`Machine::launch`] refuses, and every schedule but the deterministic one.
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
                    "stepping in another schedule than the deterministic one",
                ));
            }
        }
        let state = run(machine, module, kernel, config, first_step())?;
        let (start, kernel, config) = (machine.clone(), kernel.to_owned(), config.clone());
        Ok(Self { start, module, kernel, config, state })
    }

    /// Where it is.
    #[must_use]
    pub fn state(&self) -> &State {
        &self.state
    }

    /// Goes on from where it is. At the end only [`Until::Step`] leads anywhere: back.
    ///
    /// # Errors
    ///
    /// None that [`Session::new`] did not give already.
    pub fn run(&mut self, until: &Until) -> Result<&State, LaunchError> {
        let from = match &self.state {
            State::Paused(paused) => paused.step() + 1,
            State::Ended(_) if matches!(until, Until::Step(_)) => 0,
            State::Ended(_) => return Ok(&self.state),
        };
        let watch = match until {
            Until::End => Watch { from, stops: Stops::Never, ..first_step().at(u64::MAX) },
            Until::Step(step) => first_step().at(*step),
            Until::Instruction(thread) => {
                let thread = Some(*thread);
                Watch { from, stops: Stops::Always, thread, ..first_step().at(u64::MAX) }
            }
            Until::PtxLine { line, thread } => {
                let program = self.program()?;
                let stops = starts(&program, |pc| program.place(self.module, pc).0.line == *line);
                Watch { from, stops, thread: *thread, ..first_step().at(u64::MAX) }
            }
            Until::SourceLine { file, line, thread } => {
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
    /// None that [`Session::new`] did not give already.
    pub fn restart(&mut self) -> Result<&State, LaunchError> {
        self.run(&Until::Step(0))
    }

    fn program(&self) -> Result<Arc<Program>, LaunchError> {
        let functions = self.module.functions.iter();
        let id = functions.zip(0..).find(|(function, _)| function.name == self.kernel);
        let Some((_, id)) = id else { return Err(LaunchError::UnknownKernel(self.kernel.clone())) };
        lower::program(self.module, super::super::module::FunctionId(id))
            .map_err(LaunchError::Unsupported)
    }
}

/// Pauses before the very first instruction.
fn first_step() -> Watch {
    Watch { step: 0, from: 0, stops: Stops::Never, thread: None, found: None, recording: None }
}

impl Watch {
    fn at(self, step: u64) -> Self {
        Self { step, ..self }
    }
}

/// The instructions of a line whose predecessor belongs to another one.
fn starts(program: &Program, is_there: impl Fn(u32) -> bool) -> Stops {
    let there: Vec<bool> = (0..program.ops.len() as u32).map(is_there).collect();
    let first = |pc: usize| there[pc] && (pc == 0 || !there[pc - 1]);
    Stops::At((0..there.len()).map(first).collect())
}

fn run(
    start: &Machine,
    module: &Module,
    kernel: &str,
    config: &LaunchConfig,
    watch: Watch,
) -> Result<State, LaunchError> {
    let mut machine = start.clone();
    let mut done = machine.watched_launch(module, kernel, config, Some(watch))?;
    Ok(match done.found.take() {
        Some(found) => State::Paused(Box::new(Paused::new(machine, module, done, found, config))),
        None => State::Ended(Box::new(Ended { machine, report: done.report })),
    })
}
