//! Panel of resources: registers, shared memory and occupancy, with sliders to explore changes.

use egui::{Grid, RichText, ScrollArea, Slider, Ui, vec2};
use lightbench_core::compile::facts::LaunchFacts;
use lightbench_core::compile::occupancy::{BlockDemand, Occupancy, next_block, occupancy};
use lightbench_core::device::SmLimits;
use lightbench_core::history::StoredRun;
use lightbench_core::history::numbers::RecordedNumbers;
use lightbench_core::units::{Bytes, Fraction};

use super::{pinned_column, placeholder};
use crate::theme::{self, GAP, Tokens};
use crate::widgets::icon::Icon;
use crate::workbench::Workbench;
use crate::workbench::pinned::{Pinned, PinnedDifference};

/// View state: the explored demand.
#[derive(Debug, Default)]
pub(super) struct ResourcesView {
    tried: Option<TrialDemand>,
}

#[derive(Debug)]
struct TrialDemand {
    /// The actual demand; a change of it resets the sliders.
    of: BlockDemand,
    demand: BlockDemand,
}

pub(super) fn show(ui: &mut Ui, bench: &Workbench, view: &mut ResourcesView) {
    let facts = bench
        .opened
        .as_ref()
        .and_then(|opened| bench.evaluations.kernel(&opened.kernel))
        .and_then(|known| known.facts.as_ref());
    let tokens = theme::tokens(ui);
    // The selected run is from the history and may differ from the compiled text.
    let asked = bench.selection.run.is_some() && bench.shown_verdict().is_none();
    if let Some((run, numbers)) = bench.recorded_numbers().filter(|_| asked || facts.is_none()) {
        of_record(ui, bench, run, numbers);
        return;
    }
    let (Some(facts), Some(device)) = (facts.filter(|_| !asked), bench.device()) else {
        placeholder::absent(ui, &bench.without_resources());
        return;
    };
    let against = against(bench);
    let main = LaunchFacts::main(&facts.launches);
    ScrollArea::vertical().auto_shrink(false).show(ui, |ui| {
        for launch in &facts.launches {
            let is_main = main.is_some_and(|main| std::ptr::eq(main, launch));
            one(ui, &tokens, bench, launch, against.filter(|_| is_main));
            ui.add_space(2.0 * GAP);
        }
        let demand = facts.launches.first().and_then(|launch| launch.demand);
        if let (Some(demand), Ok(limits)) = (demand, device.sheet.capability.sm_limits()) {
            what_if(ui, &tokens, view, demand, &limits);
        }
    });
}

/// The pinned run and its recorded numbers.
type PinnedColumn<'a> = (&'a Pinned, Option<&'a RecordedNumbers>);

fn against(bench: &Workbench) -> Option<PinnedColumn<'_>> {
    let (pinned, opened) = (bench.comparison_base()?, bench.opened.as_ref()?);
    Some((pinned, pinned.numbers(&opened.workload)))
}

/// A number, and how to read it from a record.
struct ResourceLine {
    name: &'static str,
    text: String,
    value: Option<f64>,
    other: fn(&RecordedNumbers) -> Option<f64>,
    amount: fn(f64) -> String,
}

impl ResourceLine {
    /// A number that records do not store.
    fn plain(name: &'static str, text: String) -> Self {
        Self { name, text, value: None, other: |_| None, amount: |_| String::new() }
    }

    fn registers(registers: u32) -> Self {
        let text = registers.to_string();
        Self {
            value: Some(f64::from(registers)),
            other: |numbers| numbers.registers.map(f64::from),
            amount: |registers| registers.to_string(),
            ..Self::plain("registers", text)
        }
    }

    fn spilled(text: String, bytes: Bytes) -> Self {
        Self {
            value: Some(bytes.0 as f64),
            other: |numbers| numbers.spilled.map(|bytes| bytes.0 as f64),
            amount: bytes_of,
            ..Self::plain("spills", text)
        }
    }

    fn shared(text: String, bytes: Bytes) -> Self {
        Self {
            value: Some(bytes.0 as f64),
            other: |numbers| numbers.shared.map(|bytes| bytes.0 as f64),
            amount: bytes_of,
            ..Self::plain("shared memory", text)
        }
    }

    fn occupancy(fraction: Fraction) -> Self {
        Self {
            value: Some(fraction.0),
            other: |numbers| numbers.occupancy.map(|occupancy| occupancy.0),
            amount: |part| format!("{:.0} points", part * 100.0),
            ..Self::plain("occupancy", format!("{:.0} %", fraction.0 * 100.0))
        }
    }
}

fn bytes_of(bytes: f64) -> String {
    Bytes(bytes as u64).to_string()
}

fn grid(
    ui: &mut Ui,
    id: &str,
    bench: &Workbench,
    against: Option<PinnedColumn<'_>>,
    lines: &[ResourceLine],
) {
    let columns = Grid::new(("resources", id)).num_columns(3).spacing(vec2(6.0 * GAP, 2.0));
    columns.show(ui, |ui| {
        if let Some((pinned, _)) = against {
            ui.label("");
            ui.label("");
            pinned_column::head(ui, bench, pinned);
            ui.end_row();
        }
        for line in lines {
            ui.weak(line.name);
            ui.label(&line.text);
            if let (Some((pinned, numbers)), Some(value)) = (against, line.value) {
                let other = numbers.and_then(line.other);
                let beside = other.map_or(PinnedDifference::NotRecorded, |other| {
                    PinnedDifference::between(value, other)
                });
                pinned_column::cell(ui, (line.name, pinned), beside, line.amount);
            }
            ui.end_row();
        }
    });
}

