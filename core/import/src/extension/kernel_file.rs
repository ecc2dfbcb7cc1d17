//! The kernel file: the device code of the extension, with the wrapper's launches as launch block.

use std::path::Path;

use lightbench_cuda_source::Source;
use lightbench_project::scaffold::device_text;

use super::sources::{ExtensionSource, Flag};
use crate::draft::KernelFile;
use crate::error::ImportError;
use crate::report::Report;
use crate::wrapper::interface::{Interface, launches};
use crate::wrapper::launch_block::{CUDA_COMMENT, LaunchBlock, launch_text};

/// `kernels/NAME.cu`.
pub(crate) fn kernel(
    path: &Path,
    source: &ExtensionSource,
    interface: &Interface<'_>,
    required: &[String],
    report: &mut Report,
) -> Result<KernelFile, ImportError> {
    let parsed = Source::parse(&source.cuda)
        .map_err(|error| ImportError::new(path, "", error.to_string(), "CUDA C++"))?;
    let code = device_text(&parsed);
    let block = block(path, source, interface, required, report)?;
    let headers = headers(&code, interface);
    let name = crate::names::file_name(&interface.wrapper.name);
    report.carried.push(format!(
        "kernels/{name}.cu: the device code, and the launches of `{}`",
        interface.wrapper.name
    ));
    Ok(KernelFile { name: format!("{name}.cu"), text: format!("{block}{headers}\n{code}") })
}

fn block(
    path: &Path,
    source: &ExtensionSource,
    interface: &Interface<'_>,
    required: &[String],
    report: &mut Report,
) -> Result<String, ImportError> {
    let flags = flags(source, report).map(|flags| format!("flags: [{flags}]"));
    let block = LaunchBlock {
        path,
        line_offset: source.line_offset,
        delimiters: CUDA_COMMENT,
        parameters: None,
        required,
        flags,
    };
    block.text(interface, &launch_text)
}

/// The compiler's options that a launch block has too.
fn flags(source: &ExtensionSource, report: &mut Report) -> Option<String> {
    let mut found: Vec<&str> = Vec::new();
    for flag in &source.flags {
        match Flag::read(flag) {
            Flag::Same(written) => found.push(written),
            Flag::WithoutEffect => {}
            Flag::Unknown => report.leave_out(
                format!("the compiler option `{flag}`"),
                "a launch block has a closed list of flags",
            ),
        }
    }
    found.sort_unstable();
    found.dedup();
    (!found.is_empty()).then(|| found.join(", "))
}

/// What PyTorch's headers give to device code: half-precision types, their names, loops.
fn headers(code: &str, interface: &Interface<'_>) -> String {
    let templates: Vec<&str> = launches(interface.wrapper)
        .flat_map(|launch| launch.template_arguments.iter().map(String::as_str))
        .collect();
    let uses = |word: &str| code.contains(word) || templates.contains(&word);
    let has_half = ["half", "Half"].iter().any(|word| code.contains(word)) || uses("__half");
    let has_bfloat =
        ["bfloat16", "BFloat16"].iter().any(|word| code.contains(word)) || uses("__nv_bfloat16");
    let mut text = String::new();
    if has_half {
        text.push_str("#include <cuda_fp16.h>\n");
    }
    if has_bfloat {
        text.push_str("#include <cuda_bf16.h>\n");
    }
    for namespace in ["at", "c10"] {
        let mut names = String::new();
        if code.contains(&format!("{namespace}::Half")) {
            names.push_str(" using Half = __half;");
        }
        if code.contains(&format!("{namespace}::BFloat16")) {
            names.push_str(" using BFloat16 = __nv_bfloat16;");
        }
        if !names.is_empty() {
            text.push_str(&format!("namespace {namespace} {{{names} }}\n"));
        }
    }
    for name in ["CUDA_KERNEL_LOOP", "CUDA_1D_KERNEL_LOOP"] {
        if code.contains(&format!("{name}(")) && !code.contains(&format!("define {name}")) {
            text.push_str(&format!(
                "#define {name}(i, n) \\\n    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < (n); i += blockDim.x * gridDim.x)\n"
            ));
        }
    }
    text
}
