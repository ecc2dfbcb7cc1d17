//! Text layout: each line is laid out once; the whole is reassembled when a line changes.

use std::sync::Arc;

use egui::text::LayoutJob;
use egui::{Galley, Ui};

use crate::theme::{self, Tokens};
use crate::widgets::code::highlight::Highlighter;
use crate::widgets::code::paint;
use crate::widgets::code::syntax::{Language, Token};

/// Maximum number of lines highlighted per frame.
const PORTION: usize = 250;

/// The laid-out lines.
pub(super) struct Paragraphs {
    pub(super) highlighter: Highlighter,
    lines: Vec<Option<Arc<Galley>>>,
    whole: Option<Arc<Galley>>,
    look: Option<Look>,
}

/// The appearance of lines; a change causes a new layout.
struct Look {
    size: f32,
    tokens: Arc<Tokens>,
    pixels_per_point: f32,
    /// Laid out in every frame: egui returns the same galley while its fonts are unchanged.
    probe: Arc<Galley>,
}

impl Look {
    fn new(ui: &Ui, size: f32) -> Self {
        let tokens = theme::tokens(ui);
        let probe = paint::line(ui, &tokens, size, "probe", &[]);
        Self { size, tokens, pixels_per_point: ui.pixels_per_point(), probe }
    }

    fn is(&self, other: &Self) -> bool {
        self.size.to_bits() == other.size.to_bits()
            && Arc::ptr_eq(&self.tokens, &other.tokens)
            && self.pixels_per_point.to_bits() == other.pixels_per_point.to_bits()
            && Arc::ptr_eq(&self.probe, &other.probe)
    }
}

impl Paragraphs {
    pub(super) const fn new(language: Language) -> Self {
        Self { highlighter: Highlighter::new(language), lines: Vec::new(), whole: None, look: None }
    }

    pub(super) fn galley(&mut self, ui: &Ui, text: &str, size: f32) -> Arc<Galley> {
        let look = Look::new(ui, size);
        if !self.look.as_ref().is_some_and(|old| old.is(&look)) {
            self.lines.iter_mut().for_each(|line| *line = None);
            self.whole = None;
        }
        if self.whole.as_ref().is_none_or(|whole| whole.text() != text) {
            let replaced = self.highlighter.update(text);
            let empty = std::iter::repeat_n(None, replaced.new.len());
            self.lines.splice(replaced.old, empty);
            self.whole = None;
        }
        if !self.highlighter.is_settled() {
            let read = self.highlighter.read(PORTION);
            self.lines[read].iter_mut().for_each(|line| *line = None);
            self.whole = None;
            if !self.highlighter.is_settled() {
                ui.ctx().request_repaint();
            }
        }
        let whole = match self.whole.take() {
            Some(whole) => whole,
            None => self.put_together(ui, text, &look),
        };
        self.whole = Some(Arc::clone(&whole));
        self.look = Some(look);
        whole
    }

    fn put_together(&mut self, ui: &Ui, text: &str, look: &Look) -> Arc<Galley> {
        let (tokens, size) = (&look.tokens, look.size);
        let mut galleys = Vec::with_capacity(self.lines.len());
        for (number, line) in self.lines.iter_mut().enumerate() {
            let galley = line.get_or_insert_with(|| {
                let highlighter = &self.highlighter;
                paint::line(ui, tokens, size, highlighter.text(number), highlighter.spans(number))
            });
            galleys.push(Arc::clone(galley));
        }
        let format = paint::format(size, paint::color(tokens, Token::Plain));
        let mut job = LayoutJob::single_section(text.to_owned(), format);
        job.wrap.max_width = f32::INFINITY;
        job.keep_trailing_whitespace = true;
        Arc::new(Galley::concat(Arc::new(job), &galleys, look.pixels_per_point))
    }
}
