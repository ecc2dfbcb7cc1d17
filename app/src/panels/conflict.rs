//! Panel of a conflict: the editor's text and the text on disk side by side, until the user selects one.

use egui::Ui;

use crate::widgets::code::diff::{Diff, DiffView};
use crate::widgets::code::syntax::Language;
use crate::workbench::documents::Document;

/// The compared texts of the last frame.
#[derive(Default)]
pub(super) struct ConflictView {
    shown: Option<Shown>,
}

struct Shown {
    texts: [String; 2],
    diff: Diff,
    view: DiffView,
}

/// Draws both texts; the editor's is on the right.
pub(super) fn show(ui: &mut Ui, document: &Document, theirs: &str, view: &mut ConflictView) {
    let is_shown = |shown: &Shown| shown.texts == [theirs, document.text.as_str()];
    if !view.shown.as_ref().is_some_and(is_shown) {
        let texts = [theirs.to_owned(), document.text.clone()];
        let diff = Diff::from_texts(theirs, &document.text);
        let view_of = DiffView::new("Both texts", Language::Cuda);
        view.shown = Some(Shown { texts, diff, view: view_of });
    }
    let Some(Shown { diff, view, .. }) = &mut view.shown else { return };
    view.show(ui, diff, ["On disk", "Here"]);
}
