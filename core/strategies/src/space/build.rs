//! Finds valid configurations by depth-first assignment of dimensions, with backtracking as soon as a restriction
//! fails.

use super::{Dimension, Restriction, SpaceError};

/// Limit on partial configurations per permitted configuration, and in addition to it: some seconds of work for any
/// reasonable limit.
const STEPS_FOR_EACH: usize = 100;
const STEPS_BESIDE: usize = 10_000_000;

/// Rows of values' places, in no particular order.
pub(super) fn valid_rows(
    dimensions: &[Dimension],
    restrictions: &[Restriction<'_>],
    most: usize,
) -> Result<Vec<Vec<u16>>, SpaceError> {
    check_declaration(dimensions, restrictions)?;
    if !restrictions.iter().all(|held| !held.dimensions.is_empty() || (held.holds)(&[])) {
        return Ok(Vec::new());
    }
    let order = assignment_order(dimensions, restrictions);
    let mut descent = Descent {
        due: due_at(&order, restrictions),
        order,
        dimensions,
        places: vec![0; dimensions.len()],
        read: Vec::new(),
        found: Vec::new(),
        most,
        steps: 0,
        most_steps: most.saturating_mul(STEPS_FOR_EACH).saturating_add(STEPS_BESIDE),
    };
    descent.from(0)?;
    Ok(descent.found)
}

fn check_declaration(
    dimensions: &[Dimension],
    restrictions: &[Restriction<'_>],
) -> Result<(), SpaceError> {
    for dimension in dimensions {
        let values = dimension.values.len();
        if values > usize::from(u16::MAX) + 1 {
            return Err(SpaceError::TooManyValues { name: dimension.name.clone(), values });
        }
    }
    let looked_at = restrictions.iter().flat_map(|restriction| &restriction.dimensions);
    match looked_at.max() {
        Some(&dimension) if dimension >= dimensions.len() => {
            Err(SpaceError::UnknownDimension { dimension, dimensions: dimensions.len() })
        }
        Some(_) | None => Ok(()),
    }
}

/// The order of assignment: next are the dimensions that complete the restriction with the fewest combinations;
/// unrestricted dimensions are last, because their values only multiply the remaining combinations.
fn assignment_order(dimensions: &[Dimension], restrictions: &[Restriction<'_>]) -> Vec<usize> {
    let mut order: Vec<usize> = Vec::new();
    let missing_of = |restriction: &Restriction<'_>, order: &[usize]| {
        let mut missing = restriction.dimensions.clone();
        missing.retain(|dimension| !order.contains(dimension));
        missing.sort_unstable();
        missing.dedup();
        missing.sort_by_key(|&dimension| (dimensions[dimension].values.len(), dimension));
        missing
    };
    loop {
        let incomplete = restrictions.iter().map(|restriction| missing_of(restriction, &order));
        let combinations = |missing: &Vec<usize>| {
            missing.iter().fold(1_usize, |product, &dimension| {
                product.saturating_mul(dimensions[dimension].values.len().max(1))
            })
        };
        match incomplete.filter(|missing| !missing.is_empty()).min_by_key(combinations) {
            Some(missing) => order.extend(missing),
            None => break,
        }
    }
    let unrestricted: Vec<usize> =
        (0..dimensions.len()).filter(|dimension| !order.contains(dimension)).collect();
    order.extend(unrestricted);
    order
}

/// For each step of the order, the restrictions that it completes.
fn due_at<'r, 'a>(
    order: &[usize],
    restrictions: &'r [Restriction<'a>],
) -> Vec<Vec<&'r Restriction<'a>>> {
    let mut due: Vec<Vec<&Restriction<'a>>> = vec![Vec::new(); order.len()];
    for restriction in restrictions {
        let last = order.iter().rposition(|place| restriction.dimensions.contains(place));
        if let Some(step) = last {
            due[step].push(restriction);
        }
    }
    due
}

/// The state of the depth-first descent.
struct Descent<'r, 'a> {
    dimensions: &'r [Dimension],
    order: Vec<usize>,
    due: Vec<Vec<&'r Restriction<'a>>>,
    places: Vec<u16>,
    /// Buffer for the values of the current restriction.
    read: Vec<i64>,
    found: Vec<Vec<u16>>,
    most: usize,
    steps: usize,
    most_steps: usize,
}

impl Descent<'_, '_> {
    fn from(&mut self, step: usize) -> Result<(), SpaceError> {
        let Some(&dimension) = self.order.get(step) else { return self.complete() };
        for place in 0..self.dimensions[dimension].values.len() {
            self.places[dimension] = place as u16;
            self.steps += 1;
            if self.steps > self.most_steps {
                return Err(SpaceError::TooSparse { steps: self.steps, found: self.found.len() });
            }
            if self.holds_at(step) {
                self.from(step + 1)?;
            }
        }
        Ok(())
    }

    fn holds_at(&mut self, step: usize) -> bool {
        self.due[step].iter().all(|restriction| {
            self.read.clear();
            self.read.extend(restriction.dimensions.iter().map(|&dimension| {
                self.dimensions[dimension].values[usize::from(self.places[dimension])]
            }));
            (restriction.holds)(&self.read)
        })
    }

    fn complete(&mut self) -> Result<(), SpaceError> {
        if self.found.len() == self.most {
            return Err(SpaceError::TooMany { most: self.most });
        }
        self.found.push(self.places.clone());
        Ok(())
    }
}
