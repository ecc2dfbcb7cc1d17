//! The first byte of a memory that is not as expected, found while the memory arrives in parts.

/// A comparison of parts with what they should hold.
#[derive(Debug)]
pub(crate) struct FirstChange<'a> {
    /// The expected bytes of the parts to come.
    expected: &'a [u8],
    /// Bytes of the parts so far.
    arrived: usize,
    found: Option<usize>,
}

impl<'a> FirstChange<'a> {
    /// Memory behind the expected bytes may hold anything.
    pub(crate) fn new(expected: &'a [u8]) -> Self {
        Self { expected, arrived: 0, found: None }
    }

    /// Compares the next part. Equal parts are compared as a whole, because this runs after every launch.
    pub(crate) fn add(&mut self, part: &[u8]) {
        let (expected, rest) = self.expected.split_at(part.len().min(self.expected.len()));
        let compared = &part[..expected.len()];
        if self.found.is_none() && compared != expected {
            let differs = compared.iter().zip(expected).position(|(now, then)| now != then);
            self.found = differs.map(|differs| self.arrived + differs);
        }
        (self.expected, self.arrived) = (rest, self.arrived + part.len());
    }

    /// The place of the first change in the parts so far.
    pub(crate) fn found(self) -> Option<usize> {
        self.found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_change_is_found_in_whichever_part_it_lies() {
        let check = |parts: &[&[u8]], expected: Option<usize>| {
            let mut change = FirstChange::new(b"abcdef");
            parts.iter().for_each(|part| change.add(part));
            assert_eq!(change.found(), expected, "{parts:?}");
        };
        check(&[b"abcdef"], None);
        check(&[b"abc", b"def"], None);
        check(&[b"abXdef"], Some(2));
        check(&[b"abc", b"deX"], Some(5));
        check(&[b"Xbc", b"dXf"], Some(0));
        check(&[b"abc", b"XeX"], Some(3));
        check(&[b"abcdef", b"behind"], None);
        check(&[b"abcd", b"efbehind"], None);
        check(&[b"abcd", b"eXbehind"], Some(5));
        check(&[b"", b"abcdef", b""], None);
        check(&[], None);
    }
}
