//! What the documentation quotes exists: files, links, and the program's commands. `tests/tidy` checks Cargo's commands.

mod commands;
mod page;
mod paths;