/// The recorded resources of a run.
fn of_record(ui: &mut Ui, bench: &Workbench, run: &StoredRun, numbers: &RecordedNumbers) {
    let title = format!("#{} {}", run.number, run.record.kernel);
    ui.label(RichText::new(title).family(egui::FontFamily::Name(theme::STRONG.into())));
    ui.weak("Recorded numbers; press F5 for the rest");
    ui.add_space(GAP);
    let lines = [
        numbers.registers.map(ResourceLine::registers),
        numbers.shared.map(|bytes| ResourceLine::shared(bytes.to_string(), bytes)),
        numbers.spilled.map(|bytes| ResourceLine::spilled(bytes.to_string(), bytes)),
        numbers.occupancy.map(ResourceLine::occupancy),
    ];
    let lines: Vec<ResourceLine> = lines.into_iter().flatten().collect();
    grid(ui, "recorded", bench, against(bench), &lines);
}

fn one(
    ui: &mut Ui,
    tokens: &Tokens,
    bench: &Workbench,
    launch: &LaunchFacts,
    against: Option<PinnedColumn<'_>>,
) {
    ui.label(
        RichText::new(&launch.planned.name_expression)
            .family(egui::FontFamily::Name(theme::STRONG.into())),
    );
    grid(ui, &launch.kernel.symbol, bench, against, &lines(launch));
    if let Some(occupancy) = &launch.occupancy {
        bar(ui, tokens, occupancy);
    }
    for problem in &launch.problems {
        ui.horizontal_wrapped(|ui| {
            Icon::Cross.show(ui, tokens.status.bad.0);
            ui.label(problem.to_string());
        });
    }
}

fn lines(launch: &LaunchFacts) -> Vec<ResourceLine> {
    let three = |size: [u32; 3]| match size {
        [x, 1, 1] => x.to_string(),
        [x, y, 1] => format!("{x} x {y}"),
        [x, y, z] => format!("{x} x {y} x {z}"),
    };
    let mut lines = vec![
        ResourceLine::plain("grid", three(launch.planned.grid)),
        ResourceLine::plain("block", three(launch.planned.block)),
    ];
    if let Some(own) = &launch.kernel.resources {
        let (stored, loaded) = (own.spill_stores, own.spill_loads);
        let dynamic = launch.demand.map_or(Bytes(0), |demand| demand.dynamic_shared);
        let shared = own.static_shared + dynamic;
        let part =
            if dynamic == Bytes(0) { String::new() } else { format!(", {dynamic} of it dynamic") };
        let stack = own.stack.map_or_else(|| "unknown".to_owned(), |stack| stack.to_string());
        lines.push(ResourceLine::registers(own.registers));
        lines.push(ResourceLine::shared(format!("{shared}{part}"), shared));
        lines.push(ResourceLine::plain("stack", stack));
        lines.push(ResourceLine::spilled(
            format!("{stored} stored, {loaded} loaded"),
            stored + loaded,
        ));
    }
    if let Some(Occupancy::Resident(resident)) = &launch.occupancy {
        lines.push(ResourceLine::occupancy(resident.fraction()));
    }
    lines
}

/// The resident warps, and the resource that limits them.
fn bar(ui: &mut Ui, tokens: &Tokens, occupancy: &Occupancy) {
    match occupancy {
        Occupancy::Resident(resident) => {
            let fraction = resident.fraction().0 as f32;
            let limiters: Vec<String> =
                resident.limiters().map(|resource| resource.to_string()).collect();
            let text = format!(
                "{} of {} warps, limited by {}",
                resident.warps,
                resident.max_warps,
                limiters.join(", ")
            );
            ui.label(text);
            let (place, _) = ui.allocate_exact_size(
                vec2(ui.available_width().min(360.0), 6.0),
                egui::Sense::hover(),
            );
            ui.painter().rect_filled(place, 3.0, tokens.surface.hovered.0);
            let mut full = place;
            full.set_width(place.width() * fraction);
            ui.painter().rect_filled(full, 3.0, tokens.accent.0);
        }
        Occupancy::CannotLaunch(obstacles) => {
            for obstacle in obstacles {
                ui.colored_label(tokens.status.bad.0, obstacle.to_string());
            }
        }
    }
}

fn what_if(
    ui: &mut Ui,
    tokens: &Tokens,
    view: &mut ResourcesView,
    demand: BlockDemand,
    limits: &SmLimits,
) {
    let tried = match view.tried.take() {
        Some(tried) if tried.of == demand => tried,
        Some(_) | None => TrialDemand { of: demand, demand },
    };
    let tried = view.tried.insert(tried);
    ui.label(RichText::new("What if").family(egui::FontFamily::Name(theme::STRONG.into())));
    let now = &mut tried.demand;
    let threads = limits.warp_size..=limits.max_threads_per_block;
    let warps = f64::from(limits.warp_size);
    ui.add(Slider::new(&mut now.threads, threads).step_by(warps).text("threads a block"));
    ui.add(Slider::new(&mut now.registers_per_thread, 16..=255).text("registers a thread"));
    let mut shared = u32::try_from(now.dynamic_shared.0 >> 10).unwrap_or(u32::MAX);
    let most = u32::try_from(limits.max_shared_per_block.0 >> 10).unwrap_or(u32::MAX);
    ui.add(Slider::new(&mut shared, 0..=most).text("KiB of dynamic shared memory"));
    now.dynamic_shared = Bytes(u64::from(shared) << 10);
    bar(ui, tokens, &occupancy(limits, now));
    if let Some(next) = next_block(limits, now) {
        ui.weak(next.to_string());
    }
    if tried.demand != tried.of && ui.button("As compiled").clicked() {
        tried.demand = tried.of;
    }
}
