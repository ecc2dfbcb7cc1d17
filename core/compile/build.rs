include!("../worker/source_hash.rs");

fn main() {
    emit_source_hash(&["src"]);
}
