//! Panels in tests.
