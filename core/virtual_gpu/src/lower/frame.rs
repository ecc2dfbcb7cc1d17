//! Where a function's own memory lies in the frame of each thread: parameters, results, variables.

use super::super::isa::memory::Space;
use super::super::module::{Function, Symbol};
use super::code::LoweredFunction;

/// The first bytes of a thread's memory belong to nothing, so that what lies before the first frame is invalid.
pub(crate) const FIRST_FRAME: u32 = 64;

/// Bytes between two variables at least.
const GAP: u64 = 4;

/// Offsets within a frame.
#[derive(Clone, Debug, Default)]
pub(super) struct FrameLayout {
    pub(super) parameters: Vec<(u32, u32)>,
    pub(super) returns: Vec<(u32, u32)>,
    pub(super) locals: Vec<Option<(u32, u32)>>,
    /// (offset, bytes) of all of them, in order.
    extents: Vec<(u32, u32)>,
    pub(super) bytes: u32,
}

/// More local memory than this has no GPU (CUDA C++ Programming Guide, "Technical Specifications per Compute
/// Capability": 512 KB per thread).
pub(crate) const LARGEST_FRAME: u64 = 512 << 10;

impl FrameLayout {
    /// The place of a symbol, if it lies in the frame.
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

/// Lays out a frame; none if it is larger than a thread's memory.
pub(super) fn run(function: &Function) -> Option<FrameLayout> {
    let mut layout = FrameLayout::default();
    let mut extents = Vec::new();
    let mut end = 0_u64;
    let mut place = |bytes: u64, align: u32| {
        // Between two variables are a few bytes that belong to none.
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
