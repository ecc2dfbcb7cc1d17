//! The variants of a search as a tree, one row each.

use lightbench_core::search::SearchState;

use super::{FailureVisibility, failed};

/// A variant in its row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TreeRow {
    pub variant: usize,
    /// The guides before it, from the root on.
    pub guides: Vec<TreeGuide>,
}

/// A guide line of the tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TreeGuide {
    Blank,
    /// Continues an ancestor that has more children below.
    Through,
    /// Connects to the parent, which has more children below.
    Branch,
    /// Connects to the parent as its last child.
    Corner,
}

/// All variants in display order: children below their parents, in order of creation.
#[must_use]
pub fn tree(story: &SearchState, failures: FailureVisibility) -> Vec<TreeRow> {
    let count = story.variants.len();
    let mut children = vec![Vec::new(); count];
    let mut is_seen = vec![false; count];
    // Parents precede their children, so the reverse order sees every child before its parent.
    for (number, variant) in story.variants.iter().enumerate().rev() {
        is_seen[number] |= failures == FailureVisibility::Shown || failed(variant).is_none();
        if let Some(parent) = variant.proposal.parent.filter(|_| is_seen[number]) {
            is_seen[parent] = true;
            children[parent].push(number);
        }
    }
    let roots = (0..count).rev().filter(|each| story.variants[*each].proposal.parent.is_none());
    let mut open: Vec<TreeRow> = roots
        .filter(|root| is_seen[*root])
        .map(|variant| TreeRow { variant, guides: Vec::new() })
        .collect();
    let mut rows = Vec::new();
    while let Some(row) = open.pop() {
        // Stacks hold the last child first, so that the first one is popped first.
        for (place, child) in children[row.variant].iter().enumerate() {
            let mut rails: Vec<TreeGuide> = row.guides.iter().map(|rail| below(*rail)).collect();
            rails.push(if place == 0 { TreeGuide::Corner } else { TreeGuide::Branch });
            open.push(TreeRow { variant: *child, guides: rails });
        }
        rows.push(row);
    }
    rows
}

/// The guide in the rows of the children.
const fn below(rail: TreeGuide) -> TreeGuide {
    match rail {
        TreeGuide::Blank | TreeGuide::Corner => TreeGuide::Blank,
        TreeGuide::Through | TreeGuide::Branch => TreeGuide::Through,
    }
}
