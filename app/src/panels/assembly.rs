//! Panel of PTX and machine code: a click on an instruction moves the cursor to its source line, and the instructions
//! of the cursor's line are highlighted and scrolled into view.

use std::fmt::Write as _;
use std::sync::Arc;

use egui::{Button, Ui};
use lightbench_core::compile::facts::Facts;
use lightbench_core::compile::sass::{SassFunction, SassInstruction};

use super::placeholder;
use crate::widgets::code::listing::{CodeListing, Column, Listing, Row, Side};
use crate::widgets::code::syntax::Language;
use crate::workbench::Workbench;
use crate::workbench::command::Command;
use crate::workbench::evaluations::{KernelState, Sass};

/// View state of the panel.
#[derive(Debug)]
pub(super) struct AssemblyView {
    what: What,
    listing: CodeListing,
    /// The listing and its inputs.
    made: Option<(Made, Listing)>,
    generation: u64,
    /// The source line that was scrolled to last.
    followed: Option<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum What {
    Sass,
    Ptx,
}

/// The inputs of a listing, to detect changes.
#[derive(Debug)]
struct Made {
    facts: Arc<Facts>,
    what: What,
}

impl Default for AssemblyView {
    fn default() -> Self {
        Self {
            what: What::Sass,
            listing: CodeListing::new("Assembly"),
            made: None,
            generation: 0,
            followed: None,
        }
    }
}

pub(super) fn show(
    ui: &mut Ui,
    bench: &Workbench,
    view: &mut AssemblyView,
    cursor: Option<usize>,
    commands: &mut Vec<Command>,
) {
    let Some(opened) = &bench.opened else {
        placeholder::show(ui, "No project is open", "Open one to see the code of its kernels");
        return;
    };
    let known = bench.evaluations.kernel(&opened.kernel);
    let Some((known, facts)) = known.and_then(|known| Some((known, known.facts.as_ref()?))) else {
        placeholder::absent(ui, &bench.without_code());
        return;
    };
    ui.horizontal(|ui| {
        ui.add_space(6.0);
        for (what, title) in [(What::Sass, "SASS"), (What::Ptx, "PTX")] {
            if ui.add(Button::selectable(view.what == what, title)).clicked() {
                view.what = what;
            }
        }
        if ui.button("Find").clicked() {
            view.listing.find();
        }
    });
    let Ok(kernel) = opened.project.kernel(&opened.kernel) else { return };
    let file = kernel.file.display().to_string();
    if !view.prepare(ui, known, facts, &file) {
        if let (What::Sass, Sass::Unread) = (view.what, &known.sass) {
            commands.push(Command::Disassemble(opened.kernel.clone()));
        }
        return;
    }
    let Some((_, listing)) = &view.made else { return };
    if let Some(line) = cursor.filter(|_| view.followed != cursor) {
        view.listing.scroll_to_source(listing, line);
    }
    view.followed = cursor;
    let answer = view.listing.show(ui, listing, cursor);
    let source = answer.chosen.and_then(|row| listing.rows.get(row)?.source);
    if let Some(line) = source {
        // The clicked instruction must not scroll when the cursor moves to its line.
        view.followed = Some(line);
        let line = u32::try_from(line).unwrap_or(u32::MAX);
        commands.push(Command::GoTo(kernel.file.clone(), line, 1));
    }
}

impl AssemblyView {
    /// Creates the listing once per compile; returns whether there is one.
    fn prepare(
        &mut self,
        ui: &mut Ui,
        known: &KernelState,
        facts: &Arc<Facts>,
        file: &str,
    ) -> bool {
        let is_made =
            |(made, _): &(Made, Listing)| Arc::ptr_eq(&made.facts, facts) && made.what == self.what;
        if self.made.as_ref().is_some_and(is_made) {
            return true;
        }
        let made = match (self.what, &known.sass) {
            (What::Ptx, _) => ptx(facts, file),
            (What::Sass, Sass::Read(functions)) => sass(functions, facts, file),
            (What::Sass, Sass::Unread) => return false,
            (What::Sass, Sass::Reading) => {
                placeholder::show(ui, "Being disassembled", "It takes a moment");
                return false;
            }
            (What::Sass, Sass::Unreadable(why)) => {
                placeholder::show(ui, "It cannot be disassembled", why);
                return false;
            }
        };
        self.generation += 1;
        let listing = Listing { generation: self.generation, ..made };
        self.made = Some((Made { facts: Arc::clone(facts), what: self.what }, listing));
        true
    }
}

fn column(title: &str, width: usize) -> Column {
    Column { title: title.to_owned(), width, side: Side::Right }
}

fn cell(text: String) -> crate::widgets::code::listing::Cell {
    crate::widgets::code::listing::Cell { text, heat: None }
}

fn ptx(facts: &Facts, file: &str) -> Listing {
    let artifact = &facts.artifact;
    let row = |(text, number): (&str, u32)| {
        let places = artifact.module.line_map.at(number);
        let own = places.iter().find(|place| artifact.names.display_name(&place.file) == file);
        let source = own.map(|place| place.line as usize);
        Row {
            text: text.to_owned(),
            cells: vec![
                cell(number.to_string()),
                cell(source.map(|line| line.to_string()).unwrap_or_default()),
            ],
            source,
            hover: String::new(),
        }
    };
    Listing {
        language: Language::Ptx,
        generation: 0,
        columns: vec![column("", 5), column("line", 4)],
        title: "PTX".to_owned(),
        rows: artifact.ptx.lines().zip(1..).map(row).collect(),
    }
}

fn sass(functions: &[SassFunction], facts: &Facts, file: &str) -> Listing {
    let known = |symbol: &str| {
        let mut launches = facts.launches.iter();
        let launch = launches.find(|launch| launch.kernel.symbol == symbol);
        launch.map_or_else(|| symbol.to_owned(), |launch| launch.planned.name_expression.clone())
    };
    let mut rows = Vec::new();
    for function in functions {
        let head = Row {
            text: format!("{}:", known(&function.name)),
            cells: vec![cell(String::new()), cell(String::new())],
            source: None,
            hover: String::new(),
        };
        rows.push(head);
        for instruction in &function.instructions {
            let labels = function.labels.iter().filter(|(_, at)| *at == instruction.address);
            for (label, _) in labels.filter(|(label, _)| *label != function.name) {
                rows.push(Row {
                    text: format!("{label}:"),
                    cells: vec![cell(String::new()), cell(String::new())],
                    source: None,
                    hover: String::new(),
                });
            }
            rows.push(instruction_row(instruction, file));
        }
    }
    Listing {
        language: Language::Sass,
        generation: 0,
        columns: vec![column("address", 7), column("line", 4)],
        title: "SASS".to_owned(),
        rows,
    }
}

fn instruction_row(instruction: &SassInstruction, file: &str) -> Row {
    let source =
        instruction.source.iter().find(|line| &*line.file == file).map(|line| line.line as usize);
    let mut hover = String::new();
    for line in &*instruction.source {
        let _infallible = writeln!(hover, "{}:{}", line.file, line.line);
    }
    Row {
        text: text(instruction),
        cells: vec![
            cell(format!("{:04x}", instruction.address)),
            cell(source.map(|line| line.to_string()).unwrap_or_default()),
        ],
        source,
        hover: hover.trim_end().to_owned(),
    }
}

/// An instruction in assembly syntax.
fn text(instruction: &SassInstruction) -> String {
    let predicate =
        instruction.predicate.as_ref().map(|name| format!("@{name} ")).unwrap_or_default();
    format!("    {predicate}{} {}", instruction.opcode, instruction.operands.join(", "))
}
