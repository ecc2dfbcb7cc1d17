//! One Rust file as the rules see it: the modules it declares, the names it imports, and the paths it refers to.
//!
//! Items under `#[cfg(test)]` contribute their tests and modules only: the rules are about the program. Arguments of macros
//! are not syntax trees; there, every sequence of identifiers joined by `::` counts as a path.

use std::collections::BTreeMap;

use proc_macro2::{TokenStream, TokenTree};
use syn::ext::IdentExt as _;
use syn::visit::{self, Visit};
use syn::{Attribute, Item, ItemExternCrate, ItemMod, ItemUse, Meta, UseTree};

/// A path as written, without generic arguments. A first segment of `::` stands for a leading `::`.
pub(crate) type Segments = Vec<String>;

/// A module: of a file, or inline within one.
#[derive(Default)]
pub(crate) struct ModuleSyntax {
    /// Names that `use` and `extern crate` bind, each with the paths that it may stand for.
    pub(crate) bindings: BTreeMap<String, Vec<Segments>>,
    /// What `use path::*` imports from.
    pub(crate) globs: Vec<Segments>,
    /// Each path that the module refers to, with the line of the first time. Imports end in `*` where they are globs.
    pub(crate) references: BTreeMap<Segments, usize>,
    /// Lints that `#[allow]` and `#[expect]` silence, with the line of the first time.
    pub(crate) silenced: BTreeMap<String, usize>,
    /// Modules within this one.
    pub(crate) children: Vec<ChildModule>,
    /// Names of functions under `#[test]`.
    pub(crate) tests: Vec<String>,
}

/// A `mod` item.
pub(crate) struct ChildModule {
    pub(crate) name: String,
    pub(crate) is_test: bool,
    /// The file that `#[path]` names.
    pub(crate) file: Option<String>,
    /// What stands between its braces; without them it has a file of its own.
    pub(crate) inline: Option<ModuleSyntax>,
}

/// Reads a file.
///
/// # Errors
/// The text is not Rust.
pub(crate) fn parse(text: &str) -> syn::Result<ModuleSyntax> {
    let file = syn::parse_file(text)?;
    let mut reader = Reader { module: ModuleSyntax::default(), in_test: false };
    reader.visit_file(&file);
    Ok(reader.module)
}

struct Reader {
    module: ModuleSyntax,
    /// Within an item under `#[cfg(test)]` or `#[test]`.
    in_test: bool,
}

impl Reader {
    fn refer(&mut self, path: Segments, line: usize) {
        if !self.in_test {
            self.module.references.entry(path).or_insert(line);
        }
    }

    fn bind(&mut self, name: String, path: Segments) {
        if !self.in_test {
            self.module.bindings.entry(name).or_default().push(path);
        }
    }

    /// Records the imports below `prefix`.
    fn import(&mut self, prefix: &[String], tree: &UseTree) {
        let joined = |name: &syn::Ident| {
            let name = name.unraw().to_string();
            // `self` at the end of a group names the module before it; a name alone is a crate.
            match prefix {
                [] => vec!["::".to_owned(), name],
                _ if name == "self" => prefix.to_vec(),
                _ => [prefix, &[name]].concat(),
            }
        };
        match tree {
            UseTree::Path(path) => {
                let longer = [prefix, &[path.ident.unraw().to_string()]].concat();
                self.import(&longer, &path.tree);
            }
            UseTree::Name(name) => {
                let path = joined(&name.ident);
                let last = path.last().expect("at least the name itself").clone();
                self.bind(last, path.clone());
                self.refer(path, name.ident.span().start().line);
            }
            UseTree::Rename(rename) => {
                let path = joined(&rename.ident);
                self.bind(rename.rename.unraw().to_string(), path.clone());
                self.refer(path, rename.ident.span().start().line);
            }
            UseTree::Glob(glob) => {
                if !self.in_test {
                    self.module.globs.push(prefix.to_vec());
                }
                let line = glob.star_token.spans[0].start().line;
                self.refer([prefix, &["*".to_owned()]].concat(), line);
            }
            UseTree::Group(group) => group.items.iter().for_each(|tree| self.import(prefix, tree)),
        }
    }

