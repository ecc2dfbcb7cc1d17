//! The slots of the registers of a function and the ranges in which they are valid, for the inspection of a paused
//! thread.
//!
//! Registers share slots: a slot belongs to a register only between its first definition and its last use. The
//! result is computed from the passes that assigned the slots, only when a launch is inspected.

use super::super::isa::scalar::ScalarType;
use super::super::module::{FunctionId, Module};
use super::code::{Bank, Origin};
use super::{flow, liveness, slots};

/// One register of a function.
#[derive(Clone, Debug)]
pub(crate) struct RegisterPlace {
    /// Its name in the PTX.
    pub(crate) name: String,
    pub(crate) ty: ScalarType,
    pub(crate) bank: Bank,
    pub(crate) slot: u32,
    /// The first and last position of the layout at which it is live.
    range: (u32, u32),
}

/// The registers of a function that are used.
#[derive(Clone, Debug, Default)]
pub(crate) struct RegisterMap {
    pub(crate) registers: Vec<RegisterPlace>,
    /// Positions in the layout by position in the body.
    layout: Vec<u32>,
}

impl RegisterMap {
    /// The registers of a function; none if it has no body.
    pub(crate) fn new(module: &Module, id: FunctionId) -> Option<Self> {
        let body = module.functions.get(id.0 as usize)?.body.as_ref()?;
        let blocks = flow::blocks(body);
        let order = flow::order(&blocks);
        let ranges = liveness::ranges(body, &blocks, &order);
        let slots = slots::run(body, &ranges);
        let mut layout = vec![0; body.instructions.len()];
        let instructions = order.iter().filter_map(|block| blocks.get(*block as usize));
        let instructions = instructions.flat_map(|block| block.start..block.end);
        for (position, instruction) in instructions.enumerate() {
            if let Some(entry) = layout.get_mut(instruction as usize) {
                *entry = position as u32;
            }
        }
        let places = body.registers.iter().zip(&ranges).zip(&slots.of_register);
        let registers = places
            .filter_map(|((register, range), slot)| {
                let (range, bank) = ((*range)?, slots::bank(register.ty)?);
                let (name, ty) = (register.name.clone(), register.ty);
                Some(RegisterPlace { name, ty, bank, slot: *slot, range })
            })
            .collect();
        Some(Self { registers, layout })
    }

    /// Whether a register is live before the operation with this origin.
    pub(crate) fn is_live(&self, register: &RegisterPlace, origin: Origin) -> bool {
        let end = self.layout.len() as u32;
        let position = self.layout.get(origin.instruction as usize).copied().unwrap_or(end);
        let (first, last) = register.range;
        first < position && position <= last
    }
}
