//! The name of an instruction, parsed into its modifiers.

use crate::semantics::exact::Beyond;
use crate::semantics::float::{Choice, SingleMode};
use crate::semantics::half::{HalfFormat, HalfMode};
use crate::semantics::{
    Clamp, Extreme, HalfClamp, NanRule, Negative, Overflow, Rounding, SignRule, Subnormals,
};

pub(super) struct Spelling<'a> {
    pub(super) words: Vec<&'a str>,
}

impl<'a> Spelling<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { words: text.split('.').collect() }
    }

    pub(super) fn opcode(&self) -> &'a str {
        self.words[0]
    }

    pub(super) fn has(&self, word: &str) -> bool {
        self.words[1..].contains(&word)
    }

    /// The last modifier: the type of the operands.
    pub(super) fn ty(&self) -> &'a str {
        self.words[self.words.len() - 1]
    }

    /// The modifier before it.
    pub(super) fn result_ty(&self) -> &'a str {
        self.words[self.words.len().saturating_sub(2)]
    }

    pub(super) fn rounding(&self) -> Rounding {
        let modes = [("rz", Rounding::TowardZero), ("rm", Rounding::Down), ("rp", Rounding::Up)];
        modes
            .into_iter()
            .find(|(word, _)| self.has(word))
            .map_or(Rounding::NearestEven, |(_, mode)| mode)
    }

    pub(super) fn subnormals(&self) -> Subnormals {
        if self.has("ftz") { Subnormals::Flush } else { Subnormals::Keep }
    }

    pub(super) fn clamp(&self) -> Clamp {
        if self.has("sat") { Clamp::Unit } else { Clamp::None }
    }

    pub(super) fn overflow(&self) -> Overflow {
        if self.has("sat") { Overflow::Saturate } else { Overflow::Wrap }
    }

    pub(super) fn negative(&self) -> Negative {
        if self.has("relu") { Negative::Zero } else { Negative::Keep }
    }

    pub(super) fn beyond(&self) -> Beyond {
        if self.has("satfinite") { Beyond::LargestFinite } else { Beyond::Infinity }
    }

    pub(super) fn single_mode(&self) -> SingleMode {
        SingleMode { rounding: self.rounding(), subnormals: self.subnormals(), clamp: self.clamp() }
    }

    pub(super) fn half_format(&self) -> HalfFormat {
        if self.ty().starts_with("bf16") { HalfFormat::Bf16 } else { HalfFormat::F16 }
    }

    pub(super) fn half_mode(&self) -> HalfMode {
        let clamp = match (self.has("sat"), self.has("relu")) {
            (true, _) => HalfClamp::Unit,
            (false, true) => HalfClamp::Negative,
            (false, false) => HalfClamp::None,
        };
        HalfMode { format: self.half_format(), subnormals: self.subnormals(), clamp }
    }

    pub(super) fn extreme(&self) -> Option<Extreme> {
        let word = self.words.iter().find(|word| ["min", "max"].contains(*word))?;
        Some(if *word == "min" { Extreme::Minimum } else { Extreme::Maximum })
    }

    pub(super) fn choice(&self) -> Option<Choice> {
        Some(Choice {
            extreme: self.extreme()?,
            nan: if self.has("NaN") { NanRule::Propagate } else { NanRule::Number },
            sign: if self.has("xorsign") { SignRule::Product } else { SignRule::Winner },
        })
    }
}
