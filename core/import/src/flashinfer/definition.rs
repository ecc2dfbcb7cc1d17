//! A definition of FlashInfer-Bench or SOL-ExecBench as its JSON has it, checked field by field.

use std::path::{Path, PathBuf};

use lightbench_primitives::dtype::Dtype;
use lightbench_project::nearest::nearest;

use crate::error::ImportError;
use crate::json::Json;

/// The whole definition.
#[derive(Clone, Debug)]
pub(super) struct Definition {
    /// The file, for messages.
    pub(super) file: PathBuf,
    pub(super) name: String,
    pub(super) description: String,
    pub(super) axes: Vec<Axis>,
    pub(super) inputs: Vec<Value>,
    pub(super) outputs: Vec<Value>,
    pub(super) reference: String,
    pub(super) constraints: Vec<String>,
    /// The function that generates inputs, if any (SOL-ExecBench), or `init` (FlashInfer's traces).
    pub(super) generator: Option<String>,
}

/// A size.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Axis {
    pub(super) name: String,
    pub(super) size: Size,
    pub(super) description: String,
}

/// How a size is given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Size {
    Constant(i64),
    /// `const` without a value.
    UnknownConstant,
    Variable,
    Expression(String),
}

/// A tensor, or a scalar if it has no shape.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Value {
    pub(super) name: String,
    pub(super) shape: Option<Vec<String>>,
    pub(super) dtype: ValueType,
    /// For outputs: the parameter that the function updates in place.
    pub(super) parameter: Option<String>,
    pub(super) optional: bool,
    pub(super) description: String,
}

/// The type of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ValueType {
    Number(Dtype),
    /// The definition does not state it.
    Unknown,
    /// `string` and `dtype`: an option of the function.
    Option,
}

/// The types of the formats. Two 4-bit floats in one byte are bytes here.
const TYPES: [(&str, Dtype); 19] = [
    ("float64", Dtype::F64),
    ("float32", Dtype::F32),
    ("float16", Dtype::F16),
    ("bfloat16", Dtype::Bf16),
    ("float8_e4m3fn", Dtype::F8E4M3),
    ("float8_e5m2", Dtype::F8E5M2),
    ("float4_e2m1", Dtype::E2M1),
    ("float4_e2m1fn_x2", Dtype::U8),
    ("float8_e8m0fnu", Dtype::U8),
    ("int64", Dtype::I64),
    ("int32", Dtype::I32),
    ("int16", Dtype::I16),
    ("int8", Dtype::I8),
    ("uint64", Dtype::U64),
    ("uint32", Dtype::U32),
    ("uint16", Dtype::U16),
    ("uint8", Dtype::U8),
    ("bool", Dtype::Bool),
    ("int4", Dtype::I4),
];

/// Reads the fields of one definition.
struct Reader<'a> {
    file: &'a Path,
}

impl Definition {
    /// Checks a JSON value.
    pub(super) fn read(file: &Path, value: &Json) -> Result<Self, ImportError> {
        let reader = Reader { file };
        let axes = reader.entries(value, "axes")?;
        let axes = axes.iter().map(|(name, axis)| reader.axis(name, axis));
        let axes: Vec<Axis> = axes.collect::<Result<_, _>>()?;
        let constraints = value.get("constraints").and_then(Json::list).unwrap_or_default();
        let generator = ["custom_inputs_entrypoint", "init"];
        let generator = generator.iter().find(|key| value.get(key).and_then(Json::text).is_some());
        let reference = value.get("reference").and_then(Json::text).unwrap_or_default();
        if reference.trim().is_empty() {
            let expected = "the text of a function in Python, which defines the correct results";
            return Err(ImportError::new(file, "reference", "no reference", expected));
        }
        let definition = Self {
            file: file.to_owned(),
            name: reader.text(value, "name")?,
            description: optional_text(value, "description"),
            inputs: reader.values(value, "inputs")?,
            outputs: reader.values(value, "outputs")?,
            axes,
            reference: reference.to_owned(),
            constraints: constraints.iter().filter_map(Json::text).map(str::to_owned).collect(),
            generator: generator.map(|key| (*key).to_owned()),
        };
        if definition.outputs.is_empty() {
            return Err(ImportError::new(file, "outputs", "no output", "at least one"));
        }
        Ok(definition)
    }

    pub(super) fn axis(&self, name: &str) -> Option<&Axis> {
        self.axes.iter().find(|axis| axis.name == name)
    }
}

