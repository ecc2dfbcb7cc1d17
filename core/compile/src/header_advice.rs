//! Replacements for common headers that cannot be used in kernels.
//!
//! The compiler reports only that it cannot open the file, or an error at a line inside the header.

use super::diagnostics::{Diagnostic, Note, Place, Severity};

/// Prefixes of header names, without `<` and `>`, and the advice for each. The first match applies.
const ADVICE: &[(&str, &str)] = &[
    (
        "cub/cub.cuh",
        "include the collective that the kernel uses, such as `<cub/block/block_reduce.cuh>`, `<cub/block/block_scan.cuh>` \
         or `<cub/warp/warp_reduce.cuh>`",
    ),
    (
        "cub/device/",
        "device-wide algorithms are launched by host code; inside a kernel use a collective, such as \
         `<cub/block/block_reduce.cuh>`",
    ),
    (
        "thrust/",
        "Thrust's algorithms and containers are host code: write the loop in the kernel, use `<cub/block/…>` for collectives \
         and `<cuda/std/…>` for `complex`, `tuple`, `array` and function objects",
    ),
    (
        "curand",
        "cuRAND is not part of the compiler: write the generator in the kernel (Philox 4x32-10 is about twenty lines), or put \
         the device headers of cuRAND below the project's `include/`",
    ),
    (
        "helper_math.h",
        "the header belongs to the CUDA samples, not to the toolkit: put it below the project's `include/`, or write the operators \
         on `float4` and the like that the kernel uses",
    ),
    ("helper_", "the header belongs to the CUDA samples and is host code: leave it out"),
    (
        "cutlass/",
        "CUTLASS is not part of the compiler: write `libraries: [cutlass]` in the launch block",
    ),
    ("cute/", "CuTe is not part of the compiler: write `libraries: [cutlass]` in the launch block"),
    (
        "cublas",
        "cuBLAS is called by host code: leave the header out; a project can name a product of cuBLAS as a baseline",
    ),
    ("cudnn", "cuDNN is called by host code: leave the header out"),
    ("cufft", "cuFFT is called by host code: leave the header out"),
    (
        "torch/",
        "PyTorch's headers are host code: leave them out; a kernel takes pointers and sizes",
    ),
    ("ATen/", "PyTorch's headers are host code: leave them out; a kernel takes pointers and sizes"),
    ("c10/", "PyTorch's headers are host code: leave them out; a kernel takes pointers and sizes"),
    ("driver_types.h", "the header declares host code of the CUDA runtime: leave it out"),
    ("builtin_types.h", "the compiler has `float4`, `dim3` and the like built in: leave it out"),
];

/// The compiler's message for a missing header.
const NOT_THERE: &str = "cannot open source file \"";

/// Types that a header declares for kernels, and the header.
const DECLARED: &[(&str, &str)] = &[("CUtensorMap", "cuda.h")];

/// Advice for a header; `None` for a header without an entry.
#[must_use]
pub fn advice(header: &str) -> Option<&'static str> {
    let known = ADVICE.iter().find(|(beginning, _)| header.starts_with(beginning));
    known.map(|(_, advice)| *advice)
}

/// Adds a note with the advice to the first error about each such header.
pub(super) fn explain(diagnostics: &mut [Diagnostic]) {
    let mut given = Vec::new();
    for diagnostic in diagnostics.iter_mut().filter(|each| each.severity >= Severity::Error) {
        let Some(header) = header_in_question(diagnostic) else { continue };
        let Some(advice) = advice(&header).filter(|advice| !given.contains(advice)) else {
            continue;
        };
        given.push(advice);
        let message = format!("`{header}` cannot be used in a kernel: {advice}");
        diagnostic.notes.push(Note { place: None, message });
    }
}

/// Adds a note with the header to the first error about a type that the kernel uses without it.
pub(super) fn name_missing(diagnostics: &mut [Diagnostic]) {
    for (name, header) in DECLARED {
        let message = format!("identifier \"{name}\" is undefined");
        if let Some(first) = diagnostics.iter_mut().find(|each| each.message == message) {
            let message = format!("write `#include <{header}>`, which declares `{name}`");
            first.notes.push(Note { place: None, message });
        }
    }
}

/// The header that is missing, or the toolkit header in which the error is.
fn header_in_question(diagnostic: &Diagnostic) -> Option<String> {
    if let Some((_, rest)) = diagnostic.message.split_once(NOT_THERE) {
        return rest.split_once('"').map(|(name, _)| name.to_owned());
    }
    let Place::Source(place) = &diagnostic.place else { return None };
    let (_, inside) = place.file.rsplit_once("/include/").filter(|_| place.foreign)?;
    Some(inside.strip_prefix("cccl/").unwrap_or(inside).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnostics::read;

    /// Logs of NVRTC 13.5.
    #[test]
    fn an_error_about_a_header_has_one_note_with_advice() {
        let check = |log: &str, expected: Option<&str>| {
            let mut diagnostics = read(log, &["k.cu"]).diagnostics;
            explain(&mut diagnostics);
            let notes: Vec<&str> = diagnostics
                .iter()
                .flat_map(|each| &each.notes)
                .map(|note| note.message.as_str())
                .collect();
            match expected {
                Some(words) => {
                    assert_eq!(notes.len(), 1, "{log}: {notes:?}");
                    assert!(notes[0].contains(words), "{}", notes[0]);
                }
                None => assert!(notes.is_empty(), "{log}: {notes:?}"),
            }
        };
        let missing = |name: &str| {
            format!(
                "k.cu(1): catastrophic error: cannot open source file \"{name}\"\n  #include <{name}>\n  ^\n\n"
            )
        };
        check(&missing("curand_kernel.h"), Some("Philox"));
        check(&missing("helper_math.h"), Some("CUDA samples, not to the toolkit"));
        check(&missing("helper_cuda.h"), Some("host code: leave it out"));
        check(&missing("torch/extension.h"), Some("a kernel takes pointers and sizes"));
        check(&missing("cublas_v2.h"), Some("baseline"));
        check(&missing("cutlass/arch/barrier.h"), Some("libraries: [cutlass]"));
        check(&missing("cute/tensor.hpp"), Some("libraries: [cutlass]"));
        check(&missing("my_own.cuh"), None);
        let inside = |file: &str, message: &str| {
            format!(
                "/cache/headers/13.5/include/cccl/{file}(17): error: {message}\n  #    error\n  ^\n\n"
            )
        };
        check(&inside("cub/cub.cuh", "#error directive: not supported"), Some("block_reduce.cuh"));
        check(
            &inside("thrust/detail/internal_functional.h", "a __host__ function"),
            Some("host code"),
        );
        check(&inside("cub/block/block_reduce.cuh", "expected a \";\""), None);
        check("k.cu(1): error: identifier \"z\" is undefined\n  z\n  ^\n\n", None);
        check("k.cu(1): warning #177-D: variable \"z\" was declared\n  z\n  ^\n\n", None);
    }

    #[test]
    fn an_undeclared_type_of_the_driver_has_a_note_with_its_header() {
        let undefined = |name: &str| {
            let log = format!("k.cu(1): error: identifier \"{name}\" is undefined\n  f\n  ^\n\n");
            let mut diagnostics = read(&log, &["k.cu"]).diagnostics;
            name_missing(&mut diagnostics);
            diagnostics[0].notes.iter().map(|note| note.message.clone()).collect::<String>()
        };
        let expected = "write `#include <cuda.h>`, which declares `CUtensorMap`";
        assert_eq!(undefined("CUtensorMap"), expected);
        assert_eq!(undefined("CUtensorMaps"), "");
    }
}
