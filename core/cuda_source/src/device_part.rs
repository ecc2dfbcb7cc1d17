//! The device part of CUDA files that also hold host code: which items are left out, and the texts without them.
//!
//! An item is left out if it is a function without `__global__`, `__device__` or `constexpr`, a variable of the host, a
//! type that uses the runtime's interface or the host's library, or a header that only host code uses. All else stays:
//! macros, conditionals, templates, constants, aliases, and the braces of namespaces. Left-out code is replaced by
//! spaces, so that every diagnostic has the line and the column of the file.

use std::collections::BTreeSet;
use std::ops::Range;

use lightbench_primitives::dtype::Dtype;
use tree_sitter::Node;

use super::error::{SourceError, SourceLocation};
use super::host_headers::is_host_header;
use super::host_names::uses_host_names;
use super::items::items;
use super::lexer::{Token, TokenKind, logical_line, tokens};
use super::masking::is_directive;
use super::source::{Source, brief};
use super::syntax::{children, part, walk};

/// A local header as text, under the name by which files include it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HeaderText<'text> {
    /// The name in the directive.
    pub name: &'text str,
    /// The whole text.
    pub text: &'text str,
}

/// The device part of a file and of its local headers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DevicePart {
    /// The file: as long as the original, left-out code replaced by spaces.
    pub text: String,
    /// The headers likewise, in the order given.
    pub headers: Vec<String>,
    /// Items that were left out, of the file first.
    pub left_out: Vec<OmittedItem>,
}

/// An item that a device part does not have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OmittedItem {
    /// The local header that has it, by its name in the directive; `None` for the file itself.
    pub header: Option<String>,
    /// Where it stands.
    pub place: SourceLocation,
    /// Its beginning, in one line.
    pub what: String,
    pub why: Reason,
}

/// The reason to leave an item out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reason {
    /// Functions, variables and types of the host.
    HostCode,
    /// A header that the device compiler lacks or that only host code uses.
    Header,
}

impl Reason {
    /// The reason in words.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::HostCode => "host code",
            Self::Header => "not a header of the device compiler",
        }
    }
}

/// A span of a file that its device part does not have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Omission {
    /// The bytes of the code.
    pub code: Range<usize>,
    /// Where the comments begin that belong to the code; the start of the code if there are none.
    pub comments: usize,
    pub why: Reason,
    /// Whether no device compiler accepts it: the definition of a host function, or a header that only host code uses.
    is_refused: bool,
}

/// Words that make a function or a variable one of the device.
const DEVICE_WORDS: [&str; 6] =
    ["__global__", "__device__", "__constant__", "__shared__", "__managed__", "constexpr"];

/// Maximum number of rounds in which types of the host make further types host code.
const MOST_ROUNDS: usize = 8;

