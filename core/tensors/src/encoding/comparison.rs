//! A comparison in the encoding of the device code, and its result.

use lightbench_project::tensor::MAX_RANK;

use super::format::Format;
use super::words::Words;

/// Elements that are summed up together.
pub const CHUNK: u64 = 256;

/// Chunks whose sums are added up before the others.
pub const GROUP: u64 = 256;

/// Bytes of the sums of one chunk, or of one group of chunks.
pub const SQUARES_BYTES: u64 = 32;

/// Layout of an output, and its tolerance.
#[derive(Clone, Debug, PartialEq)]
pub struct ComparisonEncoding {
    /// Format of the elements.
    pub format: Format,
    /// Tolerance for floats; ignored for other formats.
    pub bound: Bound,
    /// Count and step of each dimension, the last varying fastest; from one to [`MAX_RANK`].
    pub dimensions: Vec<(u64, u64)>,
}

/// Tolerance for floats.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Bound {
    /// Multiplied by the magnitude: the tolerance for arithmetic.
    pub arithmetic: f64,
    /// Half an ulp of one.
    pub unit: f64,
    /// Half an ulp of the smallest numbers.
    pub least: f64,
    /// The largest number of a dtype that saturates, else infinity.
    pub saturation: f64,
    /// Times the reference, and times the magnitude: the expected error.
    pub typical: (f64, f64),
}

/// The result of comparing an output.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ComparisonResult {
    /// Groups of elements with one that is not plainly right.
    pub rejected: u64,
    /// The largest error as a fraction of the tolerance.
    pub fraction: f64,
}

/// Sums over a group of chunks, as `compare/root_mean_square.rs` makes them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GroupSquares {
    /// The biased exponent of the power of two that both are divided by, squared.
    pub exponent: i64,
    /// Sum of the squared errors.
    pub errors: f64,
    /// Sum of the squared scales.
    pub scales: f64,
    /// Elements with a yardstick above 0.
    pub count: u64,
}

impl ComparisonEncoding {
    /// Chunks of all runs along the last dimension.
    #[must_use]
    pub fn chunks(&self) -> u64 {
        let (_, outer) = self.dimensions.split_last().unwrap_or((&(0, 0), &[]));
        let runs = outer.iter().fold(1_u64, |product, (count, _)| product.saturating_mul(*count));
        runs.saturating_mul(self.chunks_of_run())
    }

    /// Groups of chunks.
    #[must_use]
    pub fn groups(&self) -> u64 {
        self.chunks().div_ceil(GROUP)
    }

    fn chunks_of_run(&self) -> u64 {
        self.dimensions.last().map_or(1, |(count, _)| count.div_ceil(CHUNK))
    }

    /// In the encoding of the device code.
    #[must_use]
    pub fn bytes(&self) -> Vec<u8> {
        let mut words = Words::default();
        self.format.write(&mut words);
        let Bound { arithmetic, unit, least, saturation, typical } = self.bound;
        for number in [arithmetic, unit, least, saturation, typical.0, typical.1] {
            words.real(number);
        }
        words.whole(self.chunks());
        words.whole(self.chunks_of_run());
        words.whole(self.dimensions.len() as u64);
        words.array(MAX_RANK, self.dimensions.iter().map(|(count, _)| *count));
        words.array(MAX_RANK, self.dimensions.iter().map(|(_, step)| *step));
        words.0
    }
}

impl ComparisonResult {
    /// Nothing is judged yet.
    pub const BEGINNING: [u8; 16] = [0; 16];

    /// Decodes the device code's result; `None` for another size.
    #[must_use]
    pub fn read(bytes: &[u8]) -> Option<Self> {
        let [rejected, fraction] = pair(bytes)?;
        Some(Self { rejected, fraction: f64::from_bits(fraction) })
    }
}

impl GroupSquares {
    /// Decodes the device code's result for each group.
    pub fn read_all(bytes: &[u8]) -> impl Iterator<Item = Self> {
        bytes.as_chunks::<32>().0.iter().map(|group| {
            let mut numbers = group.as_chunks::<8>().0.iter().map(|word| u64::from_le_bytes(*word));
            let mut next = || numbers.next().unwrap_or_default();
            Self {
                exponent: next().cast_signed(),
                errors: f64::from_bits(next()),
                scales: f64::from_bits(next()),
                count: next(),
            }
        })
    }
}

/// Two numbers; `None` for another size.
#[must_use]
pub fn pair(bytes: &[u8]) -> Option<[u64; 2]> {
    match bytes.as_chunks::<8>() {
        ([first, second], []) => Some([u64::from_le_bytes(*first), u64::from_le_bytes(*second)]),
        _other_size => None,
    }
}
