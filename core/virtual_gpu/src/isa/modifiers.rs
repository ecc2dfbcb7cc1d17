//! The modifiers of one instruction as a set: each may be read once, in any order, and none may be left over.

use super::keyword::Keyword;
use super::refusal::Refusal;
use super::scalar::ScalarType;

/// The syntax of operands, as far as it selects the operation.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct OperandForms<'m> {
    /// The number of operands: some instructions have another meaning with one more.
    pub(crate) count: usize,
    /// The selectors of a video instruction: `h1` of `%r2.h1`.
    pub(crate) selectors: [Option<&'m str>; SELECTED],
    /// Whether a register is written with a minus sign.
    pub(crate) negated: [bool; SELECTED],
    /// Whether an operand is a vector in braces.
    pub(crate) vectors: [bool; SELECTED],
}

/// The number of operands that may have a selector or a sign: a result and three sources.
pub(crate) const SELECTED: usize = 4;

impl From<usize> for OperandForms<'_> {
    fn from(count: usize) -> Self {
        Self { count, ..Self::default() }
    }
}

/// The modifiers of an instruction, and which of them have been read.
pub(crate) struct Modifiers<'m> {
    opcode: &'m str,
    words: &'m [&'m str],
    taken: u64,
    operands: OperandForms<'m>,
}

impl<'m> Modifiers<'m> {
    /// The limit of modifiers, above the number of any instruction.
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

    /// The number of operands.
    pub(crate) fn operands(&self) -> usize {
        self.operands.count
    }

    /// The selector of an operand, counted from the result.
    pub(crate) fn selector(&self, operand: usize) -> Option<&'m str> {
        self.operands.selectors.get(operand).copied().flatten()
    }

    /// Whether the register of an operand is written with a minus sign; operands are counted from the result.
    pub(crate) fn is_negated(&self, operand: usize) -> bool {
        self.operands.negated.get(operand).is_some_and(|negated| *negated)
    }

    /// Whether an operand is a vector in braces; operands are counted from the result.
    pub(crate) fn is_vector(&self, operand: usize) -> bool {
        self.operands.vectors.get(operand).is_some_and(|vector| *vector)
    }

    /// The first type among the modifiers: it distinguishes families with the same opcode.
    pub(crate) fn principal_type(&self) -> Option<ScalarType> {
        self.words.iter().find_map(|word| ScalarType::from_word(word))
    }

    /// Whether a modifier is present, read or not.
    pub(crate) fn has(&self, word: &str) -> bool {
        self.words.contains(&word)
    }

    /// Reads a modifier if it is present.
    pub(crate) fn flag(&mut self, word: &str) -> bool {
        match self.free().find(|(_, there)| *there == word) {
            Some((index, _)) => {
                self.taken |= 1 << index;
                true
            }
            None => false,
        }
    }

    /// Reads a required modifier.
    pub(crate) fn require_flag(&mut self, word: &str, wanted: &'static str) -> Result<(), Refusal> {
        if self.flag(word) { Ok(()) } else { Err(self.missing(wanted)) }
    }

    /// Reads the first modifier that is a member of the set.
    pub(crate) fn optional<K: Keyword>(&mut self) -> Option<K> {
        let (index, member) = self
            .free()
            .find_map(|(index, word)| K::from_spelling(word).map(|member| (index, member)))?;
        self.taken |= 1 << index;
        Some(member)
    }

    /// Reads a required member of the set.
    pub(crate) fn required<K: Keyword>(&mut self) -> Result<K, Refusal> {
        self.optional().ok_or_else(|| self.missing(K::WHAT))
    }

    /// Reads the first modifier that `parse` accepts.
    pub(crate) fn parsed<T>(
        &mut self,
        wanted: &'static str,
        parse: impl Fn(&str) -> Option<T>,
    ) -> Result<T, Refusal> {
        let found = self.free().find_map(|(index, word)| parse(word).map(|value| (index, value)));
        let (index, value) = found.ok_or_else(|| self.missing(wanted))?;
        self.taken |= 1 << index;
        Ok(value)
    }

    /// Checks that all modifiers have been read.
    pub(crate) fn finish(&self) -> Result<(), Refusal> {
        match self.free().next() {
            Some((_, word)) => Err(self.superfluous(word)),
            None => Ok(()),
        }
    }

    /// The instruction with its modifiers.
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

/// `add.rn.f32`, truncated if it is very long.
pub(crate) fn spelling(opcode: &str, words: &[&str]) -> String {
    use lightbench_ptx::excerpt;
    let mut text = excerpt(opcode).to_owned();
    for word in words.iter().take(Modifiers::MOST) {
        text.push('.');
        text.push_str(excerpt(word));
    }
    text
}
