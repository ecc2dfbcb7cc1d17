//! The pipe that a warp instruction of each class occupies, for how long, and the latency of its result.

use super::super::Kind;
use super::Latencies;

/// The pipes of a scheduler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pipe {
    /// No pipe.
    None,
    Single,
    Double,
    Half,
    Integer,
    Special,
    Tensor,
    /// Loads, stores and shuffles: one pipe per multiprocessor.
    Memory,
}

impl Pipe {
    pub(super) const COUNT: usize = 8;
}

/// The cost of an instruction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Cost {
    /// Issue slots, one per machine instruction.
    pub(super) slots: f64,
    /// Cycles until its result is available.
    pub(super) latency: f64,
    pub(super) pipe: Pipe,
}

impl Cost {
    const fn new(slots: f64, latency: f64, pipe: Pipe) -> Self {
        Self { slots, latency, pipe }
    }
}

/// The cost of an instruction without memory access.
///
/// Machine instructions are the usual result of the assembler for one PTX instruction: an addition of 64 bits is two,
/// an exact division a sequence, a move none. Latencies of sequences are multiples of the arithmetic latency.
pub(super) fn cost(kind: Kind, latencies: &Latencies) -> Cost {
    let (one, special) = (latencies.arithmetic, latencies.special);
    match kind {
        Kind::Integer32 | Kind::Logic32 | Kind::Carry | Kind::Compare => {
            Cost::new(1.0, one, Pipe::Integer)
        }
        Kind::Integer64 | Kind::Logic64 => Cost::new(2.0, 2.0 * one, Pipe::Integer),
        Kind::Multiply32 | Kind::MultiplyWide => Cost::new(1.0, one, Pipe::Single),
        Kind::Multiply64 => Cost::new(4.0, 3.0 * one, Pipe::Single),
        Kind::Divide32 => Cost::new(16.0, 3.0 * special + 10.0 * one, Pipe::Integer),
        Kind::Divide64 => Cost::new(60.0, 6.0 * special + 40.0 * one, Pipe::Integer),
        Kind::Single => Cost::new(1.0, one, Pipe::Single),
        Kind::SinglePair => Cost::new(2.0, one, Pipe::Single),
        Kind::SingleDivide => Cost::new(9.0, special + 7.0 * one, Pipe::Single),
        Kind::Double => Cost::new(1.0, latencies.double, Pipe::Double),
        Kind::DoubleDivide => Cost::new(12.0, special + 9.0 * latencies.double, Pipe::Double),
        Kind::Half => Cost::new(1.0, one, Pipe::Half),
        Kind::Special => Cost::new(1.0, special, Pipe::Special),
        Kind::SpecialDivide => Cost::new(3.0, special + 2.0 * one, Pipe::Special),
        Kind::ConvertInteger | Kind::ConvertReal => Cost::new(1.0, one, Pipe::Integer),
        Kind::Move | Kind::Hint => Cost::new(0.0, 0.0, Pipe::None),
        Kind::SpecialRegister => Cost::new(1.0, special, Pipe::None),
        Kind::Warp => Cost::new(1.0, latencies.shuffle, Pipe::Memory),
        Kind::Global | Kind::Constant | Kind::Shared | Kind::Local | Kind::Atomic => {
            Cost::new(1.0, one, Pipe::Memory)
        }
        Kind::Branch | Kind::Barrier | Kind::Other => Cost::new(1.0, one, Pipe::None),
        Kind::Call => Cost::new(2.0, one, Pipe::None),
    }
}
