//! One pass over the tokens of a PTX text.

use std::collections::BTreeMap;

use super::line_map::{Location, Position};
use super::tokens::{Token, Tokens, parse_number};
use super::{ParameterKind, PointerAttributes, PtxEntry, PtxModule, PtxParameter, PtxVariable};

pub(super) struct Reader<'text> {
    tokens: Tokens<'text>,
    module: PtxModule,
    /// Shared variables of the module by name.
    shared: BTreeMap<&'text str, PtxVariable>,
    /// `.extern` stood before the declaration now read.
    external: bool,
    depth: usize,
    in_entry: bool,
}

impl<'text> Reader<'text> {
    pub(super) fn new(text: &'text str) -> Self {
        Self {
            tokens: Tokens::new(text),
            module: PtxModule::default(),
            shared: BTreeMap::new(),
            external: false,
            depth: 0,
            in_entry: false,
        }
    }

    pub(super) fn read(mut self) -> PtxModule {
        while let Some(token) = self.tokens.next() {
            match token {
                Token::Word(word) => self.word(word),
                Token::Mark(b'{') => self.depth += 1,
                Token::Mark(b'}') => self.close(),
                Token::Mark(b';') => self.external = false,
                Token::Mark(_) | Token::Text(_) => {}
            }
        }
        self.module
    }

    fn close(&mut self) {
        self.depth = self.depth.saturating_sub(1);
        if self.depth > 0 {
            return;
        }
        let line = self.tokens.line;
        self.module.line_map.change(line.saturating_add(1), None);
        if let Some(entry) = self.module.entries.last_mut().filter(|_| self.in_entry) {
            entry.lines.1 = line;
        }
        self.in_entry = false;
    }

    fn word(&mut self, word: &'text str) {
        match word {
            ".version" => self.module.version = self.version(),
            ".target" => self.module.target = self.target(),
            ".file" => self.file(),
            ".loc" => self.location(),
            ".extern" => self.external = true,
            ".entry" => self.entry(),
            // A state space after `.ptr` declares nothing.
            ".ptr" => drop(self.tokens.word()),
            ".shared" => self.shared_variables(),
            ".const" => {
                let constants = self.variables();
                self.module.constants.extend(constants.into_iter().map(|(_, each)| each));
            }
            _ => self.other(word),
        }
    }

    fn other(&mut self, word: &'text str) {
        if let Some(label) = word.strip_suffix(':').filter(|label| label.contains("info_string")) {
            self.name(label);
        } else if self.in_entry
            && self.depth > 0
            && let Some(variable) = self.shared.get(word)
            && let Some(entry) = self.module.entries.last_mut()
            && !entry.shared.iter().any(|each| each.name == variable.name)
        {
            entry.shared.push(variable.clone());
        }
    }

    fn version(&mut self) -> Option<(u32, u32)> {
        let (major, minor) = self.tokens.word()?.split_once('.')?;
        Some((major.parse().ok()?, minor.parse().ok()?))
    }

    fn target(&mut self) -> Vec<String> {
        let mut words = Vec::new();
        while let Some(word) = self.tokens.word() {
            words.push(word.to_owned());
            if !self.tokens.mark(b',') {
                break;
            }
        }
        words
    }

    fn file(&mut self) {
        let number = self.tokens.number().and_then(|number| u32::try_from(number).ok());
        if let (Some(number), Some(Token::Text(name))) = (number, self.tokens.peek()) {
            self.tokens.next();
            self.module.line_map.add_file(number, name);
        }
    }

    fn location(&mut self) {
        let ptx_line = self.tokens.line;
        let Some(position) = self.position() else { return };
        let mut location = Location { position, function: None, inlined_at: None };
        while self.tokens.mark(b',') {
            match self.tokens.word() {
                Some("function_name") => {
                    let label = self.tokens.word();
                    location.function = label.map(|label| self.module.line_map.label(label));
                    if self.tokens.mark(b'+') {
                        self.tokens.number();
                    }
                }
                Some("inlined_at") => location.inlined_at = self.position(),
                Some(_) | None => break,
            }
        }
        self.module.line_map.change(ptx_line, Some(location));
    }

    fn position(&mut self) -> Option<Position> {
        let mut number = || u32::try_from(self.tokens.number()?).ok();
        Some((number()?, number()?, number()?))
    }

    /// `$L__info_string0:` and its bytes, to the first zero.
    fn name(&mut self, label: &str) {
        let mut bytes = Vec::new();
        while self.tokens.peek() == Some(Token::Word(".b8")) {
            self.tokens.next();
            while let Some(byte) = self.tokens.number().and_then(|byte| u8::try_from(byte).ok()) {
                bytes.push(byte);
                if !self.tokens.mark(b',') {
                    break;
                }
            }
        }
        let end = bytes.iter().position(|&byte| byte == 0).unwrap_or(bytes.len());
        let name = String::from_utf8_lossy(&bytes[..end]).into_owned();
        self.module.line_map.add_name(label, name);
    }

    fn entry(&mut self) {
        let first = self.tokens.line;
        let Some(name) = self.tokens.word() else { return };
        let mut entry =
            PtxEntry { name: name.to_owned(), lines: (first, first), ..PtxEntry::default() };
        if self.tokens.mark(b'(') {
            while !self.tokens.mark(b')') {
                match self.tokens.peek() {
                    Some(Token::Word(".param")) => {
                        self.tokens.next();
                        entry.parameters.extend(self.parameter());
                    }
                    Some(Token::Mark(b'{' | b';' | b'}')) | None => break,
                    Some(_) => drop(self.tokens.next()),
                }
            }
        }
        self.performance(&mut entry);
        self.in_entry = true;
        self.module.entries.push(entry);
    }

