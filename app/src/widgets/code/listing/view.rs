//! A listing on the screen: selection, links to source lines, find bar.

use std::collections::HashMap;
use std::ops::Range;

use egui::{
    Event, EventFilter, Id, Key, Modifiers, Rect, Response, Role, ScrollArea, Sense, Ui,
    WidgetInfo, vec2,
};

use super::Listing;
use super::row::{Layout, RowColors, RowView};
use crate::theme::{self, Tokens};
use crate::widgets::code::editor::{Direction, FindAction, FindBar, Purpose};
use crate::widgets::code::heat_colors;
use crate::widgets::code::marks::Revision;
use crate::widgets::code::paint;
use crate::widgets::code::syntax::{Span, spans_of_line};

/// View state of a listing.
#[derive(Clone, Debug)]
pub struct CodeListing {
    name: String,
    size: f32,
    /// The selected rows: anchor and head.
    selection: Option<(usize, usize)>,
    find_bar: FindBar,
    scroll_to: Option<usize>,
    shift: f32,
    /// Tokens of rows that were visible.
    known: HashMap<usize, Vec<Span>>,
    generation: Option<u64>,
    height: f32,
    offset: f32,
}

/// What the user did with a listing.
#[derive(Debug)]
pub struct Answer {
    /// The row selected in this frame.
    pub chosen: Option<usize>,
    /// The row under the pointer.
    pub hovered: Option<usize>,
    /// The response of the whole listing.
    pub response: Response,
}

/// Maximum number of rows with cached tokens.
const KNOWN: usize = 4_000;

