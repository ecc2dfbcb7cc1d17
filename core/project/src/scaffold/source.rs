//! A parsed CUDA source: its text, its syntax tree, its macros and its named constants.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use tree_sitter::{Node, ParseOptions, ParseState, Parser, Tree};

use super::error::{ScaffoldError, SourceLocation};
use super::macros::{self, Defines};
use super::{arithmetic, element};

/// A kernel file is written by hand; this is a hundred times the longest seen.
const LARGEST_SOURCE: usize = 4 << 20;

/// Progress reports of the parser (one per hundred steps) after which parsing is stopped: this number for any source,
/// and one more for each [`BYTES_PER_REPORT`] bytes. Measured: one report per 46 to 660 bytes of CUDA C++, and one per
/// 10 bytes of `x<x<x<…`, whose error recovery takes quadratic time.
const REPORTS_FOR_ANY: usize = 1000;
const BYTES_PER_REPORT: usize = 32;

/// Maximum nesting of scopes (namespaces, `extern "C"`, `#if`).
const DEEPEST_SCOPE: usize = 64;

pub(super) struct Source {
    /// With line feeds only and without a byte order mark.
    pub(super) text: String,
    /// The text as the grammar saw it: the same places, with decoration blanked out.
    masked: String,
    line_starts: Vec<usize>,
    tree: Tree,
    defines: Defines,
    aliases: BTreeMap<String, String>,
    constants: BTreeMap<String, String>,
}

impl Source {
    pub(super) fn parse(text: &str) -> Result<Self, ScaffoldError> {
        if text.len() > LARGEST_SOURCE {
            return Err(ScaffoldError::TooLarge { bytes: text.len(), limit: LARGEST_SOURCE });
        }
        let text = text.strip_prefix('\u{feff}').unwrap_or(text).replace("\r\n", "\n");
        let line_starts = line_starts(&text);
        if let Some(at) = text.find('\0') {
            return Err(ScaffoldError::Nul { place: place(&text, &line_starts, at) });
        }
        let (defines, masked) = macros::mask(&text);
        let tree = parse_tree(&masked, &line_starts)?;
        let mut source = Self {
            text,
            masked,
            line_starts,
            tree,
            defines,
            aliases: BTreeMap::new(),
            constants: BTreeMap::new(),
        };
        source.collect_names();
        Ok(source)
    }

