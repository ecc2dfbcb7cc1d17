//! An input in the encoding of the device code, which generates it and checks that it is unchanged.

use std::sync::Arc;

use lightbench_project::tensor::MAX_RANK;

use super::format::Format;
use super::words::Words;

/// The generator of one tensor, element by element.
#[derive(Clone, Debug, PartialEq)]
pub struct InputEncoding {
    /// The key of all random numbers.
    pub seed: u64,
    /// Which of the streams of that key.
    pub position: u32,
    /// Elements of memory, gaps included.
    pub places: u64,
    /// Format of the elements.
    pub format: Format,
    /// Representation in memory.
    pub stored: Stored,
    /// Source of the values.
    pub base: Base,
    /// The smallest and the largest number that the fill allows.
    pub within: (f64, f64),
    /// A few numbers far from the others.
    pub tail: Option<Tail>,
    /// Change of every number.
    pub change: Change,
    /// The smallest and the largest number that the domain allows.
    pub domain: (f64, f64),
    /// Magnitudes up to the first are replaced by the second.
    pub instead_of_zero: Option<(f64, f64)>,
    /// From memory to indices, by falling step.
    pub dimensions: Vec<Dimension>,
}

/// Representation of elements in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stored {
    /// As they are; gaps hold ones.
    AsElements,
    /// As f64 of the same value; gaps hold these bits.
    AsReals {
        /// The f64 value of an element with all bits set.
        gap: u64,
    },
}

/// Source of the values.
#[derive(Clone, Debug, PartialEq)]
pub enum Base {
    /// Normally distributed.
    Normal {
        /// The mean.
        mean: f64,
        /// The standard deviation.
        std: f64,
    },
    /// Evenly distributed.
    Uniform {
        /// From here.
        low: f64,
        /// Up to here.
        high: f64,
    },
    /// Integers, evenly distributed.
    Integers {
        /// The lowest, in two's complement.
        low: u64,
        /// Their number; 0 for 2^64.
        count: u64,
    },
    /// The same number.
    Number(f64),
    /// The same bits.
    Bits(u64),
    /// 1 with this probability.
    Mask {
        /// From 0 to 1.
        density: f64,
    },
    /// 1 on and below the diagonal.
    Causal {
        /// Rows of each matrix.
        rows: u64,
        /// Columns of each matrix.
        cols: u64,
    },
    /// Odd integers.
    Odd {
        /// As many as each has.
        bits: u32,
    },
    /// One element of each of equal parts; others are 0. The product of both counts is below 2^64.
    Sparse {
        /// Elements.
        elements: u64,
        /// Parts.
        parts: u64,
        /// The nonzero value.
        value: SparseValue,
    },
    /// Random bytes.
    Bytes,
    /// Each number below a count, once.
    Permutation {
        count: u64,
        /// Bits of each half of a number that is shuffled.
        half_bits: u32,
    },
    /// Indices that increase inside each row.
    Indices {
        /// Start of each row, followed by the end of the last one; every index within a row times the limit fits into
        /// 64 bits.
        offsets: Arc<[u64]>,
        /// They are below this.
        below: u64,
    },
}

/// The nonzero values of a sparse tensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SparseValue {
    /// 1.
    One,
    /// -1.
    MinusOne,
    /// An odd integer with as many bits, at least 2.
    Odd {
        /// Number of bits.
        bits: u32,
    },
}

/// A few numbers far from the others.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tail {
    /// The centre of the other numbers.
    pub center: f64,
    /// Two to an exponent from the first to the second: how far.
    pub exponents: (u32, u32),
}

/// The change of every number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Change {
    /// Nothing.
    None,
    /// A product.
    Times(f64),
    /// A sum.
    Plus(f64),
}

/// One dimension of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dimension {
    /// Elements of memory from one to the next.
    pub step: u64,
    pub count: u64,
    /// The increase of the index per step.
    pub weight: u64,
}

impl InputEncoding {
    /// A buffer that holds the same element everywhere.
    #[must_use]
    pub fn constant(places: u64, format: Format, bits: u64) -> Self {
        Self {
            seed: 0,
            position: 0,
            places,
            format: Format::opaque(format.bytes),
            stored: Stored::AsElements,
            base: Base::Bits(bits),
            within: (f64::NEG_INFINITY, f64::INFINITY),
            tail: None,
            change: Change::None,
            domain: (f64::NEG_INFINITY, f64::INFINITY),
            instead_of_zero: None,
            dimensions: vec![Dimension { step: 1, count: places, weight: 1 }],
        }
    }

    /// Bytes of an element in memory.
    #[must_use]
    pub fn stored_bytes(&self) -> u64 {
        match self.stored {
            Stored::AsElements => self.format.bytes,
            Stored::AsReals { .. } => 8,
        }
    }

