//! The integration tests: the built program, the repository's own rules, and projects end to end.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a failing test is the error report")]

/// Headers, sizes, layers and names of the repository itself.
mod tidy;
#[cfg(test)]
mod worker;
