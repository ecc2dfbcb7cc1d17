//! A parsed CUDA source: its text, its syntax tree, its macros and its named constants.

use std::collections::BTreeMap;
use std::ops::{ControlFlow, Range};
use std::sync::OnceLock;

use lightbench_primitives::dtype::Dtype;
use tree_sitter::{Node, ParseOptions, ParseState, Parser, Tree};

use super::conditionals::{self, Inactive};
use super::error::{SourceError, SourceLocation};
use super::integer;
use super::masking::{self, Defines};
use super::syntax::{first_error_below, one_line, walk};

/// A kernel file is written by hand; this is a hundred times the longest seen.
const LARGEST_SOURCE: usize = 4 << 20;

/// Progress reports of the parser (one per hundred steps) after which parsing is stopped: this number for any source,
/// and one more for each [`BYTES_PER_REPORT`] bytes. Measured: one report per 46 to 660 bytes of CUDA C++, and one per
/// 10 bytes of `x<x<x<…`, whose error recovery takes quadratic time.
const REPORTS_FOR_ANY: usize = 1000;
const BYTES_PER_REPORT: usize = 32;

/// The longest type or constant that a name is replaced by.
const LONGEST_MEANING: usize = 256;

/// A parsed CUDA source.
#[derive(Debug)]
pub struct Source<'text> {
    text: &'text str,
    /// The text as the grammar saw it: the same places, with decoration blanked out.
    masked: String,
    places: Places,
    tree: Tree,
    defines: Defines,
    /// Branches of conditionals that are not compiled.
    inactive: Inactive,
    /// The local headers, whose names count as names of this file.
    headers: Vec<Self>,
    /// Collected when they are first asked for.
    names: OnceLock<Names>,
}

/// The names of a file that are types or constants.
#[derive(Debug, Default)]
struct Names {
    /// Types by their aliases; an alias with two meanings has none.
    aliases: BTreeMap<String, String>,
    /// Initialisers by the names of variables, as for aliases.
    constants: BTreeMap<String, String>,
    /// Bytes of the first definition of each struct, and of structs named by a `typedef`.
    structs: BTreeMap<String, Range<usize>>,
    /// Replacement texts of macros with parameters.
    function_macros: BTreeMap<String, Range<usize>>,
}

impl<'text> Source<'text> {
    /// Parses a text; its places are those of the text as given.
    ///
    /// # Errors
    ///
    /// The text is too large, has a NUL character, or is hopeless for the parser.
    pub fn parse(text: &'text str) -> Result<Self, SourceError> {
        Self::parse_among(text, &Defines::new())
    }

