//! Texts that runs refer to, stored once by the hash of their content.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// The name of a text: the hash of its bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct TextHash([u8; blake3::OUT_LEN]);

impl TextHash {
    /// The name of a text with these bytes.
    #[must_use]
    pub fn from_content(content: &[u8]) -> Self {
        Self(*blake3::hash(content).as_bytes())
    }

    /// The bytes of the name.
    #[must_use]
    pub const fn bytes(&self) -> &[u8; blake3::OUT_LEN] {
        &self.0
    }
}

impl fmt::Display for TextHash {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(blake3::Hash::from_bytes(self.0).to_hex().as_str())
    }
}

impl Serialize for TextHash {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for TextHash {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let hash = blake3::Hash::from_hex(text).map_err(de::Error::custom)?;
        Ok(Self(*hash.as_bytes()))
    }
}

/// Texts on their way into a history.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Texts(BTreeMap<TextHash, Vec<u8>>);

impl Texts {
    /// Adds a text and names it.
    pub fn add(&mut self, content: Vec<u8>) -> TextHash {
        let hash = TextHash::from_content(&content);
        self.0.insert(hash, content);
        hash
    }

    /// Whether the collection has the text of that name.
    #[must_use]
    pub fn contains(&self, hash: &TextHash) -> bool {
        self.0.contains_key(hash)
    }

    /// All texts with their names.
    pub fn iter(&self) -> impl Iterator<Item = (&TextHash, &[u8])> {
        self.0.iter().map(|(hash, content)| (hash, content.as_slice()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_texts_are_one_text() {
        let mut texts = Texts::default();
        let (first, second) = (texts.add(b"a".to_vec()), texts.add(b"b".to_vec()));
        assert_ne!(first, second);
        assert_eq!(texts.add(b"a".to_vec()), first);
        assert_eq!(texts.iter().count(), 2);
    }

    #[test]
    fn a_name_survives_being_written() {
        let hash = TextHash::from_content(b"a");
        let written = serde_json::to_string(&hash).unwrap();
        assert_eq!(serde_json::from_str::<TextHash>(&written).unwrap(), hash);
        assert!(serde_json::from_str::<TextHash>("\"beef\"").is_err());
    }
}
