//! Panel of the memory accesses of a warp at one source line: its threads as a row, and the accessed sectors or banks
//! as a grid.

use egui::{
    Align2, ComboBox, DragValue, EventFilter, FontId, Grid, Key, Rect, Response, RichText, Role,
    ScrollArea, Sense, Stroke, StrokeKind, Ui, WidgetInfo, pos2, vec2,
};
use lightbench_core::access::{AccessPicture, Banks, Recording, Sectors, Site, Units};
use lightbench_core::project::Purpose;

use super::placeholder;
use crate::theme::{self, GAP, Tokens};
use crate::widgets::icon::Icon;
use crate::workbench::Workbench;
use crate::workbench::command::Command;
use crate::workbench::on_demand::{OnDemandState, WarpSelection};

/// View state of the panel.
#[derive(Debug, Default)]
pub(super) struct AccessView {
    /// Index of the access site.
    site: usize,
    /// Index of the execution of that site by the warp, from 0.
    execution: usize,
    /// The highlighted thread of the warp.
    lane: Option<usize>,
    form: Form,
    /// The editor line of the previous frame.
    cursor: Option<usize>,
    /// The edited selection, until it is requested.
    wanted: Option<WarpSelection>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Form {
    #[default]
    Picture,
    Table,
}

/// Width of a four-byte word, in points.
const WORD: f32 = 4.0;
/// Height of a grid row, in points.
const ROW: f32 = 16.0;
/// Height around the banks, in points.
const BESIDE_BANKS: f32 = 90.0;
/// Width of the label of a sector, in points.
const NUMBER: f32 = 46.0;

/// Draws the panel; `cursor` is the line of the cursor in the kernel's text, from 1.
pub(super) fn show(
    ui: &mut Ui,
    bench: &Workbench,
    view: &mut AccessView,
    cursor: Option<usize>,
    commands: &mut Vec<Command>,
) {
    let Some(opened) = &bench.opened else {
        placeholder::show(
            ui,
            "No project is open",
            "Open one to see the memory accesses of a warp",
        );
        return;
    };
    controls(ui, bench, view, commands);
    let recording = match &opened.accesses.state {
        OnDemandState::Nothing => {
            placeholder::show(
                ui,
                "No accesses recorded yet",
                "Press Look: the virtual GPU runs the kernel and records the addresses that each thread accesses",
            );
            return;
        }
        OnDemandState::Running => {
            placeholder::show(
                ui,
                "Looking…",
                "The virtual GPU runs the kernel on a small workload",
            );
            return;
        }
        OnDemandState::Failed(why) => {
            placeholder::show(ui, "The accesses cannot be recorded", why);
            return;
        }
        OnDemandState::Found(recording) => recording,
    };
    if recording.sites.is_empty() {
        placeholder::show(ui, "This warp accesses no memory", "Choose another warp or block");
        return;
    }
    view.follow(cursor, recording);
    let Some(site) = recording.sites.get(view.site) else { return };
    let last = site.executions.len().saturating_sub(1);
    view.execution = view.execution.min(last);
    choose(ui, recording, site, view);
    let Some(access) = site.executions.get(view.execution) else { return };
    let picture = AccessPicture::from_access(access);
    ui.label(
        RichText::new(capitalised(&picture.sentence()))
            .family(egui::FontFamily::Name(theme::STRONG.into())),
    );
    ui.add_space(GAP);
    match view.form {
        Form::Table => table(ui, &picture),
        Form::Picture => {
            let height = ui.available_height();
            let area = ScrollArea::vertical().auto_shrink(false);
            area.show(ui, |ui| drawn(ui, &picture, view, height));
        }
    }
}

impl AccessView {
    /// Selects the access site of the line that the cursor moved to.
    fn follow(&mut self, cursor: Option<usize>, recording: &Recording) {
        if self.site >= recording.sites.len() {
            self.site = 0;
        }
        if cursor == self.cursor {
            return;
        }
        self.cursor = cursor;
        let line = cursor.and_then(|line| u32::try_from(line).ok());
        let found =
            recording.sites.iter().position(|site| site.line.is_some() && site.line == line);
        if let Some(found) = found {
            self.site = found;
            self.execution = 0;
        }
    }
}

fn capitalised(sentence: &str) -> String {
    let mut letters = sentence.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// Selection of workload, block and warp.
fn controls(ui: &mut Ui, bench: &Workbench, view: &mut AccessView, commands: &mut Vec<Command>) {
    let Some(opened) = &bench.opened else { return };
    let usual = bench.default_warp();
    let Some(mut wanted) = view.wanted.clone().or(usual) else { return };
    wanted.kernel.clone_from(&opened.kernel);
    if opened.project.workload(&wanted.workload).is_err()
        && let Some(usual) = bench.default_warp()
    {
        wanted = usual;
    }
    ui.horizontal_wrapped(|ui| {
        if ui.button("Look").on_hover_text("Run the kernel on the virtual GPU (F4)").clicked() {
            commands.push(Command::Trace(Some(wanted.clone())));
        }
        ui.weak("warp");
        let warp = ui.add(DragValue::new(&mut wanted.warp.warp).range(0..=31));
        named(&warp, "Warp of the block");
        ui.weak("of block");
        let block = ui.add(DragValue::new(&mut wanted.warp.block[0]).range(0..=1_000_000));
        named(&block, "Block of the grid");
        ui.weak("on");
        let workloads =
            opened.project.workloads.iter().filter(|each| each.purpose == Purpose::Verify);
        ComboBox::from_id_salt("workload of accesses")
            .selected_text(&wanted.workload)
            .show_ui(ui, |ui| {
                for workload in workloads {
                    let name = workload.name.clone();
                    ui.selectable_value(&mut wanted.workload, name, &workload.name);
                }
            })
            .response
            .widget_info(|| WidgetInfo::labeled(Role::ComboBox, true, "Workload of accesses"));
        let is_old = opened.accesses.wanted.as_ref().is_some_and(|seen| *seen != wanted);
        if is_old && !matches!(opened.accesses.state, OnDemandState::Nothing) {
            ui.weak("press Look to record it");
        }
    });
    view.wanted = Some(wanted);
    ui.add_space(GAP);
}

fn named(response: &Response, name: &str) {
    response.widget_info(|| WidgetInfo::labeled(Role::SpinButton, true, name));
}

/// Selection of the access site and its execution.
fn choose(ui: &mut Ui, recording: &Recording, site: &Site, view: &mut AccessView) {
    ui.horizontal_wrapped(|ui| {
        let words = |site: &Site| match site.line {
            Some(line) => format!("Line {line}, {}", site.title),
            None => format!("PTX line {}, {}", site.ptx_line, site.title),
        };
        let before = view.site;
        ComboBox::from_id_salt("access")
            .selected_text(words(site))
            .width(220.0)
            .show_ui(ui, |ui| {
                for (place, site) in recording.sites.iter().enumerate() {
                    ui.selectable_value(&mut view.site, place, words(site));
                }
            })
            .response
            .widget_info(|| WidgetInfo::labeled(Role::ComboBox, true, "Access"));
        if before != view.site {
            view.execution = 0;
        }
        let count = site.executions.len();
        if count > 1 {
            let mut number = view.execution + 1;
            ui.weak("time");
            let response = ui.add(DragValue::new(&mut number).range(1..=count).speed(0.1));
            named(&response, "Execution by the warp");
            ui.weak(format!("of {count}"));
            view.execution = number.saturating_sub(1);
        }
        ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
            let is_table = view.form == Form::Table;
            let table = ui.selectable_label(is_table, "Table");
            table.widget_info(|| {
                WidgetInfo::selected(Role::Button, true, is_table, "Table of threads")
            });
            if table.clicked() {
                view.form = if is_table { Form::Picture } else { Form::Table };
            }
        });
    });
}