    /// Parses a text with its local headers: their macros, types and constants count as defined in this file, and the
    /// conditionals of each file see the macros of all.
    ///
    /// # Errors
    ///
    /// As [`parse`](Self::parse), of the text or of a header.
    pub fn with_headers(text: &'text str, headers: &[&'text str]) -> Result<Self, SourceError> {
        let defines: Vec<Defines> = headers.iter().map(|header| masking::defines(header)).collect();
        let own = masking::defines(text);
        // The including file decides first, then the headers in their order.
        let others = |left_out: Option<usize>| {
            let all = defines.iter().enumerate().filter(|(index, _)| Some(*index) != left_out);
            let mut merged = if left_out.is_some() { own.clone() } else { Defines::new() };
            for (name, value) in all.flat_map(|(_, defines)| defines) {
                merged.entry(name.clone()).or_insert_with(|| value.clone());
            }
            merged
        };
        let mut source = Self::parse_among(text, &others(None))?;
        for (index, header) in headers.iter().enumerate() {
            source.headers.push(Self::parse_among(header, &others(Some(index)))?);
        }
        Ok(source)
    }

    /// Parses a text; `outer` are the macros of other files.
    fn parse_among(text: &'text str, outer: &Defines) -> Result<Self, SourceError> {
        if text.len() > LARGEST_SOURCE {
            return Err(SourceError::TooLarge { bytes: text.len(), limit: LARGEST_SOURCE });
        }
        let places = Places::new(text);
        if let Some(at) = text.find('\0') {
            return Err(SourceError::Nul { place: places.of(at) });
        }
        let (defines, masked) = masking::mask(text, outer);
        let tree = parse_tree(&masked, &places)?;
        let inactive = conditionals::inactive(&masked, tree.root_node(), outer);
        let (headers, names) = (Vec::new(), OnceLock::new());
        Ok(Self { text, masked, places, tree, defines, inactive, headers, names })
    }

    /// The local headers, in the order given.
    #[must_use]
    pub fn headers(&self) -> &[Self] {
        &self.headers
    }

    /// This file, then its headers.
    pub(crate) fn files(&self) -> impl Iterator<Item = &Self> {
        std::iter::once(self).chain(&self.headers)
    }

    /// Whether a byte is in a branch of a conditional that is not compiled without options.
    #[must_use]
    pub fn is_inactive(&self, at: usize) -> bool {
        conditionals::contains(&self.inactive, at)
    }

    /// The text as given.
    #[must_use]
    pub fn text(&self) -> &'text str {
        self.text
    }

    /// The node of the whole text.
    #[must_use]
    pub fn root(&self) -> Node<'_> {
        self.tree.root_node()
    }

    /// The text of a node.
    #[must_use]
    pub fn node_text(&self, node: Node<'_>) -> &'text str {
        self.text.get(node.byte_range()).unwrap_or_default()
    }

    /// The start of a node, including preceding macros that the grammar ignored.
    #[must_use]
    pub fn decorated_start(&self, node: Node<'_>) -> usize {
        let before = self.masked.get(..node.start_byte()).unwrap_or_default().trim_end().len();
        let between = self.text.get(before..node.start_byte()).unwrap_or_default();
        before + (between.len() - between.trim_start().len())
    }

    /// Line and column of a byte.
    #[must_use]
    pub fn place(&self, at: usize) -> SourceLocation {
        self.places.of(at)
    }

    /// A type's name with aliases and macros of this file replaced, in single spaces.
    #[must_use]
    pub fn resolve_type(&self, written: &str) -> String {
        let mut name = one_line(written);
        for _ in 0..8 {
            let plain = name.trim_start_matches("struct ").trim_start_matches("typename ");
            if Dtype::from_c_name(plain).is_some() {
                return plain.to_owned();
            }
            let alias = self.files().find_map(|file| file.names().aliases.get(plain));
            match alias.or_else(|| self.defines.get(plain)) {
                Some(next) => name = one_line(next),
                None => return plain.to_owned(),
            }
        }
        name
    }

    /// The value of an integer expression over literals and this file's constants.
    #[must_use]
    pub fn integer(&self, expression: &str) -> Option<u64> {
        integer::evaluate(expression, &|name| self.constant(name))
    }

    /// The text of a constant, an initialised variable, or a macro.
    #[must_use]
    pub fn constant(&self, name: &str) -> Option<&str> {
        let constant = self.files().find_map(|file| file.names().constants.get(name));
        constant.or_else(|| self.defines.get(name)).map(String::as_str)
    }

    /// Whether a name is a macro of this file, and its text if so.
    #[must_use]
    pub fn define(&self, name: &str) -> Option<&str> {
        self.defines.get(name).map(String::as_str)
    }

    /// The text of a macro with parameters.
    #[must_use]
    pub(crate) fn function_macro(&self, name: &str) -> Option<&'text str> {
        self.files().find_map(|file| {
            let bytes = file.names().function_macros.get(name)?.clone();
            file.text.get(bytes)
        })
    }

    /// The node that defines a struct, and the file that has it.
    pub(crate) fn struct_definition(&self, name: &str) -> Option<(&Self, Node<'_>)> {
        self.files().find_map(|file| {
            let bytes = file.names().structs.get(name)?;
            Some((file, file.root().descendant_for_byte_range(bytes.start, bytes.end)?))
        })
    }

    /// The first place that the grammar could not read, if any.
    #[must_use]
    pub fn first_error(&self) -> Option<(SourceLocation, String)> {
        first_error_below(self.root()).map(|node| self.describe_error(node))
    }

    /// Place and text of an error node, the text short enough for a message.
    pub(crate) fn describe_error(&self, node: Node<'_>) -> (SourceLocation, String) {
        let found = if node.is_missing() {
            format!("missing {}", node.kind())
        } else {
            brief(self.node_text(node), 40)
        };
        (self.place(node.start_byte()), found)
    }

    fn names(&self) -> &Names {
        self.names.get_or_init(|| {
            let mut names = Names::default();
            walk(self.root(), |node, _| {
                if self.is_inactive(node.start_byte()) {
                    return false;
                }
                match node.kind() {
                    "preproc_function_def" => {
                        if let (Some(name), Some(value)) =
                            (node.child_by_field_name("name"), node.child_by_field_name("value"))
                        {
                            let name = self.node_text(name).to_owned();
                            names.function_macros.insert(name, value.byte_range());
                        }
                    }
                    "alias_declaration" => self.alias(node, "name", "type", &mut names.aliases),
                    "type_definition" => {
                        self.alias(node, "declarator", "type", &mut names.aliases);
                        self.definition(node, "declarator", &mut names.structs);
                    }
                    "struct_specifier" | "class_specifier" => {
                        self.definition(node, "name", &mut names.structs);
                    }
                    "init_declarator" => {
                        self.alias(node, "declarator", "value", &mut names.constants);
                    }
                    "declaration" => self.extents(node, &mut names.constants),
                    _ => {}
                }
                true
            });
            names
        })
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
            let value = self.node_text(value);
            let value = if value.len() > LONGEST_MEANING { "" } else { value };
            into.entry(self.node_text(name).to_owned())
                .and_modify(|known| {
                    if *known != value {
                        known.clear();
                    }
                })
                .or_insert_with(|| value.to_owned());
        }
    }

    /// Records where a struct with a body is defined, under the name in a field of `node`.
    fn definition(&self, node: Node<'_>, name: &str, into: &mut BTreeMap<String, Range<usize>>) {
        let definition = node.child_by_field_name("type").unwrap_or(node);
        if let Some(name) = node.child_by_field_name(name)
            && definition.child_by_field_name("body").is_some()
        {
            into.entry(self.node_text(name).to_owned()).or_insert_with(|| definition.byte_range());
        }
    }
}

