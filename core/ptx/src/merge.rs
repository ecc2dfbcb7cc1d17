//! Joins modules into one text, so that one module has kernels that a compiler generated one by one.
//!
//! Names of a module are private to it here: one that an earlier module has is renamed. Sections of debug information
//! describe one module each and are dropped, except the names of inlined functions; the source lines of `.loc` stay.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use super::parse::outline;
use super::token::{Token, Tokens};
use super::tree::Tree;

/// A module to join.
#[derive(Clone, Copy, Debug)]
pub struct Part<'a> {
    /// Its text.
    pub text: &'a str,
    /// One of its entries.
    pub entry: &'a str,
    /// The name of this entry in the joined module; it differs from those of all other parts.
    pub new_name: &'a str,
}

/// Why modules cannot be joined.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MergeError {
    /// Their headers differ.
    #[error(
        "module {part} has {found} where the first one has {expected}; expected equal `.version`, `.target` and `.address_size`"
    )]
    Header {
        /// The position of the part, from 1.
        part: usize,
        /// Its header.
        found: String,
        /// The header of the first part.
        expected: String,
    },
    /// A part lacks its entry.
    #[error("module {part} has no entry `{entry}`")]
    NoEntry {
        /// The position of the part, from 1.
        part: usize,
        /// The entry that it should have.
        entry: String,
    },
}

/// Joins modules in their order. A single module whose entry keeps its name is returned as it is.
///
/// # Errors
/// The modules have different headers, or a part lacks its entry.
pub fn merge(parts: &[Part<'_>]) -> Result<String, MergeError> {
    if let [only] = parts
        && only.entry == only.new_name
    {
        return Ok(only.text.to_owned());
    }
    let trees: Vec<Tree<'_>> = parts.iter().map(|part| outline(part.text)).collect();
    let mut merger = Merger::default();
    // The names that the caller chose are taken before any other is given.
    merger.taken.extend(parts.iter().map(|part| part.new_name.to_owned()));
    for (index, (part, tree)) in parts.iter().zip(&trees).enumerate() {
        let (found, expected) = (header(tree), header(&trees[0]));
        if found != expected {
            return Err(MergeError::Header { part: index + 1, found, expected });
        }
        if tree.functions.iter().all(|function| function.name != part.entry) {
            return Err(MergeError::NoEntry { part: index + 1, entry: part.entry.to_owned() });
        }
        merger.add(index + 1, part, tree);
    }
    Ok(merger.finish(trees.first()))
}

fn header(tree: &Tree<'_>) -> String {
    let (major, minor) = tree.version.unwrap_or_default();
    let bits = tree.address_size.map_or_else(String::new, |bits| format!(".address_size {bits}\n"));
    format!(".version {major}.{minor}\n.target {}\n{bits}", tree.targets.join(", "))
}

#[derive(Default)]
struct Merger {
    text: String,
    /// Names of the joined module.
    taken: BTreeSet<String>,
    /// Numbers of source files.
    files: BTreeMap<String, usize>,
    /// Names of inlined functions by label.
    strings: Vec<(String, String)>,
}

/// How the names and numbers of one part change.
#[derive(Default)]
struct Changes<'a> {
    names: BTreeMap<&'a str, String>,
    files: BTreeMap<u32, usize>,
}

impl Merger {
    fn add(&mut self, number: usize, part: &Part<'_>, tree: &Tree<'_>) {
        let mut changes = Changes::default();
        changes.names.insert(part.entry, part.new_name.to_owned());
        let defined: BTreeSet<&str> = tree
            .functions
            .iter()
            .filter(|function| function.body.is_some())
            .map(|function| function.name)
            .collect();
        // What is defined elsewhere (`vprintf`) keeps its name; PTX permits a declaration again.
        let declared = tree.functions.iter().map(|function| function.name);
        let outside = declared.filter(|name| !defined.contains(name));
        self.taken.extend(outside.map(str::to_owned));
        let variables = tree.variables.iter().map(|variable| variable.name);
        let labels = tree.strings.iter().map(|(label, _)| *label);
        for name in defined.into_iter().chain(variables).chain(labels) {
            if !changes.names.contains_key(name) {
                changes.names.insert(name, self.free_name(name, number));
            }
        }
        for file in &tree.files {
            let next = self.files.len() + 1;
            let index = *self.files.entry(file.path.to_owned()).or_insert(next);
            changes.files.insert(file.index, index);
        }
        for (label, name) in &tree.strings {
            let label = changes.names.get(label).cloned().unwrap_or_default();
            self.strings.push((label, name.clone()));
        }
        self.copy(part.text, &changes);
    }