/// The accesses thread by thread, as a table for screen readers.
fn table(ui: &mut Ui, picture: &AccessPicture) {
    let unit = match picture.units {
        Units::Sectors(_) => "sector",
        Units::Banks(_) => "bank",
    };
    ScrollArea::vertical().auto_shrink(false).show(ui, |ui| {
        Grid::new("lanes").num_columns(3).striped(true).spacing(vec2(6.0 * GAP, 2.0)).show(
            ui,
            |ui| {
                for head in ["lane", "byte", unit] {
                    ui.label(RichText::new(head).small().weak());
                }
                ui.end_row();
                for (lane, address) in picture.lanes.iter().enumerate() {
                    ui.monospace(lane.to_string());
                    match address {
                        Some(address) => ui.monospace(address.to_string()),
                        None => ui.weak("idle"),
                    };
                    ui.monospace(picture.units_of(lane));
                    ui.end_row();
                }
            },
        );
    });
}

/// The picture in the given height, if that is sufficient.
fn drawn(ui: &mut Ui, picture: &AccessPicture, view: &mut AccessView, height: f32) {
    let tokens = theme::tokens(ui);
    let hovered = lanes(ui, &tokens, picture, view);
    let lane = hovered.or(view.lane);
    ui.add_space(2.0 * GAP);
    match &picture.units {
        Units::Sectors(sectors) => grid_of_sectors(ui, &tokens, picture, sectors, lane),
        Units::Banks(banks) => grid_of_banks(ui, &tokens, banks, (lane, height - BESIDE_BANKS)),
    }
    ui.add_space(2.0 * GAP);
    ui.weak(match lane.and_then(|lane| Some((lane, picture.lanes.get(lane)?))) {
        Some((lane, Some(address))) => about(picture, lane, *address),
        Some((lane, None)) => format!("Thread {lane} is inactive"),
        None => match picture.units {
            Units::Sectors(_) => {
                "A row is a sector of 32 bytes, which is transferred as a whole; a filled word is accessed by a thread"
            }
            Units::Banks(_) => {
                "A column is a bank: it serves one word per pass, so several words in a column need several passes"
            }
        }
        .to_owned(),
    });
}

