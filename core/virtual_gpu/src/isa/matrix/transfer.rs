//! 8 × 8 matrices between shared memory and registers. PTX ISA, sections "ldmatrix", "stmatrix", "movmatrix".

use super::Matrix;
use super::fragment::{reads, writes};
use crate::isa::keyword::keywords;
use crate::isa::memory::{Space, space};
use crate::isa::scalar::ScalarType;
use crate::isa::signature::{Role, Signature, uniform};
use crate::isa::{Decoded, Modifiers, Operation, Refusal};

keywords! {
    /// The number of matrices.
    MatrixCount: "`.x1`, `.x2` or `.x4`" { One = "x1", Two = "x2", Four = "x4" }
}

/// Whether a matrix is transposed during the transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Orientation {
    /// Not transposed.
    Straight,
    /// Transposed (`.trans`).
    Transposed,
}

impl MatrixCount {
    #[must_use]
    pub fn number(self) -> u8 {
        match self {
            Self::One => 1,
            Self::Two => 2,
            Self::Four => 4,
        }
    }
}

fn form(m: &mut Modifiers<'_>) -> Result<(MatrixCount, Orientation, Space), Refusal> {
    m.require_flag("sync", "`.sync`")?;
    m.require_flag("aligned", "`.aligned`")?;
    m.require_flag("m8n8", "`.m8n8`")?;
    m.require_flag("b16", ".b16")?;
    let count = m.required()?;
    let orientation = if m.flag("trans") { Orientation::Transposed } else { Orientation::Straight };
    let space = space(m);
    if !matches!(space, Space::Shared | Space::Generic) {
        return Err(m.combination("matrices must be in .shared"));
    }
    Ok((count, orientation, space))
}

pub(super) fn load(m: &mut Modifiers<'_>) -> Decoded {
    let (count, orientation, space) = form(m)?;
    let roles = [writes(count.number(), ScalarType::B32), Role::Address(space)];
    let operation = Matrix::Load(count, orientation, space);
    Ok((Operation::Matrix(operation), Signature::new(&roles)))
}

pub(super) fn store(m: &mut Modifiers<'_>) -> Decoded {
    let (count, orientation, space) = form(m)?;
    let roles = [Role::Address(space), reads(count.number(), ScalarType::B32)];
    let operation = Matrix::Store(count, orientation, space);
    Ok((Operation::Matrix(operation), Signature::new(&roles)))
}

pub(super) fn transpose(m: &mut Modifiers<'_>) -> Decoded {
    m.require_flag("sync", "`.sync`")?;
    m.require_flag("aligned", "`.aligned`")?;
    m.require_flag("m8n8", "`.m8n8`")?;
    m.require_flag("trans", "`.trans`")?;
    m.require_flag("b16", ".b16")?;
    Ok((Operation::Matrix(Matrix::Transpose), uniform(ScalarType::B32, 1)))
}
