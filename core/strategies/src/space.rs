//! A space of configurations: declared dimensions, and restrictions that exclude combinations of their values.
//!
//! The space is built without enumerating the excluded combinations ([`build`](Space::build)). It is then a sorted
//! table: a configuration is a row, identified by the row's index.

use std::cmp::Ordering;

use thiserror::Error;

mod build;
#[cfg(test)]
mod tests;

/// A parameter and its possible values.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Dimension {
    pub name: String,
    /// Its values, ordered so that adjacent values are neighbours; repeated values count separately.
    pub values: Vec<i64>,
}

/// Which combinations of some dimensions' values are valid.
pub struct Restriction<'a> {
    /// Indices of the dimensions that it restricts.
    pub dimensions: Vec<usize>,
    /// Whether a combination of values, one for each of its dimensions in order, is valid.
    pub holds: Predicate<'a>,
}

/// Whether a combination of values is valid.
pub type Predicate<'a> = Box<dyn Fn(&[i64]) -> bool + 'a>;

/// Which configurations count as neighbours of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Neighbourhood {
    /// One dimension moved to the nearest valid value above or below.
    Adjacent,
    /// One dimension moved to any other valid value.
    AnyValue,
}

/// Why a space was not built.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SpaceError {
    /// The space has more valid configurations than the caller permits.
    #[error(
        "the space has more than {most} valid configurations: restrict it, or give dimensions fewer values"
    )]
    TooMany {
        /// The permitted number.
        most: usize,
    },
    /// The restrictions exclude so many configurations, and can be checked so late, that the search for valid ones was
    /// stopped.
    #[error(
        "after {steps} partial configurations only {found} valid ones were found: state restrictions on fewer dimensions each"
    )]
    TooSparse {
        /// Number of examined partial configurations.
        steps: usize,
        /// Number of valid configurations found.
        found: usize,
    },
    /// A dimension has more values than a row can number.
    #[error("the dimension `{name}` has {values} values; at most 65536 are possible")]
    TooManyValues {
        /// The dimension's name.
        name: String,
        /// Number of its values.
        values: usize,
    },
    /// A restriction refers to a dimension that does not exist.
    #[error("a restriction refers to dimension {dimension}, but the space has only {dimensions}")]
    UnknownDimension {
        /// The index of the dimension.
        dimension: usize,
        /// Number of dimensions.
        dimensions: usize,
    },
}

/// All valid configurations, sorted by their values' places.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Space {
    dimensions: Vec<Dimension>,
    /// All rows, concatenated; each is as long as the number of dimensions.
    rows: Vec<u16>,
    count: usize,
}

impl Space {
    /// Finds all valid configurations, at most `most` of them.
    ///
    /// Dimensions are assigned one after another, and each restriction is checked as soon as all its dimensions are
    /// assigned, so excluded combinations are never completed; the order is chosen to check restrictions early. A space
    /// larger than `most` is an error rather than a sample: a tuner that reports the best of a space must know all of
    /// it.
    ///
    /// # Errors
    ///
    /// There are more than `most` configurations, the restrictions leave so few that the search was stopped, or the
    /// declaration is invalid.
    pub fn build(
        dimensions: Vec<Dimension>,
        restrictions: &[Restriction<'_>],
        most: usize,
    ) -> Result<Self, SpaceError> {
        let rows = build::valid_rows(&dimensions, restrictions, most)?;
        Ok(Self::from_rows(dimensions, rows))
    }

    /// The space of exactly these rows of value indices; repeated rows count once.
    pub(crate) fn from_rows(dimensions: Vec<Dimension>, mut rows: Vec<Vec<u16>>) -> Self {
        rows.sort_unstable();
        rows.dedup();
        Self { dimensions, count: rows.len(), rows: rows.concat() }
    }

    /// The declared dimensions.
    #[must_use]
    pub fn dimensions(&self) -> &[Dimension] {
        &self.dimensions
    }

    /// Number of valid configurations.
    #[must_use]
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether restrictions exclude everything.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The places of a configuration's values in their dimensions.
    ///
    /// # Panics
    ///
    /// When `index` is not below [`len`](Self::len), as any slice does.
    #[must_use]
    pub fn get(&self, index: usize) -> &[u16] {
        assert!(index < self.count, "configuration {index} of {}", self.count);
        let width = self.dimensions.len();
        &self.rows[index * width..(index + 1) * width]
    }

    /// A configuration's values, in the order of the dimensions.
    ///
    /// # Panics
    ///
    /// When `index` is not below [`len`](Self::len).
    #[must_use]
    pub fn values(&self, index: usize) -> Vec<i64> {
        let places = self.get(index).iter();
        places.zip(&self.dimensions).map(|(place, of)| of.values[usize::from(*place)]).collect()
    }

    /// The index of the configuration with these value indices; `None` if it is invalid.
    #[must_use]
    pub fn index_of(&self, places: &[u16]) -> Option<usize> {
        let (mut low, mut high) = (0, self.count);
        while low < high {
            let middle = usize::midpoint(low, high);
            match self.get(middle).cmp(places) {
                Ordering::Less => low = middle + 1,
                Ordering::Greater => high = middle,
                Ordering::Equal => return Some(middle),
            }
        }
        None
    }

    /// The index of the configuration with these values; `None` if it is invalid.
    #[must_use]
    pub fn index_of_values(&self, values: &[i64]) -> Option<usize> {
        if values.len() != self.dimensions.len() {
            return None;
        }
        let place = |(value, of): (&i64, &Dimension)| {
            let place = of.values.iter().position(|known| known == value)?;
            u16::try_from(place).ok()
        };
        let places: Option<Vec<u16>> = values.iter().zip(&self.dimensions).map(place).collect();
        self.index_of(&places?)
    }

    /// The neighbours of a configuration: by dimension, then by value.
    ///
    /// # Panics
    ///
    /// When `index` is not below [`len`](Self::len).
    #[must_use]
    pub fn neighbours(&self, index: usize, neighbourhood: Neighbourhood) -> Vec<usize> {
        let mut places = self.get(index).to_vec();
        let mut found = Vec::new();
        for dimension in 0..places.len() {
            let own = places[dimension];
            let end = self.dimensions[dimension].values.len() as u32;
            let mut valid = |place: u32| {
                places[dimension] = place as u16;
                self.index_of(&places)
            };
            let below = (0..u32::from(own)).rev();
            let above = u32::from(own) + 1..end;
            match neighbourhood {
                Neighbourhood::Adjacent => {
                    found.extend(below.into_iter().find_map(&mut valid));
                    found.extend(above.into_iter().find_map(&mut valid));
                }
                Neighbourhood::AnyValue => {
                    found.extend((0..u32::from(own)).filter_map(&mut valid));
                    found.extend(above.filter_map(&mut valid));
                }
            }
            places[dimension] = own;
        }
        found
    }

    /// A configuration as a point: every dimension from 0 (its first value) to 1 (its last).
    pub(crate) fn point(&self, index: usize) -> Vec<f64> {
        let places = self.get(index).iter().zip(&self.dimensions);
        places.map(|(place, of)| f64::from(*place) / (of.values.len().max(2) - 1) as f64).collect()
    }
}
