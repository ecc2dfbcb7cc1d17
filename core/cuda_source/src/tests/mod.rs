//! Signatures in the styles that people write them, conditionals and macros in the middle of them, and hostile texts; the device part of mixed files.

mod device_part;
mod foreign;
mod hostile;
mod kernel;