    /// Whether every number that the device code relies on is finite, so that no NaN results.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        let base = match self.base {
            Base::Normal { mean, std } => mean.is_finite() && std.is_finite(),
            Base::Uniform { low, high } => low.is_finite() && high.is_finite(),
            Base::Number(value) => value.is_finite(),
            Base::Mask { density } => density.is_finite(),
            Base::Odd { bits } => (1..=53).contains(&bits),
            Base::Sparse { elements, parts, value } => {
                let sound = match value {
                    SparseValue::One | SparseValue::MinusOne => true,
                    SparseValue::Odd { bits } => (2..=53).contains(&bits),
                };
                sound
                    && elements > 0
                    && elements.checked_add(1).is_some_and(|most| most.checked_mul(parts).is_some())
            }
            Base::Causal { rows, cols } => rows > 0 && cols > 0,
            Base::Permutation { half_bits, .. } => (1..=32).contains(&half_bits),
            Base::Indices { ref offsets, below } => {
                let longest = offsets.last().and_then(|end| end.checked_mul(below));
                below > 0 && offsets.len() > 1 && longest.is_some()
            }
            Base::Integers { .. } | Base::Bits(_) | Base::Bytes => true,
        };
        let tail = self
            .tail
            .is_none_or(|tail| tail.center.is_finite() && tail.exponents.0 <= tail.exponents.1);
        let change = match self.change {
            Change::None => true,
            Change::Times(amount) | Change::Plus(amount) => amount.is_finite(),
        };
        let rank = (1..=MAX_RANK).contains(&self.dimensions.len());
        let steps = self.dimensions.iter().all(|dimension| dimension.step > 0);
        base && tail && change && rank && steps
    }

    /// Additional numbers that the device code looks up, besides [`InputEncoding::bytes`]: 64 bits each, little-endian.
    #[must_use]
    pub fn table(&self) -> Option<Vec<u8>> {
        match &self.base {
            Base::Indices { offsets, .. } => {
                Some(offsets.iter().flat_map(|offset| offset.to_le_bytes()).collect())
            }
            Base::Normal { .. }
            | Base::Uniform { .. }
            | Base::Integers { .. }
            | Base::Number(_)
            | Base::Bits(_)
            | Base::Mask { .. }
            | Base::Causal { .. }
            | Base::Odd { .. }
            | Base::Sparse { .. }
            | Base::Bytes
            | Base::Permutation { .. } => None,
        }
    }

    /// In the encoding of the device code.
    #[must_use]
    pub fn bytes(&self) -> Vec<u8> {
        let mut words = Words::default();
        words.whole(self.seed);
        words.whole(u64::from(self.position));
        words.whole(self.places);
        words.whole(self.stored_bytes());
        words.whole(match self.stored {
            Stored::AsElements => u64::MAX,
            Stored::AsReals { gap } => gap,
        });
        self.format.write(&mut words);
        let (code, of_base) = self.base.code();
        words.whole(code);
        words.array(3, of_base.into_iter());
        words.real(self.within.0);
        words.real(self.within.1);
        let tail = self.tail.map_or((0, 0, 0.0), |Tail { center, exponents: (first, last) }| {
            (u64::from(last - first) + 1, u64::from(first), center)
        });
        words.whole(tail.0);
        words.whole(tail.1);
        words.real(tail.2);
        let (code, amount) = match self.change {
            Change::None => (0, 0.0),
            Change::Times(amount) => (1, amount),
            Change::Plus(amount) => (2, amount),
        };
        words.whole(code);
        words.real(amount);
        words.real(self.domain.0);
        words.real(self.domain.1);
        // No magnitude is below 0.
        let (vanishing, instead) = self.instead_of_zero.unwrap_or((-1.0, 0.0));
        words.real(vanishing);
        words.real(instead);
        words.whole(self.dimensions.len() as u64);
        words.array(MAX_RANK, self.dimensions.iter().map(|dimension| dimension.step));
        words.array(MAX_RANK, self.dimensions.iter().map(|dimension| dimension.count));
        words.array(MAX_RANK, self.dimensions.iter().map(|dimension| dimension.weight));
        words.0
    }
}

impl Base {
    /// The number of the variant, with its parameters.
    fn code(&self) -> (u64, [u64; 3]) {
        match *self {
            Self::Normal { mean, std } => (0, [mean.to_bits(), std.to_bits(), 0]),
            Self::Uniform { low, high } => (1, [low.to_bits(), high.to_bits(), 0]),
            Self::Integers { low, count } => (2, [low, count, 0]),
            Self::Number(value) => (3, [value.to_bits(), 0, 0]),
            Self::Bits(bits) => (3, [bits, 0, 0]),
            Self::Mask { density } => (4, [density.to_bits(), 0, 0]),
            Self::Causal { rows, cols } => (5, [rows, cols, 0]),
            Self::Odd { bits } => (6, [u64::from(bits), 0, 0]),
            Self::Sparse { elements, parts, value } => {
                let value = match value {
                    SparseValue::One => 0,
                    SparseValue::MinusOne => 1,
                    SparseValue::Odd { bits } => u64::from(bits),
                };
                (7, [elements, parts, value])
            }
            Self::Bytes => (8, [0; 3]),
            Self::Permutation { count, half_bits } => (9, [count, u64::from(half_bits), 0]),
            Self::Indices { ref offsets, below } => (10, [offsets.len() as u64 - 1, below, 0]),
        }
    }
}
