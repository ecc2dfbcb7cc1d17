//! A kernel to start from: the project's signature, a launch with one thread per output element, and an empty body.

use std::collections::BTreeSet;

use lightbench_primitives::dtype::Dtype;
use lightbench_project::manifest::{Manifest, RoleWritten, TensorWritten};

use crate::draft::KernelFile;
use crate::ron::quoted;

/// Threads of a block.
const BLOCK: u32 = 256;

/// `kernels/naive.cu`. The project's arguments are tensors, and values written as `name: type`.
pub fn starter(manifest: &Manifest) -> Option<KernelFile> {
    let output = manifest.tensors.iter().find(|tensor| tensor.role != RoleWritten::Input)?;
    let count = elements(output);
    let parameters: Vec<String> =
        manifest.arguments.iter().map(|argument| parameter(manifest, argument)).collect();
    let mut text = String::new();
    let mut line = |words: &str| {
        text.push_str(words);
        text.push('\n');
    };
    line("/*@ lightbench(");
    line(&format!(
        "    title: {},",
        quoted(&format!("One thread for each element of {}", output.name))
    ));
    line("    steps: [");
    let grid = quoted(&format!("ceil_div({count}, {BLOCK})"));
    line(&format!("        launch(kernel: \"naive\", grid: [{grid}], block: [{BLOCK}]),"));
    line("    ],");
    line(") @*/");
    for header in headers(manifest) {
        line(&format!("#include <{header}>"));
    }
    line("");
    line("// The body is to be written: until then, `run` reports that the outputs are unwritten.");
    for tensor in &manifest.tensors {
        let shape: Vec<&str> = tensor.shape.iter().map(|size| size.0.as_str()).collect();
        line(&format!("//   {} [{}]", tensor.name, shape.join(", ")));
    }
    line(&format!("extern \"C\" __global__ void naive(\n    {}) {{", parameters.join(",\n    ")));
    line("    const long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;");
    line(&format!("    // One element of {}, for i below {count}.", output.name));
    line("    (void)i;");
    line("}");
    Some(KernelFile { name: "naive.cu".to_owned(), text })
}

/// The number of elements of a tensor, as an expression.
pub(crate) fn elements(tensor: &TensorWritten) -> String {
    let factors: Vec<String> = tensor.shape.iter().map(|size| factor(&size.0)).collect();
    if factors.is_empty() { "1".to_owned() } else { factors.join(" * ") }
}

/// An expression that can stand in a product.
pub(crate) fn factor(size: &str) -> String {
    let plain = size.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    if plain { size.to_owned() } else { format!("({size})") }
}

fn parameter(manifest: &Manifest, argument: &str) -> String {
    if let Some((name, dtype)) = argument.split_once(':') {
        let known = Dtype::ALL.into_iter().find(|known| known.name() == dtype.trim());
        let (name, c_name) = (name.trim(), known.map_or("long long", Dtype::c_name));
        return format!("{c_name} {name}");
    }
    let tensor = manifest.tensors.iter().find(|tensor| tensor.name == argument);
    let Some(tensor) = tensor else { return format!("void* {argument}") };
    let qualifier = if tensor.role == RoleWritten::Input { "const " } else { "" };
    let element = if tensor.dtype.is_packed() { Dtype::U8 } else { tensor.dtype };
    format!("{qualifier}{}* {argument}", element.c_name())
}

fn headers(manifest: &Manifest) -> BTreeSet<&'static str> {
    let tensors =
        manifest.tensors.iter().map(|tensor| tensor.dtype).filter(|dtype| !dtype.is_packed());
    let scalars = manifest.scalars.iter().map(|scalar| scalar.dtype);
    tensors.chain(scalars).filter_map(Dtype::c_header).collect()
}
