//! One comparison, as plain numbers, and what the device code answers.

use lightbench_project::tensor::MAX_RANK;

use super::format::Format;
use super::words::Words;

/// Elements that are summed up together.
pub const CHUNK: u64 = 256;

/// Bytes of the sums of one chunk.
pub const SQUARES_BYTES: u64 = 32;

/// Where the elements of an output lie and how they are judged.
#[derive(Clone, Debug, PartialEq)]
pub struct ComparisonEncoding {
    /// What the elements are.
    pub format: Format,
    /// By what floats are judged; of no meaning for others.
    pub bound: Bound,
    /// Count and step of each dimension, the last varying fastest; from one to [`MAX_RANK`].
    pub dimensions: Vec<(u64, u64)>,
}

/// By what floats are judged.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Bound {
    /// Times the magnitude: what arithmetic may cost.
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

/// What came of judging an output.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ComparisonResult {
    /// Groups of elements with one that is not plainly right.
    pub rejected: u64,
    /// The largest error as a fraction of what is accepted.
    pub fraction: f64,
}

/// Sums over a chunk, as `compare/root_mean_square.rs` makes them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ChunkSquares {
    /// The biased exponent of the power of two that both are divided by, squared.
    pub exponent: i64,
    /// Of errors.
    pub errors: f64,
    /// Of the yardstick.
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

    fn chunks_of_run(&self) -> u64 {
        self.dimensions.last().map_or(1, |(count, _)| count.div_ceil(CHUNK))
    }

    /// As the device code takes it.
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

    /// What the device code left; none of other sizes.
    #[must_use]
    pub fn read(bytes: &[u8]) -> Option<Self> {
        let [rejected, fraction] = pair(bytes)?;
        Some(Self { rejected, fraction: f64::from_bits(fraction) })
    }
}

impl ChunkSquares {
    /// What the device code left for each chunk.
    pub fn read_all(bytes: &[u8]) -> impl Iterator<Item = Self> {
        bytes.as_chunks::<32>().0.iter().map(|chunk| {
            let mut numbers = chunk.as_chunks::<8>().0.iter().map(|word| u64::from_le_bytes(*word));
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

/// Two numbers; none of other sizes.
#[must_use]
pub fn pair(bytes: &[u8]) -> Option<[u64; 2]> {
    match bytes.as_chunks::<8>() {
        ([first, second], []) => Some([u64::from_le_bytes(*first), u64::from_le_bytes(*second)]),
        _other_size => None,
    }
}
