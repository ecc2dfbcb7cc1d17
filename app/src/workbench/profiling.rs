//! Hardware profiles: the state of the request, and the result.

use std::sync::Arc;
use std::time::Duration;

use lightbench_core::device::LocalDevice;
use lightbench_core::engine::{Ending, Request, RequestId};
use lightbench_core::evaluate::profiled::Profiled;
use lightbench_core::measure::Protocol;
use lightbench_core::nsight::{Hardware, Profiler};
use lightbench_core::project::Kernel;
use lightbench_core::verify::sentence;
use lightbench_core::verify::verdict::TimingUse;

use super::Workbench;
use super::command::MeasureCommand;
use super::evaluations::{
    EvaluationEvent, EvaluationRequest, Evaluations, KernelState, MachineState,
};
use super::notices::NoticeLevel;
use super::settings::Heat;

/// Profile of a kernel.
#[derive(Clone, Debug, Default)]
pub struct Profiling {
    /// State of the latest request.
    pub state: ProfilingState,
    /// The latest profile.
    pub counted: Option<Arc<ProfiledRun>>,
}

/// State of a profile request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ProfilingState {
    /// No request is pending.
    #[default]
    Idle,
    Running(RequestId),
    /// The request failed, for this reason.
    Failed(String),
}

/// Hardware counters of a kernel.
#[derive(Clone, Debug)]
pub struct ProfiledRun {
    pub kernel: Arc<Kernel>,
    /// The workload whose inputs were used.
    pub workload: String,
    /// The name of the GPU.
    pub device: String,
    pub hardware: Hardware,
}

impl Workbench {
    /// The latest profile of the current kernel, and whether it is of the present text.
    #[must_use]
    pub fn counted(&self) -> Option<(&Arc<ProfiledRun>, Age)> {
        let opened = self.opened.as_ref()?;
        let counted = self.evaluations.kernel(&opened.kernel)?.profiling.counted.as_ref()?;
        let now = opened.project.kernel(&opened.kernel).ok()?;
        let same = now.source == counted.kernel.source;
        Some((counted, if same { Age::Current } else { Age::Old }))
    }

    /// Selects the metric in the column beside the source lines.
    pub(super) fn choose_heat(&mut self, heat: Heat, now: Duration) {
        self.change_settings(|settings| settings.editor.heat = heat);
        if heat == Heat::Stalls && self.counted().is_none() {
            let text =
                "warp stalls are measured by a profiler on a GPU: profile the kernel (Ctrl+F5)";
            self.notices.add(NoticeLevel::Note, text, now);
        }
    }

    /// Starts a measurement besides the verdict, or changes how times are taken.
    pub(super) fn carry_out_measuring(&mut self, command: MeasureCommand, now: Duration) {
        match command {
            MeasureCommand::Profile => self.profile(now),
            MeasureCommand::Besides(besides) => {
                self.change_settings(|settings| settings.measuring.besides = besides);
            }
            MeasureCommand::Energy(energy) => {
                self.change_settings(|settings| settings.measuring.energy = energy);
            }
        }
    }

    /// Profiles the current kernel, or notifies why it cannot.
    fn profile(&mut self, now: Duration) {
        if let Err((weight, why)) = self.ask_for_profile() {
            self.notices.add(weight, why, now);
        }
    }

    fn ask_for_profile(&mut self) -> Result<(), (NoticeLevel, String)> {
        let note = |text: &str| (NoticeLevel::Note, text.to_owned());
        let opened = self.opened.as_ref().ok_or_else(|| note("open a project first"))?;
        let MachineState::Known(found) = &self.evaluations.machine else {
            return Err(note("wait until the devices are detected, then profile again"));
        };
        let device = self.device().ok_or_else(|| note("no device was found; see Doctor"))?.clone();
        if let LocalDevice::Virtual(_) = device.name.local {
            let why = "only a GPU has hardware counters: select one above; the virtual GPU's counters are available after every run";
            return Err(note(why));
        }
        let profiler = found.profiler.clone().map_err(|why| (NoticeLevel::Warning, why))?;
        let known = self.evaluations.kernel(&opened.kernel);
        if known.is_some_and(|known| known.running.is_some()) {
            let text = format!("{} is being evaluated; profile it afterwards", opened.kernel);
            return Err((NoticeLevel::Note, text));
        }
        let kernel = opened.project.kernel(&opened.kernel);
        let kernel = kernel.map_err(|error| (NoticeLevel::Error, error.to_string()))?;
        let seed = getrandom::u64()
            .map_err(|error| (NoticeLevel::Error, format!("no random numbers: {error}")))?;
        let question = EvaluationRequest {
            project: Arc::clone(&opened.project),
            kernel: Arc::new(kernel.clone()),
            device,
            workload: opened.workload.clone(),
            mode: self.settings.mode,
            protocol: Protocol::QUICK,
            seed,
        };
        let asked = self.evaluations.profile(&question, profiler);
        asked.map_err(|refused| (NoticeLevel::Error, refused))
    }
}

/// Whether a profile is of the present text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Age {
    Current,
    /// Of an earlier text.
    Old,
}

impl Evaluations {
    /// Submits a profile request.
    ///
    /// # Errors
    /// Why the request was refused.
    pub(super) fn profile(
        &mut self,
        question: &EvaluationRequest,
        profiler: Profiler,
    ) -> Result<(), String> {
        let mut conditions = question.conditions(TimingUse::Measure(question.protocol));
        conditions.workload = Some(question.workload.clone());
        let request = Request::Profile(question.work(), conditions, Box::new(profiler));
        let request = self.asked(request, question)?;
        self.kernel_mut(&question.kernel.name).profiling.state = ProfilingState::Running(request);
        Ok(())
    }
}

impl KernelState {
    /// Handles the end of a profile request.
    pub(super) fn profiled(
        &mut self,
        ending: Ending,
        kernel: &Arc<Kernel>,
        device: &str,
    ) -> Option<EvaluationEvent> {
        let failed =
            |why: String| (ProfilingState::Failed(why.clone()), Some(EvaluationEvent::Notice(why)));
        let name = &kernel.name;
        let (state, heard) = match ending {
            Ending::Profiled(profiled) => {
                let Profiled { run, workload, hardware } = *profiled;
                match hardware {
                    Some(hardware) => {
                        let (kernel, device) = (Arc::clone(kernel), device.to_owned());
                        let counted = ProfiledRun { kernel, workload, device, hardware };
                        let heard = EvaluationEvent::Profiled(counted.sentence());
                        self.profiling.counted = Some(Arc::new(counted));
                        (ProfilingState::Idle, Some(heard))
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
                (ProfilingState::Failed(why.clone()), Some(EvaluationEvent::Defect(why)))
            }
            Ending::Cancelled { .. }
            | Ending::Evaluated(_)
            | Ending::Screened(_)
            | Ending::CompiledAhead { .. }
            | Ending::Compared(_)
            | Ending::Compiled(_)
            | Ending::Stopped => (ProfilingState::Idle, None),
        };
        self.profiling.state = state;
        heard
    }
}

impl ProfiledRun {
    /// A sentence that names the line with most warp stalls.
    fn sentence(&self) -> String {
        let name = &self.kernel.name;
        let most = self.hardware.stalls.as_ref().ok().and_then(|stalls| {
            let line = stalls.lines.first()?;
            let (reason, _) = line.reasons.first()?;
            let share = stalls.share(line.samples) * 100.0;
            Some(format!(
                "; {share:.0} % of stall samples are at {}:{}, {}",
                line.file, line.line, reason.title
            ))
        });
        format!("{name} was profiled{}", most.unwrap_or_default())
    }
}
