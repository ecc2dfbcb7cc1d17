//! The same suite against every device that is present.