/// Lines and columns of a text.
#[derive(Debug)]
struct Places {
    line_starts: Vec<usize>,
    /// The bytes that continue a character, and those of a byte order mark: they take no column.
    without_column: Vec<usize>,
}

impl Places {
    fn new(text: &str) -> Self {
        let mark = if text.starts_with('\u{feff}') { 0..1 } else { 0..0 };
        let continues = |(at, byte): (usize, u8)| (byte & 0xc0 == 0x80).then_some(at);
        Self {
            line_starts: std::iter::once(0)
                .chain(text.match_indices('\n').map(|(at, _)| at + 1))
                .collect(),
            without_column: mark.chain(text.bytes().enumerate().filter_map(continues)).collect(),
        }
    }

    fn of(&self, at: usize) -> SourceLocation {
        let line = self.line_starts.partition_point(|start| *start <= at);
        let start = self.line_starts.get(line.saturating_sub(1)).copied().unwrap_or_default();
        let before = |at: usize| self.without_column.partition_point(|byte| *byte < at);
        SourceLocation { line, column: (at - start) - (before(at) - before(start)) + 1 }
    }
}

/// A text with line feeds only and without a byte order mark, as a project stores it.
#[must_use]
pub fn normalised(text: &str) -> String {
    text.strip_prefix('\u{feff}').unwrap_or(text).replace("\r\n", "\n")
}

/// The first line of a text, safe to print and to put into a comment.
#[must_use]
pub fn brief(text: &str, longest: usize) -> String {
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

fn parse_tree(text: &str, places: &Places) -> Result<Tree, SourceError> {
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
    tree.ok_or_else(|| SourceError::GaveUp { place: places.of(reached) })
}
