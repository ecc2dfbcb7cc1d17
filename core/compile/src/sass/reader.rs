//! The lines of a disassembly, one after another.

use std::collections::HashMap;
use std::sync::Arc;

use super::{Control, SassFunction, SassInstruction, SourceLine, section_of};

#[derive(Default)]
pub(super) struct Reader {
    functions: Vec<SassFunction>,
    files: HashMap<String, Arc<str>>,
    /// Source lines now in force; they hold until the next ones.
    source: Arc<[SourceLine]>,
    chain: Chain,
    /// Labels seen since the last instruction.
    waiting: Vec<String>,
}

/// Consecutive lines `//## File … inlined at …`, of which the last has no `inlined at`.
#[derive(Default)]
struct Chain {
    lines: Vec<SourceLine>,
    complete: bool,
    fresh: bool,
}

impl Reader {
    pub(super) fn line(&mut self, line: &str) {
        let trimmed = line.trim();
        if let Some(word) = encoding(trimmed) {
            self.upper_word(word);
        } else if let Some(rest) = trimmed.strip_prefix("/*") {
            self.instruction(rest);
        } else if let Some(rest) = trimmed.strip_prefix("//## File ") {
            self.source_line(rest);
        } else if let Some(section) = section_of(trimmed) {
            self.section(section);
        } else if let Some(label) = trimmed.strip_suffix(':')
            && !line.starts_with([' ', '\t'])
        {
            self.waiting.push(label.to_owned());
        }
    }

    pub(super) fn finish(mut self) -> Vec<SassFunction> {
        self.end_function();
        self.functions.retain(|each| !each.instructions.is_empty());
        self.functions
    }

    fn section(&mut self, name: Option<&str>) {
        self.end_function();
        self.source = Arc::default();
        self.chain = Chain::default();
        self.waiting.clear();
        let Some(name) = name else { return };
        self.functions.push(SassFunction {
            name: name.to_owned(),
            instructions: Vec::new(),
            labels: Vec::new(),
        });
    }

    /// `"FILE", line N` with ` inlined at "FILE", line N` or without.
    fn source_line(&mut self, rest: &str) {
        let (own, outer) =
            match rest.split_once("\" inlined at ").or_else(|| rest.split_once(" inlined at ")) {
                Some((own, outer)) => (own, Some(outer)),
                None => (rest, None),
            };
        if !self.chain.fresh || self.chain.complete {
            self.chain = Chain { fresh: true, ..Chain::default() };
        }
        if let Some((file, line)) = split_source(own) {
            let file = self.file(file);
            self.chain.lines.push(SourceLine { file, line });
        }
        self.chain.complete = outer.is_none();
    }

    fn file(&mut self, name: &str) -> Arc<str> {
        if let Some(known) = self.files.get(name) {
            return Arc::clone(known);
        }
        let file: Arc<str> = Arc::from(name);
        self.files.insert(name.to_owned(), Arc::clone(&file));
        file
    }

    /// `0070*/  @P0 BRA ...`, after the opening of the comment.
    fn instruction(&mut self, rest: &str) {
        let Some((address, body)) = rest.split_once("*/") else { return };
        let Ok(address) = u64::from_str_radix(address, 16) else { return };
        if std::mem::take(&mut self.chain.fresh) {
            let known = std::mem::take(&mut self.chain.lines);
            self.source = known.into_iter().filter(|each| each.line > 0).collect();
        }
        let Some(function) = self.functions.last_mut() else { return };
        function.labels.extend(self.waiting.drain(..).map(|label| (label, address)));
        let body = body.split(';').next().unwrap_or_default().trim();
        let body = body.trim_start_matches('{').trim_start();
        let (predicate, body) = match body.strip_prefix('@') {
            Some(guarded) => {
                let (predicate, body) = guarded.split_once(' ').unwrap_or((guarded, ""));
                (Some(predicate.to_owned()), body.trim_start())
            }
            None => (None, body),
        };
        // Remarks of the disassembler, such as the targets of an indirect jump.
        let (body, remark) = body.split_once("(*").unwrap_or((body, ""));
        let (opcode, operands) = body.trim_end().split_once(' ').unwrap_or((body.trim_end(), ""));
        if opcode.is_empty() {
            return;
        }
        let mut operands = split_operands(operands);
        operands.extend(Some(format!("(*{remark}")).filter(|_| !remark.is_empty()));
        function.instructions.push(SassInstruction {
            address,
            predicate,
            opcode: opcode.to_owned(),
            operands,
            targets: Vec::new(),
            source: Arc::clone(&self.source),
            control: None,
            live_registers: None,
        });
    }

    /// The second line of an encoding belongs to the instruction before it.
    fn upper_word(&mut self, word: u64) {
        let function = self.functions.last_mut();
        if let Some(last) = function.and_then(|function| function.instructions.last_mut()) {
            last.control = Some(Control::from_upper_word(word));
        }
    }

    fn end_function(&mut self) {
        let Some(function) = self.functions.last_mut() else { return };
        let end = function.instructions.last().map_or(0, |last| last.address.saturating_add(16));
        function.labels.extend(self.waiting.drain(..).map(|label| (label, end)));
        let labels: HashMap<&str, u64> =
            function.labels.iter().map(|(label, address)| (label.as_str(), *address)).collect();
        for instruction in &mut function.instructions {
            instruction.targets = targets(&instruction.operands, &labels);
        }
        let own = [function.name.clone(), format!(".text.{}", function.name)];
        function.labels.retain(|(label, _)| !own.contains(label));
    }
}

/// `/* 0x000fe20000000800 */`, alone on its line.
fn encoding(line: &str) -> Option<u64> {
    let word = line.strip_prefix("/* 0x")?.strip_suffix("*/")?;
    u64::from_str_radix(word.trim(), 16).ok()
}

fn split_source(text: &str) -> Option<(&str, u32)> {
    let (file, line) = text.rsplit_once(", line ")?;
    let file = file.strip_prefix('"').unwrap_or(file);
    Some((file.strip_suffix('"').unwrap_or(file), line.trim().parse().ok()?))
}

/// At commas outside brackets.
fn split_operands(text: &str) -> Vec<String> {
    let mut depth = 0_usize;
    let between = |each: char| {
        match each {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        each == ',' && depth == 0
    };
    text.split(between).map(str::trim).filter(|each| !each.is_empty()).map(str::to_owned).collect()
}

/// `` `(.L_x_1) `` in an operand, and lists as in `(*"BRANCH_TARGETS .L_x_1,.L_x_2"*)`.
fn targets(operands: &[String], labels: &HashMap<&str, u64>) -> Vec<u64> {
    let named = |operand: &String| -> Vec<u64> {
        if let Some((_, rest)) = operand.split_once("`(") {
            let label = rest.strip_suffix(')').unwrap_or(rest);
            return labels.get(label).copied().into_iter().collect();
        }
        if operand.contains("BRANCH_TARGETS") {
            let words = operand.split([' ', ',', '"', '*', '(', ')']);
            return words.filter_map(|word| labels.get(word).copied()).collect();
        }
        Vec::new()
    };
    operands.iter().flat_map(named).collect()
}
