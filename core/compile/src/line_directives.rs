//! Maps presumed lines, which `#line` directives set, to physical lines of the file.
//!
//! The compiler's line tables and messages use presumed lines (C++ standard, [cpp.line]): after `#line 100 "other.cu"`
//! line 100 of `other.cu` follows, which is not a file of the project. Reports use the physical line instead.

use lightbench_project::includes::{LineDirective, line_directives};

/// The `#line` directives of one text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LineDirectives {
    /// In the order of the text; empty without directives.
    segments: Vec<Segment>,
}

/// The lines after one directive, or from the beginning of the text.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Segment {
    /// First physical line, from 1.
    first: u32,
    /// Number of lines.
    lines: u32,
    /// Presumed file; `None` for the file itself.
    file: Option<String>,
    /// Presumed number of the first line; `None` if a macro sets it.
    number: Option<u32>,
}

/// The physical line of a presumed line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PhysicalLine {
    /// This line, from 1.
    Line(u32),
    /// Several physical lines have this presumed line, none has it, or a macro sets the number.
    Unknown,
    /// The presumed file is another file.
    Elsewhere,
}

impl LineDirectives {
    /// Reads the directives of a text. A text that cannot be split into tokens has none: it does not compile either.
    #[must_use]
    pub fn new(text: &str) -> Self {
        let directives = line_directives(text);
        if directives.is_empty() {
            return Self::default();
        }
        let last = text.lines().count() as u32;
        let mut segments = vec![Segment { first: 1, lines: last, file: None, number: Some(1) }];
        for LineDirective { line, number, file } in directives {
            let first = line + 1;
            if let Some(before) = segments.last_mut() {
                before.lines = line.saturating_sub(before.first) + 1;
            }
            // Without a file name, the previous one stays in force.
            let file = file.or_else(|| segments.last().and_then(|before| before.file.clone()));
            segments.push(Segment { first, lines: (last + 1).saturating_sub(first), file, number });
        }
        Self { segments }
    }

    /// The physical line of the presumed line `line` of `file`. `is_main`: `file` is the name of the text itself.
    #[must_use]
    pub fn physical_line(&self, file: &str, is_main: bool, line: u32) -> PhysicalLine {
        if self.segments.is_empty() {
            return if is_main { PhysicalLine::Line(line) } else { PhysicalLine::Elsewhere };
        }
        let named = |segment: &&Segment| match &segment.file {
            None => is_main,
            Some(name) => name == file,
        };
        let mut found = None;
        for segment in self.segments.iter().filter(named) {
            let Some(number) = segment.number else { return PhysicalLine::Unknown };
            let Some(behind) = line.checked_sub(number).filter(|behind| *behind < segment.lines)
            else {
                continue;
            };
            if found.replace(segment.first + behind).is_some() {
                return PhysicalLine::Unknown;
            }
        }
        match found {
            Some(line) => PhysicalLine::Line(line),
            None if self.segments.iter().any(|segment| named(&segment)) => PhysicalLine::Unknown,
            None => PhysicalLine::Elsewhere,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn presumed_lines_map_to_physical_lines() {
        let check = |text: &str, file: &str, line, expected| {
            let found = LineDirectives::new(text).physical_line(file, file == "a.cu", line);
            assert_eq!(found, expected, "{file}:{line} of {text:?}");
        };
        let plain = "one\ntwo\n";
        check(plain, "a.cu", 2, PhysicalLine::Line(2));
        check(plain, "b.cuh", 2, PhysicalLine::Elsewhere);
        let named = "one\n#line 100 \"other.cu\"\nthree\nfour\n# 7\nsix\n";
        check(named, "a.cu", 1, PhysicalLine::Line(1));
        check(named, "other.cu", 100, PhysicalLine::Line(3));
        check(named, "other.cu", 101, PhysicalLine::Line(4));
        check(named, "other.cu", 7, PhysicalLine::Line(6));
        check(named, "other.cu", 50, PhysicalLine::Unknown);
        check(named, "a.cu", 6, PhysicalLine::Unknown);
        check(named, "b.cuh", 7, PhysicalLine::Elsewhere);
        let twice = "#line 2\ntwo\n#line 2\nfour\n";
        check(twice, "a.cu", 2, PhysicalLine::Unknown);
        let back = "#line 40\ntwo\nthree\n";
        check(back, "a.cu", 41, PhysicalLine::Line(3));
        let commented = "// #line 9\n/*\n#line 9\n*/\nconst char* s = R\"(\n#line 9\n)\";\n";
        check(commented, "a.cu", 6, PhysicalLine::Line(6));
        check("#line HERE\ntwo\n", "a.cu", 2, PhysicalLine::Unknown);
    }
}
