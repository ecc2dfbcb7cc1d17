//! A space of configurations: declared dimensions, and restrictions that say which combinations
//! of their values are valid.
//!
//! The space is built without enumerating what restrictions exclude ([`build`](Space::build)),
//! and is then a plain sorted table: a configuration is a row, and its number is the row's.

use std::cmp::Ordering;

use thiserror::Error;

mod build;
#[cfg(test)]
mod tests;

/// A parameter and the values that it may take.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Dimension {
    /// What the parameter is called.
    pub name: String,
    /// Its values in the order in which they are neighbours; a value that stands twice counts
    /// twice.
    pub values: Vec<i64>,
}

/// Which combinations of some dimensions' values are valid.
pub struct Restriction<'a> {
    /// The dimensions that it looks at, by their place in the space.
    pub dimensions: Vec<usize>,
    /// Whether these values, one for each of its dimensions in their order, may stand together.
    pub holds: Predicate<'a>,
}

/// Says of some values whether they may stand together.
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
    /// More valid configurations than the caller wants to hold.
    #[error(
        "the space has more than {most} valid configurations: restrict it, or give dimensions fewer values"
    )]
    TooMany {
        /// How many were allowed.
        most: usize,
    },
    /// Restrictions exclude so much, and can be checked so late, that the search for what is left
    /// was given up.
    #[error(
        "after {steps} partial configurations only {found} valid ones were found: state restrictions on fewer dimensions each"
    )]
    TooSparse {
        /// How many partial configurations were looked at.
        steps: usize,
        /// How many complete, valid ones were found until then.
        found: usize,
    },
    /// A dimension has more values than a row can number.
    #[error("the dimension `{name}` has {values} values; at most 65536 are possible")]
    TooManyValues {
        /// The dimension's name.
        name: String,
        /// How many values it has.
        values: usize,
    },
    /// A restriction looks at a dimension that is not there.
    #[error("a restriction looks at dimension {dimension}, but there are only {dimensions}")]
    UnknownDimension {
        /// What it looks at.
        dimension: usize,
        /// How many there are.
        dimensions: usize,
    },
}

/// All valid configurations, sorted by their values' places.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Space {
    dimensions: Vec<Dimension>,
    /// The rows one after another, each as long as there are dimensions.
    rows: Vec<u16>,
    count: usize,
}

impl Space {
    /// Finds all valid configurations, at most `most` of them.
    ///
    /// Dimensions are assigned one after another, and each restriction is checked as soon as all
    /// that it looks at is assigned, so whatever it excludes is never completed; the order is
    /// chosen so that this happens early. A space that is larger than `most` is an error rather
    /// than a sample: a tuner that claims to have found the best of a space must know all of it.
    ///
    /// # Errors
    ///
    /// When there are more than `most`, when restrictions leave so little that the search was
    /// given up, and when the declaration itself is wrong.
    pub fn build(
        dimensions: Vec<Dimension>,
        restrictions: &[Restriction<'_>],
        most: usize,
    ) -> Result<Self, SpaceError> {
        let rows = build::valid_rows(&dimensions, restrictions, most)?;
        Ok(Self::from_rows(dimensions, rows))
    }

    /// The space of exactly these rows of values' places; what stands twice counts once.
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

    /// How many valid configurations there are.
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

    /// The number of the configuration with these places; none where it is not valid.
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

    /// The number of the configuration with these values; none where it is not valid.
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
