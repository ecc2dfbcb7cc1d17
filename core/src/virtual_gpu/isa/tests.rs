//! Tests of the instruction set.
