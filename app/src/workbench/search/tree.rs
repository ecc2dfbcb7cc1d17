//! Variants as a tree, one row each: what came of which.

use lightbench_core::search::Story;

use super::{Failures, failed};

/// A variant in its row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TreeRow {
    /// Its number.
    pub variant: usize,
    /// The lines before it, from the first ancestor on.
    pub rails: Vec<Rail>,
}

/// A line before a variant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rail {
    /// None.
    Blank,
    /// An ancestor has more children below.
    Through,
    /// Its parent, which has more children below.
    Branch,
    /// Its parent, whose last child it is.
    Corner,
}

/// All variants in the order in which they are listed: children below their parents, as they were made.
#[must_use]
pub fn tree(story: &Story, failures: Failures) -> Vec<TreeRow> {
    let count = story.variants.len();
    let mut children = vec![Vec::new(); count];
    let mut is_seen = vec![false; count];
    // Parents come before their children, so that each is seen before it is asked whether its parent must be.
    for (number, variant) in story.variants.iter().enumerate().rev() {
        is_seen[number] |= failures == Failures::Shown || failed(variant).is_none();
        if let Some(parent) = variant.proposal.parent.filter(|_| is_seen[number]) {
            is_seen[parent] = true;
            children[parent].push(number);
        }
    }
    let roots = (0..count).rev().filter(|each| story.variants[*each].proposal.parent.is_none());
    let mut open: Vec<TreeRow> = roots
        .filter(|root| is_seen[*root])
        .map(|variant| TreeRow { variant, rails: Vec::new() })
        .collect();
    let mut rows = Vec::new();
    while let Some(row) = open.pop() {
        // Lists are from the last child to the first, as what is taken next lies on top.
        for (place, child) in children[row.variant].iter().enumerate() {
            let mut rails: Vec<Rail> = row.rails.iter().map(|rail| below(*rail)).collect();
            rails.push(if place == 0 { Rail::Corner } else { Rail::Branch });
            open.push(TreeRow { variant: *child, rails });
        }
        rows.push(row);
    }
    rows
}

/// How a line goes on in the rows of children.
const fn below(rail: Rail) -> Rail {
    match rail {
        Rail::Blank | Rail::Corner => Rail::Blank,
        Rail::Through | Rail::Branch => Rail::Through,
    }
}