    pub(super) fn root(&self) -> Node<'_> {
        self.tree.root_node()
    }

    pub(super) fn node_text(&self, node: Node<'_>) -> &str {
        self.text.get(node.byte_range()).unwrap_or_default()
    }

    /// The start of a node, including preceding macros that the grammar ignored.
    pub(super) fn decorated_start(&self, node: Node<'_>) -> usize {
        let before = self.masked.get(..node.start_byte()).unwrap_or_default().trim_end().len();
        let between = self.text.get(before..node.start_byte()).unwrap_or_default();
        before + (between.len() - between.trim_start().len())
    }

    pub(super) fn place(&self, at: usize) -> SourceLocation {
        place(&self.text, &self.line_starts, at)
    }

    /// A type's name with aliases and macros of this file replaced, in single spaces.
    pub(super) fn resolve_type(&self, written: &str) -> String {
        let mut name = one_line(written);
        for _ in 0..8 {
            let plain = name.trim_start_matches("struct ").trim_start_matches("typename ");
            if element::from_c_type(plain).is_some() {
                return plain.to_owned();
            }
            match self.aliases.get(plain).or_else(|| self.defines.get(plain)) {
                Some(next) => name = one_line(next),
                None => return plain.to_owned(),
            }
        }
        name
    }

    /// The value of an integer expression over literals and this file's constants.
    pub(super) fn integer(&self, expression: &str) -> Option<u64> {
        arithmetic::evaluate(expression, &|name| self.constant(name))
    }

    /// The text of a constant, an initialised variable, or a macro.
    pub(super) fn constant(&self, name: &str) -> Option<&str> {
        self.constants.get(name).or_else(|| self.defines.get(name)).map(String::as_str)
    }

    /// Whether a name is a macro of this file, and its text if so.
    pub(super) fn define(&self, name: &str) -> Option<&str> {
        self.defines.get(name).map(String::as_str)
    }

    /// The first place that the grammar could not read, if any.
    pub(super) fn first_error(&self) -> Option<(SourceLocation, String)> {
        first_error_below(self.root()).map(|node| self.describe_error(node))
    }

    /// Place and text of an error node, the text short enough for a message.
    pub(super) fn describe_error(&self, node: Node<'_>) -> (SourceLocation, String) {
        let found = if node.is_missing() {
            format!("missing {}", node.kind())
        } else {
            brief(self.node_text(node), 40)
        };
        (self.place(node.start_byte()), found)
    }

    fn collect_names(&mut self) {
        let mut aliases = BTreeMap::new();
        let mut constants = BTreeMap::new();
        walk(self.root(), |node, _| {
            match node.kind() {
                "alias_declaration" => self.alias(node, "name", "type", &mut aliases),
                "type_definition" => self.alias(node, "declarator", "type", &mut aliases),
                "init_declarator" => self.alias(node, "declarator", "value", &mut constants),
                "declaration" => self.extents(node, &mut constants),
                _ => {}
            }
            true
        });
        self.aliases = aliases;
        self.constants = constants;
    }

    /// The grammar parses `dim3 block(TILE, TILE);` as a function, because it does not know types.
    fn extents(&self, declaration: Node<'_>, into: &mut BTreeMap<String, String>) {
        let kind = declaration.child_by_field_name("type").map_or("", |kind| self.node_text(kind));
        let declarator = declaration.child_by_field_name("declarator");
        if kind == "dim3"
            && let Some(function) = declarator.filter(|node| node.kind() == "function_declarator")
        {
            let text =
                |field| function.child_by_field_name(field).map_or("", |part| self.node_text(part));
            into.insert(text("declarator").to_owned(), text("parameters").to_owned());
        }
    }

    /// Records the meaning of a name; a name with two meanings has none.
    fn alias(&self, node: Node<'_>, name: &str, value: &str, into: &mut BTreeMap<String, String>) {
        if let (Some(name), Some(value)) =
            (node.child_by_field_name(name), node.child_by_field_name(value))
            && matches!(name.kind(), "identifier" | "type_identifier")
            && value.child_by_field_name("body").is_none()
        {
            let value = self.node_text(value).to_owned();
            into.entry(self.node_text(name).to_owned())
                .and_modify(|known| {
                    if *known != value {
                        known.clear();
                    }
                })
                .or_insert(value);
        }
    }
}

/// One item of a scope, with the scopes around it.
pub(super) struct Item<'tree> {
    pub(super) node: Node<'tree>,
    pub(super) namespaces: Vec<String>,
    pub(super) extern_c: bool,
}

/// The items of a source in order, from inside namespaces, linkage blocks and conditionals too.
pub(super) fn items(source: &Source) -> Vec<Item<'_>> {
    let mut found = Vec::new();
    let root = Item { node: source.root(), namespaces: Vec::new(), extern_c: false };
    collect_items(source, &root, 0, &mut found);
    found
}

fn collect_items<'tree>(
    source: &'tree Source,
    scope: &Item<'tree>,
    depth: usize,
    found: &mut Vec<Item<'tree>>,
) {
    for child in children(scope.node) {
        let mut item =
            Item { node: child, namespaces: scope.namespaces.clone(), extern_c: scope.extern_c };
        let opens = match child.kind() {
            "namespace_definition" => {
                if let Some(name) = child.child_by_field_name("name") {
                    let parts =
                        source.node_text(name).split("::").map(|part| part.trim().to_owned());
                    item.namespaces.extend(parts);
                }
                true
            }
            "linkage_specification" => {
                item.extern_c = true;
                true
            }
            "declaration_list" | "preproc_if" | "preproc_ifdef" | "preproc_else"
            | "preproc_elif" | "preproc_elifdef" => true,
            _ => false,
        };
        if opens && depth < DEEPEST_SCOPE {
            collect_items(source, &item, depth + 1, found);
        } else {
            found.push(item);
        }
    }
}