impl CodeListing {
    /// A view with this name.
    #[must_use]
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            size: 12.5,
            selection: None,
            find_bar: FindBar::default(),
            scroll_to: None,
            shift: 0.0,
            known: HashMap::new(),
            generation: None,
            height: 0.0,
            offset: 0.0,
        }
    }

    /// Sets the font size in points.
    pub fn set_font_size(&mut self, size: f32) {
        self.size = size.clamp(6.0, 48.0);
    }

    /// Scrolls to a row in the next frame.
    pub const fn scroll_to_row(&mut self, row: usize) {
        self.scroll_to = Some(row);
    }

    /// Scrolls to the first row of a source line, from 1; returns whether there is one.
    pub fn scroll_to_source(&mut self, listing: &Listing, line: usize) -> bool {
        let row = listing.rows.iter().position(|row| row.source == Some(line));
        self.scroll_to = row.or(self.scroll_to);
        row.is_some()
    }

    /// Opens the find bar.
    pub fn find(&mut self) {
        self.find_bar.open(Purpose::Find, "", self.selected().map_or(0, |rows| rows.start));
    }

    /// The selected rows.
    #[must_use]
    pub fn selected(&self) -> Option<Range<usize>> {
        self.selection.map(|(anchor, head)| anchor.min(head)..anchor.max(head) + 1)
    }

    /// Draws the listing in the available space; highlights the rows of the source line, from 1, that is selected
    /// elsewhere.
    pub fn show(
        &mut self,
        ui: &mut Ui,
        listing: &Listing,
        selected_source: Option<usize>,
    ) -> Answer {
        if self.generation != Some(listing.generation) {
            self.generation = Some(listing.generation);
            self.known.clear();
            self.selection = None;
            self.shift = 0.0;
        }
        let before = self.selection;
        let id = ui.make_persistent_id(("listing", &self.name));
        ui.push_id(self.name.clone(), |ui| {
            ui.spacing_mut().item_spacing.y = 0.0;
            ui.spacing_mut().scroll.fade.strength = 0.0;
            self.keys(ui, id, listing);
            self.bar(ui, id, listing);
            let (response, hovered) = self.body(ui, id, listing, selected_source);
            let now = self.selection.filter(|_| self.selection != before);
            Answer { chosen: now.map(|(_, head)| head), hovered, response }
        })
        .inner
    }

    fn bar(&mut self, ui: &mut Ui, id: Id, listing: &Listing) {
        let here = self.selected().unwrap_or(0..0);
        let wish = self.find_bar.show(ui, &here);
        let found = self.find_bar.search_in(Revision(listing.generation), |query| {
            let rows = listing.rows.iter().enumerate();
            let fitting = rows.filter(|(_, row)| query.is_in(&row.text));
            fitting.map(|(number, _)| number..number + 1).collect()
        });
        if found || wish == Some(FindAction::Show) {
            self.select_match();
        }
        if wish == Some(FindAction::Close) {
            self.find_bar.close();
            ui.memory_mut(|memory| memory.request_focus(id));
        }
    }

    fn select_match(&mut self) {
        if let Some(found) = self.find_bar.place() {
            self.selection = Some((found.start, found.start));
            self.reveal(found.start);
        }
    }

    fn keys(&mut self, ui: &Ui, id: Id, listing: &Listing) {
        if !ui.memory(|memory| memory.has_focus(id)) || listing.rows.is_empty() {
            return;
        }
        let filter = EventFilter {
            vertical_arrows: true,
            escape: self.find_bar.purpose != Purpose::Closed,
            ..EventFilter::default()
        };
        ui.memory_mut(|memory| memory.set_focus_lock_filter(id, filter));
        let page = (self.height / paint::line_height(self.size)).max(2.0) as usize - 1;
        let last = listing.rows.len() - 1;
        for event in ui.input(|input| input.filtered_events(&filter)) {
            if event == Event::Copy
                && let Some(text) = self.text(listing)
            {
                ui.copy_text(text);
            }
            let Event::Key { key, pressed: true, modifiers, .. } = event else { continue };
            let head = self.selection.map_or(0, |(_, head)| head);
            let moves = [
                (Key::ArrowDown, self.selection.map_or(0, |_| head + 1)),
                (Key::ArrowUp, head.saturating_sub(1)),
                (Key::PageDown, head + page),
                (Key::PageUp, head.saturating_sub(page)),
                (Key::Home, 0),
                (Key::End, last),
            ];
            match moves.into_iter().find(|(wanted, _)| *wanted == key) {
                Some((_, to)) => self.select(to.min(last), modifiers),
                None => self.command(key, modifiers, last),
            }
        }
    }

    fn command(&mut self, key: Key, modifiers: Modifiers, last: usize) {
        if modifiers.command && key == Key::F {
            self.find();
        } else if modifiers.command && key == Key::A {
            self.selection = Some((0, last));
        } else if key == Key::Escape {
            self.find_bar.close();
        } else if key == Key::F3 {
            let here = self.selected().unwrap_or(0..0);
            let direction = if modifiers.shift { Direction::Previous } else { Direction::Next };
            self.find_bar.step(direction, &here);
            self.select_match();
        }
    }

    fn select(&mut self, row: usize, modifiers: Modifiers) {
        let anchor = self.selection.filter(|_| modifiers.shift).map_or(row, |(anchor, _)| anchor);
        self.selection = Some((anchor, row));
        self.reveal(row);
    }

    /// Scrolls to a row that is not visible.
    fn reveal(&mut self, row: usize) {
        let height = paint::line_height(self.size);
        let top = row as f32 * height;
        if top < self.offset || top + height > self.offset + self.height {
            self.scroll_to = Some(row);
        }
    }

    /// The text of the selected rows.
    fn text(&self, listing: &Listing) -> Option<String> {
        let rows = listing.rows.get(self.selected()?)?;
        let lines: Vec<&str> = rows.iter().map(|row| row.text.as_str()).collect();
        Some(lines.join("\n"))
    }

    fn body(
        &mut self,
        ui: &mut Ui,
        id: Id,
        listing: &Listing,
        selected_source: Option<usize>,
    ) -> (Response, Option<usize>) {
        let tokens = theme::tokens(ui);
        let place = ui.available_rect_before_wrap();
        ui.painter().rect_filled(place, 0.0, tokens.surface.sunken.0);
        let response = ui.interact(place, id, Sense::click());
        let name = format!("{}, {} rows", self.name, listing.rows.len());
        response.widget_info(|| WidgetInfo::labeled(Role::ListBox, true, &name));
        let layout = Layout::new(ui, listing, self.size);
        let (_, head) = ui.allocate_space(vec2(place.width(), theme::ROW));
        layout.head(ui, &tokens, listing, head);
        let height = paint::line_height(self.size);
        let mut area =
            ScrollArea::vertical().id_salt(&self.name).auto_shrink(false).animated(false);
        if let Some(row) = self.scroll_to.take() {
            let seen = place.height() - theme::ROW;
            let most = (listing.rows.len() as f32 * height - seen).max(0.0);
            area = area.vertical_scroll_offset((row as f32 * height - seen / 2.0).clamp(0.0, most));
        }
        let mut hovered = None;
        let mut widest = 0.0_f32;
        let shown = area.show_rows(ui, height, listing.rows.len(), |ui, visible| {
            for number in visible {
                let (_, rect) = ui.allocate_space(vec2(ui.available_width(), height));
                let seen = self.row(ui, id, listing, &layout, (number, rect, selected_source));
                widest = widest.max(seen.1);
                if seen.0.hovered() {
                    hovered = Some(number);
                }
            }
        });
        self.height = shown.inner_rect.height();
        self.offset = shown.state.clamped_offset().y;
        self.slide(ui, place, widest - (place.width() - layout.text - 3.0 * layout.letter));
        (response, hovered)
    }

    /// Draws a row; returns its response and the width of its text.
    fn row(
        &mut self,
        ui: &Ui,
        id: Id,
        listing: &Listing,
        layout: &Layout,
        (number, rect, selected_source): (usize, Rect, Option<usize>),
    ) -> (Response, f32) {
        let tokens = theme::tokens(ui);
        let Some(row) = listing.rows.get(number) else {
            return (ui.interact(rect, id.with(number), Sense::hover()), 0.0);
        };
        let response = ui.interact(rect, id.with(number), Sense::CLICK);
        let selected = self.selected().is_some_and(|rows| rows.contains(&number));
        response.widget_info(|| {
            WidgetInfo::selected(Role::ListBoxOption, true, selected, row.text.trim())
        });
        if response.clicked() {
            let modifiers = ui.input(|input| input.modifiers);
            self.select(number, modifiers);
            ui.memory_mut(|memory| memory.request_focus(id));
        }
        let size = self.size;
        let spans = self.spans(listing, number, &row.text);
        let galley = paint::line(ui, &tokens, size, &row.text, spans);
        let width = galley.size().x;
        let source = row.source.map(|line| heat_colors::line_color(&tokens, line));
        let marked = row.source.is_some() && row.source == selected_source;
        let standing = RowColors {
            ground: ground(&tokens, selected, source.filter(|_| marked), &response),
            source,
            edge: self
                .find_bar
                .place()
                .is_some_and(|found| found.start == number)
                .then_some(tokens.status.warning.0),
        };
        let found = self.found(&row.text);
        let drawn = RowView { row, rect, galley, standing, found, shift: self.shift };
        layout.row(ui, &tokens, listing, drawn);
        let response = if row.hover.is_empty() {
            response
        } else {
            response.on_hover_text_at_pointer(&row.hover)
        };
        (response, width)
    }

    fn spans(&mut self, listing: &Listing, number: usize, text: &str) -> &[Span] {
        if self.known.len() > KNOWN {
            self.known.clear();
        }
        self.known.entry(number).or_insert_with(|| spans_of_line(listing.language, text))
    }

    /// Matches in a row, in characters.
    fn found(&self, text: &str) -> Vec<Range<usize>> {
        if self.find_bar.purpose == Purpose::Closed {
            return Vec::new();
        }
        let column = |byte: usize| text[..byte].chars().count();
        let matches = self.find_bar.query.matches(text);
        matches.iter().map(|found| column(found.start)..column(found.end)).collect()
    }

    fn slide(&mut self, ui: &Ui, place: Rect, most: f32) {
        let delta = ui.input(|input| input.smooth_scroll_delta.x);
        if delta != 0.0 && ui.rect_contains_pointer(place) {
            self.shift = (self.shift - delta).clamp(0.0, most.max(self.shift).max(0.0));
            ui.ctx().request_repaint();
        }
    }
}

fn ground(
    tokens: &Tokens,
    selected: bool,
    marked: Option<egui::Color32>,
    response: &Response,
) -> Option<egui::Color32> {
    match (selected, marked, response.hovered()) {
        (true, _, _) => Some(tokens.surface.selected.0),
        (false, Some(color), _) => Some(color.gamma_multiply(0.2)),
        (false, None, true) => Some(tokens.surface.hovered.faded(0.6)),
        (false, None, false) => None,
    }
}
