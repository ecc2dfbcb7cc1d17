//! What runs the candidates of a search, and how it is held back.

use std::collections::BTreeMap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use lightbench_primitives::cancellation::Cancellation;
use serde::{Deserialize, Serialize};

use crate::engine::{
    AskedBy, Because, Client, Conditions, Contest, Ending, Event, NotTaken, Request, Screens, Work,
    Works,
};
use crate::evaluate::compare::{ComparedWorkload, Pair};
use crate::evaluate::{EvaluateError, Examined, Run, Screening};
use crate::measure::{Mode, Protocol};
use crate::project::{Kernel, Project};
use crate::units::Seconds;
use crate::verify::verdict::TimingUse;

/// How often it is looked whether somebody wants something else.
const PATIENCE: Duration = Duration::from_millis(50);

/// At a gentle pace, a pause is at most this long.
const LONGEST_PAUSE: Duration = Duration::from_secs(10);

/// Runs the candidates of a search.
pub trait Laboratory {
    /// A quick look at each, in their order. A first execution of a workload that takes longer than `abandon` says is slow
    /// enough to know.
    ///
    /// # Errors
    /// Somebody stopped it, or it cannot go on.
    fn screen(
        &mut self,
        kernels: &[Arc<Kernel>],
        abandon: &BTreeMap<String, Seconds>,
    ) -> Result<Vec<Screening>, Interrupted>;

    /// What is known of each without running it, in their order; none of one that cannot be built.
    ///
    /// # Errors
    /// As [`Laboratory::screen`].
    fn examine(&mut self, kernels: &[Arc<Kernel>]) -> Result<Vec<Option<Examined>>, Interrupted>;

    /// Every check.
    ///
    /// # Errors
    /// As [`Laboratory::screen`].
    fn evaluate(&mut self, kernel: &Arc<Kernel>) -> Result<Run, Interrupted>;

    /// Times two that passed side by side; nothing where no clock tells them apart.
    ///
    /// # Errors
    /// As [`Laboratory::screen`].
    fn side_by_side(
        &mut self,
        old: &Arc<Kernel>,
        new: &Arc<Kernel>,
    ) -> Result<Vec<ComparedWorkload>, Interrupted>;

    /// How many looks are best taken together.
    fn batch(&self) -> usize;

    /// Waits while it is to pause.
    ///
    /// # Errors
    /// Somebody stopped it meanwhile.
    fn rest(&mut self) -> Result<(), Interrupted>;

    /// Variants that a person turned down since this was asked the last time, and why.
    fn turned_down(&mut self) -> Vec<(usize, String)>;
}

/// Why a search does not go on.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Interrupted {
    /// Somebody stopped it.
    #[error("stopped")]
    Stopped,
    /// The machine or the request is at fault.
    #[error("{0}")]
    Impossible(String),
}

/// How much of the device a search takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Pace {
    /// All that nobody else asks for.
    #[default]
    Full,
    /// It rests for as long as it worked.
    Gentle,
}

/// Holds a search back, from any thread.
#[derive(Clone, Debug, Default)]
pub struct Control {
    shared: Arc<Shared>,
    /// Raised to stop.
    pub cancellation: Cancellation,
}

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Clone, Debug, Default)]
struct State {
    paused: bool,
    pace: Pace,
    turned_down: Vec<(usize, String)>,
}

impl Control {
    /// One that is stopped with this.
    #[must_use]
    pub fn under(cancellation: &Cancellation) -> Self {
        Self { shared: Arc::default(), cancellation: cancellation.child() }
    }

    /// It waits before the next step.
    pub fn pause(&self) {
        self.lock().paused = true;
    }

    /// It goes on.
    pub fn resume(&self) {
        self.lock().paused = false;
        self.shared.changed.notify_all();
    }

    /// How much of the device it takes.
    pub fn set_pace(&self, pace: Pace) {
        self.lock().pace = pace;
    }

    /// A variant, not the first, is not wanted, for this reason.
    pub fn turn_down(&self, variant: usize, why: String) {
        self.lock().turned_down.push((variant, why));
    }

