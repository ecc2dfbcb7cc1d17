//! Which variables' addresses the registers of one function may hold.
//!
//! Flow-insensitive and by inclusion: a register may hold every address that any instruction puts into it. A load from
//! a table gives the addresses that the table's initialiser names.

use std::collections::{BTreeSet, HashMap};

use super::scopes::Local;

/// A variable of the module by its place among [`super::globals::Variables`].
pub(super) type VariableId = u32;

type NodeId = usize;

/// Most addresses that a register may hold; real code has fewer, and beyond this limit no address is followed.
const MOST_ADDRESSES: usize = 256;

/// More ways from one operand to another than any instruction has.
const MOST_EDGES: usize = 4096;

/// Most steps of following addresses; real code needs fewer.
const MOST_STEPS: usize = 1 << 24;

/// What an instruction reads: a declared name, or a variable of the module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Value<'t> {
    Local(Local<'t>),
    Address(VariableId),
}

/// From where to where addresses go in one function.
#[derive(Default)]
pub(super) struct Flow<'t> {
    nodes: HashMap<Local<'t>, NodeId>,
    holds: Vec<BTreeSet<VariableId>>,
    copies: Vec<Vec<NodeId>>,
    loads: Vec<Vec<NodeId>>,
    pending: Vec<(NodeId, VariableId)>,
    steps: usize,
    crowded: bool,
}

impl<'t> Flow<'t> {
    /// Each of `to` may hold what any of `from` is or holds.
    pub(super) fn copy_each(&mut self, from: Vec<Value<'t>>, to: &[Local<'t>]) {
        // Vectors have at most a few dozen elements.
        if from.len().saturating_mul(to.len()) > MOST_EDGES {
            self.crowded = true;
            return;
        }
        for value in from {
            to.iter().for_each(|local| self.copy(value, *local));
        }
    }

    /// `to` may hold what `from` is or holds.
    pub(super) fn copy(&mut self, from: Value<'t>, to: Local<'t>) {
        let to = self.node(to);
        match from {
            Value::Address(variable) => self.add(to, variable),
            Value::Local(from) => {
                let from = self.node(from);
                if let Some(edges) = self.copies.get_mut(from) {
                    edges.push(to);
                }
            }
        }
    }

    /// `to` may hold what lies in the memory at `from`; `inside` is what a variable's initialiser names.
    pub(super) fn load(
        &mut self,
        from: Value<'t>,
        to: Local<'t>,
        inside: impl Fn(VariableId) -> Vec<VariableId>,
    ) {
        let to = self.node(to);
        match from {
            Value::Address(variable) => {
                for each in inside(variable) {
                    self.add(to, each);
                }
            }
            Value::Local(from) => {
                let from = self.node(from);
                if let Some(edges) = self.loads.get_mut(from) {
                    edges.push(to);
                }
            }
        }
    }

    /// Follows every address to the end; false if there are too many, and what is held is then not all.
    pub(super) fn settle(&mut self, inside: impl Fn(VariableId) -> Vec<VariableId>) -> bool {
        while let Some((node, variable)) = self.pending.pop() {
            for to in self.copies.get(node).cloned().unwrap_or_default() {
                self.add(to, variable);
            }
            for to in self.loads.get(node).cloned().unwrap_or_default() {
                for each in inside(variable) {
                    self.add(to, each);
                }
            }
            if self.crowded || self.steps > MOST_STEPS {
                return false;
            }
        }
        !self.crowded
    }

    /// The variables whose address a value is or may hold.
    pub(super) fn addresses(&self, value: Value<'t>) -> BTreeSet<VariableId> {
        match value {
            Value::Address(variable) => BTreeSet::from([variable]),
            Value::Local(local) => {
                let held = self.nodes.get(&local).and_then(|node| self.holds.get(*node));
                held.cloned().unwrap_or_default()
            }
        }
    }

    fn node(&mut self, local: Local<'t>) -> NodeId {
        let next = self.holds.len();
        let node = *self.nodes.entry(local).or_insert(next);
        if node == next {
            self.holds.push(BTreeSet::new());
            self.copies.push(Vec::new());
            self.loads.push(Vec::new());
        }
        node
    }

    fn add(&mut self, node: NodeId, variable: VariableId) {
        self.steps += 1;
        let Some(held) = self.holds.get_mut(node) else { return };
        if held.len() >= MOST_ADDRESSES {
            self.crowded = true;
        } else if held.insert(variable) {
            self.pending.push((node, variable));
        }
    }
}
