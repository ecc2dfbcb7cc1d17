//! Registers, shared memory, and how many blocks fit; with sliders to see what would be gained.

use egui::{Grid, RichText, ScrollArea, Slider, Ui, vec2};
use lightbench_core::compile::facts::LaunchFacts;
use lightbench_core::compile::occupancy::{BlockDemand, Occupancy, next_block, occupancy};
use lightbench_core::device::SmLimits;
use lightbench_core::history::StoredRun;
use lightbench_core::history::numbers::RecordedNumbers;
use lightbench_core::units::{Bytes, Fraction};

use super::{against, empty};
use crate::theme::{self, GAP, Tokens};
use crate::widgets::icon::Icon;
use crate::workbench::Workbench;
use crate::workbench::pinned::{Beside, Pinned};

/// What somebody tries out.
#[derive(Debug, Default)]
pub(super) struct ResourcesView {
    tried: Option<Tried>,
}

#[derive(Debug)]
struct Tried {
    /// What it was tried on: another kernel or another compile begins anew.
    of: BlockDemand,
    demand: BlockDemand,
}

pub(super) fn show(ui: &mut Ui, bench: &Workbench, view: &mut ResourcesView) {
    let facts = bench
        .opened
        .as_ref()
        .and_then(|opened| bench.evaluations.of(&opened.kernel))
        .and_then(|known| known.facts.as_ref());
    let tokens = theme::tokens(ui);
    // A run of the history is shown, and not the text as it was compiled.
    let asked = bench.selection.run.is_some() && bench.shown_verdict().is_none();
    if let Some((run, numbers)) = bench.recorded_numbers().filter(|_| asked || facts.is_none()) {
        of_record(ui, bench, run, numbers);
        return;
    }
    let (Some(facts), Some(device)) = (facts.filter(|_| !asked), bench.device()) else {
        empty::absent(ui, &bench.without_resources());
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

/// The pinned run and what is on record of it.
type Against<'a> = (&'a Pinned, Option<&'a RecordedNumbers>);

fn against(bench: &Workbench) -> Option<Against<'_>> {
    let (pinned, opened) = (bench.held_against()?, bench.opened.as_ref()?);
    Some((pinned, pinned.numbers(&opened.workload)))
}

/// One number, and what a record has of it.
struct Line {
    name: &'static str,
    text: String,
    value: Option<f64>,
    other: fn(&RecordedNumbers) -> Option<f64>,
    amount: fn(f64) -> String,
}

impl Line {
    /// A number that no record has.
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

fn grid(ui: &mut Ui, id: &str, bench: &Workbench, against: Option<Against<'_>>, lines: &[Line]) {
    let columns = Grid::new(("resources", id)).num_columns(3).spacing(vec2(6.0 * GAP, 2.0));
    columns.show(ui, |ui| {
        if let Some((pinned, _)) = against {
            ui.label("");
            ui.label("");
            against::head(ui, bench, pinned);
            ui.end_row();
        }
        for line in lines {
            ui.weak(line.name);
            ui.label(&line.text);
            if let (Some((pinned, numbers)), Some(value)) = (against, line.value) {
                let other = numbers.and_then(line.other);
                let beside = other.map_or(Beside::NotRecorded, |other| Beside::of(value, other));
                against::cell(ui, (line.name, pinned), beside, line.amount);
            }
            ui.end_row();
        }
    });
}

/// What the history keeps of a run.
fn of_record(ui: &mut Ui, bench: &Workbench, run: &StoredRun, numbers: &RecordedNumbers) {
    let title = format!("#{} {}", run.number, run.record.kernel);
    ui.label(RichText::new(title).family(egui::FontFamily::Name(theme::STRONG.into())));
    ui.weak("What the history keeps of it; press F5 for the rest");
    ui.add_space(GAP);
    let lines = [
        numbers.registers.map(Line::registers),
        numbers.shared.map(|bytes| Line::shared(bytes.to_string(), bytes)),
        numbers.spilled.map(|bytes| Line::spilled(bytes.to_string(), bytes)),
        numbers.occupancy.map(Line::occupancy),
    ];
    let lines: Vec<Line> = lines.into_iter().flatten().collect();
    grid(ui, "recorded", bench, against(bench), &lines);
}

fn one(
    ui: &mut Ui,
    tokens: &Tokens,
    bench: &Workbench,
    launch: &LaunchFacts,
    against: Option<Against<'_>>,
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

fn lines(launch: &LaunchFacts) -> Vec<Line> {
    let three = |size: [u32; 3]| match size {
        [x, 1, 1] => x.to_string(),
        [x, y, 1] => format!("{x} x {y}"),
        [x, y, z] => format!("{x} x {y} x {z}"),
    };
    let mut lines = vec![
        Line::plain("grid", three(launch.planned.grid)),
        Line::plain("block", three(launch.planned.block)),
    ];
    if let Some(own) = &launch.kernel.resources {
        let (stored, loaded) = (own.spill_stores, own.spill_loads);
        let dynamic = launch.demand.map_or(Bytes(0), |demand| demand.dynamic_shared);
        let shared = own.static_shared + dynamic;
        let part =
            if dynamic == Bytes(0) { String::new() } else { format!(", {dynamic} of it dynamic") };
        let stack = own.stack.map_or_else(|| "unknown".to_owned(), |stack| stack.to_string());
        lines.push(Line::registers(own.registers));
        lines.push(Line::shared(format!("{shared}{part}"), shared));
        lines.push(Line::plain("stack", stack));
        lines.push(Line::spilled(format!("{stored} stored, {loaded} loaded"), stored + loaded));
    }
    if let Some(Occupancy::Resident(resident)) = &launch.occupancy {
        lines.push(Line::occupancy(resident.fraction()));
    }
    lines
}

/// How many warps fit, and what keeps more from fitting.
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
        Some(_) | None => Tried { of: demand, demand },
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
