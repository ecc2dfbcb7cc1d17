//! The layout of a function's local memory in the frame of a thread: parameters, results, variables.

use super::super::isa::memory::Space;
use super::super::module::{Function, Symbol};
use super::code::LoweredFunction;

/// The offset of the first frame: the bytes before it belong to no variable, so that accesses before the first frame
/// are invalid.
pub(crate) const FIRST_FRAME: u32 = 64;

/// The smallest distance between two variables in bytes.
const GAP: u64 = 4;

/// Offsets within a frame.
#[derive(Clone, Debug, Default)]
pub(super) struct FrameLayout {
    pub(super) parameters: Vec<(u32, u32)>,
    pub(super) returns: Vec<(u32, u32)>,
    pub(super) locals: Vec<Option<(u32, u32)>>,
    /// Offset and size of all variables in bytes, in order.
    extents: Vec<(u32, u32)>,
    pub(super) bytes: u32,
}

/// The largest local memory of a thread (CUDA C++ Programming Guide, "Technical Specifications per Compute
/// Capability": 512 KB per thread).
pub(crate) const LARGEST_FRAME: u64 = 512 << 10;

impl FrameLayout {
    /// The offset of a symbol, if it is in the frame.
    pub(super) fn offset(&self, symbol: Symbol) -> Option<(u32, u32)> {
        match symbol {
            Symbol::Parameter(index) => self.parameters.get(index as usize).copied(),
            Symbol::Return(index) => self.returns.get(index as usize).copied(),
            Symbol::Local(local) => self.locals.get(local.0 as usize).copied().flatten(),
            Symbol::Variable(_) | Symbol::Function(_) => None,
        }
    }

    pub(super) fn describe(&self, function: &mut LoweredFunction) {
        function.parameters.clone_from(&self.parameters);
        function.returns.clone_from(&self.returns);
        function.extents.clone_from(&self.extents);
        function.frame_bytes = self.bytes;
    }
}

/// Lays out a frame; none if it is larger than local memory.
pub(super) fn run(function: &Function) -> Option<FrameLayout> {
    let mut layout = FrameLayout::default();
    let mut extents = Vec::new();
    let mut end = 0_u64;
    let mut place = |bytes: u64, align: u32| {
        // A gap between two variables belongs to neither.
        let behind = if end == 0 { 0 } else { end + GAP };
        let start = behind.next_multiple_of(u64::from(align.max(4)));
        end = start + bytes.next_multiple_of(4);
        let extent = (end <= LARGEST_FRAME).then_some((start as u32, bytes as u32))?;
        extents.push(extent);
        Some(extent)
    };
    let is_entry = function.kind == super::super::module::FunctionKind::Entry;
    if !is_entry {
        for parameter in &function.parameters {
            layout.parameters.push(place(parameter.bytes, parameter.align)?);
        }
        for parameter in &function.returns {
            layout.returns.push(place(parameter.bytes, parameter.align)?);
        }
    }
    for variable in function.body.iter().flat_map(|body| &body.locals) {
        let in_frame = matches!(variable.space, Space::Local | Space::Param);
        let extent = variable.bytes.filter(|_| in_frame);
        layout.locals.push(match extent {
            Some(bytes) => Some(place(bytes, variable.align)?),
            None => None,
        });
    }
    layout.extents = extents;
    layout.bytes = end.next_multiple_of(64) as u32;
    Some(layout)
}
