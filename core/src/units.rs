//! Quantities with units; only the divisions that mean something exist.
