//! What a profiler counts of a kernel on a GPU: what was asked for, and what came of it.

use std::sync::Arc;
use std::time::Duration;

use lightbench_core::device::DeviceName;
use lightbench_core::engine::{Ending, Request, RequestId};
use lightbench_core::evaluate::profiled::Profiled;
use lightbench_core::measure::Protocol;
use lightbench_core::nsight::{Hardware, Profiler};
use lightbench_core::project::Kernel;
use lightbench_core::verify::sentence;
use lightbench_core::verify::verdict::TimingUse;

use super::Workbench;
use super::command::MeasureCommand;
use super::evaluations::{Evaluations, Heard, Known, Machine, Question};
use super::notices::Weight;
use super::settings::Heat;

/// What is known of a kernel by a profiler.
#[derive(Clone, Debug, Default)]
pub struct Profiling {
    /// What became of the newest request.
    pub state: State,
    /// What was counted the last time.
    pub counted: Option<Arc<Counted>>,
}

/// What became of a request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum State {
    /// Nobody asked, or what was asked for is there.
    #[default]
    Idle,
    /// It goes on.
    Running(RequestId),
    /// Nothing came of it, for this reason.
    Failed(String),
}

/// What hardware counted.
#[derive(Clone, Debug)]
pub struct Counted {
    /// The kernel as it was.
    pub kernel: Arc<Kernel>,
    /// On whose inputs.
    pub workload: String,
    /// What the GPU is called.
    pub device: String,
    /// The numbers.
    pub hardware: Hardware,
}

impl Workbench {
    /// What hardware counted of the kernel that is worked on, and whether it still has that text.
    #[must_use]
    pub fn counted(&self) -> Option<(&Arc<Counted>, Age)> {
        let opened = self.opened.as_ref()?;
        let counted = self.evaluations.of(&opened.kernel)?.profiling.counted.as_ref()?;
        let now = opened.project.kernel(&opened.kernel).ok()?;
        let same = now.source == counted.kernel.source;
        Some((counted, if same { Age::Current } else { Age::Old }))
    }

    /// What the column beside the lines shows from now on.
    pub(super) fn choose_heat(&mut self, heat: Heat, now: Duration) {
        self.prefer(|settings| settings.editor.heat = heat);
        if heat == Heat::Stalls && self.counted().is_none() {
            let text =
                "where warps wait is measured by a profiler on a GPU: profile the kernel (Ctrl+F5)";
            self.notices.say(Weight::Note, text, now);
        }
    }

    /// Measures something besides a verdict, or takes times another way from now on.
    pub(super) fn measure_besides(&mut self, command: MeasureCommand, now: Duration) {
        match command {
            MeasureCommand::Profile => self.profile(now),
            MeasureCommand::Besides(besides) => {
                self.prefer(|settings| settings.measuring.besides = besides);
            }
            MeasureCommand::Energy(energy) => {
                self.prefer(|settings| settings.measuring.energy = energy);
            }
        }
    }

    /// Has the kernel that is worked on profiled, or says why that cannot be.
    fn profile(&mut self, now: Duration) {
        if let Err((weight, why)) = self.ask_for_profile() {
            self.notices.say(weight, why, now);
        }
    }