fn about(picture: &AccessPicture, lane: usize, address: u64) -> String {
    let object = picture.object.as_deref().unwrap_or("shared memory");
    let (unit, units) = match picture.units {
        Units::Sectors(_) => ("sector", picture.units_of(lane)),
        Units::Banks(_) => ("bank", picture.units_of(lane)),
    };
    format!("Thread {lane} accesses byte {address} of {object}, {unit} {units}")
}

/// The row of threads; returns the one under the pointer. Arrow keys move between threads.
fn lanes(
    ui: &mut Ui,
    tokens: &Tokens,
    picture: &AccessPicture,
    view: &mut AccessView,
) -> Option<usize> {
    let width = ui.available_width().min(960.0);
    let cell = width / 32.0;
    let (place, response) = ui.allocate_exact_size(vec2(width, 22.0), Sense::click());
    keys(ui, &response, view);
    let at = |pointer: egui::Pos2| {
        let lane = ((pointer.x - place.left()) / cell).floor();
        (0.0..32.0).contains(&lane).then_some(lane as usize)
    };
    let hovered = response.hover_pos().and_then(at);
    if response.clicked() {
        response.request_focus();
        view.lane = if view.lane == hovered { None } else { hovered };
    }
    let marked = hovered.or(view.lane);
    let font = FontId::monospace(if cell < 16.0 { 8.0 } else { 10.5 });
    for (lane, address) in picture.lanes.iter().enumerate() {
        let left = place.left() + cell * lane as f32;
        let rect = Rect::from_min_size(pos2(left, place.top()), vec2(cell - 1.5, 22.0));
        let is_marked = marked == Some(lane);
        let fill = match (is_marked, address) {
            (true, _) => tokens.accent.0,
            (false, Some(_)) => tokens.surface.hovered.0,
            (false, None) => tokens.surface.sunken.0,
        };
        ui.painter().rect_filled(rect, 2.0, fill);
        let ink = match (is_marked, address) {
            (true, _) => tokens.text.on_accent.0,
            (false, Some(_)) => tokens.text.strong.0,
            (false, None) => tokens.text.weak.0,
        };
        ui.painter().text(rect.center(), Align2::CENTER_CENTER, lane, font.clone(), ink);
    }
    if response.has_focus() {
        let edge = Stroke::new(1.0, tokens.accent.faded(0.6));
        ui.painter().rect_stroke(place.expand(2.0), 2.0, edge, StrokeKind::Outside);
    }
    response.widget_info(|| {
        let mut info = WidgetInfo::labeled(Role::Figure, true, "Threads of the warp");
        let lane = view.lane.and_then(|lane| Some((lane, (*picture.lanes.get(lane)?)?)));
        let told = lane.map(|(lane, address)| about(picture, lane, address));
        info.current_text_value = Some(told.unwrap_or_else(|| picture.sentence()));
        info
    });
    hovered
}

