//! Tests that need what a machine may lack.

/// Prints that a test is skipped because something is missing; the test fails where `variable` is set.
pub(crate) fn skip(missing: &str, variable: &str) {
    assert!(std::env::var_os(variable).is_none(), "{missing}, and {variable} is set");
    println!("skipped: {missing}");
}
