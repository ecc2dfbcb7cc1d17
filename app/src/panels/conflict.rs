//! A text that was changed here and on disk: both beside each other, until one of them is chosen.

use egui::Ui;

use crate::widgets::code::diff::{Diff, DiffView};
use crate::widgets::code::syntax::Language;
use crate::workbench::documents::Document;

/// Both texts as they were last held against each other.
#[derive(Default)]
pub(super) struct ConflictView {
    shown: Option<Shown>,
}

struct Shown {
    texts: [String; 2],
    diff: Diff,
    view: DiffView,
}

/// Draws both; what was typed since is to the right.
pub(super) fn show(ui: &mut Ui, document: &Document, theirs: &str, view: &mut ConflictView) {
    let is_shown = |shown: &Shown| shown.texts == [theirs, document.text.as_str()];
    if !view.shown.as_ref().is_some_and(is_shown) {
        let texts = [theirs.to_owned(), document.text.clone()];
        let diff = Diff::of_texts(theirs, &document.text);
        let view_of = DiffView::new("Both texts", Language::Cuda);
        view.shown = Some(Shown { texts, diff, view: view_of });
    }
    let Some(Shown { diff, view, .. }) = &mut view.shown else { return };
    view.show(ui, diff, ["On disk", "Here"]);
}
