//! Cache hints on single accesses: `__ldg` for read-only data, `__ldcs` and `__stcs` for data that is accessed once.

use std::collections::BTreeMap;

use super::super::Rule;
use super::super::edit::{Edit, Rewrite};
use super::super::function::Function;
use super::super::kernel_source::KernelSource;
use super::super::pointers::{Access, Element, elements};
use super::super::refusal::{Findings, Missing, NotApplicable};
use super::super::syntax::{one_line, part};

pub(in super::super) const READ_ONLY: Rule = Rule {
    id: "read-only-loads",
    title: "load inputs through the read-only path",
    reason: "__ldg may serve what is never written from the cache that textures use, also where the compiler cannot see that",
    needs: "indexed loads of an input tensor, of a type that __ldg takes",
    technique: "stream-past-the-caches",
    apply: read_only,
};

pub(in super::super) const STREAMED_LOADS: Rule = Rule {
    id: "streamed-loads",
    title: "let loads of what is used once leave the caches first",
    reason: "__ldcs marks a line as the first to go, so that others stay",
    needs: "an input tensor that one expression of the kernel loads",
    technique: "stream-past-the-caches",
    apply: streamed_loads,
};

pub(in super::super) const STREAMED_STORES: Rule = Rule {
    id: "streamed-stores",
    title: "let results that are not read again leave the caches first",
    reason: "__stcs marks a line as the first to go, so that inputs stay",
    needs: "statements `y[i] = …;` of a buffer that the kernel does not read",
    technique: "stream-past-the-caches",
    apply: streamed_stores,
};

/// Types that all three functions take: cuda_bf16.h, cuda_fp16.h, and the CUDA C++ Programming Guide, section 7.
const ELEMENTS: &[&str] = &[
    "float",
    "double",
    "int",
    "unsigned int",
    "unsigned",
    "short",
    "unsigned short",
    "signed char",
    "unsigned char",
    "long long",
    "unsigned long long",
    "float2",
    "float4",
    "int2",
    "int4",
    "uint2",
    "uint4",
    "double2",
    "char4",
    "uchar4",
    "short2",
    "short4",
    "ushort2",
    "ushort4",
    "__half",
    "half",
    "__half2",
    "half2",
    "__nv_bfloat16",
    "__nv_bfloat162",
    "int32_t",
    "uint32_t",
    "uint8_t",
    "int8_t",
];

fn read_only(subject: &KernelSource<'_>) -> Result<Vec<Rewrite>, NotApplicable> {
    loads(subject, "__ldg", |_| true)
}

fn streamed_loads(subject: &KernelSource<'_>) -> Result<Vec<Rewrite>, NotApplicable> {
    loads(subject, "__ldcs", |count| count == 1)
}

fn loads(
    subject: &KernelSource<'_>,
    intrinsic: &str,
    count_fits: fn(usize) -> bool,
) -> Result<Vec<Rewrite>, NotApplicable> {
    let mut found = Findings::default();
    for function in subject.functions() {
        for (name, elements) in by_parameter(&elements(&function, function.body)) {
            let loads: Vec<&Element<'_, '_>> =
                elements.iter().filter(|element| element.access == Access::Load).copied().collect();
            let Some(first) = loads.first() else { continue };
            let line = function.line(first.node);
            let refused = refusal(&function, first).or_else(|| {
                let what = format!("{} loads of {name}", loads.len());
                let why = "the caches should keep what is loaded again";
                (!count_fits(loads.len())).then_some(Missing::Contains { what, why })
            });
            if let Some(missing) = refused {
                found.refuse(line, missing);
                continue;
            }
            let edits = loads.iter().flat_map(|element| {
                [
                    Edit::insert(element.node.start_byte(), format!("{intrinsic}(&")),
                    Edit::insert(element.node.end_byte(), ")"),
                ]
            });
            let what = format!("`{name}` is loaded with {intrinsic} in line {line}");
            found.offer(Rewrite::new(what, line, edits.collect()));
        }
    }
    found.finish("indexed load from a parameter of a launched kernel")
}

fn refusal(function: &Function<'_>, element: &Element<'_, '_>) -> Option<Missing> {
    let parameter = element.pointer.parameter;
    if let Some(other) = parameter.twin(function) {
        let name = parameter.name.to_owned();
        return Some(Missing::SameMemory { name, other: other.to_owned() });
    }
    if !parameter.is_input(function) {
        let what = parameter.name.to_owned();
        return Some(Missing::Form {
            found: what,
            expected: "an input tensor, which no kernel writes",
        });
    }
    unknown_element(element)
}

fn unknown_element(element: &Element<'_, '_>) -> Option<Missing> {
    let written = one_line(element.pointer.element);
    let is_known = ELEMENTS.contains(&written.as_str());
    (!is_known).then_some(Missing::Form {
        found: written,
        expected: "a type that the function is declared for",
    })
}

fn streamed_stores(subject: &KernelSource<'_>) -> Result<Vec<Rewrite>, NotApplicable> {
    let mut found = Findings::default();
    for function in subject.functions() {
        for (name, elements) in by_parameter(&elements(&function, function.body)) {
            let Some(first) = elements.iter().find(|element| element.access == Access::Store)
            else {
                continue;
            };
            let line = function.line(first.node);
            let other = elements.iter().find(|element| element.access != Access::Store);
            if let Some(other) = other {
                let used = function.subject.line_of(other.node.parent().unwrap_or(other.node));
                found.refuse(line, Missing::OtherUse { name: name.to_owned(), used });
                continue;
            }
            let value = first.node.parent().and_then(|assignment| part(assignment, "right"));
            if value.is_none_or(|value| value.kind() == "initializer_list") {
                let written = function.subject.line_of(first.node.parent().unwrap_or(first.node));
                found.refuse(line, Missing::Form { found: written, expected: "one value" });
                continue;
            }
            if let Some(missing) = unknown_element(first) {
                found.refuse(line, missing);
                continue;
            }
            let edits: Vec<Edit> = elements.iter().flat_map(|element| store(element)).collect();
            let what = format!("`{name}` is stored with __stcs in line {line}");
            found.offer(Rewrite::new(what, line, edits));
        }
    }
    found.finish("statement that stores an indexed element of a parameter")
}

/// `y[i] = e` as `__stcs(&y[i], e)`.
fn store(element: &Element<'_, '_>) -> Vec<Edit> {
    let assignment = element.node.parent();
    let parts = assignment.and_then(|node| Some((part(node, "operator")?, part(node, "right")?)));
    let Some((operator, right)) = parts else { return Vec::new() };
    vec![
        Edit::insert(element.node.start_byte(), "__stcs(&"),
        Edit::replace(element.node.end_byte()..operator.end_byte(), ","),
        Edit::insert(right.end_byte(), ")"),
    ]
}

fn by_parameter<'e, 'f, 's>(
    elements: &'e [Element<'f, 's>],
) -> BTreeMap<&'s str, Vec<&'e Element<'f, 's>>> {
    let mut found: BTreeMap<&str, Vec<&Element<'_, '_>>> = BTreeMap::new();
    for element in elements {
        found.entry(element.pointer.parameter.name).or_default().push(element);
    }
    found
}
