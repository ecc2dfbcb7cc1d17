//! `wgmma`: asynchronous products by the four warps of a warpgroup. PTX ISA, section "Asynchronous Warpgroup Level
//! Matrix Instructions".

use super::Matrix;
use super::fragment::{
    Accumulator, Multiplicand, accumulator_register, multiplicand_register, reads, registers,
    writes,
};
use super::mma::{BitProduct, METADATA, bits, overflow};
use crate::isa::integer::Overflow;
use crate::isa::scalar::{Fit, ScalarType};
use crate::isa::signature::{Role, Signature};
use crate::isa::{Decoded, Modifiers, Operation, Refusal};

/// Instructions of a warpgroup.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Warpgroup {
    /// `wgmma.mma_async`: D = A × B + D, or D = A × B.
    Multiply(WarpgroupMultiply),
    /// `wgmma.fence`: orders accesses of registers before those of later products.
    Fence,
    /// `wgmma.commit_group`: commits the products since the last group as a group.
    CommitGroup,
    /// `wgmma.wait_group`: waits until at most a given number of groups is pending.
    WaitGroup,
}

/// The location of A.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    Registers,
    /// Shared memory, by a matrix descriptor.
    Shared,
}

/// A product of 64 rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WarpgroupMultiply {
    /// The number of columns of B and D.
    pub columns: u16,
    pub source: Source,
    /// Element type of A.
    pub a: Multiplicand,
    /// Element type of B.
    pub b: Multiplicand,
    /// Element type of D.
    pub d: Accumulator,
    /// Saturation of s32 sums.
    pub overflow: Overflow,
    /// The operation on single bits; none for other types.
    pub bits: Option<BitProduct>,
    /// Whether half of the elements of A are zero and absent (`.sp`).
    pub is_sparse: bool,
}

/// The bits of a row of A without the absent elements: k is this number divided by the size of an element.
const ROW_BITS: u32 = 256;
/// The rows of A and D that one warp holds.
const ROWS: u32 = 16;

impl WarpgroupMultiply {
    /// The inner dimension k.
    #[must_use]
    pub fn length(&self) -> u32 {
        let of_a = self.length_of_a();
        if self.is_sparse { 2 * of_a } else { of_a }
    }

    /// The elements of a row of A that are not absent.
    #[must_use]
    pub fn length_of_a(&self) -> u32 {
        ROW_BITS / self.a.register_bits()
    }
}

pub(super) fn decode(m: &mut Modifiers<'_>) -> Decoded {
    if m.flag("fence") {
        return done(m, Warpgroup::Fence, Signature::new(&[]));
    }
    if m.flag("commit_group") {
        return done(m, Warpgroup::CommitGroup, Signature::new(&[]));
    }
    if m.flag("wait_group") {
        let groups = Role::Constant { largest: 7 };
        return done(m, Warpgroup::WaitGroup, Signature::new(&[groups]));
    }
    m.require_flag("mma_async", "`.mma_async`, `.fence`, `.commit_group` or `.wait_group`")?;
    let is_sparse = m.flag("sp");
    let (columns, k) = m.parsed("a shape such as .m64n128k16", shape)?;
    let d = m.required()?;
    let (a, b) = (m.required()?, m.required()?);
    let source = if m.is_vector(1) { Source::Registers } else { Source::Shared };
    let multiply = WarpgroupMultiply {
        columns,
        source,
        a,
        b,
        d,
        overflow: overflow(m, a)?,
        bits: bits(m, a)?,
        is_sparse,
    };
    check(m, &multiply, k)?;
    done(m, Warpgroup::Multiply(multiply), signature(&multiply))
}

fn done(m: &mut Modifiers<'_>, operation: Warpgroup, signature: Signature) -> Decoded {
    m.require_flag("sync", "`.sync`")?;
    m.require_flag("aligned", "`.aligned`")?;
    Ok((Operation::Matrix(Matrix::Warpgroup(operation)), signature))
}

