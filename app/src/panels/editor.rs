//! Panel of open texts: tabs, and the editor of the text in front.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use egui::{Align, Button, Layout, Rect, RichText, ScrollArea, Ui, WidgetInfo, scroll_area, vec2};

use lightbench_core::lesson::locked::locked;

use super::code_links::CodeLinks;
use super::conflict::{self, ConflictView};
use super::{heat, placeholder};
use crate::theme::{self, GAP};
use crate::widgets::code::completion::Word;
use crate::widgets::code::editor::{self, CodeEditor, Place};
use crate::widgets::code::marks::{self, Marks, Revision};
use crate::widgets::code::syntax::Language;
use crate::widgets::icon::Icon;
use crate::workbench::Workbench;
use crate::workbench::command::{Command, EditCommand};
use crate::workbench::documents::{Document, Documents};
use crate::workbench::notices::NoticeLevel;
use crate::workbench::problem::{Problem, Severity};
use crate::workbench::settings::Heat;

/// View state: one editor per text, so that cursor and undo history persist.
#[derive(Default)]
pub struct EditorView {
    editors: BTreeMap<PathBuf, OpenEditor>,
    orders: Vec<PendingAction>,
    conflict: ConflictView,
    /// The text whose tab was scrolled into view last.
    front: Option<PathBuf>,
    /// The project of these texts: files of another project may have the same names.
    folder: Option<PathBuf>,
    /// The code of the text in front, while the assembly panel is visible.
    pub(super) links: Option<CodeLinks>,
    /// The line under the pointer, of the text that was compiled.
    pointed: Option<usize>,
}

impl std::fmt::Debug for EditorView {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("EditorView")
            .field("editors", &self.editors.keys())
            .finish_non_exhaustive()
    }
}

/// An action for the text in front, carried out when it is drawn next.
enum PendingAction {
    Edit(EditCommand),
    GoTo(u32, u32),
    Replace(String),
}

struct OpenEditor {
    editor: CodeEditor,
    marks: Marks,
    /// The inputs of the marks.
    made_of: MarkInputs,
    /// The text for which locked lines are known: revisions of the editor and of the document.
    locked_at: Option<(Revision, u64)>,
    /// Revisions at which the text was saved.
    saved: Vec<(Revision, u64)>,
}

/// The inputs of the marks: the checked text, its problems and its heat.
#[derive(Debug, Default)]
struct MarkInputs {
    checked: String,
    problems: Vec<Problem>,
    /// The verdict and the metric.
    heat: Option<(usize, Heat)>,
    /// The generation of the linked code.
    code: Option<u64>,
}

impl EditorView {
    /// Queues an editing command for the text in front.
    pub fn ask(&mut self, edit: EditCommand) {
        self.orders.push(PendingAction::Edit(edit));
    }

    /// Queues a cursor movement.
    pub fn go_to(&mut self, line: u32, column: u32) {
        self.orders.push(PendingAction::GoTo(line, column));
    }

    /// Line and column of the cursor in an open text.
    #[must_use]
    pub fn cursor(&self, file: &Path, documents: &Documents) -> Option<(usize, usize)> {
        let place = self.editors.get(file)?.editor.cursor(&documents.get(file)?.text);
        Some((place.line, place.column))
    }

    /// The line under the pointer, if it has machine code: its number in the text that was compiled.
    pub(super) const fn pointed(&self) -> Option<usize> {
        self.pointed
    }

    /// Queues a replacement of the text, which undo reverts.
    pub fn replace(&mut self, text: String) {
        self.orders.push(PendingAction::Replace(text));
    }
}

pub(super) fn show(
    ui: &mut Ui,
    bench: &mut Workbench,
    view: &mut EditorView,
    now: Duration,
    commands: &mut Vec<Command>,
) {
    let folder = bench.root();
    if view.folder.as_deref() != folder {
        view.folder = folder.map(Path::to_owned);
        view.editors.clear();
    }
    tabs(ui, bench, view, commands);
    let words = words(bench);
    let heat = heat::from_workbench(bench);
    let size = bench.settings.editor.font_size;
    let lesson = lesson_file(bench);
    if let Some((document, theirs)) = bench.contrasted() {
        conflict::show(ui, document, theirs, &mut view.conflict);
        return;
    }
    let Some(document) = bench.documents.front_mut() else {
        placeholder::show(ui, "No text is open", "Select a kernel in the project");
        return;
    };
    let opened = view.editors.entry(document.file.clone()).or_insert_with(|| open(&document.file));
    opened.editor.set_font_size(size);
    for order in view.orders.drain(..) {
        carry_out(&mut opened.editor, document, order, now);
    }
    let links = view.links.as_ref().filter(|links| links.file == document.file);
    opened.mark(document, words, heat, links);
    let is_lesson = lesson.as_ref() == Some(&document.file);
    if is_lesson {
        opened.lock(document);
    }
    let edited = opened.editor.show(ui, &mut document.text, &opened.marks);
    view.pointed = edited.pointed;
    if edited.changed {
        document.touch(now);
    }
    if edited.refused && is_lesson {
        let line = opened.editor.cursor(&document.text).line;
        let text = why_locked(&document.text, line);
        bench.notices.add(NoticeLevel::Note, text, now);
    }
}