/// The device part of a file, `None` if the file and its headers have device code only.
///
/// Lines, columns and lengths are those of the given texts. Directives inside left-out functions stay, except
/// `#include`, `#pragma` and `#error`.
///
/// # Errors
///
/// A text is too large, has a NUL character, or is hopeless for the parser.
pub fn device_part(
    text: &str,
    headers: &[HeaderText<'_>],
) -> Result<Option<DevicePart>, SourceError> {
    let texts: Vec<&str> = headers.iter().map(|header| header.text).collect();
    let source = Source::with_headers(text, &texts)?;
    let all = omissions(&source, &|name| !is_host_header(name));
    if !all.iter().flatten().any(|omission| omission.is_refused) {
        return Ok(None);
    }
    let mut part = DevicePart { text: String::new(), headers: Vec::new(), left_out: Vec::new() };
    for (index, (file, omissions)) in source.files().zip(&all).enumerate() {
        let header = index.checked_sub(1).and_then(|index| headers.get(index));
        part.left_out.extend(items_of(file, header.map(|header| header.name), omissions));
        let blanked = blanked(file.text(), omissions);
        match header {
            None => part.text = blanked,
            Some(_) => part.headers.push(blanked),
        }
    }
    Ok(Some(part))
}

/// The omissions of a file and of each of its headers, in the order of the text. `keeps_header` states whether an
/// included header stays, by its name.
#[must_use]
pub fn omissions(source: &Source<'_>, keeps_header: &dyn Fn(&str) -> bool) -> Vec<Vec<Omission>> {
    let mut host_types = BTreeSet::new();
    for _ in 0..MOST_ROUNDS {
        let (mut left, mut kept) = (BTreeSet::new(), BTreeSet::new());
        let files = source.files().map(|file| {
            Reader { file, all: source, keeps_header, host_types: &host_types }
                .read(&mut left, &mut kept)
        });
        let found: Vec<Vec<Omission>> = files.collect();
        let next: BTreeSet<String> = left.difference(&kept).cloned().collect();
        if next.is_subset(&host_types) {
            return found;
        }
        host_types.extend(next);
    }
    let last = |file| {
        Reader { file, all: source, keeps_header, host_types: &host_types }
            .read(&mut BTreeSet::new(), &mut BTreeSet::new())
    };
    source.files().map(last).collect()
}

/// The left-out items of one file, for a report.
#[must_use]
pub fn items_of(
    file: &Source<'_>,
    header: Option<&str>,
    omissions: &[Omission],
) -> Vec<OmittedItem> {
    let described = omissions.iter().filter_map(|omission| {
        let text = file.text().get(omission.code.clone()).unwrap_or_default();
        let has_text = !text.trim_matches([';', ' ', '\n']).is_empty();
        has_text.then(|| OmittedItem {
            header: header.map(str::to_owned),
            place: file.place(omission.code.start),
            what: brief(head(text), 60),
            why: omission.why,
        })
    });
    described.collect()
}

/// The names of all files that the directives of a text include, in order, each once.
#[must_use]
pub fn included_names(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut seen = BTreeSet::new();
    for range in directives(text, 0..text.len()) {
        let directive = text.get(range).unwrap_or_default();
        let (word, rest) = directive_word(directive);
        let rest = rest.trim_start();
        let close = if rest.starts_with('<') { '>' } else { '"' };
        if word == "include"
            && rest.starts_with(['<', '"'])
            && let Some((name, _)) = rest.get(1..).and_then(|rest| rest.split_once(close))
            && !name.contains('\n')
            && seen.insert(name)
        {
            found.push(name);
        }
    }
    found
}

/// The directives that begin in a range of a text, each with its continuation lines.
fn directives(text: &str, within: Range<usize>) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let Some(inside) = text.get(within.clone()) else { return found };
    let mut tokens = tokens(inside);
    while let Some(Token { kind, range }) = tokens.next() {
        let start = within.start + range.start;
        if kind == TokenKind::Other && is_directive(text, start) {
            let end = range.start + logical_line(&inside.as_bytes()[range.start..]);
            found.push(start..within.start + end);
            tokens.go_to(end);
        }
    }
    found
}

/// The name of a directive, and the text after it.
fn directive_word(directive: &str) -> (&str, &str) {
    let rest = directive.trim_start_matches(['#', ' ', '\t']);
    let end = rest.find(|letter: char| !letter.is_ascii_alphabetic()).unwrap_or(rest.len());
    rest.split_at(end)
}

/// The text with spaces in place of left-out code. Line ends and most directives stay.
fn blanked(text: &str, omissions: &[Omission]) -> String {
    let mut bytes = text.as_bytes().to_vec();
    for omission in omissions {
        let Some(code) = bytes.get_mut(omission.code.clone()) else { continue };
        for byte in code.iter_mut().filter(|byte| !matches!(**byte, b'\n' | b'\r')) {
            *byte = b' ';
        }
        if omission.why == Reason::Header {
            continue;
        }
        for directive in directives(text, omission.code.clone()) {
            let (word, _) = directive_word(text.get(directive.clone()).unwrap_or_default());
            let stays = matches!(word, "define" | "undef" | "endif")
                || word.starts_with("if")
                || word.starts_with("el");
            if stays
                && directive.end <= omission.code.end
                && let Some(target) = bytes.get_mut(directive.clone())
            {
                target.copy_from_slice(&text.as_bytes()[directive]);
            }
        }
    }
    // Whole items become spaces, so the text is as valid as before.
    String::from_utf8(bytes).unwrap_or_else(|_broken| text.to_owned())
}