/// n and k of `m64n128k16`.
fn shape(word: &str) -> Option<(u16, u32)> {
    let (columns, k) = word.strip_prefix("m64n")?.split_once('k')?;
    let columns: u16 = columns.parse().ok()?;
    let is_possible = columns.is_multiple_of(8) && (8..=256).contains(&columns);
    Some((columns, k.parse().ok()?)).filter(|_| is_possible)
}

/// Checks the combination of types and shape. PTX ISA, "wgmma.mma_async", "Shape" and "Data types".
fn check(m: &Modifiers<'_>, multiply: &WarpgroupMultiply, k: u32) -> Result<(), Refusal> {
    use Accumulator::{F16, F32, S32};
    let WarpgroupMultiply { columns, a, b, d, .. } = *multiply;
    let accumulators: &[Accumulator] = match a {
        Multiplicand::F16 | Multiplicand::E4m3 | Multiplicand::E5m2 => &[F16, F32],
        Multiplicand::Bf16 | Multiplicand::Tf32 => &[F32],
        Multiplicand::U8 | Multiplicand::S8 | Multiplicand::B1 => &[S32],
        Multiplicand::F64 | Multiplicand::U4 | Multiplicand::S4 => {
            return Err(m.combination("`wgmma` has no multiplicands of this type"));
        }
    };
    let eight_bits = [Multiplicand::E4m3, Multiplicand::E5m2];
    let integers = [Multiplicand::U8, Multiplicand::S8];
    let mixed = [eight_bits, integers].iter().any(|set| set.contains(&a) && set.contains(&b));
    if a != b && !mixed {
        return Err(m.combination("these multiplicand types cannot be combined"));
    }
    if !accumulators.contains(&d) {
        return Err(m.combination("these types do not support this accumulator type"));
    }
    if k != multiply.length() {
        return Err(m.combination(
            "k is 256 bits, or 512 if A is sparse, divided by the size of an element",
        ));
    }
    if multiply.is_sparse && a == Multiplicand::B1 {
        return Err(m.combination("`.sp` takes no single bits"));
    }
    if d == S32 && columns > 32 && !columns.is_multiple_of(16) {
        return Err(m.combination("n is 8, 24 or a multiple of 16 for integers"));
    }
    Ok(())
}

fn signature(multiply: &WarpgroupMultiply) -> Signature {
    let WarpgroupMultiply { columns, a, d, .. } = *multiply;
    let descriptor = Role::Read(ScalarType::B64, Fit::Exact);
    let rows_of_a = match multiply.source {
        // Four registers per lane, whatever the type.
        Source::Registers => reads(4, multiplicand_register(a)),
        Source::Shared => descriptor,
    };
    let d = writes(registers(ROWS * u32::from(columns), d.into()), accumulator_register(d));
    let scale = Role::Constant { largest: u64::MAX };
    let transposed = Role::Constant { largest: 1 };
    let mut roles = vec![d, rows_of_a, descriptor];
    if multiply.is_sparse {
        // Elements of 8 bits have one selector.
        let largest = if a.register_bits() == 8 { 0 } else { 1 };
        roles.extend([METADATA, Role::Constant { largest }]);
    }
    roles.push(Role::ReadPredicate);
    match a {
        Multiplicand::F16 | Multiplicand::Bf16 => {
            roles.extend([scale, scale]);
            // A in registers has no transposition.
            roles.extend((multiply.source == Source::Shared).then_some(transposed));
            roles.push(transposed);
        }
        Multiplicand::Tf32 | Multiplicand::E4m3 | Multiplicand::E5m2 => {
            roles.extend([scale, scale]);
        }
        Multiplicand::F64
        | Multiplicand::U8
        | Multiplicand::S8
        | Multiplicand::U4
        | Multiplicand::S4
        | Multiplicand::B1 => {}
    }
    Signature::new(&roles)
}
