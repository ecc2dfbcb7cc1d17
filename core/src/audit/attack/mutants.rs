//! Mutants: texts of a kernel that differ from it by one change that often makes it wrong.

use std::fmt;
use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::cuda_source::syntax::{
    all, bare, contains, enclosing, index, is_return, named, one_line, part,
};
use crate::cuda_source::{Node, Source};

/// The kind of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mutation {
    /// Removes a barrier.
    DropBarrier,
    /// Exchanges a barrier with the next statement.
    MoveBarrier,
    /// Removes a fence, including proxy fences.
    DropFence,
    /// Restricts a fence, an atomic function or an instruction to a smaller scope.
    NarrowScope,
    /// Removes a wait for asynchronous copies or products, or exchanges it with the next statement.
    MoveWait,
    /// Waits for one group fewer, or for reads only.
    WeakenWait,
    /// Expects 16 more bytes of a copy.
    ExpectBytes,
    /// Inverts the parity of a wait.
    FlipParity,
    /// Changes the swizzle of a tensor map.
    ChangeSwizzle,
    /// Exchanges the terms of an index.
    SwapIndexTerms,
    /// Ends a loop one iteration early.
    ShortenLoop,
    /// Changes a constant.
    ChangeConstant,
    /// Replaces a type by a narrower one.
    NarrowType,
    /// Rounds a sum to bf16 after each addition.
    NarrowAccumulator,
    /// Removes a guard.
    RemoveGuard,
    /// Lets a guard pass one element more, or one fewer.
    ShiftGuard,
    /// Replaces a maximum by a minimum or the reverse.
    SwapExtremes,
}

impl fmt::Display for Mutation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(match self {
            Self::DropBarrier => "drop barrier",
            Self::MoveBarrier => "move barrier",
            Self::DropFence => "drop fence",
            Self::NarrowScope => "narrow scope",
            Self::MoveWait => "move wait",
            Self::WeakenWait => "weaken wait",
            Self::ExpectBytes => "expect bytes",
            Self::FlipParity => "flip parity",
            Self::ChangeSwizzle => "change swizzle",
            Self::SwapIndexTerms => "swap index terms",
            Self::ShortenLoop => "shorten loop",
            Self::ChangeConstant => "change constant",
            Self::NarrowType => "narrow type",
            Self::NarrowAccumulator => "narrow accumulator",
            Self::RemoveGuard => "remove guard",
            Self::ShiftGuard => "shift guard",
            Self::SwapExtremes => "swap extremes",
        })
    }
}

/// A kernel file with one change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mutant {
    /// The kind of the change.
    pub mutation: Mutation,
    /// The line of the change, from 1.
    pub line: usize,
    /// The change: the text before and after.
    pub what: String,
    /// The text of the file.
    pub source: String,
}

/// Length of a text that is quoted in the description of a change, in characters.
const QUOTED: usize = 60;

/// Every mutant of a kernel file, in the order of the text. None for a file that the grammar cannot read.
#[must_use]
pub fn mutants(text: &str) -> Vec<Mutant> {
    let Ok(source) = Source::parse(text) else { return Vec::new() };
    let mut finder = Finder { text, found: Vec::new() };
    finder.launch_block();
    for function in all(source.root(), &["function_definition"]) {
        if let Some(body) = part(function, "body").filter(|_| !function.has_error()) {
            finder.statements(body);
            finder.calls(body);
            finder.loops(body);
            finder.guards(body);
            finder.expressions(body);
            finder.types(body);
        }
    }
    let mut found = finder.found;
    found.sort_by(|left, right| {
        (left.line, left.mutation, &left.what).cmp(&(right.line, right.mutation, &right.what))
    });
    // Functions in functions, such as lambdas, are visited twice.
    found.dedup();
    found
}

struct Finder<'s> {
    text: &'s str,
    found: Vec<Mutant>,
}

/// The role of a call or of an instruction in asm.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Meeting {
    Barrier,
    Fence,
    Wait,
}

fn meeting(name: &str) -> Option<Meeting> {
    if name.contains("fence") || name.contains("membar") {
        Some(Meeting::Fence)
    } else if name.contains("wait") {
        Some(Meeting::Wait)
    } else if name.contains("sync") && !name.contains("async")
        || name.contains("barrier")
        || name.contains("arrive")
    {
        Some(Meeting::Barrier)
    } else {
        None
    }
}

