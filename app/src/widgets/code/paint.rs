//! Token colours and line layout.

use std::sync::Arc;

use egui::text::{LayoutJob, TextFormat};
use egui::{Color32, FontId, Galley, Ui};

use super::syntax::{Span, Token};
use crate::theme::Tokens;

/// The colour of a token.
#[must_use]
pub fn color(tokens: &Tokens, token: Token) -> Color32 {
    let syntax = &tokens.syntax;
    match token {
        Token::Plain => syntax.plain,
        Token::Keyword => syntax.keyword,
        Token::Kind => syntax.kind,
        Token::Function => syntax.function,
        Token::Number => syntax.number,
        Token::String => syntax.string,
        Token::Comment => syntax.comment,
        Token::Directive => syntax.directive,
        Token::Builtin => syntax.builtin,
        Token::Register => syntax.register,
        Token::Punctuation => syntax.punctuation,
    }
    .0
}

/// Height of a code line, in points.
#[must_use]
pub fn line_height(size: f32) -> f32 {
    (size * 1.45).round()
}

/// The text format for a font size.
#[must_use]
pub fn format(size: f32, color: Color32) -> TextFormat {
    TextFormat {
        font_id: FontId::monospace(size),
        color,
        line_height: Some(line_height(size)),
        valign: egui::Align::Center,
        ..TextFormat::default()
    }
}

/// Lays out one line in its colours, without wrapping.
#[must_use]
pub fn line(ui: &Ui, tokens: &Tokens, size: f32, text: &str, spans: &[Span]) -> Arc<Galley> {
    let mut job = LayoutJob { keep_trailing_whitespace: true, ..LayoutJob::default() };
    job.wrap.max_width = f32::INFINITY;
    let plain = color(tokens, Token::Plain);
    let mut from = 0;
    for span in spans {
        // Spans of another text may be out of bounds.
        let (Some(before), Some(piece)) =
            (text.get(from..span.bytes.start), text.get(span.bytes.clone()))
        else {
            break;
        };
        job.append(before, 0.0, format(size, plain));
        job.append(piece, 0.0, format(size, color(tokens, span.token)));
        from = span.bytes.end;
    }
    job.append(text.get(from..).unwrap_or_default(), 0.0, format(size, plain));
    if job.sections.is_empty() {
        job.append("", 0.0, format(size, plain));
    }
    ui.fonts_mut(|fonts| fonts.layout_job(job))
}

/// An invisible name for keyboard navigation, tests and screen readers.
pub fn name(ui: &Ui, id: egui::Id, name: &str) {
    ui.ctx().accesskit_node_builder(id, |node| node.set_label(name));
}
