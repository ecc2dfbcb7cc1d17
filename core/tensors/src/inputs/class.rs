//! The classes of values in inputs from the whole domain.

/// The common property of a tensor's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Class {
    /// Declared magnitudes, signs at random.
    Signs,
    /// Half of the elements, and every fourth line, are 0.
    Zeros,
    /// Large magnitudes of either sign; integers of the whole range.
    Large,
    /// Magnitudes near 2^-100, or subnormal numbers of 16- and 8-bit floats; integers from 0 to 3.
    Small,
    /// Magnitudes of very different size side by side.
    Wide,
    /// All elements have one value.
    Equal,
    /// All elements are far below 0; integers at the low end of their range.
    FarBelow,
    /// All elements are far above 0; integers at the high end of their range.
    FarAbove,
    /// Each line has a different scale.
    LineScales,
    /// Each line has a different mean.
    LineMeans,
    /// The first, the middle or the last element of each line is far from the others.
    Outlier,
    /// One element of each line is the largest, and the others are 12 to 14 below it.
    OneMaximum,
    /// Lines that ascend and lines that descend.
    Sorted,
    /// Neighbours of opposite sign and equal magnitude.
    Alternating,
    /// Four different values.
    Duplicates,
    /// Subnormal numbers of f32 and bf16, if the definition keeps them.
    Subnormal,
}

impl Class {
    /// The classes of every tensor, in the order of rounds. [`Class::Subnormal`] follows them if the definition keeps
    /// subnormal numbers.
    pub const ALL: [Self; 15] = [
        Self::Signs,
        Self::Zeros,
        Self::Large,
        Self::Small,
        Self::Wide,
        Self::Equal,
        Self::FarBelow,
        Self::FarAbove,
        Self::LineScales,
        Self::LineMeans,
        Self::Outlier,
        Self::OneMaximum,
        Self::Sorted,
        Self::Alternating,
        Self::Duplicates,
    ];

    /// Whether it depends on the axis of the lines.
    #[must_use]
    pub const fn has_lines(self) -> bool {
        match self {
            Self::LineScales
            | Self::LineMeans
            | Self::Outlier
            | Self::OneMaximum
            | Self::Sorted
            | Self::Alternating => true,
            Self::Signs
            | Self::Zeros
            | Self::Large
            | Self::Small
            | Self::Wide
            | Self::Equal
            | Self::FarBelow
            | Self::FarAbove
            | Self::Duplicates
            | Self::Subnormal => false,
        }
    }

    /// Whether the rounding errors of a chain of additions can have one sign: terms are equal, monotone, or of few
    /// values, so that each loses the same bits.
    #[must_use]
    pub const fn has_biased_rounding(self) -> bool {
        match self {
            Self::Equal | Self::FarBelow | Self::FarAbove | Self::Sorted | Self::Duplicates => true,
            Self::LineMeans | Self::Outlier | Self::OneMaximum => false,
            Self::Signs
            | Self::Zeros
            | Self::Large
            | Self::Small
            | Self::Wide
            | Self::LineScales
            | Self::Alternating
            | Self::Subnormal => false,
        }
    }

    /// The name in reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Signs => "random signs",
            Self::Zeros => "zeros",
            Self::Large => "large magnitudes",
            Self::Small => "small magnitudes",
            Self::Wide => "mixed magnitudes",
            Self::Equal => "equal values",
            Self::FarBelow => "far below zero",
            Self::FarAbove => "far above zero",
            Self::LineScales => "a scale for each line",
            Self::LineMeans => "a mean for each line",
            Self::Outlier => "one outlier in each line",
            Self::OneMaximum => "one maximum in each line",
            Self::Sorted => "sorted lines",
            Self::Alternating => "alternating signs",
            Self::Duplicates => "four different values",
            Self::Subnormal => "subnormal numbers",
        }
    }
}