    /// The name, with the number of its part if an earlier part has it.
    fn free_name(&mut self, name: &str, number: usize) -> String {
        let mut free = name.to_owned();
        let mut next = number;
        while !self.taken.insert(free.clone()) {
            free = format!("{name}${next}");
            next += 1;
        }
        free
    }

    /// Copies the text with its changes.
    fn copy(&mut self, text: &str, changes: &Changes<'_>) {
        let mut tokens = Tokens::new(text);
        let mut copied = 0;
        loop {
            let lexeme = tokens.next_token();
            let replaced = match lexeme.token {
                Token::End => break,
                Token::Word("inlined_at") => source_file("inlined_at", &mut tokens, changes),
                Token::Word(name) => changes.names.get(name).cloned(),
                Token::Dotted("version" | "address_size") => {
                    tokens.next_token();
                    Some(String::new())
                }
                Token::Dotted("target" | "file") => {
                    skip_list(&mut tokens);
                    Some(String::new())
                }
                Token::Dotted("section") => {
                    skip_braces(&mut tokens);
                    Some(String::new())
                }
                Token::Dotted("loc") => source_file(".loc", &mut tokens, changes),
                Token::Dotted(_)
                | Token::Integer(_)
                | Token::Single(_)
                | Token::Double(_)
                | Token::Text(_)
                | Token::Mark(_)
                | Token::Invalid(_) => None,
            };
            if let Some(replaced) = replaced {
                self.text.push_str(&text[copied..lexeme.start]);
                self.text.push_str(&replaced);
                copied = tokens.offset();
            }
        }
        self.text.push_str(&text[copied..]);
        self.text.push('\n');
    }

    fn finish(self, first: Option<&Tree<'_>>) -> String {
        let mut text = first.map_or_else(String::new, header);
        text.push_str(&self.text);
        let mut files: Vec<(usize, String)> =
            self.files.into_iter().map(|(path, index)| (index, path)).collect();
        files.sort_unstable();
        for (index, path) in files {
            let _infallible = writeln!(text, "\t.file\t{index} \"{path}\"");
        }
        if !self.strings.is_empty() {
            text.push_str("\t.section\t.debug_str\n\t{\n");
            for (label, name) in self.strings {
                let bytes: Vec<String> =
                    name.bytes().chain([0]).map(|byte| byte.to_string()).collect();
                let _infallible = writeln!(text, "{label}:\n.b8 {}", bytes.join(","));
            }
            text.push_str("\t}\n");
        }
        text
    }
}

/// Skips words, numbers or strings and what commas join to them: `sm_90a, debug`, `1 "k.py"`.
fn skip_list(tokens: &mut Tokens<'_>) {
    loop {
        let lexeme = tokens.next_token();
        let is_item = matches!(
            lexeme.token,
            Token::Word(_) | Token::Integer(_) | Token::Text(_) | Token::Mark(',')
        );
        if !is_item {
            return tokens.rewind(&lexeme);
        }
    }
}

/// Skips up to the closing brace, which has none inside.
fn skip_braces(tokens: &mut Tokens<'_>) {
    while !matches!(tokens.next_token().token, Token::Mark('}') | Token::End) {}
}

