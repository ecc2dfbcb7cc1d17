//! The text area: egui's field in a scroll area, with decorations below and above it.

use egui::text::{CCursor, CCursorRange};
use egui::text_edit::TextEditState;
use egui::{
    EventFilter, FontId, Frame, Id, Margin, Rect, Response, ScrollArea, Shape, TextBuffer,
    TextEdit, Ui, UiBuilder, vec2,
};

use super::decorations::{self, Decorations};
use super::egui_text_buffer::EguiTextBuffer;
use super::keys::OpenPopups;
use super::text_page::TextPage;
use super::{Brackets, CodeEditor, Reveal, tooltip};
use crate::theme;
use crate::widgets::code::bracket;
use crate::widgets::code::change::{Change, Selection, floor};
use crate::widgets::code::edit;
use crate::widgets::code::heat_colors;
use crate::widgets::code::marks::Marks;
use crate::widgets::code::paint;
use crate::widgets::code::syntax::Token;
use crate::widgets::code::word_boundaries;

/// Number of typed characters that opens the completion list.
const ENOUGH: usize = 2;

/// The geometry and marks of a frame.
pub(super) struct TextAreaContext<'a> {
    pub(super) left: Rect,
    pub(super) right: Rect,
    pub(super) now: f64,
    pub(super) marks: &'a Marks,
}

/// The result of drawing the text area.
pub(super) struct Shown {
    pub(super) response: Response,
    pub(super) page: TextPage,
    pub(super) refused: bool,
}

impl CodeEditor {
    pub(super) fn text_area(
        &mut self,
        ui: &mut Ui,
        id: Id,
        text: &mut String,
        room: &TextAreaContext<'_>,
    ) -> Shown {
        let builder = UiBuilder::new().id_salt(("text", &self.name)).max_rect(room.right);
        let mut child = ui.new_child(builder);
        child.spacing_mut().scroll.fade.strength = 0.0;
        let area = ScrollArea::both().id_salt("scroll").auto_shrink(false).animated(false);
        let shown = area.show(&mut child, |ui| {
            pass_wheel(ui, room.left);
            self.field(ui, id, text, room)
        });
        let mut shown = shown.inner;
        shown.response = self.explain(shown.response, &shown.page, text);
        shown
    }

    fn field(
        &mut self,
        ui: &mut Ui,
        id: Id,
        text: &mut String,
        room: &TextAreaContext<'_>,
    ) -> Shown {
        let galley = self.paragraphs.galley(ui, text, self.size);
        let least = (galley.size() + vec2(24.0, 12.0)).max(ui.available_size());
        let before = self.manuscript.selection.within(text);
        hand_over(ui, id, text, before);
        let under = ui.painter().add(Shape::Noop);
        let filter = self.event_filter();
        let mut buffer = EguiTextBuffer {
            text,
            edit_buffer: &mut self.manuscript,
            made: Vec::new(),
            refused: false,
        };
        let (paragraphs, size) = (&mut self.paragraphs, self.size);
        let mut layouter =
            |ui: &Ui, buffer: &dyn TextBuffer, _: f32| paragraphs.galley(ui, buffer.as_str(), size);
        let output = TextEdit::multiline(&mut buffer)
            .id(id)
            .font(FontId::monospace(size))
            .event_filter(filter)
            .frame(Frame::NONE.inner_margin(Margin { left: 6, right: 12, top: 2, bottom: 8 }))
            .min_size(least)
            .desired_width(f32::INFINITY)
            .desired_rows(1)
            .layouter(&mut layouter)
            .show(ui);
        let EguiTextBuffer { made, refused, .. } = buffer;
        // Our history replaces egui's, which copies the whole text.
        let mut state = output.state;
        state.clear_undoer();
        let focused = ui.memory(|memory| memory.has_focus(id));
        let page =
            TextPage { galley: output.galley, origin: output.galley_pos, clip: ui.clip_rect() };
        let range = state.cursor.char_range().filter(|_| focused || !made.is_empty());
        // After a refused edit the field has moved its cursor anyway.
        let range = range.filter(|_| !refused || !made.is_empty());
        self.follow(text, range, made, before, room);
        paint::name(ui, id, &self.name);
        self.reveal(ui, text, &page);
        let ground = self.ground(text, focused, room.marks, ui);
        ui.painter().set(under, ground.shapes(&page, &theme::tokens(ui)));
        decorations::over(ui.painter(), &page, &ground, &theme::tokens(ui));
        if focused {
            self.show_offer(ui, id, text, &page, room.now);
        } else {
            self.offer.close();
        }
        // Only now, so that the shortcut's key is not typed into the text.
        if std::mem::take(&mut self.takes_focus) {
            ui.memory_mut(|memory| memory.request_focus(id));
        }
        ui.memory_mut(|memory| memory.set_focus_lock_filter(id, self.event_filter()));
        Shown { response: output.response.response, page, refused }
    }

