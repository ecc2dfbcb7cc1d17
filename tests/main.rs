//! The integration tests: the built program, the repository's own rules, and projects end to end.

#[cfg(test)]
mod worker;
