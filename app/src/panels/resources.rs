//! Registers, shared memory, and how many blocks fit; with sliders to see what would be gained.

use egui::{Grid, RichText, ScrollArea, Slider, Ui, vec2};
use lightbench_core::compile::facts::LaunchFacts;
use lightbench_core::compile::occupancy::{BlockDemand, Occupancy, next_block, occupancy};
use lightbench_core::device::SmLimits;
use lightbench_core::units::Bytes;

use super::empty;
use crate::theme::{self, GAP, Tokens};
use crate::widgets::icon::Icon;
use crate::workbench::Workbench;

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
    let (Some(facts), Some(device)) = (facts, bench.device()) else {
        empty::show(
            ui,
            "Nothing is compiled yet",
            "Save the kernel: registers, shared memory and occupancy stand here",
        );
        return;
    };
    let tokens = theme::tokens(ui);
    ScrollArea::vertical().auto_shrink(false).show(ui, |ui| {
        for launch in &facts.launches {
            one(ui, &tokens, launch);
            ui.add_space(2.0 * GAP);
        }
        let demand = facts.launches.first().and_then(|launch| launch.demand);
        if let (Some(demand), Ok(limits)) = (demand, device.sheet.capability.sm_limits()) {
            what_if(ui, &tokens, view, demand, &limits);
        }
    });
}

fn one(ui: &mut Ui, tokens: &Tokens, launch: &LaunchFacts) {
    let three = |size: [u32; 3]| match size {
        [x, 1, 1] => x.to_string(),
        [x, y, 1] => format!("{x} x {y}"),
        [x, y, z] => format!("{x} x {y} x {z}"),
    };
    ui.label(
        RichText::new(&launch.planned.name_expression)
            .family(egui::FontFamily::Name(theme::STRONG.into())),
    );
    Grid::new(("resources", &launch.kernel.symbol))
        .num_columns(2)
        .spacing(vec2(6.0 * GAP, 2.0))
        .show(ui, |ui| {
            let mut line = |name: &str, value: String| {
                ui.weak(name);
                ui.label(value);
                ui.end_row();
            };
            line("grid", three(launch.planned.grid));
            line("block", three(launch.planned.block));
            if let Some(resources) = &launch.kernel.resources {
                line("registers", resources.registers.to_string());
                line("shared memory", resources.static_shared.to_string());
                line(
                    "stack",
                    resources.stack.map_or_else(|| "unknown".to_owned(), |stack| stack.to_string()),
                );
                line(
                    "spills",
                    format!("{} stored, {} loaded", resources.spill_stores, resources.spill_loads),
                );
            }
        });
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

fn bar(ui: &mut Ui, tokens: &Tokens, occupancy: &Occupancy) {
    match occupancy {
        Occupancy::Resident(resident) => {
            let fraction = resident.fraction().0 as f32;
            let limiters: Vec<String> =
                resident.limiters().map(|resource| resource.to_string()).collect();
            let text = format!(
                "occupancy {:.0} %, {} of {} warps, limited by {}",
                fraction * 100.0,
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