impl<'s> Finder<'s> {
    fn of(&self, node: Node<'_>) -> &'s str {
        self.text.get(node.byte_range()).unwrap_or_default()
    }

    fn add(&mut self, mutation: Mutation, range: Range<usize>, replacement: &str) {
        let (Some(before), Some(old), Some(after)) = (
            self.text.get(..range.start),
            self.text.get(range.clone()),
            self.text.get(range.end..),
        ) else {
            return;
        };
        let source = format!("{before}{replacement}{after}");
        let line = before.matches('\n').count() + 1;
        let quoted = |text: &str| one_line(text).chars().take(QUOTED).collect::<String>();
        let what = match replacement.trim() {
            "" | ";" => format!("without `{}`", quoted(old)),
            new => format!("`{}` for `{}`", quoted(new), quoted(old)),
        };
        self.found.push(Mutant { mutation, line, what, source });
    }

    /// Barriers, fences and waits that are statements.
    fn statements(&mut self, body: Node<'s>) {
        for statement in all(body, &["expression_statement"]) {
            let Some(inside) = named(statement).first().copied() else { continue };
            let name = match inside.kind() {
                "call_expression" => part(inside, "function").map(|callee| self.of(callee)),
                "gnu_asm_expression" => Some(self.of(inside)),
                _ => None,
            };
            let Some(meeting) = name.and_then(meeting) else { continue };
            let (drop, moved) = match meeting {
                Meeting::Barrier => (Mutation::DropBarrier, Some(Mutation::MoveBarrier)),
                Meeting::Fence => (Mutation::DropFence, None),
                Meeting::Wait => (Mutation::MoveWait, Some(Mutation::MoveWait)),
            };
            self.add(drop, statement.byte_range(), ";");
            let next = statement.next_named_sibling().filter(|next| {
                statement.parent().is_some_and(|outer| outer.kind() == "compound_statement")
                    && !matches!(next.kind(), "declaration" | "comment" | "preproc_call")
            });
            if let (Some(moved), Some(next)) = (moved, next) {
                let text = format!("{} {}", self.of(next), self.of(statement));
                self.add(moved, statement.start_byte()..next.end_byte(), &text);
            }
        }
    }

    /// Scopes, bytes, parities and extremes in calls, and instructions in texts of asm.
    fn calls(&mut self, body: Node<'s>) {
        for call in all(body, &["call_expression"]) {
            let Some(callee) = part(call, "function") else { continue };
            let name = self.of(callee);
            let arguments = part(call, "arguments").map(named).unwrap_or_default();
            let narrower = match name {
                "__threadfence" => Some("__threadfence_block"),
                "__threadfence_system" => Some("__threadfence"),
                "atomicAdd" => Some("atomicAdd_block"),
                "atomicMax" => Some("atomicMax_block"),
                "atomicMin" => Some("atomicMin_block"),
                "atomicCAS" => Some("atomicCAS_block"),
                "atomicExch" => Some("atomicExch_block"),
                _ => None,
            };
            if let Some(narrower) = narrower {
                self.add(Mutation::NarrowScope, callee.byte_range(), narrower);
            }
            let other = match name {
                "fmaxf" => Some("fminf"),
                "fminf" => Some("fmaxf"),
                "max" => Some("min"),
                "min" => Some("max"),
                _ => None,
            };
            if let Some(other) = other {
                self.add(Mutation::SwapExtremes, callee.byte_range(), other);
            }
            if let Some(bytes) = arguments.last().filter(|_| name.contains("expect")) {
                let more = format!("({}) + 16", self.of(*bytes));
                self.add(Mutation::ExpectBytes, bytes.byte_range(), &more);
            }
            for argument in arguments {
                let text = self.of(argument);
                if text.contains("parity") || text.contains("phase") {
                    self.add(Mutation::FlipParity, argument.byte_range(), &format!("({text}) ^ 1"));
                }
            }
        }
        for asm in all(body, &["gnu_asm_expression"]) {
            self.instructions(asm);
        }
    }

    fn instructions(&mut self, asm: Node<'s>) {
        let (start, text) = (asm.start_byte(), self.of(asm));
        for (wide, narrow) in [(".gpu", ".cta"), (".cluster", ".cta"), (".sys", ".gpu")] {
            for (at, _) in text.match_indices(wide) {
                let end = at + wide.len();
                let is_whole =
                    text.get(end..).is_none_or(|rest| rest.starts_with(['.', ' ', '"', ';']));
                if is_whole {
                    self.add(Mutation::NarrowScope, start + at..start + end, narrow);
                }
            }
        }
        if let Some(at) = text.find("wait_group") {
            let rest = text.get(at..).unwrap_or_default();
            let digits = rest.find(' ').map_or("", |space| rest.get(space + 1..).unwrap_or(""));
            let count = digits.get(..1).and_then(|digit| digit.parse::<u32>().ok());
            if let Some(count) = count {
                let at = start + text.len() - digits.len();
                self.add(Mutation::WeakenWait, at..at + 1, &(count + 1).to_string());
            }
        }
        let bulk = "bulk.wait_group ";
        if let Some(at) = text.find(bulk) {
            let end = start + at + bulk.len() - 1;
            self.add(Mutation::WeakenWait, end..end, ".read");
        }
    }

    fn loops(&mut self, body: Node<'s>) {
        for node in all(body, &["for_statement", "while_statement"]) {
            let condition = part(node, "condition").map(bare);
            let Some(end) = condition.and_then(|condition| self.compared(condition, &["<", "<="]))
            else {
                continue;
            };
            let fewer = format!("({}) - 1", self.of(end));
            self.add(Mutation::ShortenLoop, end.byte_range(), &fewer);
        }
    }

    /// The right side of a comparison by one of the operators.
    fn compared(&self, node: Node<'s>, operators: &[&str]) -> Option<Node<'s>> {
        let operator = part(node, "operator").map(|operator| self.of(operator))?;
        let fits = node.kind() == "binary_expression" && operators.contains(&operator);
        part(node, "right").filter(|_| fits)
    }

    fn guards(&mut self, body: Node<'s>) {
        for node in all(body, &["if_statement"]) {
            let Some(condition) = part(node, "condition") else { continue };
            let returns = part(node, "consequence").is_some_and(is_return);
            let always = if returns { "(false)" } else { "(true)" };
            self.add(Mutation::RemoveGuard, condition.byte_range(), always);
            for comparison in all(condition, &["binary_expression"]) {
                let Some(operator) = part(comparison, "operator") else { continue };
                let other = match self.of(operator) {
                    "<" => "<=",
                    "<=" => "<",
                    ">" => ">=",
                    ">=" => ">",
                    _ => continue,
                };
                self.add(Mutation::ShiftGuard, operator.byte_range(), other);
            }
        }
    }

    /// Terms of indices, constants and sums.
    fn expressions(&mut self, body: Node<'s>) {
        for sum in all(body, &["binary_expression"]) {
            let inside = enclosing(sum, &["subscript_expression"])
                .and_then(index)
                .is_some_and(|index| contains(index, sum));
            let left =
                part(sum, "left").map(bare).filter(|left| left.kind() == "binary_expression");
            let (Some(left), Some(term)) = (left, part(sum, "right")) else { continue };
            let operator = |node| part(node, "operator").map(|node| self.of(node));
            if !inside || operator(sum) != Some("+") || operator(left) != Some("*") {
                continue;
            }
            if let (Some(factor), Some(by)) = (part(left, "left"), part(left, "right")) {
                let [factor, by, term] = [factor, by, term].map(|node| self.of(node));
                let swapped = format!("({term}) * ({by}) + {factor}");
                self.add(Mutation::SwapIndexTerms, sum.byte_range(), &swapped);
            }
        }
        for literal in all(body, &["number_literal"]) {
            let text = self.of(literal);
            let is_float = !text.starts_with("0x") && text.contains(['.', 'e', 'f']);
            let changed = match (is_float, text.trim_end_matches(['f', 'F']).parse::<f64>()) {
                (true, Ok(0.0)) => "0.01f".to_owned(),
                (true, _) => format!("(1.01f * {text})"),
                (false, _) => format!("({text} + 1)"),
            };
            self.add(Mutation::ChangeConstant, literal.byte_range(), &changed);
        }
        for sum in all(body, &["assignment_expression"]) {
            let operator = part(sum, "operator").map(|node| self.of(node));
            let (Some(left), Some(right)) = (part(sum, "left"), part(sum, "right")) else {
                continue;
            };
            let (name, added) = (self.of(left), self.of(right));
            let is_float = left.kind() == "identifier" && self.is_float(body, name);
            if operator == Some("+=") && is_float {
                let rounded = format!(
                    "{name} = __uint_as_float(__float_as_uint({name} + ({added})) & 0xffff0000u)"
                );
                self.add(Mutation::NarrowAccumulator, sum.byte_range(), &rounded);
            }
        }
    }

    /// Whether a function declares a variable of this name as f32.
    fn is_float(&self, body: Node<'s>, name: &str) -> bool {
        all(body, &["declaration"]).into_iter().any(|declaration| {
            let is_float = part(declaration, "type").is_some_and(|kind| self.of(kind) == "float");
            let names = all(declaration, &["identifier"]);
            is_float && names.into_iter().any(|declared| self.of(declared) == name)
        })
    }

    fn types(&mut self, body: Node<'s>) {
        for kind in all(body, &["primitive_type", "sized_type_specifier"]) {
            let narrower = match one_line(self.of(kind)).as_str() {
                "double" => "float",
                "long long" | "int64_t" | "size_t" | "unsigned long long" => "int",
                "int" | "unsigned int" | "unsigned" | "uint32_t" => "short",
                _ => continue,
            };
            self.add(Mutation::NarrowType, kind.byte_range(), narrower);
        }
    }

    fn launch_block(&mut self) {
        let block = self.text.split_once("@*/").map_or("", |(block, _)| block);
        let field = "swizzle: b";
        for (at, _) in block.match_indices(field) {
            let (start, rest) = (at + field.len(), block.get(at + field.len()..));
            let rest = rest.unwrap_or_default();
            let end = rest.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(rest.len());
            let other = if rest.get(..end) == Some("128") { "64" } else { "128" };
            self.add(Mutation::ChangeSwizzle, start..start + end, other);
        }
    }
}
