//! Neighbouring elements in one thread, moved as vectors.

use std::collections::BTreeMap;

use lightbench_cuda_source::Node;
use lightbench_primitives::dtype::Dtype;

use super::super::Rule;
use super::super::canonical::{canonical, cast_operand, global_thread};
use super::super::edit::{Edit, Rewrite};
use super::super::function::{Function, Local};
use super::super::kernel_source::KernelSource;
use super::super::loops::jump;
use super::super::pointers::{Access, Element, elements, is_unconditional, pointer};
use super::super::refusal::{Findings, Missing, NotApplicable};
use super::super::scalar_type::ScalarType;
use super::super::syntax::{
    all, bare, contains, index, is_compound, moved, one_line, part, statements,
};
use super::super::thread_index::thread_index;
use super::coarsen::{Guard, check_launches, check_range, check_work, divided_grids, guard};
use super::tiles::form;

pub(in super::super) const RULE: Rule = Rule {
    id: "neighbouring-elements",
    title: "give a thread neighbouring elements, moved as vectors",
    reason: "one instruction moves several elements, and what they have in common is computed once",
    needs: "the launch, index and guard that `grid-stride` needs, and `p[i]` or `q[i] = …;` that grow by 1 with the index; remainders by axes are tested at run time",
    technique: "vector-loads",
    apply,
};

fn apply(subject: &KernelSource<'_>) -> Result<Vec<Rewrite>, NotApplicable> {
    let mut found = Findings::default();
    for function in subject.functions() {
        found.add(function.line(function.node), widened(&function));
    }
    found.finish("launched kernel")
}

/// Change of a value from an element to the next one, for the elements of a thread.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Slope {
    Zero,
    One,
    Unknown,
}

/// An access to global memory that becomes one of a vector.
struct Vector<'s> {
    node: Node<'s>,
    access: Access,
    /// The text `p[i]`.
    text: &'s str,
    element: &'s str,
    base: &'s str,
    register: String,
}

/// The work for one element, divided into what the elements of a thread share and the rest.
struct Work<'f, 's> {
    function: &'f Function<'s>,
    index: Local<'s>,
    guard: Guard<'s>,
    slopes: BTreeMap<&'s str, Slope>,
    /// Divisors that have to be multiples of the number of elements.
    divisors: Vec<String>,
    all: Vec<Node<'s>>,
    shared: Vec<Node<'s>>,
    own: Vec<Node<'s>>,
    vectors: Vec<Vector<'s>>,
}

fn widened(function: &Function<'_>) -> Result<Rewrite, Missing> {
    let subject = function.subject;
    check_launches(function)?;
    let index = thread_index(function)?;
    let guard = guard(function, &index)?;
    check_work(function, &index, &guard)?;
    check_range(function, &index, guard.end)?;
    let work = Work::read(function, index, guard)?;
    let width = subject.fresh("VECTOR");
    let mut edits = work.edits(&width)?;
    edits.extend(divided_grids(function, &width));
    edits.push(subject.new_parameter(&width, &[4, 8, 2])?);
    let line = function.line(work.guard.node);
    let what = format!("a thread of `{}` does `{width}` neighbouring elements", function.name);
    Ok(Rewrite::new(what, line, edits))
}

