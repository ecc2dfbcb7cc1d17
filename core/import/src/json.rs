//! JSON values in the order of their text, at most [`MAX_DEPTH`] deep, without repeated keys.

use std::fmt;
use std::path::Path;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};

use crate::error::ImportError;

/// Maximum nesting of values.
pub(crate) const MAX_DEPTH: usize = 64;

/// A JSON value.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "the names are those of JSON")]
pub enum Json {
    Null,
    Boolean(bool),
    Integer(i128),
    Real(f64),
    Text(String),
    List(Vec<Self>),
    Object(Vec<(String, Self)>),
}

impl Json {
    /// Reads the text of a file as one value.
    ///
    /// # Errors
    ///
    /// The text is not JSON, is nested too deeply, or repeats a key: with line and column.
    pub fn read(file: &Path, text: &str) -> Result<Self, ImportError> {
        parse(text).map_err(|error| located(file, 0, &error))
    }

    /// Reads a file with one value a line; empty lines are skipped.
    ///
    /// # Errors
    ///
    /// As [`Json::read`].
    pub fn read_lines(file: &Path, text: &str) -> Result<Vec<Self>, ImportError> {
        let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
        lines.map(|(index, line)| Self::read_line(file, index, line)).collect()
    }

    /// Reads one line of a file, after `index` others.
    ///
    /// # Errors
    ///
    /// As [`Json::read`].
    pub fn read_line(file: &Path, index: usize, line: &str) -> Result<Self, ImportError> {
        parse(line).map_err(|error| located(file, index, &error))
    }

    /// The value of a key of an object.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Self> {
        self.entries().iter().find(|(name, _)| name == key).map(|(_, value)| value)
    }

    /// The entries of an object; none for other values.
    #[must_use]
    pub fn entries(&self) -> &[(String, Self)] {
        match self {
            Self::Object(entries) => entries,
            Self::Null
            | Self::Boolean(_)
            | Self::Integer(_)
            | Self::Real(_)
            | Self::Text(_)
            | Self::List(_) => &[],
        }
    }

    /// The text, if it is one.
    #[must_use]
    pub fn text(&self) -> Option<&str> {
        if let Self::Text(text) = self { Some(text) } else { None }
    }

    /// The elements, if it is a list.
    #[must_use]
    pub fn list(&self) -> Option<&[Self]> {
        if let Self::List(items) = self { Some(items) } else { None }
    }

    /// The integer, if it is one.
    #[must_use]
    pub fn integer(&self) -> Option<i128> {
        if let Self::Integer(value) = self { Some(*value) } else { None }
    }

    /// What it is, with a short value, for messages.
    #[must_use]
    pub fn described(&self) -> String {
        match self {
            Self::Null => "null".to_owned(),
            Self::Boolean(value) => value.to_string(),
            Self::Integer(value) => value.to_string(),
            Self::Real(value) => value.to_string(),
            Self::Text(text) => format!("the text `{}`", text.chars().take(60).collect::<String>()),
            Self::List(items) => format!("a list of {}", items.len()),
            Self::Object(entries) => format!("an object with {} keys", entries.len()),
        }
    }
}

fn parse(text: &str) -> Result<Json, serde_json::Error> {
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let value = Value { depth: 0 }.deserialize(&mut deserializer)?;
    deserializer.end()?;
    Ok(value)
}

fn located(file: &Path, skipped: usize, error: &serde_json::Error) -> ImportError {
    let place = format!("line {}, column {}", skipped + error.line(), error.column());
    let message = error.to_string();
    let found = message.split(" at line ").next().unwrap_or_default();
    ImportError::new(file, place, found, "valid JSON with each key once")
}

/// Reads one value inside `depth` others.
struct Value {
    depth: usize,
}

impl<'de> DeserializeSeed<'de> for Value {
    type Value = Json;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Json, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl Value {
    fn inner<E: Error>(&self) -> Result<Self, E> {
        if self.depth == MAX_DEPTH {
            return Err(E::custom(format!("values nested more than {MAX_DEPTH} levels deep")));
        }
        Ok(Self { depth: self.depth + 1 })
    }
}

impl<'de> Visitor<'de> for Value {
    type Value = Json;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a JSON value")
    }

    fn visit_unit<E: Error>(self) -> Result<Json, E> {
        Ok(Json::Null)
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Json, E> {
        Ok(Json::Boolean(value))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Json, E> {
        Ok(Json::Integer(i128::from(value)))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Json, E> {
        Ok(Json::Integer(i128::from(value)))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Json, E> {
        Ok(Json::Real(value))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Json, E> {
        Ok(Json::Text(text.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Json, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = list.next_element_seed(self.inner()?)? {
            items.push(item);
        }
        Ok(Json::List(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Json, A::Error> {
        let mut entries: Vec<(String, Json)> = Vec::new();
        let mut keys = std::collections::BTreeSet::new();
        while let Some(key) = map.next_key::<String>()? {
            if !keys.insert(key.clone()) {
                return Err(A::Error::custom(format!("the key `{key}` appears twice")));
            }
            let value = map.next_value_seed(self.inner()?)?;
            entries.push((key, value));
        }
        Ok(Json::Object(entries))
    }
}