fn keys(ui: &Ui, response: &Response, view: &mut AccessView) {
    if !response.has_focus() {
        return;
    }
    let filter = EventFilter { horizontal_arrows: true, ..EventFilter::default() };
    ui.memory_mut(|memory| memory.set_focus_lock_filter(response.id, filter));
    let pressed = |key: Key| ui.input(|input| input.key_pressed(key));
    if pressed(Key::ArrowRight) {
        view.lane = Some(view.lane.map_or(0, |lane| (lane + 1).min(31)));
    } else if pressed(Key::ArrowLeft) {
        view.lane = Some(view.lane.map_or(31, |lane| lane.saturating_sub(1)));
    } else if pressed(Key::Home) {
        view.lane = Some(0);
    } else if pressed(Key::End) {
        view.lane = Some(31);
    }
}

/// Each sector as eight words, with the thread that accesses each word.
fn grid_of_sectors(
    ui: &mut Ui,
    tokens: &Tokens,
    picture: &AccessPicture,
    sectors: &Sectors,
    marked: Option<usize>,
) {
    let width = ui.available_width().min(960.0);
    let columns = ((width / 180.0).floor() as usize).clamp(1, 4);
    let each = width / columns as f32;
    let rows = sectors.touched.len().div_ceil(columns);
    let (place, response) =
        ui.allocate_exact_size(vec2(width, rows as f32 * (ROW + 3.0)), Sense::hover());
    response.widget_info(|| {
        WidgetInfo::labeled(Role::Image, true, format!("Sectors: {}", picture.sentence()))
    });
    let word = (each - NUMBER - 12.0) / 8.0;
    let small = FontId::proportional(10.5);
    for (index, sector) in sectors.touched.iter().enumerate() {
        // Column by column, so that adjacent addresses are below each other.
        let (column, row) = (index / rows, index % rows);
        let corner =
            pos2(place.left() + each * column as f32, place.top() + (ROW + 3.0) * row as f32);
        let is_marked = marked.is_some_and(|lane| sector.lanes >> lane & 1 == 1);
        let ink = if is_marked { tokens.text.strong.0 } else { tokens.text.weak.0 };
        let label = pos2(corner.x + NUMBER - 6.0, corner.y + ROW / 2.0);
        ui.painter().text(label, Align2::RIGHT_CENTER, sector.number, small.clone(), ink);
        for slot in 0..8_u32 {
            let left = corner.x + NUMBER + word * slot as f32;
            let rect = Rect::from_min_size(pos2(left, corner.y), vec2(word - 1.0, ROW));
            let lane = lane_at(picture, sector.number, slot);
            let used = sector.used >> (WORD as u32 * slot) & 0xf != 0;
            let is_own = marked.is_some() && is_of(picture, marked, sector.number, slot);
            let fill = match (is_own, used) {
                (true, _) => tokens.accent.0,
                (false, true) => tokens.accent.faded(0.28),
                (false, false) => tokens.surface.raised.0,
            };
            ui.painter().rect_filled(rect, 1.5, fill);
            if let Some(lane) = lane.filter(|_| word >= 13.0) {
                let ink = if is_own { tokens.text.on_accent.0 } else { tokens.text.normal.0 };
                let text = if lane.1 > 1 { format!("{}+", lane.0) } else { lane.0.to_string() };
                let font = FontId::monospace(if text.len() > 2 { 8.5 } else { 10.0 });
                ui.painter().text(rect.center(), Align2::CENTER_CENTER, text, font, ink);
            }
        }
    }
}

