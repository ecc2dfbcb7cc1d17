//! A syntax error of a PTX text.

use super::token::PtxLocation;

/// A token that the grammar of PTX does not accept at its location.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {}, column {}: expected {expected}, found {found}", place.line, place.column)]
pub struct SyntaxError {
    /// Location of the token.
    pub place: PtxLocation,
    /// The token that was found.
    pub found: String,
    /// The token that PTX requires.
    pub expected: &'static str,
}