    /// It ends.
    pub fn stop(&self) {
        self.cancellation.cancel();
        self.shared.changed.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.shared.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits while it is paused, and as long as the pace says after this much work.
    fn rest(&self, worked: Duration) -> Result<(), Interrupted> {
        let resting_until = Instant::now() + worked.min(LONGEST_PAUSE);
        let mut state = self.lock();
        loop {
            if self.cancellation.is_cancelled() {
                return Err(Interrupted::Stopped);
            }
            let rests = state.pace == Pace::Gentle && Instant::now() < resting_until;
            if !state.paused && !rests {
                return Ok(());
            }
            let waited = self.shared.changed.wait_timeout(state, PATIENCE);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

/// The laboratory whose devices an engine has. A person's requests go before its own.
#[derive(Debug)]
pub struct EngineLaboratory {
    client: Client,
    project: Arc<Project>,
    conditions: Conditions,
    control: Control,
    worked: Duration,
    batch: usize,
}

impl EngineLaboratory {
    /// One that evaluates under these conditions, so many candidates in one request.
    #[must_use]
    pub fn new(
        client: Client,
        project: Arc<Project>,
        conditions: Conditions,
        control: Control,
        batch: usize,
    ) -> Self {
        Self { client, project, conditions, control, worked: Duration::ZERO, batch }
    }

    fn work(&self, kernel: &Arc<Kernel>) -> Work {
        Work {
            project: Arc::clone(&self.project),
            kernel: Arc::clone(kernel),
            chosen: BTreeMap::new(),
            asked_by: AskedBy::Background,
        }
    }

    fn timing(&self, protocol: Protocol) -> Conditions {
        Conditions { timing: TimingUse::Measure(protocol), ..self.conditions.clone() }
    }

    /// Asks, and waits for the end.
    fn ending(&mut self, request: Request) -> Result<Ending, Interrupted> {
        if self.control.cancellation.is_cancelled() {
            return Err(Interrupted::Stopped);
        }
        let began = Instant::now();
        let ending = self.asked(request);
        self.worked = began.elapsed();
        ending
    }

    fn asked(&mut self, request: Request) -> Result<Ending, Interrupted> {
        let id = self.client.ask(request).map_err(|refused| match refused {
            NotTaken::Stopping => Interrupted::Stopped,
            NotTaken::Full(_)
            | NotTaken::Unread(_)
            | NotTaken::NoSuchDevice(_)
            | NotTaken::NotThere(_) => Interrupted::Impossible(refused.to_string()),
        })?;
        let mut told = false;
        loop {
            if self.control.cancellation.is_cancelled() && !told {
                told = true;
                // Refused only where it has ended meanwhile, which is what is waited for.
                let _ended = self.client.ask(Request::Cancel(id));
            }
            match self.client.next_event(PATIENCE) {
                Some(Event::Finished { request, ending }) if request == id => {
                    return settled(ending);
                }
                Some(
                    Event::Finished { .. }
                    | Event::Queued { .. }
                    | Event::Began { .. }
                    | Event::Noticed(_),
                )
                | None => {}
            }
        }
    }
}

/// What ended otherwise than it should is why the search does not go on.
fn settled(ending: Ending) -> Result<Ending, Interrupted> {
    match ending {
        Ending::Evaluated(_)
        | Ending::Screened(_)
        | Ending::Examined(_)
        | Ending::Compared(_)
        | Ending::Profiled(_)
        | Ending::Compiled(_) => Ok(ending),
        Ending::Impossible(EvaluateError::Request(why) | EvaluateError::Environment(why)) => {
            Err(Interrupted::Impossible(why))
        }
        Ending::Panicked { message } => {
            Err(Interrupted::Impossible(format!("a defect of Lightbench: {message}")))
        }
        Ending::Cancelled {
            because: Because::Asked | Because::Stopping | Because::SupersededBy(_),
            ..
        }
        | Ending::Stopped => Err(Interrupted::Stopped),
    }
}

fn unexpected() -> Interrupted {
    Interrupted::Impossible("the engine ended something else".to_owned())
}

impl Laboratory for EngineLaboratory {
    fn screen(
        &mut self,
        kernels: &[Arc<Kernel>],
        abandon: &BTreeMap<String, Seconds>,
    ) -> Result<Vec<Screening>, Interrupted> {
        let works = Works::of(kernels.iter().map(|kernel| self.work(kernel)));
        let Some(works) = works else { return Ok(Vec::new()) };
        let screens = Screens { works, abandon: abandon.clone() };
        let request = Request::Screen(screens, self.timing(Protocol::QUICK));
        let Ending::Screened(screenings) = self.ending(request)? else {
            return Err(unexpected());
        };
        Ok(screenings)
    }

    fn examine(&mut self, kernels: &[Arc<Kernel>]) -> Result<Vec<Option<Examined>>, Interrupted> {
        let works = Works::of(kernels.iter().map(|kernel| self.work(kernel)));
        let Some(works) = works else { return Ok(Vec::new()) };
        let request = Request::Examine(works, self.timing(Protocol::QUICK));
        let Ending::Examined(examined) = self.ending(request)? else { return Err(unexpected()) };
        Ok(examined)
    }

    fn evaluate(&mut self, kernel: &Arc<Kernel>) -> Result<Run, Interrupted> {
        // A verdict is about every workload, whichever of them count here.
        let conditions = Conditions { workload: None, ..self.timing(Protocol::FINAL) };
        let request = Request::Evaluate(self.work(kernel), conditions);
        let Ending::Evaluated(run) = self.ending(request)? else { return Err(unexpected()) };
        Ok(*run)
    }

    fn side_by_side(
        &mut self,
        old: &Arc<Kernel>,
        new: &Arc<Kernel>,
    ) -> Result<Vec<ComparedWorkload>, Interrupted> {
        let pair = Pair::Kernels([self.work(old), self.work(new)]);
        let contest = Box::new(Contest { pair, mode: Mode::Cold });
        let request = Request::Compare(contest, self.timing(Protocol::PAIRED));
        let Ending::Compared(compared) = self.ending(request)? else { return Err(unexpected()) };
        Ok(compared.workloads)
    }

    fn batch(&self) -> usize {
        self.batch
    }

    fn rest(&mut self) -> Result<(), Interrupted> {
        self.control.rest(std::mem::take(&mut self.worked))
    }

    fn turned_down(&mut self) -> Vec<(usize, String)> {
        std::mem::take(&mut self.control.lock().turned_down)
    }
}