/// Whether a thread accesses a word of a sector.
fn is_of(picture: &AccessPicture, lane: Option<usize>, sector: i64, slot: u32) -> bool {
    let start = sector * 32 + i64::from(slot) * 4;
    let address = lane.and_then(|lane| *picture.lanes.get(lane)?);
    address.is_some_and(|address| {
        let (first, last) = (address as i64, address as i64 + i64::from(picture.bytes));
        first < start + 4 && start < last
    })
}

/// The first thread that accesses a word of a sector, and the number of such threads.
fn lane_at(picture: &AccessPicture, sector: i64, slot: u32) -> Option<(usize, usize)> {
    let mut lanes = (0..32).filter(|lane| is_of(picture, Some(*lane), sector, slot));
    let first = lanes.next()?;
    Some((first, 1 + lanes.count()))
}

/// Each bank as a column of its accessed words.
fn grid_of_banks(
    ui: &mut Ui,
    tokens: &Tokens,
    banks: &Banks,
    (marked, room): (Option<usize>, f32),
) {
    let width = ui.available_width().min(960.0);
    let cell = width / 32.0;
    let deepest = banks.banks.iter().map(|bank| bank.words.len()).max().unwrap_or(0);
    let each = (room / deepest.max(1) as f32).clamp(4.5, 13.0);
    let height = (deepest as f32 * each).max(26.0) + 16.0;
    let (place, response) = ui.allocate_exact_size(vec2(width, height), Sense::hover());
    let told = format!("Banks: at most {deepest} different words in one bank");
    response.widget_info(|| WidgetInfo::labeled(Role::Image, true, told.clone()));
    let font = FontId::monospace(if cell < 16.0 { 7.5 } else { 9.5 });
    for (number, bank) in banks.banks.iter().enumerate() {
        let left = place.left() + cell * number as f32;
        let head = pos2(left + cell / 2.0, place.top() + 6.0);
        let ink = tokens.text.weak.0;
        ui.painter().text(head, Align2::CENTER_CENTER, number, font.clone(), ink);
        let ground =
            Rect::from_min_size(pos2(left, place.top() + 14.0), vec2(cell - 1.5, height - 16.0));
        ui.painter().rect_filled(ground, 1.5, tokens.surface.sunken.0);
        for (depth, (_, lanes)) in bank.words.iter().enumerate() {
            let top = place.top() + 14.0 + each * depth as f32;
            let rect = Rect::from_min_size(pos2(left, top), vec2(cell - 1.5, each - 1.0));
            let is_own = marked.is_some_and(|lane| lanes >> lane & 1 == 1);
            let fill = if is_own { tokens.accent.0 } else { tokens.accent.faded(0.28) };
            ui.painter().rect_filled(rect, 1.5, fill);
            // Too small for labels: the row of threads above identifies them.
            if each < 11.0 {
                continue;
            }
            let ink = if is_own { tokens.text.on_accent.0 } else { tokens.text.normal.0 };
            let first = lanes.trailing_zeros();
            let text = if lanes.count_ones() > 1 { format!("{first}+") } else { first.to_string() };
            ui.painter().text(rect.center(), Align2::CENTER_CENTER, text, font.clone(), ink);
        }
    }
    if banks.passes > banks.least {
        ui.horizontal(|ui| {
            Icon::Warning.show(ui, tokens.status.warning.0);
            ui.weak("Words in one column need one pass each");
        });
    }
}