    /// Tab goes to the text; Escape only while something can be closed, so that the keyboard can leave the editor.
    fn event_filter(&self) -> EventFilter {
        EventFilter {
            tab: true,
            horizontal_arrows: true,
            vertical_arrows: true,
            escape: self.open() != OpenPopups::Nothing,
        }
    }

    /// Adopts the changes that the field has made.
    fn follow(
        &mut self,
        text: &mut String,
        range: Option<CCursorRange>,
        made: Vec<Change>,
        before: Selection,
        room: &TextAreaContext<'_>,
    ) {
        let selection = range.map(|range| Selection {
            anchor: byte_of(text, range.secondary),
            head: byte_of(text, range.primary),
        });
        let Some(last) = made.last().cloned() else {
            if let Some(selection) = selection
                && selection != self.manuscript.selection
            {
                self.manuscript.moved(selection);
                self.offer.close();
            }
            return;
        };
        self.manuscript.typed(made, before, room.now);
        self.manuscript.selection =
            selection.unwrap_or_else(|| Selection::at(floor(text, last.at + last.inserted.len())));
        if matches!(last.inserted.as_str(), "}" | ")" | "]")
            && let Some(closing) = edit::closed(text, self.manuscript.selection.head)
        {
            self.perform(text, closing, room.now);
        }
        self.offer_while_typing(text, &last, room.marks);
    }

    fn offer_while_typing(&mut self, text: &str, last: &Change, marks: &Marks) {
        let head = self.manuscript.selection.head;
        let place = word_boundaries::typed_word(text, head);
        let enough = place.filter(|place| {
            let letters = text[place.clone()].chars().count();
            let was_open = self.offer.open() != OpenPopups::Nothing;
            letters >= ENOUGH && (was_open || last.inserted.ends_with(word_boundaries::is_word))
        });
        if enough.is_some() && last.inserted.chars().count() <= 2 && self.is_code(head - 1) {
            self.offer_names(text, marks);
        } else {
            self.offer.close();
        }
    }

    /// Whether a byte is outside comments and strings.
    fn is_code(&self, offset: usize) -> bool {
        let index = &self.manuscript.index;
        let line = index.line_of(offset);
        let within = offset - index.start(line);
        let spans = self.paragraphs.highlighter.spans(line);
        let span = spans.iter().find(|span| span.bytes.contains(&within));
        span.is_none_or(|span| !matches!(span.token, Token::Comment | Token::String))
    }

    fn reveal(&mut self, ui: &Ui, text: &str, page: &TextPage) {
        let Some(reveal) = self.reveal.take() else { return };
        let rect = cursor_rect(page, text, self.manuscript.selection.head);
        // Horizontally as little as possible, whatever the vertical alignment.
        let text = Rect::everything_right_of(page.origin.x);
        let sideways = rect.expand2(vec2(40.0, 0.0)).intersect(text);
        match reveal {
            Reveal::Near => ui.scroll_to_rect(sideways, None),
            Reveal::Center => {
                let (seen, content) = (page.clip, ui.min_rect());
                let middle = seen.center().y;
                let across = Rect::from_x_y_ranges(sideways.x_range(), middle..=middle);
                ui.scroll_to_rect(across, None);
                let up = (seen.bottom() - content.bottom()).min(0.0);
                let down = (seen.top() - content.top()).max(0.0);
                ui.scroll_with_delta(vec2(0.0, (middle - rect.center().y).clamp(up, down)));
            }
        }
        ui.ctx().request_repaint();
    }

