//! The modifiers of one instruction as a set: each may be taken once, in any order, and none may be left over.

use super::keyword::Keyword;
use super::refusal::Refusal;
use super::scalar::ScalarType;

/// How operands are written, as far as it says what the instruction is.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct OperandForms<'m> {
    /// How many there are: some instructions mean another thing with one more.
    pub(crate) count: usize,
    /// The selectors of a video instruction: `h1` of `%r2.h1`.
    pub(crate) selectors: [Option<&'m str>; SELECTED],
    /// Whether a minus sign stands before a register.
    pub(crate) negated: [bool; SELECTED],
}

/// Operands that may have a selector or a sign: a result and three sources.
pub(crate) const SELECTED: usize = 4;

impl From<usize> for OperandForms<'_> {
    fn from(count: usize) -> Self {
        Self { count, ..Self::default() }
    }
}

/// What is written behind an opcode, and what of it has been understood.
pub(crate) struct Modifiers<'m> {
    opcode: &'m str,
    words: &'m [&'m str],
    taken: u64,
    operands: OperandForms<'m>,
}

impl<'m> Modifiers<'m> {
    /// More modifiers than any instruction has.
    const MOST: usize = 32;

    pub(crate) fn new(
        opcode: &'m str,
        words: &'m [&'m str],
        operands: OperandForms<'m>,
    ) -> Result<Self, Refusal> {
        let modifiers = Self { opcode, words, taken: 0, operands };
        match words.get(Self::MOST) {
            Some(modifier) => Err(modifiers.superfluous(modifier)),
            None => Ok(modifiers),
        }
    }

    /// How many operands the instruction has.
    pub(crate) fn operands(&self) -> usize {
        self.operands.count
    }

    /// The selector of an operand, counted from the result.
    pub(crate) fn selector(&self, operand: usize) -> Option<&'m str> {
        self.operands.selectors.get(operand).copied().flatten()
    }

    /// Whether a minus sign stands before the register of an operand, counted from the result.
    pub(crate) fn is_negated(&self, operand: usize) -> bool {
        self.operands.negated.get(operand).is_some_and(|negated| *negated)
    }

    /// The first type among the modifiers: it tells families of the same opcode apart.
    pub(crate) fn principal_type(&self) -> Option<ScalarType> {
        self.words.iter().find_map(|word| ScalarType::from_word(word))
    }

    /// Whether a modifier is there, taken or not.
    pub(crate) fn has(&self, word: &str) -> bool {
        self.words.contains(&word)
    }

    /// Takes a modifier if it is there.
    pub(crate) fn flag(&mut self, word: &str) -> bool {
        match self.free().find(|(_, there)| *there == word) {
            Some((index, _)) => {
                self.taken |= 1 << index;
                true
            }
            None => false,
        }
    }

    /// Takes a modifier that must be there.
    pub(crate) fn require_flag(&mut self, word: &str, wanted: &'static str) -> Result<(), Refusal> {
        if self.flag(word) { Ok(()) } else { Err(self.missing(wanted)) }
    }

    /// Takes the first modifier that is a member of the set.
    pub(crate) fn optional<K: Keyword>(&mut self) -> Option<K> {
        let (index, member) = self
            .free()
            .find_map(|(index, word)| K::from_spelling(word).map(|member| (index, member)))?;
        self.taken |= 1 << index;
        Some(member)
    }

    /// Takes a member that must be there.
    pub(crate) fn required<K: Keyword>(&mut self) -> Result<K, Refusal> {
        self.optional().ok_or_else(|| self.missing(K::WHAT))
    }

    /// All must have been taken.
    pub(crate) fn finish(&self) -> Result<(), Refusal> {
        match self.free().next() {
            Some((_, word)) => Err(self.superfluous(word)),
            None => Ok(()),
        }
    }

    /// The instruction as it is written.
    pub(crate) fn spelling(&self) -> String {
        spelling(self.opcode, self.words)
    }

    pub(crate) fn missing(&self, wanted: &'static str) -> Refusal {
        Refusal::Missing { instruction: self.spelling(), wanted }
    }

    pub(crate) fn combination(&self, rule: &'static str) -> Refusal {
        Refusal::Combination { instruction: self.spelling(), rule }
    }

    fn superfluous(&self, modifier: &str) -> Refusal {
        Refusal::Modifier { instruction: self.spelling(), modifier: modifier.to_owned() }
    }

    fn free(&self) -> impl Iterator<Item = (usize, &'m str)> + use<'m> {
        let taken = self.taken;
        let words = self.words.iter().copied().enumerate();
        words.filter(move |(index, _)| taken & (1 << index) == 0)
    }
}

/// `add.rn.f32`, shortened where it is absurd.
pub(crate) fn spelling(opcode: &str, words: &[&str]) -> String {
    use crate::ptx::token::excerpt;
    let mut text = excerpt(opcode).to_owned();
    for word in words.iter().take(Modifiers::MOST) {
        text.push('.');
        text.push_str(excerpt(word));
    }
    text
}
