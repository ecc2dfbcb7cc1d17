//! A row of the variant tree: guides from its parent, title and result.

use egui::{
    Align2, Color32, EventFilter, FontId, Id, Key, Painter, Rect, Response, Role, Sense, Stroke,
    TextStyle, Ui, WidgetInfo, pos2, vec2,
};
use lightbench_core::search::SearchState;
use lightbench_core::search::entry::Basis;

use crate::theme::{self, ROW, Tokens};
use crate::widgets::icon::Icon;
use crate::workbench::search::{SearchCommand, TreeGuide, TreeRow, VariantState, standing};

/// Width of one level of the tree, in points.
const STEP: f32 = 14.0;
/// Width of a factor such as `12.34 ×`, in multiples of the font size.
const WIDEST_FACTOR: f32 = 3.5;
/// Deeper levels are not indented further.
const MOST_STEPS: usize = 12;

/// The marks of a row.
pub(super) struct RowState<'a> {
    /// Whether its variant is selected.
    pub(super) is_chosen: bool,
    /// The user's reason for rejecting it.
    pub(super) rejection: Option<&'a str>,
}

/// The rows above and below.
pub(super) struct Neighbours {
    pub(super) before: Option<usize>,
    pub(super) after: Option<usize>,
}

fn id(variant: usize) -> Id {
    Id::unique(("search variant", variant))
}