    fn ground<'a>(
        &'a mut self,
        text: &'a str,
        focused: bool,
        marks: &Marks,
        ui: &Ui,
    ) -> Decorations<'a> {
        let selection = self.manuscript.selection.within(text);
        let rests = focused && selection.is_empty();
        let brackets = if rests { self.brackets(text, selection.head) } else { None };
        let tracker = &self.manuscript.tracker;
        let marked = marks.marked.and_then(|line| {
            let link = tracker.linked.iter().find(|link| link.item == line)?;
            Some((link.line, heat_colors::line_color(&theme::tokens(ui), line)))
        });
        Decorations {
            tracker,
            index: &self.manuscript.index,
            text,
            current_line: rests.then(|| self.manuscript.index.line_of(selection.head)),
            marked_line: marked,
            brackets,
            matches: &self.find_bar.matches,
            current_match: self.find_bar.current,
        }
    }

    fn brackets(&mut self, text: &str, cursor: usize) -> Option<(usize, usize)> {
        let sought = Some((self.manuscript.tracker.revision(), cursor));
        if self.brackets.sought != sought {
            let found = bracket::matching(text, cursor, |offset| self.is_code(offset));
            self.brackets = Brackets { sought, found };
        }
        self.brackets.found
    }

    fn show_offer(&mut self, ui: &Ui, id: Id, text: &mut String, page: &TextPage, now: f64) {
        let rect = cursor_rect(page, text, self.offer.place.start.min(text.len()));
        if let Some(name) = self.offer.show(ui.ctx(), id.with("offer"), rect) {
            self.accept(text, &name, now);
            self.takes_focus = true;
        }
    }

    /// The tooltip of the problem under the pointer.
    fn explain(&self, response: Response, page: &TextPage, text: &str) -> Response {
        let tracker = &self.manuscript.tracker;
        let Some(pointer) = response.hover_pos().filter(|pointer| page.clip.contains(*pointer))
        else {
            return response;
        };
        let line = page.line_at(pointer.y);
        let here = tracker.problems.iter().filter(|problem| Some(problem.line) == line).filter(
            |problem| {
                let columns = decorations::columns(problem, &self.manuscript.index, text);
                page.part(problem.line, &columns).is_some_and(|rect| rect.contains(pointer))
            },
        );
        let here: Vec<_> = here.collect();
        if here.is_empty() {
            return response;
        }
        response.on_hover_ui_at_pointer(|ui| {
            here.iter().for_each(|problem| tooltip::problem_text(ui, problem));
        })
    }
}

/// Scrolls the text if the wheel turns over the gutter.
fn pass_wheel(ui: &Ui, gutter: Rect) {
    let pointer = ui.input(|input| input.pointer.hover_pos());
    if pointer.is_some_and(|pointer| gutter.contains(pointer)) {
        let delta = ui.input_mut(|input| std::mem::take(&mut input.smooth_scroll_delta.y));
        if delta != 0.0 {
            ui.scroll_with_delta(vec2(0.0, delta));
        }
    }
}

/// Sets the field's selection to ours.
fn hand_over(ui: &Ui, id: Id, text: &str, selection: Selection) {
    let cursor = |offset: usize| CCursor::new(text[..offset].chars().count());
    let wanted = CCursorRange::two(cursor(selection.anchor), cursor(selection.head));
    let mut state = TextEditState::load(ui.ctx(), id).unwrap_or_default();
    let range = state.cursor.char_range();
    let same = range.is_some_and(|range| {
        range.primary.index == wanted.primary.index
            && range.secondary.index == wanted.secondary.index
    });
    if !same {
        state.cursor.set_char_range(Some(wanted));
        state.store(ui.ctx(), id);
    }
}

fn byte_of(text: &str, cursor: CCursor) -> usize {
    let index = cursor.index.0;
    if text.is_ascii() {
        return index.min(text.len());
    }
    text.char_indices().nth(index).map_or(text.len(), |(at, _)| at)
}

fn cursor_rect(page: &TextPage, text: &str, offset: usize) -> Rect {
    let offset = floor(text, offset);
    let cursor = CCursor::new(text[..offset].chars().count());
    page.galley.pos_from_cursor(cursor).translate(page.origin.to_vec2())
}
