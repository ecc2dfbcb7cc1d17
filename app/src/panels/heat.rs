//! The column beside the source lines: a counter of the virtual GPU per line, or the profiler's stall samples per line.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use egui::{ComboBox, Ui, WidgetInfo};
use lightbench_core::nsight::stalls::StalledLine;
use lightbench_core::speed_of_light::performance_data::CounterLocation;
use lightbench_core::virtual_gpu::cost::Counts;

use crate::widgets::code::marks;
use crate::workbench::Workbench;
use crate::workbench::command::Command;
use crate::workbench::profiling::{Age, ProfiledRun};
use crate::workbench::run_details::RunDetails;
use crate::workbench::settings::Heat;

/// The metric per line of a file.
pub(super) struct LineHeat {
    /// Relative to the project's folder.
    pub(super) file: PathBuf,
    /// Identifies the verdict or profile.
    pub(super) verdict: usize,
    /// The selected metric.
    pub(super) which: Heat,
    seen: HeatSource,
}

/// The source of the numbers.
enum HeatSource {
    /// Counted by the virtual GPU in this run on the inputs of a workload.
    Modelled(Arc<RunDetails>, String),
    /// Sampled by the profiler.
    Measured(Arc<ProfiledRun>),
}

/// The selected metric of the current kernel's lines, if it is available.
pub(super) fn from_workbench(bench: &Workbench) -> Option<LineHeat> {
    let which = bench.settings.editor.heat;
    let opened = bench.opened.as_ref().filter(|_| which != Heat::Off)?;
    if which == Heat::Stalls {
        let (counted, age) = bench.counted()?;
        let counted = Some(counted).filter(|_| age == Age::Current)?;
        return Some(LineHeat {
            file: counted.kernel.file.clone(),
            verdict: Arc::as_ptr(counted).addr(),
            which,
            seen: HeatSource::Measured(Arc::clone(counted)),
        });
    }
    let (workload, _) = bench.shown_counters().filter(|_| bench.shows_present_source())?;
    let details = bench.shown_details()?;
    Some(LineHeat {
        file: opened.project.kernel(&opened.kernel).ok()?.file.clone(),
        verdict: Arc::as_ptr(details).addr(),
        which,
        seen: HeatSource::Modelled(Arc::clone(details), workload.to_owned()),
    })
}

impl LineHeat {
    /// A mark per line, as a fraction of the highest value.
    pub(super) fn marks(&self) -> Vec<marks::Heat> {
        match &self.seen {
            HeatSource::Modelled(details, workload) => self.counts(details, workload),
            HeatSource::Measured(counted) => self.samples(counted),
        }
    }

    fn samples(&self, counted: &ProfiledRun) -> Vec<marks::Heat> {
        let Ok(stalls) = &counted.hardware.stalls else { return Vec::new() };
        let own = stalls.lines.iter().filter(|line| Path::new(&line.file) == self.file);
        let most = own.clone().map(|line| line.samples).max().unwrap_or(1);
        let mark = |line: &StalledLine| {
            let part = |count: u64| count as f64 / line.samples as f64 * 100.0;
            let reasons = line.reasons.iter().take(MOST_REASONS).map(|(reason, count)| {
                let what = reason.what.map(|what| format!(", {what}")).unwrap_or_default();
                format!("\n{:.0} % {}{what}", part(*count), reason.title)
            });
            let share = stalls.share(line.samples) * 100.0;
            let first = format!(
                "{share:.1} % of stall samples, measured on {} at {}",
                counted.device, counted.workload
            );
            marks::Heat {
                line: line.line as usize,
                value: (line.samples as f64 / most as f64) as f32,
                text: reasons.fold(first, |text, reason| text + &reason),
            }
        };
        own.map(mark).collect()
    }

    fn counts(&self, details: &RunDetails, workload: &str) -> Vec<marks::Heat> {
        let Some(Ok(profile)) = details.evidence.counters.get(workload) else {
            return Vec::new();
        };
        let at = match &profile.at {
            CounterLocation::SameWorkload => String::new(),
            CounterLocation::Extrapolated(beside) => {
                format!(", on {} at {}", beside.device, beside.workload)
            }
        };
        let own = |file: &str| Path::new(file).ends_with(&self.file);
        let lines: Vec<(u32, u64)> = profile
            .lines
            .iter()
            .filter(|line| own(&line.file))
            .map(|line| (line.line, amount(self.which, &line.counts)))
            .filter(|(_, amount)| *amount > 0)
            .collect();
        let (all, most) = lines.iter().fold((0_u64, 1), |(all, most), (_, amount)| {
            (all.saturating_add(*amount), most.max(*amount))
        });
        let mark = |(line, amount): &(u32, u64)| marks::Heat {
            line: *line as usize,
            value: (*amount as f64 / most as f64) as f32,
            text: format!(
                "{amount} {}, {:.1} % of all{at}",
                self.which.words(),
                *amount as f64 / all as f64 * 100.0
            ),
        };
        lines.iter().map(mark).collect()
    }
}

/// Maximum number of stall reasons in a tooltip.
const MOST_REASONS: usize = 4;

/// Threads of a warp.
const LANES: u64 = 32;

const fn amount(heat: Heat, counts: &Counts) -> u64 {
    match heat {
        Heat::Off | Heat::Stalls => 0,
        Heat::Instructions => counts.warp_instructions,
        Heat::Sectors => {
            counts.global_load_sectors + counts.global_store_sectors + counts.atomic_sectors
        }
        Heat::Conflicts => counts.shared_bank_conflicts,
        Heat::IdleLanes => {
            (LANES * counts.warp_instructions).saturating_sub(counts.thread_instructions)
        }
        Heat::Divergence => counts.divergent_branches,
    }
}

/// The selector of the metric.
pub(super) fn choose(ui: &mut Ui, current: Heat, commands: &mut Vec<Command>) {
    let name = format!("Beside the lines: {}", current.words());
    ComboBox::from_id_salt("heat")
        .selected_text(current.words())
        .width(120.0)
        .show_ui(ui, |ui| {
            for heat in Heat::ALL {
                if ui.selectable_label(heat == current, heat.words()).clicked() {
                    commands.push(Command::SetHeat(heat));
                }
            }
        })
        .response
        .widget_info(|| WidgetInfo::labeled(egui::Role::ComboBox, true, &name));
}
