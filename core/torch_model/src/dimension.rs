//! Sizes as polynomials over axes, so that equal sizes are equal values.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// What a term multiplies.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Atom {
    /// An axis.
    Axis(String),
    /// A quotient, rounded down, by a positive number.
    FloorDivide(Dimension, i128),
}

/// A polynomial with integer coefficients: for each product of atoms, its factor, which is not 0.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Dimension {
    terms: BTreeMap<Vec<Atom>, i128>,
}

/// Values of axes.
pub type Sizes = BTreeMap<String, i128>;

/// Terms above which a size is no longer followed.
const MOST_TERMS: usize = 64;

impl From<i128> for Dimension {
    fn from(value: i128) -> Self {
        Self::of(Vec::new(), value)
    }
}

impl Dimension {
    fn of(atoms: Vec<Atom>, factor: i128) -> Self {
        let terms = (factor != 0).then_some((atoms, factor));
        Self { terms: terms.into_iter().collect() }
    }

    /// The size that an axis has.
    #[must_use]
    pub fn axis(name: &str) -> Self {
        Self::of(vec![Atom::Axis(name.to_owned())], 1)
    }

    /// The value, if it depends on no axis.
    #[must_use]
    pub fn constant(&self) -> Option<i128> {
        match self.terms.len() {
            0 => Some(0),
            1 => self.terms.get(&Vec::new()).copied(),
            _ => None,
        }
    }

    /// The name, if it is just an axis.
    #[must_use]
    pub fn plain_axis(&self) -> Option<&str> {
        let mut terms = self.terms.iter();
        match (terms.next(), terms.next()) {
            (Some((atoms, 1)), None) => match atoms.as_slice() {
                [Atom::Axis(name)] => Some(name),
                _ => None,
            },
            _ => None,
        }
    }

    /// The names of the axes that it depends on.
    #[must_use]
    pub fn axes(&self) -> BTreeSet<String> {
        let mut found = BTreeSet::new();
        for atom in self.terms.keys().flatten() {
            match atom {
                Atom::Axis(name) => {
                    found.insert(name.clone());
                }
                Atom::FloorDivide(inner, _) => found.extend(inner.axes()),
            }
        }
        found
    }

    /// The value for given sizes; none for an unknown axis or beyond 127 bits.
    #[must_use]
    pub fn value(&self, sizes: &Sizes) -> Option<i128> {
        let mut total = 0_i128;
        for (atoms, factor) in &self.terms {
            let mut product = *factor;
            for atom in atoms {
                product = product.checked_mul(match atom {
                    Atom::Axis(name) => *sizes.get(name)?,
                    Atom::FloorDivide(inner, by) => inner.value(sizes)?.div_euclid(*by),
                })?;
            }
            total = total.checked_add(product)?;
        }
        Some(total)
    }

    /// The sum; none if it is too large to follow.
    #[must_use]
    pub fn plus(&self, other: &Self) -> Option<Self> {
        let mut terms = self.terms.clone();
        for (atoms, factor) in &other.terms {
            let sum = terms.get(atoms).copied().unwrap_or(0).checked_add(*factor)?;
            match sum {
                0 => terms.remove(atoms),
                sum => terms.insert(atoms.clone(), sum),
            };
        }
        (terms.len() <= MOST_TERMS).then_some(Self { terms })
    }

    /// The difference; none if it is too large to follow.
    #[must_use]
    pub fn minus(&self, other: &Self) -> Option<Self> {
        self.plus(&other.times(&Self::from(-1))?)
    }

    /// The product; none if it is too large to follow.
    #[must_use]
    pub fn times(&self, other: &Self) -> Option<Self> {
        let mut total = Self::default();
        for (left, first) in &self.terms {
            for (right, second) in &other.terms {
                let mut atoms: Vec<_> = left.iter().chain(right).cloned().collect();
                atoms.sort();
                total = total.plus(&Self::of(atoms, first.checked_mul(*second)?))?;
            }
        }
        Some(total)
    }

    /// The quotient, rounded down, by a positive number.
    #[must_use]
    pub fn floor_divide(&self, by: i128) -> Option<Self> {
        if by < 1 {
            return None;
        }
        if let Some(value) = self.constant() {
            return Some(Self::from(value.div_euclid(by)));
        }
        let (mut whole, mut rest) = (Self::default(), Self::default());
        for (atoms, factor) in &self.terms {
            // The constant may be split, which keeps it between 0 and the divisor.
            let quotient = if atoms.is_empty() { factor.div_euclid(by) } else { factor / by };
            let quotient = if atoms.is_empty() || factor % by == 0 { quotient } else { 0 };
            whole = whole.plus(&Self::of(atoms.clone(), quotient))?;
            rest = rest.plus(&Self::of(atoms.clone(), factor - quotient * by))?;
        }
        match rest.constant() {
            // Between 0 and the divisor.
            Some(_) => Some(whole),
            None => whole.plus(&Self::of(vec![Atom::FloorDivide(rest, by)], 1)),
        }
    }

    /// The quotient by a product of axes and a number, if it divides every term.
    #[must_use]
    pub fn divide_exactly(&self, by: &Self) -> Option<Self> {
        let mut divisors = by.terms.iter();
        let (Some((divisor, by)), None) = (divisors.next(), divisors.next()) else { return None };
        let mut quotient = Self::default();
        for (atoms, factor) in &self.terms {
            let mut remaining = atoms.clone();
            for atom in divisor {
                let at = remaining.iter().position(|each| each == atom)?;
                remaining.remove(at);
            }
            if factor.checked_rem(*by)? != 0 {
                return None;
            }
            quotient = quotient.plus(&Self::of(remaining, factor.checked_div(*by)?))?;
        }
        Some(quotient)
    }
}

impl fmt::Display for Dimension {
    /// An expression of the project format.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.terms.is_empty() {
            return formatter.write_str("0");
        }
        // The constant last, as it is usually written.
        let constant = self.terms.iter().filter(|(atoms, _)| atoms.is_empty());
        let others = self.terms.iter().filter(|(atoms, _)| !atoms.is_empty());
        for (index, (atoms, factor)) in others.chain(constant).enumerate() {
            match (index, *factor < 0) {
                (0, true) => formatter.write_str("-")?,
                (0, false) => {}
                (_, true) => formatter.write_str(" - ")?,
                (_, false) => formatter.write_str(" + ")?,
            }
            let magnitude = factor.unsigned_abs();
            let mut parts: Vec<String> = Vec::new();
            if magnitude != 1 || atoms.is_empty() {
                parts.push(magnitude.to_string());
            }
            for atom in atoms {
                parts.push(match atom {
                    Atom::Axis(name) => name.clone(),
                    Atom::FloorDivide(inner, by) => match inner.plain_axis() {
                        Some(axis) => format!("({axis} // {by})"),
                        None => format!("(({inner}) // {by})"),
                    },
                });
            }
            formatter.write_str(&parts.join(" * "))?;
        }
        Ok(())
    }
}
