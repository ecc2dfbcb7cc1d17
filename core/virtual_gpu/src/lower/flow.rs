//! Control flow: basic blocks, and the order of their code.
//!
//! The splits of a warp run in the order of their program counters, smallest first, and merge where the program
//! counters are equal. The layout is therefore the reconvergence policy: blocks are in a topological order in which
//! every loop is contiguous. Both sides of a branch come before the block where they join, and the body of a loop
//! before the code after the loop. For structured code this reconverges at the immediate post-dominator without
//! computing it.

use super::super::isa::Operation;
use super::super::isa::control::Control;
use super::super::module::{Body, Operand};

/// A basic block: entered at its first instruction, left after its last.
#[derive(Clone, Debug)]
pub(super) struct Block {
    pub(super) start: u32,
    pub(super) end: u32,
    /// Successors.
    pub(super) next: Vec<u32>,
    /// Whether the last instruction may continue with the next block of the text.
    pub(super) falls_through: bool,
}

/// The successors of an instruction: branch targets, and whether the next instruction is one.
fn successors(body: &Body, position: usize) -> Option<(Vec<u32>, bool)> {
    let instruction = &body.instructions[position];
    let Operation::Control(control) = instruction.operation else { return None };
    let guarded = instruction.guard.is_some();
    match control {
        Control::Branch(_) => {
            let target = instruction.operands.first();
            let target =
                if let Some(Operand::Label(target)) = target { vec![*target] } else { Vec::new() };
            Some((target, guarded))
        }
        Control::BranchIndexed(_) => {
            let list = instruction.operands.iter().find_map(|operand| {
                let Operand::Targets(list) = operand else { return None };
                body.targets.get(list.0 as usize)
            });
            Some((list.cloned().unwrap_or_default(), guarded))
        }
        Control::Return(_) | Control::Exit | Control::Trap => Some((Vec::new(), guarded)),
        Control::Call(_) | Control::Breakpoint => None,
    }
}

/// Splits a body into basic blocks, in the order of the text.
pub(super) fn blocks(body: &Body) -> Vec<Block> {
    let count = body.instructions.len();
    let mut starts = vec![false; count + 1];
    starts[0] = true;
    let mut ends = vec![None; count];
    for (position, end) in ends.iter_mut().enumerate() {
        if let Some((targets, falls)) = successors(body, position) {
            for target in &targets {
                starts[(*target as usize).min(count)] = true;
            }
            starts[position + 1] = true;
            *end = Some((targets, falls));
        }
    }
    let firsts: Vec<u32> = (0..=count as u32).filter(|p| starts[*p as usize]).collect();
    let block_of = |position: u32| firsts.partition_point(|first| *first <= position) as u32 - 1;
    let mut blocks = Vec::with_capacity(firsts.len());
    for (index, start) in firsts.iter().enumerate() {
        // Every body returns after its last instruction.
        let end = firsts.get(index + 1).copied().unwrap_or(count as u32);
        let last = end.checked_sub(1).filter(|last| last >= start);
        let (targets, falls) = match last.and_then(|last| ends[last as usize].clone()) {
            Some(known) => known,
            None => (Vec::new(), *start < count as u32),
        };
        let mut next: Vec<u32> = targets.iter().map(|target| block_of(*target)).collect();
        let follower = (index + 1 < firsts.len()).then_some(index as u32 + 1);
        let falls_through = falls && follower.is_some();
        next.extend(follower.filter(|_| falls));
        next.sort_unstable();
        next.dedup();
        blocks.push(Block { start: *start, end, next, falls_through });
    }
    blocks
}

/// A part of the graph that is not ordered yet: its blocks; edges into its entry do not count.
struct Part {
    members: Vec<u32>,
    entry: u32,
}

/// The reachable blocks, in topological order with every loop contiguous.
pub(super) fn order(blocks: &[Block]) -> Vec<u32> {
    let mut order = Vec::with_capacity(blocks.len());
    let mut region = vec![u32::MAX; blocks.len()];
    let mut next_region = 0;
    let mut search = Search::new(blocks);
    let before = predecessors(blocks);
    let mut work = vec![Part { members: (0..blocks.len() as u32).collect(), entry: 0 }];
    while let Some(part) = work.pop() {
        if let [only] = part.members[..] {
            order.push(only);
            continue;
        }
        for member in &part.members {
            region[*member as usize] = next_region;
        }
        let components = search.components(&part.members, &region, next_region, part.entry);
        next_region += 1;
        // The entry's own component is a part without the edges into the entry, so that the recursion ends.
        let parts = components.into_iter().map(|members| {
            let entry = entry_of(blocks, &before, &members, part.entry);
            Part { members, entry }
        });
        // Components come last first, as a stack requires.
        work.extend(parts);
    }
    order
}

