//! Findings that a policy permits, in few lines of text.

use super::{Found, Origin};

/// The source lines that a text lists; further ones are counted.
const LISTED_LINES: usize = 4;

/// The findings of one kind.
struct Group<'a> {
    what: &'a str,
    origin: Origin,
    /// The lines of the kernel's source, each once; 0 stands for an unknown line.
    lines: Vec<u32>,
    count: usize,
}

/// One text for each kind of finding and origin of its code, in the order of the PTX.
#[must_use]
pub fn summarize(all: &[Found]) -> Vec<String> {
    let mut groups: Vec<Group<'_>> = Vec::new();
    for found in all {
        // Which header of the toolkit it is does not matter to the reader of a summary.
        let origin = match found.origin {
            Origin::Candidate => Origin::Candidate,
            Origin::Toolkit(_) => Origin::Toolkit(None),
        };
        let known =
            groups.iter().position(|group| group.what == found.what && group.origin == origin);
        let index = known.unwrap_or(groups.len());
        if known.is_none() {
            groups.push(Group { what: &found.what, origin, lines: Vec::new(), count: 0 });
        }
        let group = &mut groups[index];
        group.count += 1;
        if let Some(line) = found.source.last().map(|place| place.line)
            && !group.lines.contains(&line)
        {
            group.lines.push(line);
        }
    }
    groups.into_iter().map(Group::into_text).collect()
}

impl Group<'_> {
    fn into_text(mut self) -> String {
        let Self { what, count, .. } = self;
        let times = if count == 1 { String::new() } else { format!(", {count} times") };
        if self.origin != Origin::Candidate {
            return format!("a toolkit header {what}{times}");
        }
        if self.lines.is_empty() {
            return format!("the kernel {what}{times}");
        }
        self.lines.sort_unstable();
        let lines: Vec<String> = self.lines.iter().take(LISTED_LINES).map(u32::to_string).collect();
        let more = match self.lines.len() - lines.len() {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let word = if self.lines.len() == 1 { "line" } else { "lines" };
        format!("the kernel {what}{times}: {word} {}{more}", lines.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use lightbench_project::manifest::Evidence;
    use lightbench_ptx::SourceLine;

    use super::{Found, Origin, summarize};

    fn found(what: &str, line: u32, origin: Origin) -> Found {
        let source = SourceLine { file: "k.cu".to_owned(), line, column: 1, function: None };
        Found {
            evidence: Evidence::InlineAssembly,
            what: what.to_owned(),
            instruction: String::new(),
            ptx_line: 1,
            source: vec![source],
            entry: "k".to_owned(),
            origin,
        }
    }

    fn check(found: &[Found], expected: &[&str]) {
        assert_eq!(summarize(found), expected);
    }

    #[test]
    fn one_text_for_each_kind_and_origin() {
        let own = |what, line| found(what, line, Origin::Candidate);
        let header =
            |file: &str| found("has inline assembly", 9, Origin::Toolkit(Some(file.to_owned())));
        check(&[], &[]);
        check(
            &[own("has inline assembly", 3), own("reads `%clock64`", 9)],
            &["the kernel has inline assembly: line 3", "the kernel reads `%clock64`: line 9"],
        );
        check(
            &[7, 5, 5, 12, 2, 9].map(|line| own("has inline assembly", line)),
            &["the kernel has inline assembly, 6 times: lines 2, 5, 7, 9 and 1 more"],
        );
        check(
            &[header("cuda_bf16.h"), own("has inline assembly", 3), header("mma.h")],
            &[
                "a toolkit header has inline assembly, 2 times",
                "the kernel has inline assembly: line 3",
            ],
        );
    }
}
