//! Pages of the documentation, read with a Markdown parser.

use std::fs;
use std::path::Path;

use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd};

/// What a page quotes.
pub(crate) struct Page {
    /// Relative to the repository.
    pub(crate) file: String,
    /// Texts between backticks.
    pub(crate) spans: Vec<String>,
    /// Commands of blocks of the languages `sh` and `console`, continued lines joined.
    pub(crate) commands: Vec<String>,
    /// Destinations of links.
    pub(crate) links: Vec<String>,
}

impl Page {
    pub(crate) fn new(file: &str, text: &str) -> Self {
        let mut page =
            Self { file: file.to_owned(), spans: vec![], commands: vec![], links: vec![] };
        // The language and the lines of the block of code around the event.
        let mut block: Option<(String, String)> = None;
        for event in Parser::new_ext(text, Options::ENABLE_TABLES) {
            #[expect(clippy::wildcard_enum_match_arm, reason = "the library's enum grows")]
            match event {
                Event::Code(code) => page.spans.push(code.into_string()),
                Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
                    page.links.push(dest_url.into_string());
                }
                Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(language))) => {
                    block = Some((language.into_string(), String::new()));
                }
                Event::Text(text) => {
                    if let Some((_, lines)) = &mut block {
                        lines.push_str(&text);
                    }
                }
                Event::End(TagEnd::CodeBlock) => {
                    if let Some((language, lines)) = block.take() {
                        page.commands.extend(block_commands(&language, &lines));
                    }
                }
                _ => {}
            }
        }
        page
    }
}

/// The pages that a reader of the repository is sent to.
pub(crate) fn pages(root: &Path) -> Vec<Page> {
    let top =
        ["ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md", "README.md"].map(str::to_owned);
    let below = fs::read_dir(root.join("docs")).unwrap().map(|entry| entry.unwrap().file_name());
    let below = below.map(|name| format!("docs/{}", name.to_string_lossy()));
    let mut files: Vec<String> =
        top.into_iter().chain(below.filter(|file| file.ends_with(".md"))).collect();
    files.sort();
    files
        .iter()
        .map(|file| Page::new(file, &fs::read_to_string(root.join(file)).unwrap()))
        .collect()
}

/// The lines of a block that a reader types: all of `sh`, and those after the prompt of `console`.
fn block_commands(language: &str, lines: &str) -> Vec<String> {
    let joined = lines.replace("\\\n", " ");
    let typed = joined.lines().filter_map(|line| match language {
        "sh" => Some(line),
        "console" => line.strip_prefix("$ "),
        _ => None,
    });
    typed.map(str::to_owned).collect()
}

/// The words of a command line up to a pipe or a redirection, without assignments of variables before it. None where a quote
/// is not closed.
pub(crate) fn words(line: &str) -> Option<Vec<String>> {
    let words = split(line)?;
    let command = words
        .into_iter()
        .take_while(|word| !["|", ">", "2>", "<", "&&", ";"].contains(&word.as_str()));
    Some(command.skip_while(|word| is_assignment(word)).collect())
}

/// Splits a command line at spaces outside quotes; a word that begins with `#` begins a comment.
fn split(line: &str) -> Option<Vec<String>> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote: Option<char> = None;
    for letter in line.chars() {
        match (letter, quote) {
            (_, Some(mark)) if letter == mark => quote = None,
            ('\'' | '"', None) => {
                quote = Some(letter);
                word.get_or_insert_default();
            }
            ('#', None) if word.is_none() => break,
            (' ', None) => words.extend(word.take()),
            (_, _) => word.get_or_insert_default().push(letter),
        }
    }
    words.extend(word);
    quote.is_none().then_some(words)
}

/// Whether a word stands for what a reader fills in.
pub(crate) fn is_placeholder(word: &str) -> bool {
    word.chars().all(|letter| letter.is_ascii_uppercase() || letter == '_')
}

fn is_assignment(word: &str) -> bool {
    let is_name = |name: &str| {
        !name.is_empty() && name.chars().all(|letter| letter.is_ascii_uppercase() || letter == '_')
    };
    word.split_once('=').is_some_and(|(name, _)| is_name(name))
}

#[test]
fn a_page_is_read_by_its_markup() {
    let text = "See [a](b.md), `c d` and\n\n| `e \\| f` |\n| --- |\n\n```sh\nrun \\\n  it\n```\n\n```console\n$ g\nh\n```\n\n```rust\nlet i;\n```\n";
    let page = Page::new("page.md", text);
    assert_eq!(page.links, ["b.md"]);
    assert_eq!(page.spans, ["c d", "e | f"]);
    assert_eq!(page.commands, ["run    it", "g"]);
    assert_eq!(words("run 'not closed"), None);
    assert_eq!(words("A=1 B_C=… run 'two words' > file # why").unwrap(), ["run", "two words"]);
}
