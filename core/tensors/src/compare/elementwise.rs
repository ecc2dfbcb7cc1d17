//! Compares floats: the error of each element against a bound computed from the terms that it sums.
//!
//! An element is correct if it is the rounding of some number at most `t` away from the reference, where `t = factor ·
//! √terms · u · S`: the error is at most `t` plus half an ulp of the output's dtype at the reference (at `|reference| +
//! t`, if that is in the next binade). An infinity is correct if the reference is that infinity, or is within `t` of
//! the numbers that round to it. The 8-bit and 4-bit formats saturate, so the reference is first clamped to their
//! largest number.

use lightbench_primitives::dtype::Dtype;
use lightbench_primitives::scalar_value::ScalarValue;
use lightbench_project::definition::Subnormals;
use lightbench_project::launch::expectation::WrongKind;
use lightbench_project::manifest::Accuracy;
use multiversion::multiversion;

use super::super::element::{HalfUlp, load_reals, nearest, real};
use super::super::layout::Run;
use super::error::CompareError;
use super::output::Output;
use super::root_mean_square::{SquareSums, SumsByGroup};
use super::tally::{Fault, Rejected, Tally};
use super::{Comparison, ErrorMap, OutputError, Strictness};
use crate::case::Case;
use crate::encoding::comparison;

/// Errors up to this fraction of a result are consistent with arithmetic in a lower precision: four times the unit
/// roundoff of bf16, the lowest precision in which kernels compute. Larger errors have other causes.
const LOWER_PRECISION: f64 = 4.0 / 256.0;

/// Elements that are judged at once.
pub(super) const CHUNK: usize = 256;

/// The parameters of the comparator.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tolerance {
    /// Terms of each element's sum.
    pub(super) terms: u64,
    /// Multiple of the bound that is accepted.
    pub(super) factor: f64,
    /// Whether the root mean square is tested too.
    pub(super) rms: bool,
}

/// The unit roundoff of a precision: the largest relative error of rounding to nearest.
pub(super) fn unit_roundoff(accuracy: Accuracy) -> f64 {
    let bits = accuracy.significant_bits();
    bits.map_or(0.0, |bits| super::super::element::power_of_two(-bits.cast_signed()))
}

/// The error of a result too small for the relative error to bound it (J. Demmel, 'Underflow and the reliability of
/// numerical software', 1984: `(a op b)(1 + δ) + η`): half of the smallest positive number of the precision, or its
/// smallest normal number where results below it may be replaced by zeros.
fn underflow(accuracy: Accuracy, subnormals: Subnormals) -> f64 {
    let may_flush = subnormals == Subnormals::MayFlush;
    let exponent = match accuracy {
        Accuracy::F32 | Accuracy::Tf32 | Accuracy::Bf16 if may_flush => -126,
        // Half of it is no f64.
        Accuracy::F64 => -1074,
        Accuracy::F32 => -150,
        Accuracy::Tf32 => -137,
        Accuracy::F16 => -25,
        Accuracy::Bf16 => -134,
        Accuracy::F8 => -17,
        Accuracy::Exact => return 0.0,
    };
    super::super::element::power_of_two(exponent)
}

/// Some neighbours, as numbers.
#[derive(Clone, Debug)]
pub(super) struct Chunk {
    pub(super) found: [f64; CHUNK],
    pub(super) expected: [f64; CHUNK],
    pub(super) magnitudes: [f64; CHUNK],
}

/// Everything that judges an element.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bound {
    /// Multiplied by the magnitude: the tolerance for arithmetic.
    arithmetic: f64,
    /// The tolerance for rounding to the output's dtype.
    half_ulp: HalfUlp,
    /// The magnitude from which rounding yields infinity; infinity if the dtype saturates.
    overflow: f64,
    /// The largest number of a dtype that saturates.
    saturation: f64,
    /// Times the square root of the terms and the reference, and times the magnitude: the expected error.
    pub(super) typical: (f64, f64),
    /// The square root of the terms.
    root: f64,
}

impl Bound {
    pub(super) fn new(case: &Case, dtype: Dtype, tolerance: Tolerance) -> Self {
        let Case { accuracy, subnormals, .. } = *case;
        let root = (tolerance.terms as f64).sqrt();
        let unit = unit_roundoff(accuracy);
        let underflow = tolerance.factor * root * underflow(accuracy, subnormals);
        let half_ulp = HalfUlp::from_dtype(dtype).at_least(underflow);
        let largest = dtype.largest_finite().unwrap_or(f64::INFINITY);
        let saturates = matches!(dtype, Dtype::F8E4M3 | Dtype::F8E5M2 | Dtype::E2M1);
        let (overflow, saturation) = if saturates {
            (f64::INFINITY, largest)
        } else {
            (largest + half_ulp.at(largest), f64::INFINITY)
        };
        let arithmetic = tolerance.factor * root * unit;
        let typical = (unit * root, unit);
        Self { arithmetic, half_ulp, overflow, saturation, typical, root }
    }