/// The children of a node, tokens included.
pub fn children(node: Node<'_>) -> Vec<Node<'_>> {
    let mut cursor = node.walk();
    node.children(&mut cursor).collect()
}

/// Visits `node` and all nodes below, parents first, with the ancestors from `node` down; `visit` returns whether to
/// descend. Not recursive, because a hostile source may nest deeply.
pub fn walk<'tree>(node: Node<'tree>, mut visit: impl FnMut(Node<'tree>, &[Node<'tree>]) -> bool) {
    let mut cursor = node.walk();
    let mut ancestors = Vec::new();
    loop {
        let here = cursor.node();
        if visit(here, &ancestors) && cursor.goto_first_child() {
            ancestors.push(here);
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return;
            }
            ancestors.pop();
        }
    }
}

/// The first ERROR or MISSING node at or below `node`.
pub fn first_error_below(node: Node<'_>) -> Option<Node<'_>> {
    let mut found = None;
    walk(node, |here, _| {
        if found.is_none() && (here.is_error() || here.is_missing()) {
            found = Some(here);
        }
        found.is_none() && here.has_error()
    });
    found
}

/// A text in one line with single spaces.
pub fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The first line of a text, safe to print and to put into a comment.
pub(super) fn brief(text: &str, longest: usize) -> String {
    let start: String = text.chars().take(4 * longest).collect();
    let line = one_line(&start);
    let shown = |letter: &char| !letter.is_control() && !is_direction_mark(*letter);
    let mut short: String = line.chars().filter(shown).take(longest).collect();
    if line.chars().count() > longest {
        short.push('…');
    }
    short.replace("*/", "* /").replace("/*", "/ *").trim_end_matches('\\').to_owned()
}

/// Characters that reorder neighbouring text.
fn is_direction_mark(letter: char) -> bool {
    matches!(letter, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

fn line_starts(text: &str) -> Vec<usize> {
    std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect()
}

fn place(text: &str, line_starts: &[usize], at: usize) -> SourceLocation {
    let line = line_starts.partition_point(|start| *start <= at);
    let start = line_starts.get(line.saturating_sub(1)).copied().unwrap_or_default();
    let before = text.get(start..at).unwrap_or_default();
    SourceLocation { line, column: before.chars().count() + 1 }
}

/// The syntax tree of a text, of which it has every byte's place: macros that only decorate are read as spaces.
///
/// # Errors
///
/// If the text is hopeless for the parser.
pub fn syntax_tree(text: &str) -> Result<Tree, ScaffoldError> {
    if text.len() > LARGEST_SOURCE {
        return Err(ScaffoldError::TooLarge { bytes: text.len(), limit: LARGEST_SOURCE });
    }
    let line_starts = line_starts(text);
    if let Some(at) = text.find('\0') {
        return Err(ScaffoldError::Nul { place: place(text, &line_starts, at) });
    }
    let (_, masked) = macros::mask(text);
    parse_tree(&masked, &line_starts)
}

fn parse_tree(text: &str, line_starts: &[usize]) -> Result<Tree, ScaffoldError> {
    let mut parser = Parser::new();
    parser.set_language(&tree_sitter_cuda::LANGUAGE.into())?;
    let most_reports = REPORTS_FOR_ANY + text.len() / BYTES_PER_REPORT;
    let (mut reports, mut reached) = (0, 0);
    let mut progress = |state: &ParseState| {
        reports += 1;
        reached = state.current_byte_offset();
        if reports > most_reports { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let options = ParseOptions::new().progress_callback(&mut progress);
    let bytes = text.as_bytes();
    let mut read = |offset: usize, _| bytes.get(offset..).unwrap_or_default();
    let tree = parser.parse_with_options(&mut read, None, Some(options));
    tree.ok_or_else(|| ScaffoldError::GaveUp { place: place(text, line_starts, reached) })
}
