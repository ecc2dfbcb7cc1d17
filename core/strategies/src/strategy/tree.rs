//! Tree search: descends from the user's candidate, at each step along the branch with the largest gain or the least
//! knowledge, and performs an unopened action where it is rated higher than every branch.
//!
//! UCT: Kocsis and Szepesvári, "Bandit based Monte-Carlo Planning", 2006; over edits of kernels OptiML. With dozens of
//! actions for each candidate, opening all before descending would never reach depth, so an unopened action counts as
//! visited once with its predicted reward (first-play urgency; Gelly and Wang, 2006). A repeatable action averages its
//! prediction with its results.

use super::{Choice, Strategy, choice};
use crate::archive::{Archive, Node};

/// Weight of exploration, as a fraction of the time that the incumbent saves.
const CURIOSITY: f64 = 0.3;

/// Upper confidence bounds on a tree of edits.
pub(super) struct Tree;

/// Statistics of a branch.
#[derive(Clone, Copy, Default)]
struct Branch {
    /// Attempts in the branch, including those of its root.
    visits: f64,
    /// The sum of their rewards.
    reward: f64,
    /// Whether it has open actions.
    open: bool,
}

/// The next step of the descent.
#[derive(Clone, Copy)]
enum Step {
    Down(usize),
    Open(usize),
}

impl Strategy for Tree {
    fn choose(&mut self, archive: &Archive) -> Option<Choice> {
        let best = best_saved(archive);
        let branches = branches(archive, best);
        let roots = archive.nodes().iter().filter(|node| node.origin.is_none());
        let all: f64 = roots.clone().map(|root| branches[root.id].visits).sum();
        let down = roots.filter_map(|root| step_down(&branches, root.id, all));
        let (Step::Down(mut here), _) = highest(down)? else { return None };
        let mut depth = 0;
        loop {
            let node = &archive.nodes()[here];
            let visits = branches[here].visits;
            let open = node.open_actions().map(|(place, action)| {
                let predicted = saved(start_gain(node) + action.expected());
                let times = 1.0 + action.tried as f64;
                let mean = (predicted + given(archive, node, place)) / times;
                (Step::Open(place), bound(mean / best, visits, times))
            });
            let down = node.children.iter().filter_map(|&id| step_down(&branches, id, visits));
            match highest(open.chain(down))? {
                (Step::Down(child), _) => here = child,
                (Step::Open(place), bound) => {
                    let reason = format!(
                        "{depth} steps down the tree, with {visits} visits so far, this action has the highest upper bound of time saved, {:.0} %",
                        100.0 * bound * best
                    );
                    return Some(choice(node, place, reason));
                }
            }
            depth += 1;
        }
    }

    fn name(&self) -> String {
        "tree".to_owned()
    }
}

/// Statistics of every candidate's branch; children come after their parents.
fn branches(archive: &Archive, best: f64) -> Vec<Branch> {
    let mut branches = vec![Branch::default(); archive.nodes().len()];
    for node in archive.nodes().iter().rev() {
        let own = &mut branches[node.id];
        // An attempt that made no candidate was a visit without reward.
        let fruitless = node.was_tried().saturating_sub(node.children.len());
        own.visits += 1.0 + fruitless as f64;
        own.reward += node.outcome.sound_gain().map_or(0.0, saved) / best;
        own.open |= node.is_open();
        let branch = *own;
        if let Some(parent) = node.parent() {
            branches[parent].visits += branch.visits;
            branches[parent].reward += branch.reward;
            branches[parent].open |= branch.open;
        }
    }
    branches
}

/// The sum of the rewards of an action of a candidate.
fn given(archive: &Archive, node: &Node, action: usize) -> f64 {
    let children = node.children.iter().map(|&child| &archive.nodes()[child]);
    let of_it = children.filter(|child| child.origin.is_some_and(|origin| origin.action == action));
    of_it.filter_map(|child| child.outcome.sound_gain()).map(saved).sum()
}

fn step_down(branches: &[Branch], id: usize, visits_above: f64) -> Option<(Step, f64)> {
    let Branch { visits, reward, open } = branches[id];
    open.then(|| (Step::Down(id), bound(reward / visits, visits_above, visits)))
}

/// The upper confidence bound of a reward.
fn bound(mean: f64, visits_above: f64, visits: f64) -> f64 {
    mean + CURIOSITY * (pxfm::f_log(visits_above.max(1.0)) / visits).sqrt()
}

/// The first of the highest.
fn highest(steps: impl Iterator<Item = (Step, f64)>) -> Option<(Step, f64)> {
    steps.reduce(|best, next| if next.1 > best.1 { next } else { best })
}

/// The time that the incumbent saves: rewards are fractions of it, so that the weight of exploration is independent of
/// the size of the gains.
fn best_saved(archive: &Archive) -> f64 {
    let best = archive.incumbent().and_then(|node| node.outcome.sound_gain()).map_or(0.0, saved);
    if best > 0.0 { best } else { 1.0 }
}

/// The saved fraction of the root's time; 0 if it is not faster.
fn saved(gain: f64) -> f64 {
    1.0 - pxfm::f_exp(-gain.max(0.0))
}

/// From which gain a change of the candidate starts; failed ones have to earn everything.
fn start_gain(node: &Node) -> f64 {
    node.outcome.gain().unwrap_or(0.0)
}