/// `.loc` or `inlined_at` with the new number of its file.
fn source_file(word: &str, tokens: &mut Tokens<'_>, changes: &Changes<'_>) -> Option<String> {
    let next = tokens.next_token();
    let Token::Integer(file) = next.token else {
        tokens.rewind(&next);
        return None;
    };
    let index = u32::try_from(file).ok().and_then(|file| changes.files.get(&file));
    Some(format!("{word} {}", index.map_or(file, |index| *index as u64)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{parse, read};

    /// A module as Triton writes it: an entry, a function, shared memory, a text, debug information.
    const TEXT: &str = "\
//
.version 8.4
.target sm_90a, debug
.address_size 64

	// .globl	sum
.extern .func  (.param .b32 func_retval0) vprintf
(
	.param .b64 vprintf_param_0,
	.param .b64 vprintf_param_1
)
;
.func  (.param .b32 func_retval0) half_$_f(.param .b32 half_$_f_param_0);
.global .align 1 .b8 text_0[2] = {37, 0};
.extern .shared .align 16 .b8 global_smem[];
.visible .entry sum(
	.param .u64 .ptr .global .align 1 sum_param_0
)
.reqntid 128
{
	.reg .b32 	%r<3>;
	.reg .b64 	%rd<2>;
	.loc	1 9 0
$L__BB0_1:
	mov.b32 %r1, global_smem;
	st.shared.b32 [%r1+4], %r1;
	mov.b64 %rd1, text_0;
	.loc	1 12 3, function_name $L__info_string0, inlined_at 1 9 0
	ret;
}
.func  (.param .b32 func_retval0) half_$_f(.param .b32 half_$_f_param_0)
{
	.loc	2 3 0
	ret;
}
	.file	1 \"a.py\"
	.file	2 \"b.py\", 12, 34
	.section	.debug_abbrev
	{
.b8 1                                   // {
	}
	.section	.debug_str
	{
$L__info_string0:
.b8 102,0
	}
";

    fn part<'a>(text: &'a str, entry: &'a str, new_name: &'a str) -> Part<'a> {
        Part { text, entry, new_name }
    }

    #[test]
    fn kernels_of_separate_modules_become_one_module() {
        let other = TEXT.replace("\"a.py\"", "\"c.py\"").replace(", debug", ",debug");
        let merged = merge(&[
            part(TEXT, "sum", "sum"),
            part(&other, "sum", "sum$2"),
            part(TEXT, "sum", "last"),
        ])
        .unwrap();
        let (tree, errors) = parse(&merged);
        assert!(errors.is_empty(), "{errors:?}: {merged}");
        let variables: Vec<&str> = tree.variables.iter().map(|variable| variable.name).collect();
        let expected =
            ["text_0", "global_smem", "text_0$2", "global_smem$2", "text_0$3", "global_smem$3"];
        assert_eq!(variables, expected);
        let defined = tree.functions.iter().filter(|function| function.body.is_some());
        let defined: Vec<&str> = defined.map(|function| function.name).collect();
        assert_eq!(defined, ["sum", "half_$_f", "sum$2", "half_$_f$2", "last", "half_$_f$3"]);
        assert_eq!(merged.matches(".version").count(), 1);
        for used in ["mov.b32 %r1, global_smem$2;", "mov.b64 %rd1, text_0$3;", "vprintf\n"] {
            assert!(merged.contains(used), "{used}: {merged}");
        }
        let lines = read(&merged).line_map;
        let mut places = Vec::new();
        for (at, line) in merged.lines().enumerate() {
            if line.trim() == "ret;" {
                let found = lines.at(at as u32 + 1);
                let shown = found.iter().map(|each| {
                    format!(
                        "{}:{} {}",
                        each.file,
                        each.line,
                        each.function.as_deref().unwrap_or("-")
                    )
                });
                places.push(shown.collect::<Vec<_>>().join(", "));
            }
        }
        let expected = ["a.py:12 f, a.py:9 -", "b.py:3 -", "c.py:12 f, c.py:9 -", "b.py:3 -"];
        assert_eq!(places[..4], expected);
        assert_eq!(places[4..], expected[..2]);
    }

    #[test]
    fn one_module_stays_as_it_is() {
        assert_eq!(merge(&[part(TEXT, "sum", "sum")]).unwrap(), TEXT);
    }

    #[test]
    fn modules_that_do_not_fit_are_refused() {
        let check = |old: &str, new: &str, entry: &str, found: &str| {
            let other = TEXT.replace(old, new);
            let merged = merge(&[part(TEXT, "sum", "sum"), part(&other, entry, "sum$2")]);
            let error = merged.unwrap_err().to_string();
            assert!(error.contains("module 2") && error.contains(found), "{error}");
        };
        check("8.4", "8.5", "sum", ".version 8.5");
        check("sm_90a", "sm_100a", "sum", ".target sm_100a");
        check("size 64", "size 32", "sum", ".address_size 32");
        check("sum", "sum", "sun", "no entry `sun`");
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_joined_or_refused(
            text in "(\\.version 8\\.4|\\.target |\\.file 1 |\\.section|\\.loc 1|\\{|\\}|\\.entry sum|[ -~]|\\n){0,80}",
        ) {
            let parts = [part(TEXT, "sum", "sum"), part(&text, "sum", "sum$2")];
            drop(merge(&parts));
            drop(merge(&[part(&text, "sum", "other")]));
        }
    }
}
