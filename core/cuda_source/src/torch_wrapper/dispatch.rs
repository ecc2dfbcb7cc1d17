//! `AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "name", [&] { … })`: each case is a dtype; one is read, the others listed.

use lightbench_primitives::dtype::Dtype;
use tree_sitter::Node;

use crate::syntax::{bare, part};

use super::reader::Reader;
use super::refusal::{Refusal, Why};
use super::text::Text;
use super::value::{Element, Value};

const FLOATING: [Dtype; 2] = [Dtype::F32, Dtype::F64];
const INTEGRAL: [Dtype; 5] = [Dtype::U8, Dtype::I8, Dtype::I16, Dtype::I32, Dtype::I64];

/// The cases of a dispatch by its name, and the number of further cases among its arguments.
fn cases(name: &str) -> Option<(Vec<Dtype>, usize)> {
    let rest = name.strip_prefix("AT_DISPATCH_")?;
    let rest = rest.strip_prefix("V2_").unwrap_or(rest);
    let all: Vec<Dtype> = FLOATING.into_iter().chain(INTEGRAL).collect();
    let (base, extra) = [
        ("REDUCED_FLOATING_TYPES", vec![Dtype::F16, Dtype::Bf16]),
        ("FLOATING_AND_COMPLEX_TYPES", FLOATING.to_vec()),
        ("FLOATING_TYPES", FLOATING.to_vec()),
        ("ALL_TYPES_AND_COMPLEX", all.clone()),
        ("ALL_TYPES", all),
        ("INTEGRAL_TYPES", INTEGRAL.to_vec()),
        ("INDEX_TYPES", vec![Dtype::I32, Dtype::I64]),
    ]
    .into_iter()
    .find_map(|(start, cases)| Some((cases, rest.strip_prefix(start)?)))?;
    let mut cases = base;
    let arguments = match extra {
        "" => 0,
        "_AND_HALF" => {
            cases.push(Dtype::F16);
            0
        }
        "_AND" => 1,
        other => other.strip_prefix("_AND")?.parse().ok().filter(|count| *count <= 8)?,
    };
    Some((cases, arguments))
}

impl Reader<'_> {
    pub(super) fn dispatch(
        &mut self,
        text: Text<'_>,
        node: Node<'_>,
        name: &str,
        arguments: &[Node<'_>],
    ) -> Result<Value, Refusal> {
        let unknown = || text.refused(node, Why::UnknownCall);
        let (mut cases, further) = cases(name).ok_or_else(unknown)?;
        for argument in arguments.iter().take(further) {
            match self.value(text, *argument)?.element() {
                Some(Element::Known(dtype)) => cases.push(dtype),
                Some(Element::Of(_)) | None => {
                    return Err(text.refused(*argument, Why::UnknownDtype));
                }
            }
        }
        let decides = arguments.get(further).ok_or_else(unknown)?;
        let Value::Element(element) = self.value(text, *decides)? else {
            return Err(text.refused(*decides, Why::UnknownDtype));
        };
        let lambda = arguments.get(further + 2).map(|argument| bare(*argument));
        let body = lambda.and_then(|lambda| part(lambda, "body")).ok_or_else(unknown)?;
        let chosen = match self.element(element) {
            Some(known) if cases.contains(&known) => {
                self.offer(&cases, known);
                known
            }
            Some(_) => return Err(text.refused(*decides, Why::NoSuchCase)),
            None => {
                let chosen = self.choose(&cases);
                chosen.ok_or_else(|| text.refused(*decides, Why::NoSuchCase))?
            }
        };
        if let Element::Of(tensor) = element {
            self.set_dtype(text, *decides, tensor, chosen)?;
        }
        let type_name = if name.contains("INDEX_TYPES") { "index_t" } else { "scalar_t" };
        let outer = self.frame.types.insert(type_name.to_owned(), chosen);
        let result = self.block(text, body);
        match outer {
            Some(outer) => self.frame.types.insert(type_name.to_owned(), outer),
            None => self.frame.types.remove(type_name),
        };
        Ok(result?.unwrap_or(Value::HostOnly))
    }
}