    fn ask_for_profile(&mut self) -> Result<(), (Weight, String)> {
        let note = |text: &str| (Weight::Note, text.to_owned());
        let opened = self.opened.as_ref().ok_or_else(|| note("open a project first"))?;
        let Machine::Known(found) = &self.evaluations.machine else {
            return Err(note("nothing can be profiled before the machine is known"));
        };
        let device = self.device().ok_or_else(|| note("there is no device"))?.clone();
        if let DeviceName::Virtual(_) = device.name {
            let why = "only a GPU has hardware counters: choose one above; what a virtual one counts is there after every run";
            return Err(note(why));
        }
        let profiler = found.profiler.clone().map_err(|why| (Weight::Warning, why))?;
        let known = self.evaluations.of(&opened.kernel);
        if known.is_some_and(|known| known.running.is_some()) {
            let text =
                format!("{} is being looked at; profile it when that is over", opened.kernel);
            return Err((Weight::Note, text));
        }
        let kernel = opened.project.kernel(&opened.kernel);
        let kernel = kernel.map_err(|error| (Weight::Error, error.to_string()))?;
        let seed = getrandom::u64()
            .map_err(|error| (Weight::Error, format!("no random numbers: {error}")))?;
        let question = Question {
            project: Arc::clone(&opened.project),
            kernel: Arc::new(kernel.clone()),
            device,
            workload: opened.workload.clone(),
            mode: self.settings.mode,
            protocol: Protocol::QUICK,
            seed,
        };
        let asked = self.evaluations.profile(&question, profiler);
        asked.map_err(|refused| (Weight::Error, refused))
    }
}

/// Whether numbers are of the text that is there now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Age {
    /// They are.
    Current,
    /// They are of a text from before.
    Old,
}

impl Evaluations {
    /// Asks for a profile of a kernel.
    ///
    /// # Errors
    /// Why nothing will come of it.
    pub(super) fn profile(
        &mut self,
        question: &Question,
        profiler: Profiler,
    ) -> Result<(), String> {
        let mut conditions = question.conditions(TimingUse::Measure(question.protocol));
        conditions.workload = Some(question.workload.clone());
        let request = Request::Profile(question.work(), conditions, Box::new(profiler));
        let request = self.asked(request, question)?;
        self.of_mut(&question.kernel.name).profiling.state = State::Running(request);
        Ok(())
    }
}

impl Known {
    /// Takes in how a request for a profile ended.
    pub(super) fn profiled(
        &mut self,
        ending: Ending,
        kernel: &Arc<Kernel>,
        device: &str,
    ) -> Option<Heard> {
        let failed = |why: String| (State::Failed(why.clone()), Some(Heard::Notice(why)));
        let name = &kernel.name;
        let (state, heard) = match ending {
            Ending::Profiled(profiled) => {
                let Profiled { run, workload, hardware } = *profiled;
                match hardware {
                    Some(hardware) => {
                        let (kernel, device) = (Arc::clone(kernel), device.to_owned());
                        let counted = Counted { kernel, workload, device, hardware };
                        let heard = Heard::Profiled(counted.sentence());
                        self.profiling.counted = Some(Arc::new(counted));
                        (State::Idle, Some(heard))
                    }
                    None => {
                        let verdict = sentence::verdict(name, &run.verdict);
                        failed(format!("{verdict}; it was not profiled"))
                    }
                }
            }
            Ending::Impossible(error) => failed(format!("{name} was not profiled: {error}")),
            Ending::Panicked { message } => {
                let why = format!("{name}: a defect of Lightbench: {message}");
                (State::Failed(why.clone()), Some(Heard::Defect(why)))
            }
            Ending::Cancelled { .. }
            | Ending::Evaluated(_)
            | Ending::Screened(_)
            | Ending::Examined(_)
            | Ending::Compared(_)
            | Ending::Compiled(_)
            | Ending::Stopped => (State::Idle, None),
        };
        self.profiling.state = state;
        heard
    }
}

impl Counted {
    /// That it is there, and where its warps wait most.
    fn sentence(&self) -> String {
        let name = &self.kernel.name;
        let most = self.hardware.stalls.as_ref().ok().and_then(|stalls| {
            let line = stalls.lines.first()?;
            let (reason, _) = line.reasons.first()?;
            let share = stalls.share(line.samples) * 100.0;
            Some(format!(
                "; {share:.0} % of the waiting is at {}:{}, {}",
                line.file, line.line, reason.title
            ))
        });
        format!("{name} was profiled{}", most.unwrap_or_default())
    }
}