/// The predecessors of each block.
fn predecessors(blocks: &[Block]) -> Vec<Vec<u32>> {
    let mut before = vec![Vec::new(); blocks.len()];
    for (index, block) in blocks.iter().enumerate() {
        for next in &block.next {
            before[*next as usize].push(index as u32);
        }
    }
    before
}

/// The entry of a loop: the entry of its region, or otherwise the target of the first block of the text that branches
/// into it.
fn entry_of(blocks: &[Block], before: &[Vec<u32>], members: &[u32], entry: u32) -> u32 {
    if members.contains(&entry) {
        return entry;
    }
    let inside: std::collections::HashSet<u32> = members.iter().copied().collect();
    let from = members.iter().flat_map(|member| &before[*member as usize]);
    let from = from.copied().filter(|block| !inside.contains(block)).min();
    let entered = from.and_then(|block| {
        blocks[block as usize].next.iter().copied().find(|next| inside.contains(next))
    });
    entered.or_else(|| members.iter().copied().min()).unwrap_or(entry)
}

/// Tarjan's strongly connected components of one region. The stack is explicit, so that no input overflows the host's
/// stack.
struct Search<'b> {
    blocks: &'b [Block],
    index: Vec<u32>,
    low: Vec<u32>,
    on_stack: Vec<bool>,
    stack: Vec<u32>,
    found: Vec<Vec<u32>>,
    next_index: u32,
}

impl<'b> Search<'b> {
    fn new(blocks: &'b [Block]) -> Self {
        Self {
            blocks,
            index: vec![u32::MAX; blocks.len()],
            low: vec![0; blocks.len()],
            on_stack: vec![false; blocks.len()],
            stack: Vec::new(),
            found: Vec::new(),
            next_index: 0,
        }
    }

    /// The components of one region, without edges into its entry; the last in topological order first.
    fn components(
        &mut self,
        members: &[u32],
        region: &[u32],
        current: u32,
        entry: u32,
    ) -> Vec<Vec<u32>> {
        for member in members {
            self.index[*member as usize] = u32::MAX;
        }
        self.next_index = 0;
        self.visit(entry, &|block| region[block as usize] == current && block != entry);
        std::mem::take(&mut self.found)
    }

    fn open(&mut self, block: u32) {
        self.index[block as usize] = self.next_index;
        self.low[block as usize] = self.next_index;
        self.next_index += 1;
        self.stack.push(block);
        self.on_stack[block as usize] = true;
    }

    fn visit(&mut self, start: u32, inside: &dyn Fn(u32) -> bool) {
        self.open(start);
        let mut path: Vec<(u32, usize)> = vec![(start, 0)];
        while let Some((block, position)) = path.last_mut() {
            let block = *block;
            // Later blocks of the text are visited first, so that among equals the earlier ones come first.
            let next = &self.blocks[block as usize].next;
            if let Some(target) = next.len().checked_sub(1 + *position).map(|last| next[last]) {
                *position += 1;
                if !inside(target) {
                    continue;
                }
                if self.index[target as usize] == u32::MAX {
                    self.open(target);
                    path.push((target, 0));
                } else if self.on_stack[target as usize] {
                    let seen = self.index[target as usize];
                    self.low[block as usize] = self.low[block as usize].min(seen);
                }
                continue;
            }
            path.pop();
            if let Some((parent, _)) = path.last() {
                let low = self.low[block as usize];
                self.low[*parent as usize] = self.low[*parent as usize].min(low);
            }
            if self.low[block as usize] == self.index[block as usize] {
                self.close(block);
            }
        }
    }

    fn close(&mut self, root: u32) {
        let mut members = Vec::new();
        while let Some(member) = self.stack.pop() {
            self.on_stack[member as usize] = false;
            members.push(member);
            if member == root {
                break;
            }
        }
        self.found.push(members);
    }
}