    /// Paths, imports and tests among tokens that are not parsed further.
    fn read_tokens(&mut self, tokens: TokenStream) {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        let mut at = 0;
        while let Some(token) = tokens.get(at) {
            at += 1;
            match token {
                TokenTree::Group(group) => self.read_tokens(group.stream()),
                TokenTree::Ident(word) if word == "use" => {
                    at += self.read_import(&tokens[at - 1..])
                }
                TokenTree::Ident(first) => {
                    let line = first.span().start().line;
                    let (path, length) = joined_path(&tokens[at - 1..]);
                    at += length - 1;
                    self.refer(path, line);
                }
                TokenTree::Punct(_) if is_test_attribute(&tokens[at - 1..]) => {
                    self.module.tests.extend(function_name(&tokens[at..]));
                }
                TokenTree::Punct(_) | TokenTree::Literal(_) => {}
            }
        }
    }

    /// Reads `use …;` at the beginning of `tokens`; how many of them follow the word `use`.
    fn read_import(&mut self, tokens: &[TokenTree]) -> usize {
        let is_end =
            |token: &TokenTree| matches!(token, TokenTree::Punct(mark) if mark.as_char() == ';');
        let Some(end) = tokens.iter().position(is_end) else { return 0 };
        let item: TokenStream = tokens[..=end].iter().cloned().collect();
        let Ok(item) = syn::parse2::<ItemUse>(item) else { return 0 };
        self.visit_item_use(&item);
        end
    }
}

/// The identifiers joined by `::` at the beginning of `tokens`, and how many tokens they take.
fn joined_path(tokens: &[TokenTree]) -> (Segments, usize) {
    let mut path = Segments::new();
    let mut at = 0;
    while let Some(TokenTree::Ident(word)) = tokens.get(at) {
        path.push(word.unraw().to_string());
        at += 1;
        match tokens.get(at..at + 3) {
            Some([TokenTree::Punct(first), TokenTree::Punct(second), TokenTree::Ident(_)])
                if first.as_char() == ':' && second.as_char() == ':' =>
            {
                at += 2;
            }
            _ => break,
        }
    }
    (path, at)
}

/// Whether `tokens` begin with `#[test]`.
fn is_test_attribute(tokens: &[TokenTree]) -> bool {
    let [TokenTree::Punct(mark), TokenTree::Group(group), ..] = tokens else { return false };
    mark.as_char() == '#' && group.stream().to_string() == "test"
}

/// The name behind the first `fn`.
fn function_name(tokens: &[TokenTree]) -> Option<String> {
    let is_fn = |token: &TokenTree| matches!(token, TokenTree::Ident(word) if word == "fn");
    let at = tokens.iter().position(is_fn)?;
    match tokens.get(at + 1) {
        Some(TokenTree::Ident(name)) => Some(name.to_string()),
        Some(TokenTree::Group(_) | TokenTree::Punct(_) | TokenTree::Literal(_)) | None => None,
    }
}

impl<'ast> Visit<'ast> for Reader {
    fn visit_item(&mut self, item: &'ast Item) {
        let before = self.in_test;
        self.in_test |= attributes(item).iter().any(is_test);
        visit::visit_item(self, item);
        self.in_test = before;
    }

    fn visit_item_mod(&mut self, item: &'ast ItemMod) {
        item.attrs.iter().for_each(|attribute| self.visit_attribute(attribute));
        let inline = item.content.as_ref().map(|(_, items)| {
            let mut inner = Self { module: ModuleSyntax::default(), in_test: self.in_test };
            items.iter().for_each(|item| inner.visit_item(item));
            inner.module
        });
        self.module.children.push(ChildModule {
            name: item.ident.unraw().to_string(),
            is_test: self.in_test,
            file: item.attrs.iter().find_map(path_attribute),
            inline,
        });
    }

