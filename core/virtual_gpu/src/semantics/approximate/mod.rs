//! Approximate functions. PTX ISA 9.7.3 and 9.7.4, the `.approx` and `.full` forms.
//!
//! By default the result is the exact one, rounded to nearest. To test whether a kernel depends on more accuracy
//! than the ISA guarantees, results can be moved to either end of the interval that the ISA documents for the
//! function. Special values (zeros, infinities, NaN) are never moved.

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

/// The position of a result in the documented interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Approximation {
    /// The value nearest to the exact one.
    Nearest,
    /// The lower end.
    Lowest,
    /// The upper end.
    Highest,
}

/// The documented error bound.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Bound {
    /// A fraction of the exact value.
    Relative(f64),
    /// An absolute distance.
    Absolute(f64),
}

/// `exact` moved by its error bound; the caller rounds the result towards `exact`.
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