    /// Reads the performance directives between the parameters and the body.
    fn performance(&mut self, entry: &mut PtxEntry) {
        let single = |extent: Option<[u32; 3]>| extent.map(|[first, ..]| first);
        while let Some(token) = self.tokens.peek() {
            match token {
                Token::Mark(b'{' | b';' | b'}') => return,
                Token::Mark(_) | Token::Text(_) => drop(self.tokens.next()),
                Token::Word(word) => {
                    self.tokens.next();
                    match word {
                        ".maxntid" => entry.max_threads = self.tokens.extent(),
                        ".reqntid" => entry.required_threads = self.tokens.extent(),
                        ".reqnctapercluster" => entry.required_cluster = self.tokens.extent(),
                        ".minnctapersm" => entry.min_blocks_per_sm = single(self.tokens.extent()),
                        ".maxnreg" => entry.max_registers = single(self.tokens.extent()),
                        _ => {}
                    }
                }
            }
        }
    }

    /// `.param [.align N] .type [.ptr [.space] [.align N]] name[size]`, after `.param`.
    fn parameter(&mut self) -> Option<PtxParameter> {
        let mut kind = None;
        let mut alignment = None;
        let mut pointer: Option<PointerAttributes> = None;
        let name = loop {
            let word = self.tokens.word()?;
            match (word, &mut pointer) {
                (".align", Some(pointer)) => pointer.align = self.tokens.number(),
                (".align", None) => alignment = self.tokens.number(),
                (".ptr", _) => pointer = Some(PointerAttributes::default()),
                (".global" | ".const" | ".local" | ".shared", Some(pointer)) => {
                    pointer.space = Some(word[1..].to_owned());
                }
                _ if word.starts_with('.') => kind = kind.or_else(|| parameter_type(word)),
                _ => break word,
            }
        };
        let (mut kind, mut size) = kind?;
        let element = size;
        if self.tokens.mark(b'[') {
            size = size.checked_mul(self.tokens.number()?)?;
            kind = ParameterKind::Bytes;
            self.tokens.mark(b']');
        }
        let alignment = alignment.unwrap_or(element);
        Some(PtxParameter { name: name.to_owned(), kind, size, alignment, pointer })
    }

    fn shared_variables(&mut self) {
        let inside = self.depth > 0;
        for (name, variable) in self.variables() {
            if !inside {
                self.shared.insert(name, variable);
            } else if let Some(entry) = self.module.entries.last_mut().filter(|_| self.in_entry) {
                entry.shared.push(variable);
            }
        }
    }

    /// `.align N .type name[a][b], other = {…};` after the state space.
    fn variables(&mut self) -> Vec<(&'text str, PtxVariable)> {
        let external = std::mem::take(&mut self.external);
        let (mut element, mut count) = (1_u64, 1_u64);
        let mut found = Vec::new();
        while let Some(word) = self.tokens.word() {
            match word {
                ".align" => drop(self.tokens.number()),
                ".attribute" => self.skip_to(b')'),
                ".v2" => count = 2,
                ".v4" => count = 4,
                ".v8" => count = 8,
                _ if word.starts_with('.') => {
                    element = parameter_type(word).map_or(element, |(_, size)| size);
                }
                _ => {
                    let bytes = self.dimensions(element.saturating_mul(count));
                    found.push((word, PtxVariable { name: word.to_owned(), bytes, external }));
                    self.initialiser();
                    if !self.tokens.mark(b',') {
                        break;
                    }
                }
            }
        }
        found
    }

    fn dimensions(&mut self, element: u64) -> u64 {
        let mut bytes = element;
        while self.tokens.mark(b'[') {
            bytes = bytes.saturating_mul(self.tokens.number().unwrap_or(0));
            self.tokens.mark(b']');
        }
        bytes
    }

    fn initialiser(&mut self) {
        if !self.tokens.mark(b'=') {
            return;
        }
        let mut depth = 0_usize;
        while let Some(token) = self.tokens.peek() {
            match token {
                Token::Mark(b'{' | b'(') => depth += 1,
                Token::Mark(b'}' | b')') => depth = depth.saturating_sub(1),
                Token::Mark(b';') => return,
                Token::Mark(b',') if depth == 0 => return,
                Token::Mark(_) | Token::Text(_) | Token::Word(_) => {}
            }
            self.tokens.next();
        }
    }

    fn skip_to(&mut self, mark: u8) {
        while let Some(token) = self.tokens.peek() {
            if token == Token::Mark(b';') {
                return;
            }
            self.tokens.next();
            if token == Token::Mark(mark) {
                return;
            }
        }
    }
}

/// Kind and bytes of a fundamental type.
fn parameter_type(word: &str) -> Option<(ParameterKind, u64)> {
    if matches!(word, ".texref" | ".samplerref" | ".surfref") {
        return Some((ParameterKind::Opaque, 8));
    }
    let (letter, bits) = match word.strip_prefix(".bf") {
        Some(bits) => ("f", bits),
        None => word.get(1..2).zip(word.get(2..))?,
    };
    let bytes = match parse_number(bits)? {
        8 => 1,
        16 => 2,
        32 => 4,
        64 => 8,
        128 => 16,
        _ => return None,
    };
    match letter {
        "u" | "s" => Some((ParameterKind::Integer, bytes)),
        "b" => Some((ParameterKind::Bits, bytes)),
        "f" => Some((ParameterKind::Float, bytes)),
        _ => None,
    }
}
