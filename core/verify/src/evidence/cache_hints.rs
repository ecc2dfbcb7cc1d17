//! Cache policies that keep nothing in a cache: operands of `.L2::cache_hint` whose value is a known constant.
//!
//! The 64 bits of a policy are opaque, and most of them may ask the L2 cache to keep lines from one launch to the next.
//! Every tensor copy of CuTe has the constant of the default policy, however, which changes nothing.

use std::collections::BTreeSet;

use lightbench_ptx::tree::{
    Body, Function, FunctionKind, Instruction, Literal, Operand, Statement,
};

use super::reach::each_name;

/// The policies `evict_normal` and `evict_first` of all accesses. Source: CUTLASS 4.2, `TMA::CacheHintSm90` in
/// `cute/arch/copy_sm90_desc.hpp`.
const KEEP_NOTHING: [i64; 2] = [0x1000_0000_0000_0000, 0x12F0_0000_0000_0000];

/// The registers of a kernel that have no other value than the constant of a policy that keeps nothing.
#[derive(Debug, Default)]
pub(super) struct CacheHints<'t> {
    keep_nothing: BTreeSet<&'t str>,
}

impl<'t> CacheHints<'t> {
    /// The registers of a function. Names decide: a register of the same name in an inner scope counts as the same one.
    pub(super) fn of(function: &Function<'t>, body: &Body<'t>) -> Self {
        if function.kind != FunctionKind::Entry {
            // A register may be a parameter, which has any value.
            return Self::default();
        }
        let mut constant = BTreeSet::new();
        let mut others = BTreeSet::new();
        for statement in &body.statements {
            let Statement::Instruction(instruction) = statement else { continue };
            let used = match sets_constant(instruction) {
                Some(register) => {
                    constant.insert(register);
                    continue;
                }
                None => hint(instruction, body.modifiers_in(instruction.modifiers)),
            };
            let rest = instruction.operands.len() - usize::from(used.is_some());
            for (operand, _) in &instruction.operands[..rest] {
                each_name(operand, &mut |name| {
                    others.insert(name);
                });
            }
        }
        Self { keep_nothing: constant.difference(&others).copied().collect() }
    }

    /// Whether the policy of an instruction with `.L2::cache_hint` keeps nothing.
    pub(super) fn keeps_nothing(&self, instruction: &Instruction<'t>, modifiers: &[&str]) -> bool {
        match hint(instruction, modifiers) {
            Some(Operand::Literal(Literal::Integer(policy))) => KEEP_NOTHING.contains(policy),
            Some(Operand::Name { name, offset: 0 }) => self.keep_nothing.contains(name),
            Some(_) | None => false,
        }
    }
}

/// The policy of an instruction, its last operand.
fn hint<'a, 't>(instruction: &'a Instruction<'t>, modifiers: &[&str]) -> Option<&'a Operand<'t>> {
    let has_hint = modifiers.iter().any(|modifier| modifier.ends_with("::cache_hint"));
    instruction.operands.last().map(|(operand, _)| operand).filter(|_| has_hint)
}

/// The register that an unguarded `mov` sets to the constant of a policy that keeps nothing.
fn sets_constant<'t>(instruction: &Instruction<'t>) -> Option<&'t str> {
    let unguarded = instruction.opcode == "mov" && instruction.guard.is_none();
    match instruction.operands.as_slice() {
        [
            (Operand::Name { name, offset: 0 }, _),
            (Operand::Literal(Literal::Integer(policy)), _),
        ] if unguarded && KEEP_NOTHING.contains(policy) => Some(name),
        _ => None,
    }
}
