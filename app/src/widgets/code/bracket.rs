//! Matching of brackets.

const PAIRS: [(u8, u8); 3] = [(b'(', b')'), (b'[', b']'), (b'{', b'}')];

/// The bracket at a cursor (before it, else after it) and its partner.
///
/// `is_code` tells whether a byte is code: brackets in comments and strings do not match.
#[must_use]
pub fn matching(
    text: &str,
    cursor: usize,
    is_code: impl Fn(usize) -> bool,
) -> Option<(usize, usize)> {
    let before = cursor.checked_sub(1);
    [before, Some(cursor)].into_iter().flatten().find_map(|at| {
        let found = partner(text.as_bytes(), at, &is_code)?;
        Some((at, found))
    })
}

fn partner(bytes: &[u8], at: usize, is_code: &impl Fn(usize) -> bool) -> Option<usize> {
    let here = *bytes.get(at)?;
    let (open, close) = *PAIRS.iter().find(|(open, close)| here == *open || here == *close)?;
    if !is_code(at) {
        return None;
    }
    let mut depth = 0_usize;
    let mut visit = |place: usize| {
        let byte = bytes[place];
        if (byte != open && byte != close) || !is_code(place) {
            return None;
        }
        if byte == here {
            depth += 1;
            return None;
        }
        depth -= 1;
        (depth == 0).then_some(place)
    };
    if here == open {
        (at..bytes.len()).find_map(&mut visit)
    } else {
        (0..=at).rev().find_map(&mut visit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn brackets_find_each_other() {
        let check = |text: &str, cursor: usize, expected: Option<(usize, usize)>| {
            // Text up to the first `"` is code, the rest is not.
            let quote = text.find('"').unwrap_or(text.len());
            assert_eq!(matching(text, cursor, |at| at < quote), expected, "{text} at {cursor}");
        };
        check("f(a[1])", 2, Some((1, 6)));
        check("f(a[1])", 1, Some((1, 6)));
        check("f(a[1])", 7, Some((6, 1)));
        check("f(a[1])", 6, Some((5, 3)));
        check("((x)", 1, Some((1, 3)));
        check("(x", 1, None);
        check("(x\")", 1, None);
        check("", 0, None);
    }
}