    /// In the encoding of the device code.
    pub(super) fn on_device(self) -> comparison::Bound {
        let (unit, least) = self.half_ulp.parts();
        let Self { arithmetic, saturation, typical, .. } = self;
        comparison::Bound { arithmetic, unit, least, saturation, typical }
    }

    /// The reference as the output can hold it.
    #[inline(always)]
    fn target(&self, expected: f64) -> f64 {
        let most = self.saturation;
        let cut = if expected > most { most } else { expected };
        if cut < -most { -most } else { cut }
    }

    /// Whether an error is no larger than a lower precision would explain. The terms of a sum that cancels are about its
    /// magnitude by the square root of their number, and their errors are of that size.
    fn looks_imprecise(&self, error: f64, target: f64, magnitude: f64) -> bool {
        let share = LOWER_PRECISION * (target.abs() + magnitude / self.root.max(1.0));
        error <= share && error < f64::INFINITY
    }

    /// The tolerance for arithmetic, and the tolerance including rounding.
    #[inline(always)]
    pub(super) fn accepted(&self, expected: f64, target: f64, magnitude: f64) -> (f64, f64) {
        // Saturation hides the part of the error beyond the largest number.
        let shown = self.arithmetic * magnitude - (expected.abs() - target.abs());
        let arithmetic = if shown > 0.0 { shown } else { 0.0 };
        (arithmetic, arithmetic + self.half_ulp.at(target.abs() + arithmetic))
    }
}

/// The result for a chunk whose elements are all correct.
#[derive(Clone, Copy, Debug)]
pub(super) struct Accepted {
    pub(super) all: bool,
    fraction: f64,
    sums: SquareSums,
}

/// Judges a chunk of finite numbers; anything else is not accepted here and needs a closer look.
#[multiversion(targets("x86_64+avx+avx2+bmi1+bmi2+fma+lzcnt+popcnt"))]
fn accept(bound: Bound, chunk: &Chunk) -> Accepted {
    let mut excesses = [0.0; CHUNK];
    let mut scales = [0.0; CHUNK];
    let mut fractions = [0.0_f64; 8];
    let mut all = true;
    for block in 0..CHUNK / 8 {
        for (lane, fraction) in fractions.iter_mut().enumerate() {
            let index = block * 8 + lane;
            let (found, magnitude) = (chunk.found[index], chunk.magnitudes[index]);
            let target = bound.target(chunk.expected[index]);
            let (arithmetic, accepted) = bound.accepted(chunk.expected[index], target, magnitude);
            let error = (found - target).abs();
            // Written so that NaN is rejected; an infinite error occurs only with an infinite bound.
            all &= (error <= accepted) & (error < f64::INFINITY);
            all &= (0.0..f64::INFINITY).contains(&magnitude);
            let part = error / accepted;
            *fraction = if part > *fraction { part } else { *fraction };
            let excess = error - (accepted - arithmetic);
            excesses[index] = if excess > 0.0 { excess } else { 0.0 };
            scales[index] = bound.typical.0 * target.abs() + bound.typical.1 * magnitude;
        }
    }
    let fraction = fractions.into_iter().fold(0.0, f64::max);
    let sums = if all { SquareSums::from_chunk(&excesses, &scales) } else { SquareSums::default() };
    Accepted { all, fraction, sums }
}

/// Compares an output of floats.
pub(super) fn compare(
    output: &Output<'_>,
    tolerance: Tolerance,
    strictness: Strictness,
) -> Result<Comparison, CompareError> {
    let no_magnitudes = || CompareError::NoMagnitudes { tensor: output.name() };
    if !output.made.dtype.is_float() {
        return Err(CompareError::Dtype { tensor: output.name() });
    }
    let mut elements = Elements {
        output,
        magnitudes: output.expected.magnitudes.ok_or_else(no_magnitudes)?,
        bound: Bound::new(output.case, output.made.dtype, tolerance),
        strictness,
        imprecise: true,
        tally: Tally::new(&output.made.dims),
        sums: SumsByGroup::default(),
        chunk: Box::new(Chunk {
            found: [0.0; CHUNK],
            expected: [0.0; CHUNK],
            magnitudes: [0.0; CHUNK],
        }),
    };
    for mut run in output.layout.runs() {
        while run.length > 0 {
            let count = run.length.min(CHUNK);
            elements.judge(Run { length: count, ..run })?;
            run.first += count as u64;
            run.offset += count * run.step;
            run.length -= count;
        }
    }
    let Elements { tally, sums, imprecise: elements_imprecise, .. } = elements;
    let merely = if elements_imprecise { WrongKind::Imprecise } else { WrongKind::Numeric };
    let mut comparison = tally.finish(output.tensor, output.made.elements, merely);
    if comparison.wrong.is_none() && tolerance.rms && strictness == Strictness::Tolerance {
        comparison.wrong = sums.total().beyond(tolerance.factor).map(imprecise);
    }
    Ok(comparison)
}

/// Only the root mean square of the errors is too large.
pub(super) fn imprecise(root_mean_square: (f64, f64)) -> OutputError {
    OutputError {
        kind: WrongKind::Imprecise,
        count: 0,
        first: None,
        worst: None,
        root_mean_square: Some(root_mean_square),
        distribution: None,
        map: ErrorMap::default(),
    }
}