/// The file of the lesson's kernel, if a lesson is open.
fn lesson_file(bench: &Workbench) -> Option<PathBuf> {
    let kernel = &bench.open_lesson()?.lesson.kernel;
    Some(bench.opened.as_ref()?.project.kernel(kernel).ok()?.file.clone())
}

/// Why the locked lines around a line are locked.
fn why_locked(text: &str, line: usize) -> String {
    let (locked, _) = locked(text);
    // An edit next to locked lines refers to the nearest ones.
    let distance = |region: &&lightbench_core::lesson::Locked| {
        if region.lines.contains(&line) {
            0
        } else {
            region.lines.start.abs_diff(line).min(region.lines.end.abs_diff(line))
        }
    };
    let nearest = locked.iter().min_by_key(distance);
    match nearest.map(|region| region.why.as_str()).filter(|why| !why.is_empty()) {
        Some(why) => format!("These lines are part of the task and are locked: {why}"),
        None => "These lines are part of the task and are locked".to_owned(),
    }
}

fn open(file: &Path) -> OpenEditor {
    let language = match file.extension().and_then(|extension| extension.to_str()) {
        Some("cu" | "cuh" | "h" | "hpp") => Language::Cuda,
        Some("ptx") => Language::Ptx,
        Some("ron") => Language::Ron,
        Some(_) | None => Language::Plain,
    };
    OpenEditor {
        editor: CodeEditor::new(file.display().to_string(), language),
        marks: Marks::default(),
        made_of: MarkInputs::default(),
        locked_at: None,
        saved: Vec::new(),
    }
}

fn carry_out(
    editor: &mut CodeEditor,
    document: &mut Document,
    order: PendingAction,
    now: Duration,
) {
    match order {
        PendingAction::Edit(edit) => editor.order(match edit {
            EditCommand::Undo => editor::Command::Undo,
            EditCommand::Redo => editor::Command::Redo,
            EditCommand::Find => editor::Command::Find,
            EditCommand::Replace => editor::Command::Replace,
            EditCommand::GoToLine => editor::Command::GoToLine,
            EditCommand::ToggleComment => editor::Command::Comment,
        }),
        PendingAction::GoTo(line, column) => {
            let place = Place { line: line.max(1) as usize, column: column.max(1) as usize };
            editor.go_to(&document.text, place);
        }
        PendingAction::Replace(text) => {
            document.text = text;
            document.touch(now);
        }
    }
}

impl OpenEditor {
    /// Locks the lines that the lesson marks in the present text.
    fn lock(&mut self, document: &Document) {
        if self.locked_at == Some((self.editor.revision(), document.version)) {
            return;
        }
        let regions = locked(&document.text).0.into_iter();
        let lines: Vec<_> = regions.map(|region| region.lines).collect();
        self.editor.lock(&document.text, &lines);
        self.locked_at = Some((self.editor.revision(), document.version));
    }

    /// Updates the marks when their inputs change.
    fn mark(
        &mut self,
        document: &Document,
        words: Vec<Word>,
        heat: Option<heat::LineHeat>,
        links: Option<&CodeLinks>,
    ) {
        self.marks.words = words;
        self.marks.marked = links.and_then(|links| links.marked);
        // Marks of this text arrive later, after its evaluation.
        let revision = self.editor.revision();
        if self.saved.last().is_none_or(|known| known.0 != revision) {
            self.saved.push((revision, hash(&document.text)));
            let most = self.saved.len().saturating_sub(64);
            self.saved.drain(..most);
        }
        let heat = heat.filter(|heat| heat.file == document.file);
        let shown = heat.as_ref().map(|heat| (heat.verdict, heat.which));
        let made_of = &self.made_of;
        let code = links.map(|links| links.generation);
        if made_of.heat == shown
            && made_of.code == code
            && made_of.problems == document.problems
            && made_of.checked == document.checked
        {
            return;
        }
        self.marks.linked = links.map(|links| links.lines.to_vec()).unwrap_or_default();
        self.marks.heat = heat.map(|heat| heat.marks()).unwrap_or_default();
        let checked = hash(&document.checked);
        let of_text = self.saved.iter().rev().find(|(_, known)| *known == checked);
        self.marks.made_at = of_text.map_or_else(Revision::default, |(revision, _)| *revision);
        self.marks.problems = document.problems.iter().filter_map(problem).collect();
        self.marks.generation += 1;
        let (checked, problems) = (document.checked.clone(), document.problems.clone());
        self.made_of = MarkInputs { checked, problems, heat: shown, code };
    }
}

