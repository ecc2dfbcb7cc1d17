//! Panel of PTX and machine code: a click on an instruction moves the cursor to its source line, and the instructions
//! of the cursor's line are highlighted and scrolled into view. The instruction under the pointer marks its source line
//! in the editor, and the line under the pointer its instructions.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::sync::Arc;

use egui::{Button, Ui};
use lightbench_core::compile::facts::Facts;
use lightbench_core::compile::sass::{Control, SassFunction, SassInstruction};

use super::code_links::CodeLinks;
use super::placeholder;
use crate::widgets::code::listing::{Cell, CodeListing, Column, Listing, Row, Side};
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
    links: Option<CodeLinks>,
    /// The last frame in which the panel was visible.
    drawn_at: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum What {
    Sass,
    Ptx,
}

/// The inputs of a listing, to detect changes, and what follows from it.
#[derive(Debug)]
struct Made {
    facts: Arc<Facts>,
    what: What,
    /// The source lines of the listing.
    lines: Arc<[usize]>,
}

impl Default for AssemblyView {
    fn default() -> Self {
        Self {
            what: What::Sass,
            listing: CodeListing::new("Assembly"),
            made: None,
            generation: 0,
            followed: None,
            links: None,
            drawn_at: 0,
        }
    }
}

pub(super) fn show(
    ui: &mut Ui,
    bench: &Workbench,
    view: &mut AssemblyView,
    (cursor, pointed): (Option<usize>, Option<usize>),
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
    view.drawn_at = ui.ctx().cumulative_frame_nr();
    let Some((made, listing)) = &view.made else { return };
    if let Some(line) = cursor.filter(|_| view.followed != cursor) {
        view.listing.scroll_to_source(listing, line);
    }
    view.followed = cursor;
    let answer = view.listing.show(ui, listing, pointed.or(cursor));
    let line_of = |row: usize| listing.rows.get(row)?.source;
    view.links = Some(CodeLinks {
        file: kernel.file.clone(),
        generation: listing.generation,
        lines: Arc::clone(&made.lines),
        marked: answer.hovered.and_then(line_of),
    });
    let source = answer.chosen.and_then(line_of);
    if let Some(line) = source {
        // The clicked instruction must not scroll when the cursor moves to its line.
        view.followed = Some(line);
        let line = u32::try_from(line).unwrap_or(u32::MAX);
        commands.push(Command::GoTo(kernel.file.clone(), line, 1));
    }
}

impl AssemblyView {
    /// The links of the visible code; `None` if the panel is hidden.
    pub(super) fn links(&self, ui: &Ui) -> Option<CodeLinks> {
        let is_visible = self.drawn_at + 1 >= ui.ctx().cumulative_frame_nr();
        self.links.clone().filter(|_| is_visible)
    }

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
        let made = Made { facts: Arc::clone(facts), what: self.what, lines: lines(&listing) };
        self.made = Some((made, listing));
        true
    }
}

fn column(title: &str, width: usize) -> Column {
    Column { title: title.to_owned(), width, side: Side::Right }
}

fn cell(text: String) -> Cell {
    Cell { text, heat: None }
}

/// The source lines of a listing, in ascending order.
fn lines(listing: &Listing) -> Arc<[usize]> {
    let lines: BTreeSet<usize> = listing.rows.iter().filter_map(|row| row.source).collect();
    lines.into_iter().collect()
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
    let all = || functions.iter().flat_map(|function| &function.instructions);
    let most = all().filter_map(|instruction| instruction.live_registers).max();
    let heading = |text: String| Row {
        text,
        cells: vec![Cell::default(); COLUMNS.len()],
        source: None,
        hover: String::new(),
    };
    let mut rows = Vec::new();
    for function in functions {
        rows.push(heading(format!("{}:", known(&function.name))));
        for instruction in &function.instructions {
            let labels = function.labels.iter().filter(|(_, at)| *at == instruction.address);
            let labels = labels.filter(|(label, _)| *label != function.name);
            rows.extend(labels.map(|(label, _)| heading(format!("{label}:"))));
            rows.push(instruction_row(instruction, file, most));
        }
    }
    Listing {
        language: Language::Sass,
        generation: 0,
        columns: COLUMNS.map(|(title, width)| column(title, width)).to_vec(),
        title: "SASS".to_owned(),
        rows,
    }
}

/// Titles and widths of the columns of machine code.
const COLUMNS: [(&str, usize); 6] =
    [("address", 7), ("line", 4), ("live", 4), ("stall", 5), ("waits", 5), ("sets", 5)];