    fn visit_item_use(&mut self, item: &'ast ItemUse) {
        item.attrs.iter().for_each(|attribute| self.visit_attribute(attribute));
        let prefix: Segments = item.leading_colon.iter().map(|_| "::".to_owned()).collect();
        self.import(&prefix, &item.tree);
    }

    fn visit_item_extern_crate(&mut self, item: &'ast ItemExternCrate) {
        let name = item.ident.unraw().to_string();
        let bound =
            item.rename.as_ref().map_or(name.clone(), |(_, alias)| alias.unraw().to_string());
        let path = vec!["::".to_owned(), name];
        self.bind(bound, path.clone());
        self.refer(path, item.ident.span().start().line);
    }

    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        if item.attrs.iter().any(|attribute| attribute.path().is_ident("test")) {
            self.module.tests.push(item.sig.ident.to_string());
        }
        visit::visit_item_fn(self, item);
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        let before = self.in_test;
        self.in_test |= item.attrs.iter().any(is_test);
        visit::visit_impl_item_fn(self, item);
        self.in_test = before;
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let lead = path.leading_colon.iter().map(|_| "::".to_owned());
        let names = path.segments.iter().map(|segment| segment.ident.unraw().to_string());
        if let Some(first) = path.segments.first() {
            self.refer(lead.chain(names).collect(), first.ident.span().start().line);
        }
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, called: &'ast syn::Macro) {
        self.visit_path(&called.path);
        self.read_tokens(called.tokens.clone());
    }

    fn visit_attribute(&mut self, attribute: &'ast Attribute) {
        let Meta::List(list) = &attribute.meta else { return };
        let silences = ["allow", "expect", "cfg_attr"].iter().any(|name| list.path.is_ident(name));
        if silences && !self.in_test {
            let line = list.path.segments[0].ident.span().start().line;
            for lint in words(list.tokens.clone()) {
                self.module.silenced.entry(lint).or_insert(line);
            }
        } else {
            self.read_tokens(list.tokens.clone());
        }
    }
}

/// The identifiers among tokens, at any depth.
fn words(tokens: TokenStream) -> Vec<String> {
    let mut found = Vec::new();
    for token in tokens {
        match token {
            TokenTree::Group(group) => found.extend(words(group.stream())),
            TokenTree::Ident(word) => found.push(word.to_string()),
            TokenTree::Punct(_) | TokenTree::Literal(_) => {}
        }
    }
    found
}

/// Whether an item with this attribute is compiled for tests only.
fn is_test(attribute: &Attribute) -> bool {
    let for_tests = |list: &syn::MetaList| {
        let condition = list.tokens.to_string().replace(' ', "");
        list.path.is_ident("cfg") && (condition == "test" || condition.starts_with("all(test,"))
    };
    match &attribute.meta {
        Meta::Path(path) => path.is_ident("test"),
        Meta::List(list) => for_tests(list),
        Meta::NameValue(_) => false,
    }
}

/// The file that `#[path = "…"]` names.
fn path_attribute(attribute: &Attribute) -> Option<String> {
    let Meta::NameValue(pair) = &attribute.meta else { return None };
    match &pair.value {
        syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(text), .. })
            if pair.path.is_ident("path") =>
        {
            Some(text.value())
        }
        _ => None,
    }
}

fn attributes(item: &Item) -> &[Attribute] {
    match item {
        Item::Const(item) => &item.attrs,
        Item::Enum(item) => &item.attrs,
        Item::ExternCrate(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        Item::ForeignMod(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        Item::Macro(item) => &item.attrs,
        Item::Mod(item) => &item.attrs,
        Item::Static(item) => &item.attrs,
        Item::Struct(item) => &item.attrs,
        Item::Trait(item) => &item.attrs,
        Item::TraitAlias(item) => &item.attrs,
        Item::Type(item) => &item.attrs,
        Item::Union(item) => &item.attrs,
        Item::Use(item) => &item.attrs,
        // Tokens that syn does not understand.
        Item::Verbatim(_) => &[],
        // The enum may gain kinds of items with a later version of syn.
        _ => panic!("syn parses a kind of item that these rules do not read"),
    }
}