fn hash(text: &str) -> u64 {
    let bytes = *blake3::hash(text.as_bytes()).as_bytes();
    bytes.iter().take(8).fold(0, |hash, byte| (hash << 8) | u64::from(*byte))
}

fn problem(problem: &Problem) -> Option<marks::Problem> {
    let place = problem.place.as_ref()?;
    let (column, length) = (place.column as usize, place.length as usize);
    Some(marks::Problem {
        line: place.line as usize,
        columns: (column > 0).then(|| column..column + length.max(1)),
        severity: match problem.severity {
            Severity::Error => marks::Severity::Error,
            Severity::Warning => marks::Severity::Warning,
            Severity::Note => marks::Severity::Note,
        },
        message: problem.message.clone(),
    })
}

/// The project's names for completion, in addition to CUDA's.
fn words(bench: &Workbench) -> Vec<Word> {
    let Some(opened) = &bench.opened else { return Vec::new() };
    let definition = &opened.project.definition;
    let word = |name: String, signature: &str, about: &str| Word {
        name,
        signature: signature.to_owned(),
        about: about.to_owned(),
    };
    let axes = definition.axes.iter().map(|axis| {
        word(format!("AXIS_{}", axis.name), "axis", "Its size, if `constants` names it")
    });
    let parameters = opened
        .project
        .kernel(&opened.kernel)
        .into_iter()
        .flat_map(|kernel| &kernel.launch.parameters)
        .map(|parameter| {
            word(format!("PARAM_{}", parameter.name), "parameter", "Its value in this candidate")
        });
    let tensors = definition
        .tensors
        .iter()
        .map(|tensor| word(tensor.name.clone(), tensor.dtype.name(), "A tensor of the task"));
    axes.chain(parameters).chain(tensors).collect()
}

/// Width of the heat selector and one tab side by side, in points.
const ROOM_FOR_HEAT: f32 = 260.0;

/// The tabs and the heat selector. Tabs scroll if they do not fit; if even one hardly fits, it takes the whole width.
fn tabs(ui: &mut Ui, bench: &Workbench, view: &mut EditorView, commands: &mut Vec<Command>) {
    let Some(front) = bench.documents.front().map(|document| &document.file) else { return };
    let is_new = view.front.as_ref() != Some(front);
    view.front = Some(front.clone());
    ui.horizontal(|ui| {
        let size = vec2(ui.available_width(), ui.spacing().interact_size.y);
        ui.allocate_ui_with_layout(size, Layout::right_to_left(Align::Center), |ui| {
            if ui.available_width() >= ROOM_FOR_HEAT {
                ui.add_space(GAP);
                heat::choose(ui, bench.settings.editor.heat, commands);
            }
            ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
                let bar = scroll_area::ScrollBarVisibility::AlwaysHidden;
                ScrollArea::horizontal().scroll_bar_visibility(bar).show(ui, |ui| {
                    ui.add_space(GAP);
                    ui.spacing_mut().item_spacing.x = 2.0;
                    for document in bench.documents.all() {
                        let shown = tab(ui, bench, (document, *front == document.file), commands);
                        if is_new && *front == document.file {
                            ui.scroll_to_rect(shown, None);
                        }
                    }
                });
            });
        });
    });
}

/// One tab, with a close button if it is in front. Returns its position.
fn tab(
    ui: &mut Ui,
    bench: &Workbench,
    (document, chosen): (&Document, bool),
    commands: &mut Vec<Command>,
) -> Rect {
    let tokens = theme::tokens(ui);
    let name = document.file.file_name().unwrap_or_default().to_string_lossy();
    let color = if chosen { tokens.text.strong.0 } else { tokens.text.weak.0 };
    let text =
        RichText::new(if document.is_changed() { format!("{name} *") } else { name.into_owned() });
    let response = ui
        .add(Button::selectable(chosen, text.color(color)))
        .on_hover_text(document.file.display().to_string());
    if response.clicked() {
        commands.push(Command::Front(document.file.clone()));
    }
    if response.middle_clicked() {
        commands.push(Command::CloseText(document.file.clone()));
    }
    if !chosen || bench.documents.all().count() == 1 {
        return response.rect;
    }
    let close = Icon::Cross.button(ui, "Close text");
    close.widget_info(|| WidgetInfo::labeled(egui::Role::Button, true, "Close text"));
    if close.clicked() {
        commands.push(Command::CloseText(document.file.clone()));
    }
    response.rect.union(close.rect)
}