fn instruction_row(instruction: &SassInstruction, file: &str, most: Option<u32>) -> Row {
    let source =
        instruction.source.iter().find(|line| &*line.file == file).map(|line| line.line as usize);
    let live = instruction.live_registers;
    let heat = live.zip(most).map(|(live, most)| live as f32 / most.max(1) as f32);
    let [stall, waits, sets] = scheduling(instruction.control);
    Row {
        text: text(instruction),
        cells: vec![
            cell(format!("{:04x}", instruction.address)),
            cell(source.map(|line| line.to_string()).unwrap_or_default()),
            Cell { text: live.map(|live| live.to_string()).unwrap_or_default(), heat },
            cell(stall),
            cell(waits),
            cell(sets),
        ],
        source,
        hover: hover(instruction),
    }
}

/// The cells of scheduling bits: cycles of stall, scoreboards that are waited for, and scoreboards that are set.
fn scheduling(control: Option<Control>) -> [String; 3] {
    let Some(control) = control else { return <[String; 3]>::default() };
    let numbers = |numbers: &mut dyn Iterator<Item = String>| numbers.collect::<Vec<_>>().join(" ");
    let yields = if control.yields { "y" } else { "" };
    let set = [("r", control.read_scoreboard), ("w", control.write_scoreboard)];
    let mut set = set.into_iter().filter_map(|(of, number)| Some(format!("{of}{}", number?)));
    [
        format!("{}{yields}", control.stall),
        numbers(&mut control.waited().map(|number| number.to_string())),
        numbers(&mut set),
    ]
}

/// The source lines of an instruction, and its scheduling bits in words.
fn hover(instruction: &SassInstruction) -> String {
    let mut words = String::new();
    for line in &*instruction.source {
        let _infallible = writeln!(words, "{}:{}", line.file, line.line);
    }
    if let Some(live) = instruction.live_registers {
        let _infallible = writeln!(words, "{live} live registers");
    }
    let Some(control) = instruction.control else { return words.trim_end().to_owned() };
    let _infallible =
        write!(words, "The warp issues its next instruction after {} ", control.stall);
    words.push_str(if control.stall == 1 { "cycle" } else { "cycles" });
    words.push_str(if control.yields { ", after another warp if one is ready\n" } else { "\n" });
    for number in control.waited() {
        let _infallible = writeln!(words, "Waits for scoreboard {number}");
    }
    if let Some(number) = control.read_scoreboard {
        let _infallible = writeln!(words, "Scoreboard {number} is set until its operands are read");
    }
    if let Some(number) = control.write_scoreboard {
        let _infallible = writeln!(words, "Scoreboard {number} is set until its result is written");
    }
    words.trim_end().to_owned()
}

/// An instruction in assembly syntax.
fn text(instruction: &SassInstruction) -> String {
    let predicate =
        instruction.predicate.as_ref().map(|name| format!("@{name} ")).unwrap_or_default();
    format!("    {predicate}{} {}", instruction.opcode, instruction.operands.join(", "))
}

#[cfg(test)]
mod tests {
    use lightbench_core::compile::sass::read;

    use super::*;

    #[test]
    fn a_row_has_scheduling_bits_and_live_registers() {
        let code = "\t.section\t.text.f\n\t//## File \"k.cu\", line 7\n\
            /*0000*/ IMAD.WIDE.U32 R2, R7, 0x8, R2 ; /* 0x0000000807027825 */\n\
            /* 0x001fcc00078e0002 */\n\
            /*0010*/ EXIT ;\n";
        let live = "\t.section\t.text.f\n/*0000*/ IMAD ; // |   6   |        |   2    |\n";
        let functions = read(code, live);
        let check = |row: usize, cells: [&str; 6], hover: &str| {
            let row = instruction_row(&functions[0].instructions[row], "k.cu", Some(12));
            assert_eq!(row.cells.iter().map(|cell| cell.text.as_str()).collect::<Vec<_>>(), cells);
            assert_eq!((row.source, row.hover.as_str()), (Some(7), hover));
            row.cells[2].heat
        };
        let words = "k.cu:7\n6 live registers\n\
            The warp issues its next instruction after 6 cycles, after another warp if one is ready\n\
            Waits for scoreboard 0";
        assert_eq!(check(0, ["0000", "7", "6", "6y", "0", ""], words), Some(0.5));
        assert_eq!(check(1, ["0010", "7", "", "", "", ""], "k.cu:7"), None);
    }
}