impl<'f, 's> Work<'f, 's> {
    fn read(
        function: &'f Function<'s>,
        index: Local<'s>,
        guard: Guard<'s>,
    ) -> Result<Self, Missing> {
        let all: Vec<Node<'s>> = if guard.returns {
            let (first, last) = (guard.work.0.start_byte(), guard.work.1.end_byte());
            let inside = |node: &Node<'_>| first <= node.start_byte() && node.end_byte() <= last;
            statements(function.body).into_iter().filter(inside).collect()
        } else {
            statements(guard.work.0)
        };
        let mut work = Self {
            function,
            index,
            guard,
            slopes: BTreeMap::from([(index.name, Slope::One)]),
            divisors: Vec::new(),
            all: all.clone(),
            shared: Vec::new(),
            own: Vec::new(),
            vectors: Vec::new(),
        };
        for statement in all {
            if let Some(jump) = jump(statement) {
                let what = function.subject.line_of(jump);
                return Err(Missing::Contains { what, why: "it may skip the rest of an element" });
            }
            if work.is_shared(statement) { &mut work.shared } else { &mut work.own }
                .push(statement);
        }
        work.find_vectors()?;
        Ok(work)
    }

    /// Records the slopes of the names that a statement declares; whether all of them are known.
    fn is_shared(&mut self, statement: Node<'s>) -> bool {
        let function = self.function;
        let declared: Vec<Local<'s>> = function.declared_by(statement).copied().collect();
        let mut is_shared = statement.kind() == "declaration" && !declared.is_empty();
        for local in declared {
            let is_fixed = local.is_const || !function.is_changed(local.name, function.body);
            let slope = match local.value.filter(|_| is_fixed && !local.is_array) {
                Some(value) => self.slope(value),
                None => Slope::Unknown,
            };
            let counts = local.is_pointer
                || ScalarType::named(local.type_name).is_some_and(ScalarType::is_integer);
            let slope = if slope == Slope::One && !counts { Slope::Unknown } else { slope };
            is_shared &= slope != Slope::Unknown;
            self.slopes.insert(local.name, slope);
        }
        is_shared
    }

    fn slope(&mut self, node: Node<'s>) -> Slope {
        let function = self.function;
        let subject = function.subject;
        match node.kind() {
            "number_literal" => Slope::Zero,
            "identifier" => {
                let name = subject.of_node(node);
                let is_fixed = || !function.is_changed(name, function.body);
                let outer = || if is_fixed() { Slope::Zero } else { Slope::Unknown };
                self.slopes.get(name).copied().unwrap_or_else(outer)
            }
            "parenthesized_expression" => match bare(node) {
                inner if inner.id() != node.id() => self.slope(inner),
                _ => Slope::Unknown,
            },
            "call_expression" => match cast_operand(function, node) {
                Some(operand) => self.cast(subject.of_node(node).split(['<', '>']).nth(1), operand),
                None => Slope::Unknown,
            },
            "cast_expression" => match part(node, "type").zip(part(node, "value")) {
                Some((kind, operand)) => self.cast(Some(subject.of_node(kind)), operand),
                None => Slope::Unknown,
            },
            "binary_expression" => self.binary(node),
            "subscript_expression" => self.element(node),
            _ => Slope::Unknown,
        }
    }

    fn cast(&mut self, kind: Option<&str>, operand: Node<'s>) -> Slope {
        let is_integer = kind.and_then(ScalarType::named).is_some_and(ScalarType::is_integer);
        match self.slope(operand) {
            Slope::One if !is_integer => Slope::Unknown,
            slope @ (Slope::Zero | Slope::One | Slope::Unknown) => slope,
        }
    }

    fn binary(&mut self, node: Node<'s>) -> Slope {
        let function = self.function;
        let operator = part(node, "operator").map_or("", |node| function.subject.of_node(node));
        let Some((left, right)) = part(node, "left").zip(part(node, "right")) else {
            return Slope::Unknown;
        };
        let slopes = (self.slope(left), self.slope(right));
        let is_index = || Some(canonical(function, left)) == global_thread(function);
        match (operator, slopes) {
            (_, (Slope::Unknown, _) | (_, Slope::Unknown)) => Slope::Unknown,
            (_, (Slope::Zero, Slope::Zero)) | ("-", (Slope::One, Slope::One)) => Slope::Zero,
            ("+" | "-", (Slope::One, Slope::Zero)) | ("+", (Slope::Zero, Slope::One)) => Slope::One,
            // The first element of a thread is a multiple of the number of its elements.
            ("/" | "%", (Slope::One, Slope::Zero)) if is_index() => {
                let divisor = function.subject.line_of(right);
                let divisor = if is_compound(right) { format!("({divisor})") } else { divisor };
                if !self.divisors.contains(&divisor) {
                    self.divisors.push(divisor);
                }
                if operator == "/" { Slope::Zero } else { Slope::One }
            }
            _ => Slope::Unknown,
        }
    }

    /// A load of the same element of an input.
    fn element(&mut self, node: Node<'s>) -> Slope {
        let same = part(node, "argument").zip(index(node)).is_some_and(|(base, place)| {
            self.slope(base) == Slope::Zero && self.slope(place) == Slope::Zero
        });
        let all_elements = elements(self.function, node);
        let is_input = all_elements.first().is_some_and(|element| {
            element.node.id() == node.id()
                && element.access == Access::Load
                && element.pointer.parameter.is_input(self.function)
        });
        if same && is_input { Slope::Zero } else { Slope::Unknown }
    }

    fn find_vectors(&mut self) -> Result<(), Missing> {
        let function = self.function;
        let own = self.own.clone();
        let all_elements: Vec<(Node<'s>, Element<'f, 's>)> = own
            .iter()
            .flat_map(|statement| {
                elements(function, *statement).into_iter().map(|element| (*statement, element))
            })
            .collect();
        let first_store = |name: &str| {
            let mut stores = all_elements.iter().filter(|(_, element)| {
                element.access != Access::Load && element.pointer.parameter.name == name
            });
            stores.next().map(|(statement, _)| statement.start_byte())
        };
        for (statement, element) in &all_elements {
            let store = first_store(element.pointer.parameter.name);
            let grows = self.grows_by_one(element);
            let is_whole = is_vector_element(element.pointer.element);
            let always = is_unconditional(function, element.node, *statement)
                && (element.access == Access::Load || statement.kind() == "expression_statement");
            let is_vector = grows && is_whole && always && element.access != Access::Other;
            let is_early = element.access != Access::Load
                || store.is_none_or(|store| statement.start_byte() <= store);
            let other = element.pointer.parameter.twin(function).is_some();
            if store.is_some() && (!is_vector || !is_early || other) {
                // A vector is stored after the work for all elements of a thread.
                return Err(form(function, element.node, "results that are stored as vectors"));
            }
            if is_vector {
                self.add_vector(element);
            }
        }
        if self.vectors.is_empty() {
            let node = own.first().copied().unwrap_or(self.guard.node);
            return Err(form(
                function,
                node,
                "`p[i]` or `q[i] = …;` that grow by 1 with the index",
            ));
        }
        self.check_accesses(&all_elements)
    }

    /// Checks that work for one element reaches memory by `p[i]` only, so that every write is known.
    fn check_accesses(&self, known: &[(Node<'s>, Element<'f, 's>)]) -> Result<(), Missing> {
        let function = self.function;
        let is_known =
            |node: Node<'_>| known.iter().any(|(_, element)| element.node.id() == node.id());
        let kinds = ["subscript_expression", "pointer_expression", "identifier"];
        for node in self.own.iter().flat_map(|statement| all(*statement, &kinds)) {
            let is_allowed = if node.kind() == "identifier" {
                let around = node.parent().is_some_and(is_known);
                around
                    || pointer(function, node)
                        .is_none_or(|pointer| pointer.parameter.is_input(function))
            } else {
                let base = part(node, "argument").map(|base| function.subject.of_node(base));
                let local = base.and_then(|name| function.local(name, node));
                is_known(node) || local.is_some_and(|local| local.is_array)
            };
            if !is_allowed {
                let node = node.parent().filter(|_| node.kind() == "identifier").unwrap_or(node);
                return Err(form(function, node, "accesses by names of pointers, `p[i]`"));
            }
        }
        Ok(())
    }

    fn grows_by_one(&mut self, element: &Element<'f, 's>) -> bool {
        let slopes = (self.slope(element.base), self.slope(element.index));
        matches!(slopes, (Slope::One, Slope::Zero) | (Slope::Zero, Slope::One))
    }

    fn add_vector(&mut self, element: &Element<'f, 's>) {
        let subject = self.function.subject;
        let base = subject.of_node(element.base);
        let text = subject.of_node(element.node);
        let same = |each: &&Vector<'s>| each.text == text && each.access == element.access;
        let register = match self.vectors.iter().find(same) {
            Some(known) => known.register.clone(),
            None => {
                let count = self.vectors.iter().filter(|each| each.base == base).count();
                subject.fresh(&format!("{base}_vector{}", count + 1))
            }
        };
        let (node, access) = (element.node, element.access);
        let element = element.pointer.element;
        self.vectors.push(Vector { node, access, text, element, base, register });
    }

    fn edits(&self, width: &str) -> Result<Vec<Edit>, Missing> {
        let subject = self.function.subject;
        let declaration = self.index.declaration;
        let single = all(declaration, &["init_declarator"]).len() == 1;
        let start = self.index.value.filter(|_| single);
        let start = start
            .ok_or_else(|| form(self.function, declaration, "a declaration of the index alone"))?;
        let names = Names {
            vector: subject.fresh("Neighbours"),
            width: format!("PARAM_{width}"),
            first: subject.fresh("first"),
            rest: subject.fresh("rest"),
            lane: subject.fresh("lane"),
        };
        let Names { vector, width, first, .. } = &names;
        let structure = format!(
            "template <typename T>\nstruct __align__({width} * sizeof(T) < 16 ? {width} * sizeof(T) : 16) {vector} {{\n    T at[{width}];\n}};\n\n"
        );
        let kind = self.index.type_name;
        let declared = format!("const {kind} {first} = {width} * ({});", subject.of_node(start));
        let (start, end) = (self.guard.node.start_byte(), self.guard.work.1.end_byte());
        Ok(vec![
            Edit::insert(self.function.outer.start_byte(), structure),
            Edit::replace(declaration.byte_range(), declared),
            Edit::replace(start..end, self.text(&names)),
        ])
    }

    /// The code in place of the guard and the work.
    fn text(&self, names: &Names) -> String {
        let subject = self.function.subject;
        let Names { width, first, rest, lane, .. } = names;
        let (name, kind) = (self.index.name, self.index.type_name);
        let outer = subject.indentation(self.guard.node.start_byte());
        let [one, two, three] = [1, 2, 3].map(|levels| format!("{outer}{}", "    ".repeat(levels)));
        let end = subject.line_of(self.guard.end);
        let end = if is_compound(self.guard.end) { format!("({end})") } else { end };
        let whole = std::iter::once(format!("{first} + {width} <= {end}"))
            .chain(self.divisors.iter().map(|divisor| format!("{divisor} % {width} == 0")));
        let lines = |nodes: &[Node<'s>], lane: Option<&str>, indentation: &str| -> String {
            let line = |node: &Node<'s>| {
                let edits = lane.map_or_else(Vec::new, |lane| self.lane_edits(*node, lane));
                let by = indentation.strip_prefix(subject.indentation(node.start_byte()));
                let text = moved(&subject.with(*node, edits), by.unwrap_or_default());
                format!("{indentation}{text}\n")
            };
            nodes.iter().map(line).collect()
        };
        let Moves { aligned, before, after } = self.moves(&names.vector, &two);
        format!(
            "{kind} {rest} = {first};\n\
             {outer}if ({whole}) {{\n\
             {one}const {kind} {name} = {first};\n{shared}\
             {one}if ({aligned}) {{\n{before}\
             #pragma unroll\n{two}for (int {lane} = 0; {lane} < {width}; ++{lane}) {{\n{own}{two}}}\n{after}\
             {two}{rest} += {width};\n{one}}}\n{outer}}}\n\
             #pragma unroll 1\n\
             {outer}for ({kind} {name} = {rest}; {name} < {first} + {width} && {name} < {end}; ++{name}) {{\n\
             {each}{outer}}}",
            whole = whole.collect::<Vec<_>>().join(" && "),
            shared = lines(&self.shared, None, &one),
            own = lines(&self.own, Some(lane), &three),
            each = lines(&self.all, None, &one),
        )
    }

    /// Loads, stores and the condition that their addresses are aligned.
    fn moves(&self, vector: &str, indentation: &str) -> Moves {
        let (mut before, mut after) = (String::new(), String::new());
        let mut aligned: Vec<String> = Vec::new();
        let mut seen: Vec<(&str, Access)> = Vec::new();
        for Vector { access, text, element, register, .. } in &self.vectors {
            if seen.contains(&(text, *access)) {
                continue;
            }
            seen.push((text, *access));
            let kind = format!("{vector}<{element}>");
            let address =
                format!("reinterpret_cast<unsigned long long>(&{text}) % alignof({kind}) == 0");
            if !aligned.contains(&address) {
                aligned.push(address);
            }
            if *access == Access::Load {
                before += &format!(
                    "{indentation}const {kind} {register} = *reinterpret_cast<const {kind}*>(&{text});\n"
                );
            } else {
                before += &format!("{indentation}{kind} {register};\n");
                after +=
                    &format!("{indentation}*reinterpret_cast<{kind}*>(&{text}) = {register};\n");
            }
        }
        Moves { aligned: aligned.join(" && "), before, after }
    }

    /// Vector elements in place of accesses, and the index of the lane's element in place of that of the first one.
    fn lane_edits(&self, statement: Node<'s>, lane: &str) -> Vec<Edit> {
        let subject = self.function.subject;
        let inside = self.vectors.iter().filter(|each| contains(statement, each.node));
        let mut edits: Vec<Edit> = inside
            .map(|each| {
                Edit::replace(each.node.byte_range(), format!("{}.at[{lane}]", each.register))
            })
            .collect();
        let replaced: Vec<_> = edits.iter().map(|edit| edit.range.clone()).collect();
        for node in all(statement, &["identifier"]) {
            let name = subject.of_node(node);
            let is_replaced = replaced.iter().any(|range| range.contains(&node.start_byte()));
            if !is_replaced && self.slopes.get(name) == Some(&Slope::One) {
                edits.push(Edit::replace(node.byte_range(), format!("({name} + {lane})")));
            }
        }
        edits.sort_by_key(|edit| edit.range.start);
        edits
    }
}

/// Code that moves vectors.
struct Moves {
    aligned: String,
    before: String,
    after: String,
}

/// Names of the new code.
struct Names {
    vector: String,
    width: String,
    first: String,
    rest: String,
    lane: String,
}

/// Whether vectors of a type are whole bytes.
fn is_vector_element(kind: &str) -> bool {
    Dtype::from_c_name(&one_line(kind)).is_some_and(|dtype| dtype.bits() >= 8)
}