struct Elements<'a> {
    output: &'a Output<'a>,
    magnitudes: &'a [u8],
    bound: Bound,
    strictness: Strictness,
    /// Whether every error so far is one of precision.
    imprecise: bool,
    tally: Tally,
    sums: SumsByGroup,
    chunk: Box<Chunk>,
}

impl Elements<'_> {
    /// Compares a run of at most [`CHUNK`] elements.
    fn judge(&mut self, run: Run) -> Result<(), CompareError> {
        self.load(run);
        let last = run.offset + (run.length - 1) * run.step;
        let memory = self.output.bytes_of(run.offset..last + 1);
        if self.strictness == Strictness::Tolerance && !self.output.any_unwritten(&memory) {
            let accepted = accept(self.bound, &self.chunk);
            if accepted.all {
                self.tally.accept(accepted.fraction);
                self.sums.add(accepted.sums);
                return Ok(());
            }
        }
        for index in 0..run.length {
            self.look_closely(run, index)?;
        }
        Ok(())
    }

    /// Fills the chunk; unused entries compare as correct.
    fn load(&mut self, run: Run) {
        let chunk = &mut *self.chunk;
        let Run { offset, length, step, .. } = run;
        let (dtype, found) = (self.output.made.dtype, self.output.found.bytes);
        let (expected, magnitudes) = (self.output.expected.values, self.magnitudes);
        for rest in [&mut chunk.found, &mut chunk.expected, &mut chunk.magnitudes] {
            rest[length..].fill(0.0);
        }
        let packed_odd = dtype.is_packed() && !offset.is_multiple_of(2);
        if step == 1 && !packed_odd {
            let bytes = self.output.bytes_of(offset..offset + length);
            load(dtype, &found[bytes], &mut chunk.found[..length]);
            let reals = offset * 8..(offset + length) * 8;
            load(Dtype::F64, &expected[reals.clone()], &mut chunk.expected[..length]);
            load(Dtype::F64, &magnitudes[reals], &mut chunk.magnitudes[..length]);
            return;
        }
        for index in 0..length {
            let place = offset + index * step;
            let number = place * 8..place * 8 + 8;
            chunk.found[index] = real(dtype, self.output.found_at(place));
            load(Dtype::F64, &expected[number.clone()], &mut chunk.expected[index..=index]);
            load(Dtype::F64, &magnitudes[number], &mut chunk.magnitudes[index..=index]);
        }
    }

    fn look_closely(&mut self, run: Run, index: usize) -> Result<(), CompareError> {
        let element = run.first + index as u64;
        let place = run.offset + index * run.step;
        let [found, expected, magnitude] =
            [self.chunk.found[index], self.chunk.expected[index], self.chunk.magnitudes[index]];
        let target = self.bound.target(expected);
        let (arithmetic, accepted) = self.bound.accepted(expected, target, magnitude);
        let error = (found - target).abs();
        let right = match self.strictness {
            Strictness::Exact => {
                let rounded =
                    real(self.output.made.dtype, nearest(self.output.made.dtype, expected));
                found == rounded || (found.is_nan() && rounded.is_nan())
            }
            Strictness::Tolerance if !expected.is_finite() => {
                found == target || (found.is_nan() && target.is_nan())
            }
            Strictness::Tolerance => {
                if !(0.0..f64::INFINITY).contains(&magnitude) {
                    let tensor = self.output.name();
                    return Err(CompareError::Magnitude { tensor, element });
                }
                let overflows = target.abs() + arithmetic >= self.bound.overflow;
                let infinite = found.is_infinite() && found.signum() == target.signum();
                error <= accepted || (infinite && overflows)
            }
        };
        let unwritten = self.output.any_unwritten(&self.output.bytes_of(place..place + 1));
        if right && !unwritten {
            if error.is_finite() && target.is_finite() && error > 0.0 {
                self.tally.accept(error / accepted);
            }
            return Ok(());
        }
        let fault = if unwritten || self.output.holds_poison(place) {
            Fault::Unwritten
        } else if found.is_finite() {
            Fault::Value
        } else {
            Fault::Special
        };
        let exact = self.strictness == Strictness::Exact;
        self.imprecise &= self.bound.looks_imprecise(error, target, magnitude);
        let bounded = !exact && target.is_finite();
        let fraction = if bounded && error.is_finite() { error / accepted } else { f64::INFINITY };
        self.tally.reject(Rejected {
            element,
            fault,
            found: ScalarValue::Real(found),
            expected: ScalarValue::Real(expected),
            ulps: Some(error / (2.0 * self.bound.half_ulp.at(target))),
            accepted: bounded.then_some(accepted),
            badness: (if fraction.is_nan() { 0.0 } else { fraction }, error),
        });
        Ok(())
    }
}

#[multiversion(targets("x86_64+avx+avx2+bmi1+bmi2+fma+lzcnt+popcnt"))]
fn load(dtype: Dtype, bytes: &[u8], values: &mut [f64]) {
    load_reals(dtype, bytes, values);
}
