//! What a thread does for its row, statement by statement: what all threads of a group repeat, what they share, and what
//! one of them does.

use lightbench_cuda_source::Node;

use super::super::super::edit::Edit;
use super::super::super::function::Function;
use super::super::super::loops::{CountedLoop, counted_loop};
use super::super::super::pointers::pointer;
use super::super::super::refusal::Missing;
use super::super::super::syntax::{all, bare, is_compound, moved, named, part};
use super::collected::{Collected, How};
use super::turns::{Shared, array, check_calls, form, shared};

/// Loops with so few turns may be repeated by every thread.
const FEW_TURNS: i128 = 64;

/// Names of the new code.
pub(super) struct Group {
    /// The number of a thread in its group, and how many there are.
    pub(super) lane: String,
    pub(super) lanes: &'static str,
    /// The function that joins what they have.
    pub(super) join: String,
}

/// The edits, and the loops that were shared.
pub(super) struct Region<'f, 's> {
    pub(super) function: &'f Function<'s>,
    pub(super) group: &'f Group,
    pub(super) edits: Vec<Edit>,
    pub(super) shared: Vec<CountedLoop<'s>>,
}

impl<'s> Region<'_, 's> {
    pub(super) fn statement(&mut self, node: Node<'s>) -> Result<(), Missing> {
        match node.kind() {
            "compound_statement" => {
                named(node).into_iter().try_for_each(|each| self.statement(each))
            }
            "declaration" => self.declaration(node),
            "if_statement" => self.choice(node),
            "expression_statement" => self.expression(node),
            "for_statement" => self.turns(node),
            "return_statement" | "break_statement" | "continue_statement" | "preproc_call" => {
                Ok(())
            }
            _ => Err(form(
                self.function,
                node,
                "declarations, conditions, loops that count, and assignments",
            )),
        }
    }

    fn declaration(&self, node: Node<'s>) -> Result<(), Missing> {
        let text = self.function.subject.of_node(node);
        if text.contains("__shared__") || text.contains("static ") {
            return Err(form(self.function, node, "no shared or static variables"));
        }
        self.quiet(node)
    }

    /// Every thread of the group has the same values, and so takes the same way.
    fn choice(&mut self, node: Node<'s>) -> Result<(), Missing> {
        if let Some(condition) = part(node, "condition") {
            self.quiet(condition)?;
        }
        if let Some(consequence) = part(node, "consequence") {
            self.statement(consequence)?;
        }
        match part(node, "alternative") {
            Some(other) if other.kind() == "else_clause" => {
                named(other).into_iter().try_for_each(|each| self.statement(each))
            }
            Some(other) => self.statement(other),
            None => Ok(()),
        }
    }

    /// Checks that all threads may repeat a node: it writes to variables only.
    fn quiet(&self, node: Node<'s>) -> Result<(), Missing> {
        let function = self.function;
        let atomic = function.calls(node).into_iter().find(|(name, _)| name.starts_with("atomic"));
        if let Some((_, call)) = atomic {
            return Err(form(function, call, "atomic functions as statements"));
        }
        check_calls(function, node)?;
        for each in all(node, &["assignment_expression", "update_expression"]) {
            let target = part(each, "left").or_else(|| part(each, "argument")).map(bare);
            if !target.is_some_and(|target| self.is_own(target)) {
                return Err(form(function, each, "memory that is written by statements"));
            }
        }
        match all(node, &["pointer_expression"])
            .into_iter()
            .find(|each| part(*each, "operator").is_some_and(|operator| operator.kind() == "&"))
        {
            Some(address) => Err(form(function, address, "no addresses of variables")),
            None => Ok(()),
        }
    }

    /// A variable of the thread, or an element of an array of its own.
    fn is_own(&self, target: Node<'s>) -> bool {
        let base = array(target);
        let text = self.function.subject.of_node(base);
        let is_array =
            |node: Node<'s>| self.function.local(text, node).is_some_and(|local| local.is_array);
        target.kind() == "identifier"
            || (target.kind() == "subscript_expression"
                && base.kind() == "identifier"
                && is_array(base))
    }

    /// Makes one thread of the group execute stores to memory.
    fn expression(&mut self, node: Node<'s>) -> Result<(), Missing> {
        let function = self.function;
        let Some(inside) = named(node).first().copied() else { return Ok(()) };
        let target = part(inside, "left").or_else(|| part(inside, "argument")).map(bare);
        let writes = match inside.kind() {
            "assignment_expression" | "update_expression" => {
                let is_own = target.is_some_and(|target| self.is_own(target));
                let base = target.and_then(|target| part(target, "argument"));
                let known = base.is_some_and(|base| pointer(function, base).is_some());
                if !is_own && !known {
                    return Err(form(function, inside, "a variable, or an element of a parameter"));
                }
                if let Some(right) = part(inside, "right") {
                    self.quiet(right)?;
                }
                !is_own
            }
            "call_expression" => {
                let text = function.subject.of_node(inside);
                if !text.starts_with("atomic") {
                    return Err(form(function, inside, "an assignment or an atomic function"));
                }
                check_calls(function, inside)?;
                true
            }
            _ => return Err(form(function, inside, "an assignment or an atomic function")),
        };
        if writes {
            let subject = function.subject;
            let in_block = node.parent().is_some_and(|outer| outer.kind() == "compound_statement");
            let indentation = subject.indentation(node.start_byte());
            let text = moved(subject.of_node(node), "    ");
            let one = format!(
                "if ({} == 0) {{\n{indentation}    {text}\n{indentation}}}",
                self.group.lane
            );
            let one = if in_block { one } else { format!("{{ {one} }}") };
            self.edits.push(Edit::replace(node.byte_range(), one));
        }
        Ok(())
    }

    fn turns(&mut self, node: Node<'s>) -> Result<(), Missing> {
        let function = self.function;
        match shared(function, node) {
            Ok(shared) => {
                self.share(&shared);
                self.shared.push(shared.counted);
                Ok(())
            }
            Err(missing) => {
                let counted = counted_loop(function, node);
                let few = counted.as_ref().is_some_and(|counted| {
                    let end = super::super::super::bounds::bounds(function, counted.end);
                    end.is_some_and(|(_, most)| most <= FEW_TURNS)
                });
                let body = part(node, "body")
                    .filter(|body| !all(*body, &["for_statement"]).is_empty() || few);
                // Not shared itself, but all threads go through it together.
                let body = body.ok_or(missing)?;
                for head in ["initializer", "condition", "update"] {
                    part(node, head).map_or(Ok(()), |head| self.quiet(head))?;
                }
                self.statement(body)
            }
        }
    }

    fn share(&mut self, shared: &Shared<'s>) {
        let subject = self.function.subject;
        let Group { lane, lanes, .. } = self.group;
        let counted = &shared.counted;
        let start = subject.of_node(counted.start);
        let start = match (start, is_compound(counted.start)) {
            ("0", _) => lane.clone(),
            (start, true) => format!("({start}) + {lane}"),
            (start, false) => format!("{start} + {lane}"),
        };
        self.edits.push(Edit::replace(counted.start.byte_range(), start));
        if let Some(kind) = shared.widened {
            self.edits.push(Edit::replace(kind.byte_range(), "long long"));
        }
        let step = format!("{} += {lanes}", counted.name);
        self.edits.push(Edit::replace(counted.update.byte_range(), step));
        let indentation = subject.indentation(counted.node.start_byte());
        for each in &shared.collected {
            let (before, after) = self.joined(counted, each);
            self.edits.extend(
                before.map(|text| Edit::insert(shared.start, format!("{text}\n{indentation}"))),
            );
            let end = counted.node.end_byte();
            self.edits.push(Edit::insert(end, format!("\n{indentation}{after}")));
        }
    }

    /// Adds declarations before a loop, and the code after it that combines the partial results.
    fn joined(
        &mut self,
        counted: &CountedLoop<'s>,
        each: &Collected<'s>,
    ) -> (Option<String>, String) {
        let subject = self.function.subject;
        let Collected { name, type_name: kind, how } = each;
        let join = &self.group.join;
        let by = |what: &str| format!("[]({kind} a, {kind} b) {{ return {what}; }}");
        match how {
            How::Choice(choice) => {
                (None, format!("{name} = {join}({name}, {});", by(&format!("{choice}(a, b)"))))
            }
            How::Comparison(is_better) => {
                (None, format!("{name} = {join}({name}, {});", by(&format!("{is_better} ? b : a"))))
            }
            How::Sum | How::Compensated { .. } => {
                let part = subject.fresh(&format!("{name}_part"));
                let mut declared = format!("{kind} {part} = 0;");
                self.rename(counted, name, &part);
                if let How::Compensated { lost } = how {
                    let lost_part = subject.fresh(&format!("{lost}_part"));
                    declared = format!("{kind} {part} = 0, {lost_part} = 0;");
                    self.rename(counted, lost, &lost_part);
                }
                (Some(declared), format!("{name} += {join}({part}, {});", by("a + b")))
            }
        }
    }

    fn rename(&mut self, counted: &CountedLoop<'s>, name: &str, part: &str) {
        let uses = self.function.uses(name, counted.body);
        self.edits.extend(uses.iter().map(|node| Edit::replace(node.byte_range(), part)));
    }
}
