//! The description of a tool. All its texts are constants of the program, so that no project can write into them.

use std::sync::Arc;

use rmcp::model::ToolAnnotations;
use serde_json::{Map, Value, json};

/// A tool that agents may call.
#[derive(Clone, Debug)]
pub struct Tool {
    /// Its name.
    pub name: &'static str,
    /// Its name in words.
    pub title: &'static str,
    /// What it does, for the model.
    pub description: &'static str,
    /// The JSON Schema of its arguments.
    pub arguments: Map<String, Value>,
    /// What it may change.
    pub effect: Effect,
}

/// What a tool may change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Nothing.
    Reads,
    /// It appends to the project's history, or uses the budget.
    Evaluates,
    /// It adds a file to the project.
    Writes,
}

impl Tool {
    pub(crate) fn announced(&self) -> rmcp::model::Tool {
        let arguments = Arc::new(self.arguments.clone());
        let annotations = ToolAnnotations::with_title(self.title)
            .read_only(self.effect == Effect::Reads)
            .destructive(false)
            .open_world(false);
        rmcp::model::Tool::new(self.name, self.description, arguments)
            .with_raw_output_schema(Arc::new(result_schema()))
            .with_annotations(annotations)
    }
}

/// The JSON Schema of every result: an envelope around a document of `--json`.
fn result_schema() -> Map<String, Value> {
    let schema = json!({
        "type": "object",
        "required": ["schema", "state"],
        "properties": {
            "schema": { "const": "lightbench.agent/1" },
            "state": { "enum": ["finished", "running", "cancelled", "refused"] },
            "run": { "type": "string", "description": "the run to name in `wait` and `cancel`" },
            "next": { "type": "string", "description": "what to do next, in the program's own words" },
            "document": {
                "type": "object",
                "description": "the result, as the command line writes it with --json; text that is not the program's stands in fields named untrusted_"
            },
            "page": { "type": "integer" },
            "pages": { "type": "integer" },
            "untrusted_part": {
                "type": "string",
                "description": "a part of a document that is too large for one result; the parts of all pages form the document"
            }
        }
    });
    match schema {
        Value::Object(schema) => schema,
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            Map::new()
        }
    }
}
