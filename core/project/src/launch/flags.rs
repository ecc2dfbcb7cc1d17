//! The permitted compiler flags, and the options that they become.
//!
//! No user text is ever copied into an option, because several compiler options read or write arbitrary files. Only the
//! words below and integers that were evaluated and checked are passed on.

use super::written::{Dialect, FlagWritten, LoadCache, StoreCache};
use crate::expression::{Expression, ExpressionError, Kind, Scope, Values};
use crate::locate::Located;
use crate::problem::Findings;

/// Maximum registers of a thread, on every architecture since 3.5 (CUDA C++ programming guide, table of technical
/// specifications).
const MAX_REGISTERS: i128 = 255;

/// The flags of a kernel file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Flags {
    flags: Vec<Flag>,
}

/// One flag.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "the format's page documents each flag")]
pub enum Flag {
    FastMath,
    Ftz(bool),
    PrecDiv(bool),
    PrecSqrt(bool),
    Fmad(bool),
    MaxRegisters(Expression),
    Dialect(Dialect),
    OptLevel(u8),
    ExtraDeviceVectorization,
    LoadCache(LoadCache),
    StoreCache(StoreCache),
}

impl Flags {
    /// The flags, in the order in which they are written.
    pub fn list(&self) -> &[Flag] {
        &self.flags
    }

    /// The compiler's options.
    pub fn options(&self, values: &dyn Values) -> Result<Vec<String>, ExpressionError> {
        self.flags.iter().map(|flag| flag.option(values)).collect()
    }
}

impl Flags {
    /// The flag that makes the compiled code flush subnormal numbers of f32 to zero, if there is one; of several flags
    /// the last applies.
    pub fn flushes_subnormals(&self) -> Option<&'static str> {
        self.flags.iter().fold(None, |before, flag| match flag {
            Flag::FastMath => Some("fast_math"),
            Flag::Ftz(true) => Some("ftz(true)"),
            Flag::Ftz(false) => None,
            Flag::PrecDiv(_)
            | Flag::PrecSqrt(_)
            | Flag::Fmad(_)
            | Flag::MaxRegisters(_)
            | Flag::Dialect(_)
            | Flag::OptLevel(_)
            | Flag::ExtraDeviceVectorization
            | Flag::LoadCache(_)
            | Flag::StoreCache(_) => before,
        })
    }

    /// The same flags and one that replaces subnormal numbers of f32 by zeros.
    #[must_use]
    pub fn with_flushed_subnormals(mut self) -> Self {
        self.flags.push(Flag::Ftz(true));
        self
    }
}

impl Flag {
    fn option(&self, values: &dyn Values) -> Result<String, ExpressionError> {
        Ok(match self {
            Self::FastMath => "--use_fast_math".to_owned(),
            Self::Ftz(on) => format!("--ftz={on}"),
            Self::PrecDiv(on) => format!("--prec-div={on}"),
            Self::PrecSqrt(on) => format!("--prec-sqrt={on}"),
            Self::Fmad(on) => format!("--fmad={on}"),
            Self::MaxRegisters(registers) => {
                format!("--maxrregcount={}", registers.integer(values)?.clamp(1, MAX_REGISTERS))
            }
            Self::Dialect(Dialect::Cpp14) => "--std=c++14".to_owned(),
            Self::Dialect(Dialect::Cpp17) => "--std=c++17".to_owned(),
            Self::Dialect(Dialect::Cpp20) => "--std=c++20".to_owned(),
            Self::OptLevel(level) => format!("--ptxas-options=-O{level}"),
            Self::ExtraDeviceVectorization => "--extra-device-vectorization".to_owned(),
            Self::LoadCache(operator) => {
                format!("--ptxas-options=-dlcm={}", load_operator(*operator))
            }
            Self::StoreCache(operator) => {
                format!("--ptxas-options=-dscm={}", store_operator(*operator))
            }
        })
    }
}

fn load_operator(operator: LoadCache) -> &'static str {
    match operator {
        LoadCache::Ca => "ca",
        LoadCache::Cg => "cg",
        LoadCache::Cs => "cs",
        LoadCache::Cv => "cv",
    }
}

fn store_operator(operator: StoreCache) -> &'static str {
    match operator {
        StoreCache::Wb => "wb",
        StoreCache::Cg => "cg",
        StoreCache::Cs => "cs",
        StoreCache::Wt => "wt",
    }
}

/// Validates the flags.
pub(super) fn check(
    findings: &mut Findings<'_>,
    at: &Located,
    written: &[FlagWritten],
    scope: &Scope,
) -> Flags {
    let mut flags: Vec<Flag> = Vec::new();
    for (index, flag) in written.iter().enumerate() {
        let place = at.item(index);
        let same =
            |other: &FlagWritten| std::mem::discriminant(other) == std::mem::discriminant(flag);
        if written[..index].iter().any(same) {
            findings.add(place, "a second flag of this kind", "each flag once");
        }
        flags.push(match flag {
            FlagWritten::FastMath => Flag::FastMath,
            FlagWritten::Ftz(on) => Flag::Ftz(*on),
            FlagWritten::PrecDiv(on) => Flag::PrecDiv(*on),
            FlagWritten::PrecSqrt(on) => Flag::PrecSqrt(*on),
            FlagWritten::Fmad(on) => Flag::Fmad(*on),
            FlagWritten::Maxrregcount(count) => {
                Flag::MaxRegisters(findings.formula(place.item(0), &count.0, scope, Kind::Integer))
            }
            FlagWritten::Std(dialect) => Flag::Dialect(*dialect),
            FlagWritten::OptLevel(level) => {
                let level = findings.within(place.item(0), *level, 0, 3);
                Flag::OptLevel(u8::try_from(level).unwrap_or(3))
            }
            FlagWritten::ExtraDeviceVectorization => Flag::ExtraDeviceVectorization,
            FlagWritten::LoadCache(operator) => Flag::LoadCache(*operator),
            FlagWritten::StoreCache(operator) => Flag::StoreCache(*operator),
        });
    }
    Flags { flags }
}

/// Reports a register count that no thread can have.
pub(super) fn check_values(
    findings: &mut Findings<'_>,
    at: &Located,
    flags: &Flags,
    values: &dyn Values,
) {
    for (index, flag) in flags.flags.iter().enumerate() {
        let Flag::MaxRegisters(registers) = flag else { continue };
        match registers.integer(values) {
            Ok(count) if (1..=MAX_REGISTERS).contains(&count) => {}
            Ok(count) => {
                findings.add(
                    at.item(index),
                    format!("{count} registers"),
                    format!("from 1 to {MAX_REGISTERS}"),
                );
            }
            Err(error) => findings.expression(at.item(index).item(0), 0, &error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_flag_decides_whether_subnormal_numbers_are_flushed() {
        let check = |flags: &[Flag], expected| {
            let flags = Flags { flags: flags.to_vec() };
            assert_eq!(flags.flushes_subnormals(), expected, "{flags:?}");
        };
        check(&[], None);
        check(&[Flag::FastMath], Some("fast_math"));
        check(&[Flag::Ftz(true), Flag::Fmad(false)], Some("ftz(true)"));
        check(&[Flag::FastMath, Flag::Ftz(false)], None);
        check(&[Flag::Ftz(false), Flag::FastMath], Some("fast_math"));
        check(&[Flag::PrecDiv(false)], None);
    }
}