/// A function without its body, anything else whole.
fn head(text: &str) -> &str {
    text.split('{').next().filter(|head| !head.trim().is_empty()).unwrap_or(text)
}

/// Reads the omissions of one file.
struct Reader<'all> {
    file: &'all Source<'all>,
    /// The including file, which knows the macros with parameters of all files.
    all: &'all Source<'all>,
    keeps_header: &'all dyn Fn(&str) -> bool,
    /// Types that only left-out items define.
    host_types: &'all BTreeSet<String>,
}

impl Reader<'_> {
    fn read(&self, left: &mut BTreeSet<String>, kept: &mut BTreeSet<String>) -> Vec<Omission> {
        let mut found = Vec::new();
        let mut comments: Option<Range<usize>> = None;
        let mut linkage = None;
        for item in items(self.file) {
            let node = item.node;
            let mut range = self.range(node);
            // `extern "C"` before one item belongs to it.
            if node.kind() == "extern" {
                linkage = Some(range.start);
                continue;
            }
            if node.kind() == "string_literal" && linkage.is_some() {
                continue;
            }
            range.start = linkage.take().unwrap_or(range.start);
            let previous = comments.take().filter(|comment| self.touches(comment, &range));
            if node.kind() == "comment" {
                comments = Some(previous.map_or(range.start, |comment| comment.start)..range.end);
                continue;
            }
            let why = self.reason(node);
            self.type_names(node, if why.is_some() { &mut *left } else { &mut *kept });
            let Some(why) = why else {
                found.extend(self.methods(node));
                continue;
            };
            let comments = match why {
                Reason::HostCode => previous.map_or(range.start, |comment| comment.start),
                Reason::Header => range.start,
            };
            let is_refused = why == Reason::Header || is_function(node);
            found.push(Omission { code: range, comments, why, is_refused });
        }
        found
    }

    /// The bytes of an item with the macros before it.
    fn range(&self, node: Node<'_>) -> Range<usize> {
        self.file.decorated_start(node)..node.end_byte()
    }

    /// Host functions inside a type that stays.
    fn methods(&self, item: Node<'_>) -> Vec<Omission> {
        let mut found = Vec::new();
        walk(item, |node, ancestors| {
            let is_method = node.kind() == "function_definition"
                && ancestors.iter().any(|outer| outer.kind() == "field_declaration_list");
            if is_method && self.is_host_method(node) {
                let template =
                    ancestors.last().filter(|outer| outer.kind() == "template_declaration");
                let code = self.range(template.copied().unwrap_or(node));
                let comments = code.start;
                found.push(Omission { code, comments, why: Reason::HostCode, is_refused: true });
            }
            !is_method && !is_function(node)
        });
        found
    }

    fn is_host_method(&self, function: Node<'_>) -> bool {
        part(function, "body").is_some_and(|body| body.kind() == "compound_statement")
            && !self.is_device_function(function)
    }

    /// Whether a comment belongs to the following item: at most one line break separates them.
    fn touches(&self, comment: &Range<usize>, next: &Range<usize>) -> bool {
        let between = self.file.text().get(comment.end..next.start).unwrap_or("?");
        between.trim().is_empty() && between.matches('\n').count() <= 1
    }

    /// The reason to leave an item out, `None` if it stays.
    fn reason(&self, node: Node<'_>) -> Option<Reason> {
        let keep = match node.kind() {
            "preproc_include" => {
                let path = part(node, "path").map_or("", |path| self.file.node_text(path));
                let keeps = (self.keeps_header)(path.trim_matches(['<', '>', '"']));
                return (!keeps).then_some(Reason::Header);
            }
            "function_definition"
            | "template_instantiation"
            | "ERROR"
            | "linkage_specification" => self.is_device_function(node),
            "declaration" => self.is_device_declaration(node),
            "template_declaration" => {
                let inner = children(node)
                    .into_iter()
                    .rev()
                    .find(|child| child.is_named() && child.kind() != "comment");
                return inner.and_then(|inner| self.reason(inner));
            }
            "struct_specifier"
            | "class_specifier"
            | "union_specifier"
            | "enum_specifier"
            | "alias_declaration"
            | "type_definition"
            | "using_declaration"
            | "static_assert_declaration"
            | "namespace_alias_definition"
            | "concept_definition" => !self.speaks_to_host(node),
            "expression_statement" => self.starts_with_device_word(self.file.node_text(node)),
            // Directives, braces and scope tokens stay.
            _ => true,
        };
        (!keep).then_some(Reason::HostCode)
    }

    /// Whether the specifiers before a function's parameters place it on the device.
    fn is_device_function(&self, function: Node<'_>) -> bool {
        let range = self.file.decorated_start(function)..function.end_byte();
        let text = self.file.text().get(range).unwrap_or_default();
        self.starts_with_device_word(text.split('{').next().unwrap_or(text))
    }

    fn starts_with_device_word(&self, head: &str) -> bool {
        words(head).take(64).any(|word| self.is_device_word(word))
    }

    fn is_device_word(&self, word: &str) -> bool {
        let from_elsewhere = |word: &str| {
            let name = word.chars().all(|letter| !letter.is_ascii_lowercase());
            name && (word.contains("DEVICE") || word.contains("GLOBAL"))
        };
        let expanded = self.file.define(word).or_else(|| self.all.function_macro(word));
        match expanded {
            Some(text) => DEVICE_WORDS.iter().any(|device| text.contains(device)),
            None => DEVICE_WORDS.contains(&word) || from_elsewhere(word),
        }
    }

    /// Variables of the device and constants stay; prototypes of host functions and host variables go.
    fn is_device_declaration(&self, declaration: Node<'_>) -> bool {
        let text = self.file.node_text(declaration);
        if self.starts_with_device_word(text) {
            return true;
        }
        let constant = children(declaration).iter().any(|child| {
            child.kind() == "type_qualifier" && self.file.node_text(*child) == "const"
        });
        let kind = part(declaration, "type").map_or("", |kind| self.file.node_text(kind));
        let resolved = self.all.resolve_type(kind);
        let function = part(declaration, "declarator")
            .is_some_and(|declarator| declarator.kind() == "function_declarator");
        let is_type = part(declaration, "declarator").is_none();
        (constant && !function && Dtype::from_c_name(&resolved).is_some())
            || (is_type && !self.speaks_to_host(declaration))
    }

    /// Whether a type uses names that only host programs have, or a type that is left out.
    fn speaks_to_host(&self, item: Node<'_>) -> bool {
        let mut host = false;
        walk(item, |node, ancestors| {
            let is_method = node.kind() == "function_definition"
                && ancestors.iter().any(|outer| outer.kind() == "field_declaration_list");
            if is_method && self.is_host_method(node) {
                return false;
            }
            if matches!(node.kind(), "identifier" | "type_identifier" | "namespace_identifier") {
                let defines =
                    ancestors.last().is_some_and(|outer| part(*outer, "name") == Some(node));
                host |= uses_host_names(self.file, node)
                    || (!defines && self.host_types.contains(self.file.node_text(node)));
            }
            !host
        });
        host
    }

    /// The names of the types that an item defines.
    fn type_names(&self, node: Node<'_>, into: &mut BTreeSet<String>) {
        let mut node = node;
        if node.kind() == "template_declaration" {
            let inner = children(node).into_iter().rfind(Node::is_named);
            let Some(inner) = inner else { return };
            node = inner;
        }
        let field = match node.kind() {
            "struct_specifier" | "class_specifier" | "union_specifier" | "enum_specifier"
            | "alias_declaration" => "name",
            "type_definition" => "declarator",
            _ => return,
        };
        if let Some(name) = part(node, field) {
            into.insert(self.file.node_text(name).to_owned());
        }
    }
}

/// Whether an item is the definition of a function, with or without a template.
fn is_function(node: Node<'_>) -> bool {
    match node.kind() {
        "function_definition" => true,
        "template_declaration" => {
            children(node).iter().any(|child| child.kind() == "function_definition")
        }
        _ => false,
    }
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|letter: char| letter != '_' && !letter.is_ascii_alphanumeric())
        .filter(|word| !word.is_empty())
}