fn optional_text(value: &Json, key: &str) -> String {
    value.get(key).and_then(Json::text).unwrap_or_default().to_owned()
}

impl Reader<'_> {
    fn refused<T>(
        &self,
        place: impl Into<String>,
        found: Option<&Json>,
        expected: impl Into<String>,
    ) -> Result<T, ImportError> {
        let found = found.map_or_else(|| "nothing".to_owned(), Json::described);
        Err(ImportError::new(self.file, place, found, expected))
    }

    fn text(&self, value: &Json, key: &str) -> Result<String, ImportError> {
        match value.get(key) {
            Some(Json::Text(text)) if !text.trim().is_empty() => Ok(text.clone()),
            other => self.refused(key, other, "a text"),
        }
    }

    fn entries<'v>(&self, value: &'v Json, key: &str) -> Result<&'v [(String, Json)], ImportError> {
        match value.get(key) {
            Some(Json::Object(entries)) => Ok(entries),
            other => self.refused(key, other, "an object"),
        }
    }

    fn axis(&self, name: &str, axis: &Json) -> Result<Axis, ImportError> {
        let place = |field: &str| format!("axes.{name}{field}");
        let size = match axis.get("type").and_then(Json::text) {
            Some("var") => Size::Variable,
            Some("const") => match axis.get("value") {
                None | Some(Json::Null) => Size::UnknownConstant,
                Some(Json::Integer(value)) if (1..=1 << 40).contains(value) => {
                    Size::Constant(i64::try_from(*value).unwrap_or(1))
                }
                other => return self.refused(place(".value"), other, "an integer of at least 1"),
            },
            Some("expr") => match axis.get("expression") {
                Some(Json::Text(text)) => Size::Expression(text.clone()),
                other => return self.refused(place(".expression"), other, "an expression"),
            },
            _ => {
                return self.refused(place(".type"), axis.get("type"), "`const`, `var` or `expr`");
            }
        };
        let description = optional_text(axis, "description");
        Ok(Axis { name: name.to_owned(), size, description })
    }

    fn values(&self, value: &Json, key: &str) -> Result<Vec<Value>, ImportError> {
        let entries = self.entries(value, key)?;
        entries
            .iter()
            .map(|(name, value)| self.value(&format!("{key}.{name}"), name, value))
            .collect()
    }

    fn value(&self, place: &str, name: &str, value: &Json) -> Result<Value, ImportError> {
        let shape = match value.get("shape") {
            None | Some(Json::Null) => None,
            Some(Json::List(items)) => {
                let mut shape = Vec::new();
                for (index, item) in items.iter().enumerate() {
                    match item {
                        Json::Text(axis) => shape.push(axis.clone()),
                        Json::Integer(size) if *size >= 1 => shape.push(size.to_string()),
                        Json::Null
                        | Json::Boolean(_)
                        | Json::Integer(_)
                        | Json::Real(_)
                        | Json::List(_)
                        | Json::Object(_) => {
                            let place = format!("{place}.shape[{index}]");
                            return self.refused(place, Some(item), "the name of an axis");
                        }
                    }
                }
                Some(shape)
            }
            other => {
                return self.refused(format!("{place}.shape"), other, "a list of axes, or null");
            }
        };
        let parameter = value.get("param").and_then(Json::text).map(str::to_owned);
        let optional = value.get("optional") == Some(&Json::Boolean(true));
        let (name, description) = (name.to_owned(), optional_text(value, "description"));
        let dtype = self.dtype(place, value.get("dtype"))?;
        Ok(Value { name, shape, dtype, parameter, optional, description })
    }

    fn dtype(&self, place: &str, written: Option<&Json>) -> Result<ValueType, ImportError> {
        let place = format!("{place}.dtype");
        let Some(Json::Text(name)) = written else {
            return self.refused(place, written, "the name of a type");
        };
        match name.as_str() {
            "unknown" => return Ok(ValueType::Unknown),
            "string" | "dtype" => return Ok(ValueType::Option),
            _ => {}
        }
        if let Some((_, dtype)) = TYPES.iter().find(|(known, _)| known == name) {
            return Ok(ValueType::Number(*dtype));
        }
        let known = TYPES.map(|(name, _)| name);
        let near = nearest(name, known).map(|near| format!("; did you mean `{near}`?"));
        let expected = format!("one of {}{}", known.join(", "), near.unwrap_or_default());
        self.refused(place, written, expected)
    }
}
