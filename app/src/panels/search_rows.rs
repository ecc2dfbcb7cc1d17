//! One row of the tree of variants: lines from its parent, what it is, and what came of it.

use egui::{
    Align2, Color32, EventFilter, FontId, Id, Key, Painter, Rect, Response, Role, Sense, Stroke,
    TextStyle, Ui, WidgetInfo, pos2, vec2,
};
use lightbench_core::search::entry::Basis;
use lightbench_core::search::{Story, Variant};

use crate::theme::{self, ROW, Tokens};
use crate::widgets::icon::Icon;
use crate::workbench::search::{Rail, SearchCommand, Standing, TreeRow, standing};

/// The width of one step of the tree.
const STEP: f32 = 14.0;
/// The width of a factor such as `12.34 ×`, as a part of the size of its letters.
const WIDEST_FACTOR: f32 = 3.5;
/// Deeper steps than these have no more room.
const MOST_STEPS: usize = 12;

/// How a row is marked.
pub(super) struct Marked<'a> {
    /// Whether its variant is looked at.
    pub(super) is_chosen: bool,
    /// Why a person turned it down.
    pub(super) rejection: Option<&'a str>,
}

/// The rows above and below.
pub(super) struct Near {
    /// The variant above.
    pub(super) before: Option<usize>,
    /// The variant below.
    pub(super) after: Option<usize>,
}

fn id(variant: usize) -> Id {
    Id::unique(("search variant", variant))
}

/// Draws a row; gives what is to be looked at instead.
pub(super) fn line(
    ui: &mut Ui,
    story: &Story,
    row: &TreeRow,
    (marked, near): (Marked<'_>, Near),
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
    let left = rails(ui.painter(), &tokens, row, place);
    let what = &variant.proposal.what;
    let title = match standing {
        Standing::Failed(failed) => format!("{what} · {}", failed.sentence),
        Standing::Waiting
        | Standing::Looked
        | Standing::Best
        | Standing::WasBest
        | Standing::Kept
        | Standing::Rejected
        | Standing::Skipped
        | Standing::NotJudged => what.clone(),
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

/// Lines from the parent; gives where the rest of the row begins.
fn rails(painter: &Painter, tokens: &Tokens, row: &TreeRow, place: Rect) -> f32 {
    let stroke = Stroke::new(1.0, tokens.line.strong.0);
    let middle = place.center().y;
    let left_out = row.rails.len().saturating_sub(MOST_STEPS);
    let mut left = place.left() + 6.0;
    for rail in row.rails.iter().skip(left_out) {
        let x = left + STEP / 2.0;
        match rail {
            Rail::Blank => {}
            Rail::Through => drop(painter.vline(x, place.y_range(), stroke)),
            Rail::Branch => {
                painter.vline(x, place.y_range(), stroke);
                painter.hline(x..=left + STEP, middle, stroke);
            }
            Rail::Corner => {
                painter.vline(x, place.top()..=middle, stroke);
                painter.hline(x..=left + STEP, middle, stroke);
            }
        }
        left += STEP;
    }
    left + 2.0
}

/// What came of a variant: short for the right edge, and told whole.
struct Outcome {
    short: String,
    told: String,
    basis: Option<Basis>,
}

fn outcome(story: &Story, number: usize, standing: Standing<'_>, marked: &Marked<'_>) -> Outcome {
    let word = match standing {
        Standing::Waiting => "nothing is known yet".to_owned(),
        Standing::Looked => "looked at".to_owned(),
        Standing::Best => "the best".to_owned(),
        Standing::WasBest => "was the best".to_owned(),
        Standing::Kept => "kept to go on from".to_owned(),
        Standing::Rejected => "not used".to_owned(),
        Standing::Skipped => "not looked at".to_owned(),
        Standing::NotJudged => "not judged".to_owned(),
        Standing::Failed(failed) => failed.sentence.clone(),
    };
    let word = match marked.rejection {
        Some(why) => format!("{word}, rejected by you: {why}"),
        None => word,
    };
    let factor = match standing {
        Standing::Failed(_) | Standing::Skipped | Standing::NotJudged => None,
        Standing::Waiting
        | Standing::Looked
        | Standing::Best
        | Standing::WasBest
        | Standing::Kept
        | Standing::Rejected => story.speedup(number),
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
        (None, Standing::Failed(failed)) => {
            Outcome { short: failed.kind.replace('_', " "), told: word, basis }
        }
        (None, Standing::Skipped) => predicted(story, number, word),
        (None, Standing::NotJudged) => {
            Outcome { short: "not judged".to_owned(), told: word, basis }
        }
        (
            None,
            Standing::Waiting
            | Standing::Looked
            | Standing::Best
            | Standing::WasBest
            | Standing::Kept
            | Standing::Rejected,
        ) => Outcome { short: "…".to_owned(), told: word, basis },
    }
}

/// What is said of a variant that nobody looked at: never a number that could be taken for a time.
fn predicted(story: &Story, number: usize, word: String) -> Outcome {
    let factor = story.variants.get(number).and_then(Variant::predicted);
    let told = match factor {
        Some(factor) => format!("{factor:.2} times as fast, predicted, {word}"),
        None => word,
    };
    Outcome { short: "predicted".to_owned(), told, basis: None }
}

const fn mark(standing: Standing<'_>, tokens: &Tokens) -> (Icon, Color32) {
    match standing {
        Standing::Waiting => (Icon::Ring, tokens.status.running.0),
        Standing::Looked => (Icon::Ring, tokens.text.weak.0),
        Standing::Best => (Icon::Star, tokens.status.good.0),
        Standing::WasBest => (Icon::StarOutline, tokens.status.good.0),
        Standing::Kept => (Icon::Check, tokens.status.good.0),
        Standing::Rejected => (Icon::Down, tokens.text.weak.0),
        Standing::Skipped => (Icon::Diamond, tokens.origin.predicted.0),
        Standing::NotJudged => (Icon::Warning, tokens.status.warning.0),
        Standing::Failed(_) => (Icon::Cross, tokens.status.bad.0),
    }
}

fn draw(
    ui: &Ui,
    tokens: &Tokens,
    (standing, outcome): (Standing<'_>, &Outcome),
    (place, left): (Rect, f32),
    (number, what): (usize, &str),
) {
    let painter = ui.painter();
    let font = TextStyle::Body.resolve(ui.style());
    let middle = place.center().y;
    let (icon, color) = mark(standing, tokens);
    let at = Rect::from_center_size(pos2(left + 7.0, middle), vec2(11.0, 11.0));
    icon.paint(painter, at, color);
    let is_failed = matches!(standing, Standing::Failed(_));
    let ink = if is_failed { tokens.status.bad.0 } else { tokens.text.strong.0 };
    let right = place.right() - 8.0;
    let drawn =
        painter.text(pos2(right, middle), Align2::RIGHT_CENTER, &outcome.short, font.clone(), ink);
    let mut right = drawn.left() - 6.0;
    if let Some(basis) = outcome.basis {
        // Where numbers come from stands in one column, however long they are.
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

/// As much of a text as there is room for.
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

/// The row that arrow keys go to.
fn keys(ui: &Ui, response: &Response, near: &Near) -> Option<usize> {
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
        // The row that had the key has used it: the next one looks only in the next frame.
        ui.input_mut(|input| {
            input.consume_key(egui::Modifiers::NONE, Key::ArrowDown);
            input.consume_key(egui::Modifiers::NONE, Key::ArrowUp);
        });
        ui.memory_mut(|memory| memory.request_focus(id(next)));
    }
    next
}
