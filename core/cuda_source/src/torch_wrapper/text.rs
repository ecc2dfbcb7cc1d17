//! A text that is read: a file, or the expansion of a macro.

use tree_sitter::Node;

use crate::error::SourceLocation;
use crate::source::{Source, brief};

use super::refusal::{Refusal, Why};

/// A text that is read: the file, or the expansion of a macro, whose places are that of the macro's use.
#[derive(Clone, Copy)]
pub(super) struct Text<'text> {
    pub(super) source: &'text Source<'text>,
    pub(super) at: Option<SourceLocation>,
}

impl<'text> Text<'text> {
    pub(super) fn of(self, node: Node<'_>) -> &'text str {
        self.source.node_text(node)
    }

    pub(super) fn place(self, node: Node<'_>) -> SourceLocation {
        self.at.unwrap_or_else(|| self.source.place(node.start_byte()))
    }

    pub(super) fn refused(self, node: Node<'_>, why: Why) -> Refusal {
        Refusal { place: self.place(node), found: brief(self.of(node), 60), why }
    }
}
