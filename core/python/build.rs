//! Sets `LIGHTBENCH_SOURCE_HASH`, by which two sides of a worker protocol recognise that they are the same build.

#[path = "../worker/source_hash.rs"]
mod source_hash;

fn main() -> std::io::Result<()> {
    source_hash::emit(&["src"])
}
