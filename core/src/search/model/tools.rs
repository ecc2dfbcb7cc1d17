//! Tools that a model may call before it proposes a kernel.

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::explain::card;
use crate::models::{Tool, ToolCall};
use crate::search::operators::{DraftCheck, ParentVariant};
use crate::search::prompt;

const CHECK: &str = "check_kernel";
const LIST: &str = "list_variants";
const SHOW: &str = "show_variant";
const EXPLAIN: &str = "explain_number";

/// Most bytes of a result.
const RESULT: usize = 16 << 10;

/// All tools.
pub(super) fn offered() -> Vec<Tool> {
    let text = |what: &str| json!({ "type": "string", "description": what });
    vec![
        Tool {
            name: CHECK,
            description: "Checks a whole kernel file without running it: whether its launch block is valid and whether it compiles for the device. Returns registers, spills, shared memory and occupancy of each launch, or what is wrong. Call it before you answer.",
            parameters: object("source", &text("The text of the file, with its launch block.")),
        },
        Tool {
            name: LIST,
            description: "Lists all variants of this search: what each was made of, its speed, and what was changed. Call it to see what was tried.",
            parameters: json!({ "type": "object", "properties": {} }),
        },
        Tool {
            name: SHOW,
            description: "Returns the text of a variant, its times, its faults and what was decided about it.",
            parameters: object("number", &json!({ "type": "integer", "minimum": 0 })),
        },
        Tool {
            name: EXPLAIN,
            description: "Explains a counter or another number of the results: its meaning, formula and unit, and which values are good.",
            parameters: object("name", &text("Its name, also that of Nsight Compute.")),
        },
    ]
}

/// A schema of an object with one required field.
fn object(field: &str, schema: &Value) -> Value {
    json!({ "type": "object", "properties": { field: schema }, "required": [field] })
}

#[derive(Deserialize)]
struct Source {
    source: String,
}

#[derive(Deserialize)]
struct Number {
    number: usize,
}

#[derive(Deserialize)]
struct Name {
    name: String,
}

/// The result of a call, also of one that is wrong.
pub(super) fn result(
    call: &ToolCall,
    subject: &ParentVariant<'_>,
    check: DraftCheck<'_>,
) -> String {
    let inside = |text: String| prompt::fenced(&text, "text", RESULT);
    let done = match call.name.as_str() {
        CHECK => arguments(call).and_then(|Source { source }| check(&source)).map(inside),
        LIST => Ok(inside(prompt::variants(subject.story))),
        SHOW => arguments(call).and_then(|Number { number }| {
            let last = subject.story.variants.len().saturating_sub(1);
            prompt::variant(subject.story, number)
                .ok_or_else(|| format!("There is no variant {number}; the last one is {last}."))
        }),
        EXPLAIN => arguments(call).and_then(|Name { name }| explained(&name)).map(inside),
        name => Err(format!("There is no tool `{name}`.")),
    };
    // A problem may quote the compiler, and that the code.
    done.unwrap_or_else(inside)
}

fn arguments<T: DeserializeOwned>(call: &ToolCall) -> Result<T, String> {
    serde_json::from_str(&call.arguments)
        .map_err(|error| format!("The arguments are not as declared: {error}."))
}

fn explained(name: &str) -> Result<String, String> {
    let card = card(name).map_err(|unknown| match unknown.nearest {
        Some(nearest) => {
            format!("There is no number `{name}`; the most similar one is `{nearest}`.")
        }
        None => format!("There is no number `{name}`."),
    })?;
    Ok(format!(
        "{}: {}\nUnit: {}\nFormula: {}\nGood values: {}",
        card.name, card.what, card.unit, card.formula, card.good
    ))
}
