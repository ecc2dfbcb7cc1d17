//! Functions that hardware approximates. PTX ISA 9.7.3 and 9.7.4, the `.approx` and `.full` forms.
//!
//! By default the result is the exact one, rounded to nearest. To see whether a kernel depends on more than the
//! ISA promises, results can be moved to either end of the interval that the ISA documents for the
//! function; special values (zeros, infinities, NaN) are never moved.

mod double;
mod half;
mod single;
#[cfg(test)]
mod tests;

pub use double::{reciprocal_f64, reciprocal_square_root_f64, reciprocal_square_root_ftz_f64};
pub use half::{HalfFunction, half_function};
pub use single::{
    binary_exponential, binary_logarithm, cosine, divide, divide_full, hyperbolic_tangent,
    reciprocal, reciprocal_square_root, sine, square_root,
};

/// Where in the documented interval a result lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Approximation {
    /// At the value nearest to the exact one.
    Nearest,
    /// At the lower end.
    Lowest,
    /// At the upper end.
    Highest,
}

/// How far a result may lie from the exact one.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Bound {
    /// A share of the exact value.
    Relative(f64),
    /// A distance.
    Absolute(f64),
}

/// `exact` moved as far as its bound allows: the value to be rounded towards `exact`.
fn moved(exact: f64, bound: Bound, approximation: Approximation) -> f64 {
    let distance = match bound {
        Bound::Relative(share) => share * exact.abs(),
        Bound::Absolute(distance) => distance,
    };
    match approximation {
        Approximation::Nearest => exact,
        Approximation::Lowest => exact - distance,
        Approximation::Highest => exact + distance,
    }
}
