//! What a candidate left in its outputs, handed from one station to the other through a folder.
//!
//! `head.json` names the tensors and the bytes of them that nothing wrote; each tensor's bytes are a file named after its
//! index.

use std::fs;
use std::ops::Range;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::StationFailure;
use crate::device::Content;

const HEAD: &str = "head.json";

#[derive(Serialize, Deserialize)]
struct Entry {
    tensor: usize,
    bytes: usize,
    unwritten: Vec<Range<usize>>,
}

/// Writes the contents of outputs, each with its tensor's index.
pub(super) fn write(folder: &Path, outputs: &[(usize, Content)]) -> Result<(), StationFailure> {
    let mut head = Vec::new();
    for (tensor, content) in outputs {
        fs::write(folder.join(tensor.to_string()), &content.bytes).map_err(failure)?;
        let (bytes, unwritten) = (content.bytes.len(), content.unwritten.clone());
        head.push(Entry { tensor: *tensor, bytes, unwritten });
    }
    let head = serde_json::to_vec(&head).map_err(failure)?;
    fs::write(folder.join(HEAD), head).map_err(failure)
}

/// What [`write`] wrote.
pub(super) fn read(folder: &Path) -> Result<Vec<(usize, Content)>, StationFailure> {
    let head = fs::read(folder.join(HEAD)).map_err(failure)?;
    let head: Vec<Entry> = serde_json::from_slice(&head).map_err(failure)?;
    let mut outputs = Vec::new();
    for Entry { tensor, bytes: expected, unwritten } in head {
        let bytes = fs::read(folder.join(tensor.to_string())).map_err(failure)?;
        if bytes.len() != expected {
            let message = format!("output {tensor} has {} bytes, not {expected}", bytes.len());
            return Err(StationFailure::Outputs(message));
        }
        outputs.push((tensor, Content { bytes, unwritten }));
    }
    Ok(outputs)
}

fn failure(error: impl std::fmt::Display) -> StationFailure {
    StationFailure::Outputs(error.to_string())
}
