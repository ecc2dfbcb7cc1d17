//! Tensor-core instructions and transfers of fragments, which the whole warp executes together.
//!
//! All of these instructions are `.aligned`: every lane of the warp executes the same one. PTX ISA 9.7.15 "Warp
//! Level Matrix Multiply-Accumulate Instructions".

mod descriptor;
mod fragment;
mod in_flight;
mod operand;
mod product;
mod provenance;
mod rows;
mod warpgroup;

pub(super) use warpgroup::{IssuedProducts, PendingProducts, WARPS_OF_GROUP};

pub(super) use operand::{OperandPlan, SharedMatrix};

use super::super::isa::matrix::Matrix;
use super::super::lower::code::{BaseKind, Op};
use super::super::module::Module;
use super::super::semantics::matrix::{Architecture, transpose_8x8};
use super::fault::{FaultKind, Finding};
use super::run::Worker;
use super::warp::{Frame, Split, SplitState};

/// The summation model of tensor cores. PTX does not specify order and rounding of sums.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TensorModel {
    /// Bitwise as the tensor cores of the oldest architecture that the module names as its target.
    OfTarget,
    /// Bitwise as the tensor cores of an architecture.
    Exact(Architecture),
    /// None: products leave their destination unchanged. Counters are those of a kernel whose control flow and
    /// addresses do not depend on them.
    NotComputed,
}

/// The architecture whose sums a model computes, for the target of the module; none if products are not computed.
pub(super) fn cores(model: TensorModel, module: &Module) -> Option<Architecture> {
    match model {
        TensorModel::NotComputed => None,
        TensorModel::Exact(architecture) => Some(architecture),
        TensorModel::OfTarget => Some(target(module)),
    }
}

/// The oldest architecture that a module names as its target.
pub(super) fn target(module: &Module) -> Architecture {
    let number = |target: &String| -> Option<u32> {
        let digits = target.strip_prefix("sm_")?;
        digits.trim_end_matches(|c: char| c.is_ascii_alphabetic()).parse().ok()
    };
    match module.targets.iter().find_map(number) {
        Some(..80) => Architecture::Turing,
        Some(80..89) => Architecture::Ampere,
        Some(89) => Architecture::Ada,
        Some(90..100) | None => Architecture::Hopper,
        Some(100..) => Architecture::Blackwell,
    }
}

impl Worker<'_, '_> {
    /// Returns true if the split waits for the rest of its warp, false if the operation is executed.
    pub(super) fn tensor(
        &mut self,
        op: &Op,
        (matrix, base): (Matrix, BaseKind),
        split: &mut Split,
    ) -> bool {
        let elsewhere = self.warp.live & !split.mask;
        if elsewhere != 0 && !self.forced {
            split.state = SplitState::WarpSync(u32::MAX);
            return true;
        }
        let missing = !split.mask;
        if missing != 0 {
            self.forced = false;
            let reason = if elsewhere == 0 {
                "have exited or do not exist"
            } else {
                "execute other instructions"
            };
            let text =
                format!("the instruction requires the whole warp; lanes {missing:#010x} {reason}");
            let lane = split.mask.trailing_zeros();
            self.report(split.pc, Finding::new(FaultKind::WarpSync, lane, text));
        }
        let (pc, frame, mask) = (split.pc, split.frame, split.mask);
        match matrix {
            Matrix::Multiply(_) | Matrix::WarpMultiply(_) => self.multiply(pc, op, frame, mask),
            Matrix::Warpgroup(operation) => self.warpgroup(pc, op, operation, (frame, mask)),
            Matrix::Transpose => self.transpose(op, frame, mask),
            Matrix::Load(count, orientation, space) => {
                self.load_rows(pc, op, (count, orientation, space, base), (frame, mask));
            }
            Matrix::Store(count, orientation, space) => {
                self.store_rows(pc, op, (count, orientation, space, base), (frame, mask));
            }
            Matrix::WarpLoad(what, shape, order, space) => {
                let form = fragment::Form::loaded(what, shape, order);
                self.load_fragment(pc, op, &form, (space, base), (frame, mask));
            }
            Matrix::WarpStore(ty, shape, order, space) => {
                let form = fragment::Form::stored(ty, shape, order);
                self.store_fragment(pc, op, &form, (space, base), (frame, mask));
            }
        }
        false
    }

    /// PTX ISA, section "movmatrix".
    fn transpose(&mut self, op: &Op, frame: Frame, mask: u32) {
        let mut lanes = self.lanes(frame, mask);
        let (words, undefined) = (lanes.word(op.a), lanes.word_undefined(op.a) | !mask);
        // Each half of a result comes from another lane: the result is initialised if one of them is.
        let spread: [u32; 32] =
            std::array::from_fn(|lane| if undefined >> lane & 1 == 1 { u32::MAX } else { 0 });
        let unknown = transpose_8x8(&spread);
        let unknown = super::lanes::bits(|lane| unknown[lane] == u32::MAX);
        lanes.set_word(op.d, &transpose_8x8(&words), unknown);
    }
}