/// Draws a row; returns the variant to select instead.
pub(super) fn line(
    ui: &mut Ui,
    story: &SearchState,
    row: &TreeRow,
    (marked, near): (RowState<'_>, Neighbours),
) -> Option<SearchCommand> {
    let tokens = theme::tokens(ui);
    let variant = story.variants.get(row.variant)?;
    let standing = standing(story, row.variant)?;
    let (place, _) = ui.allocate_exact_size(vec2(ui.available_width(), ROW), Sense::hover());
    let response = ui.interact(place, id(row.variant), Sense::click());
    let outcome = outcome(story, row.variant, standing, &marked);
    let number = row.variant;
    let name = format!("Variant {number}, {}: {}", variant.proposal.what, outcome.told);
    response.widget_info(|| WidgetInfo::selected(Role::ListItem, true, marked.is_chosen, &name));
    if marked.is_chosen {
        ui.painter().rect_filled(place, 0.0, tokens.surface.selected.0);
    } else if response.hovered() || response.has_focus() {
        ui.painter().rect_filled(place, 0.0, tokens.surface.raised.0);
    }
    let left = paint_guides(ui.painter(), &tokens, row, place);
    let what = &variant.proposal.what;
    let title = match standing {
        VariantState::Failed(failed) => format!("{what} · {}", failed.sentence),
        VariantState::Waiting
        | VariantState::Looked
        | VariantState::Best
        | VariantState::WasBest
        | VariantState::Kept
        | VariantState::Rejected
        | VariantState::NotJudged => what.clone(),
    };
    draw(ui, &tokens, (standing, &outcome), (place, left), (number, &title));
    let next = keys(ui, &response, &near);
    let clicked = response.clicked().then_some(number);
    if clicked.is_some() {
        response.request_focus();
    }
    response.on_hover_text(name);
    clicked.or(next).map(SearchCommand::Select)
}

/// The guides from the parent; returns where the rest of the row begins.
fn paint_guides(painter: &Painter, tokens: &Tokens, row: &TreeRow, place: Rect) -> f32 {
    let stroke = Stroke::new(1.0, tokens.line.strong.0);
    let middle = place.center().y;
    let left_out = row.guides.len().saturating_sub(MOST_STEPS);
    let mut left = place.left() + 6.0;
    for rail in row.guides.iter().skip(left_out) {
        let x = left + STEP / 2.0;
        match rail {
            TreeGuide::Blank => {}
            TreeGuide::Through => drop(painter.vline(x, place.y_range(), stroke)),
            TreeGuide::Branch => {
                painter.vline(x, place.y_range(), stroke);
                painter.hline(x..=left + STEP, middle, stroke);
            }
            TreeGuide::Corner => {
                painter.vline(x, place.top()..=middle, stroke);
                painter.hline(x..=left + STEP, middle, stroke);
            }
        }
        left += STEP;
    }
    left + 2.0
}

/// The result of a variant: a short form for the row, a long form for the tooltip.
struct Outcome {
    short: String,
    told: String,
    basis: Option<Basis>,
}

fn outcome(
    story: &SearchState,
    number: usize,
    standing: VariantState<'_>,
    marked: &RowState<'_>,
) -> Outcome {
    let word = match standing {
        VariantState::Waiting => "no result yet".to_owned(),
        VariantState::Looked => "looked at".to_owned(),
        VariantState::Best => "the best".to_owned(),
        VariantState::WasBest => "was the best".to_owned(),
        VariantState::Kept => "kept as a parent".to_owned(),
        VariantState::Rejected => "not used".to_owned(),
        VariantState::NotJudged => "not judged".to_owned(),
        VariantState::Failed(failed) => failed.sentence.clone(),
    };
    let word = match marked.rejection {
        Some(why) => format!("{word}, rejected by you: {why}"),
        None => word,
    };
    let factor = match standing {
        VariantState::Failed(_) | VariantState::NotJudged => None,
        VariantState::Waiting
        | VariantState::Looked
        | VariantState::Best
        | VariantState::WasBest
        | VariantState::Kept
        | VariantState::Rejected => story.speedup(number),
    };
    let basis = factor.and(story.basis(number));
    let how = match basis {
        Some(Basis::Measured) => "measured",
        Some(Basis::Modelled) | None => "modelled",
    };
    match (factor, standing) {
        (Some(factor), _) => Outcome {
            short: format!("{factor:.2}\u{a0}×"),
            told: format!("{factor:.2} times as fast, {how}, {word}"),
            basis,
        },
        (None, VariantState::Failed(failed)) => {
            Outcome { short: failed.kind.replace('_', " "), told: word, basis }
        }
        (None, VariantState::NotJudged) => {
            Outcome { short: "not judged".to_owned(), told: word, basis }
        }
        (
            None,
            VariantState::Waiting
            | VariantState::Looked
            | VariantState::Best
            | VariantState::WasBest
            | VariantState::Kept
            | VariantState::Rejected,
        ) => Outcome { short: "…".to_owned(), told: word, basis },
    }
}

const fn mark(standing: VariantState<'_>, tokens: &Tokens) -> (Icon, Color32) {
    match standing {
        VariantState::Waiting => (Icon::Ring, tokens.status.running.0),
        VariantState::Looked => (Icon::Ring, tokens.text.weak.0),
        VariantState::Best => (Icon::Star, tokens.status.good.0),
        VariantState::WasBest => (Icon::StarOutline, tokens.status.good.0),
        VariantState::Kept => (Icon::Check, tokens.status.good.0),
        VariantState::Rejected => (Icon::Down, tokens.text.weak.0),
        VariantState::NotJudged => (Icon::Warning, tokens.status.warning.0),
        VariantState::Failed(_) => (Icon::Cross, tokens.status.bad.0),
    }
}

fn draw(
    ui: &Ui,
    tokens: &Tokens,
    (standing, outcome): (VariantState<'_>, &Outcome),
    (place, left): (Rect, f32),
    (number, what): (usize, &str),
) {
    let painter = ui.painter();
    let font = TextStyle::Body.resolve(ui.style());
    let middle = place.center().y;
    let (icon, color) = mark(standing, tokens);
    let at = Rect::from_center_size(pos2(left + 7.0, middle), vec2(11.0, 11.0));
    icon.paint(painter, at, color);
    let is_failed = matches!(standing, VariantState::Failed(_));
    let ink = if is_failed { tokens.status.bad.0 } else { tokens.text.strong.0 };
    let right = place.right() - 8.0;
    let drawn =
        painter.text(pos2(right, middle), Align2::RIGHT_CENTER, &outcome.short, font.clone(), ink);
    let mut right = drawn.left() - 6.0;
    if let Some(basis) = outcome.basis {
        // Origins are aligned in one column, regardless of the length of numbers.
        right = right.min(place.right() - 14.0 - font.size * WIDEST_FACTOR);
        let (icon, color) = match basis {
            Basis::Measured => (Icon::Dot, tokens.origin.measured.0),
            Basis::Modelled => (Icon::Ring, tokens.origin.modelled.0),
        };
        let at = Rect::from_center_size(pos2(right - 4.0, middle), vec2(10.0, 10.0));
        icon.paint(painter, at, color);
        right -= 14.0;
    }
    let weak = tokens.text.weak.0;
    let numbered = painter.text(
        pos2(left + 18.0, middle),
        Align2::LEFT_CENTER,
        format!("#{number}"),
        font.clone(),
        weak,
    );
    let ink = if is_failed { weak } else { tokens.text.normal.0 };
    title(painter, what, (numbered.right() + 6.0, right, middle), (font, ink));
}

/// A text, cut to the available width.
fn title(
    painter: &Painter,
    text: &str,
    (left, right, middle): (f32, f32, f32),
    (font, ink): (FontId, Color32),
) {
    let mut job = egui::text::LayoutJob::single_section(
        text.to_owned(),
        egui::text::TextFormat::simple(font, ink),
    );
    job.wrap = egui::text::TextWrapping::truncate_at_width((right - left).max(0.0));
    let galley = painter.layout_job(job);
    painter.galley(pos2(left, middle - galley.size().y / 2.0), galley, ink);
}

/// The row that an arrow key selects.
fn keys(ui: &Ui, response: &Response, near: &Neighbours) -> Option<usize> {
    if !response.has_focus() {
        return None;
    }
    let filter = EventFilter { vertical_arrows: true, ..EventFilter::default() };
    ui.memory_mut(|memory| memory.set_focus_lock_filter(response.id, filter));
    let pressed = |key: Key| ui.input(|input| input.key_pressed(key));
    let next = if pressed(Key::ArrowDown) {
        near.after
    } else if pressed(Key::ArrowUp) {
        near.before
    } else {
        None
    };
    if let Some(next) = next {
        // Consumes the key: the selected row must not handle it in the same frame.
        ui.input_mut(|input| {
            input.consume_key(egui::Modifiers::NONE, Key::ArrowDown);
            input.consume_key(egui::Modifiers::NONE, Key::ArrowUp);
        });
        ui.memory_mut(|memory| memory.request_focus(id(next)));
    }
    next
}
