//! Text that is added to a kernel: the prelude, substitutes for host headers, and the values of parameters.
//!
//! NVRTC has neither `INFINITY` nor `uint32_t` nor any standard header, so sources written for nvcc would not compile.
//! All added text is listed here and can be shown (`lightbench check --show-prelude`).

use std::fmt::Write as _;

use crate::launch::HeaderLibrary;

/// Part of every cache key; raised whenever the texts below change meaning.
pub const VERSION: u32 = 1;

/// The name under which the prelude is included before the kernel's first line.
pub const PRELUDE_NAME: &str = "lightbench/prelude.h";

/// The name of the generated header with parameters and constants.
pub const GENERATED_NAME: &str = "lightbench/parameters.h";

/// The name of the header that is included before kernels that name CUTLASS.
pub const CUTLASS_NAME: &str = "lightbench/cutlass.h";

const PRELUDE: &str = include_str!("../../../assets/prelude/prelude.h");
const MATHEMATICS: &str = include_str!("../../../assets/prelude/cmath.h");
const ALGORITHM: &str = include_str!("../../../assets/prelude/algorithm.h");
/// cuBLAS itself is called by host code; `cublas_api.h` includes the headers of the half-precision types, on which files
/// with host and device code rely.
const CUBLAS: &str = "#pragma once\n#include <cuda_fp16.h>\n#include <cuda_bf16.h>\n";
/// Joins CuTe with the libcu++ of the compiler.
const CUTLASS: &str = include_str!("../../../assets/prelude/cutlass.h");
const DRIVER: &str = include_str!("../../../assets/prelude/cuda.h");

/// The substitute for a header that NVRTC lacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum HeaderSubstitute {
    /// The prelude, or NVRTC itself, already provides the part that kernels use.
    Provided,
    /// A text of ours.
    Text(&'static str),
    /// libcu++'s header of the same name, its names made visible in `std`.
    Libcudacxx,
}

const STAND_INS: &[(&str, HeaderSubstitute)] = &[
    ("algorithm", HeaderSubstitute::Text(ALGORITHM)),
    ("array", HeaderSubstitute::Libcudacxx),
    ("assert.h", HeaderSubstitute::Provided),
    ("cassert", HeaderSubstitute::Provided),
    ("cfloat", HeaderSubstitute::Provided),
    ("climits", HeaderSubstitute::Provided),
    ("cmath", HeaderSubstitute::Text(MATHEMATICS)),
    ("common_functions.h", HeaderSubstitute::Provided),
    ("cstddef", HeaderSubstitute::Provided),
    ("cstdint", HeaderSubstitute::Provided),
    ("cstdio", HeaderSubstitute::Provided),
    ("cstdlib", HeaderSubstitute::Provided),
    ("cstring", HeaderSubstitute::Provided),
    ("cublas.h", HeaderSubstitute::Text(CUBLAS)),
    ("cublasLt.h", HeaderSubstitute::Text(CUBLAS)),
    ("cublas_api.h", HeaderSubstitute::Text(CUBLAS)),
    ("cublas_v2.h", HeaderSubstitute::Text(CUBLAS)),
    ("cuda.h", HeaderSubstitute::Text(DRIVER)),
    ("cuda_runtime.h", HeaderSubstitute::Provided),
    ("cuda_runtime_api.h", HeaderSubstitute::Provided),
    ("device_atomic_functions.h", HeaderSubstitute::Provided),
    ("device_double_functions.h", HeaderSubstitute::Provided),
    ("device_functions.h", HeaderSubstitute::Provided),
    ("device_launch_parameters.h", HeaderSubstitute::Provided),
    ("float.h", HeaderSubstitute::Provided),
    ("functional", HeaderSubstitute::Libcudacxx),
    ("limits", HeaderSubstitute::Libcudacxx),
    ("limits.h", HeaderSubstitute::Provided),
    ("math.h", HeaderSubstitute::Text(MATHEMATICS)),
    ("math_functions.h", HeaderSubstitute::Provided),
    ("numeric", HeaderSubstitute::Libcudacxx),
    ("sm_20_atomic_functions.h", HeaderSubstitute::Provided),
    ("sm_20_intrinsics.h", HeaderSubstitute::Provided),
    ("sm_30_intrinsics.h", HeaderSubstitute::Provided),
    ("sm_32_atomic_functions.h", HeaderSubstitute::Provided),
    ("sm_32_intrinsics.h", HeaderSubstitute::Provided),
    ("sm_35_atomic_functions.h", HeaderSubstitute::Provided),
    ("sm_35_intrinsics.h", HeaderSubstitute::Provided),
    ("sm_60_atomic_functions.h", HeaderSubstitute::Provided),
    ("sm_61_intrinsics.h", HeaderSubstitute::Provided),
    ("stddef.h", HeaderSubstitute::Provided),
    ("stdint.h", HeaderSubstitute::Provided),
    ("stdio.h", HeaderSubstitute::Provided),
    ("stdlib.h", HeaderSubstitute::Provided),
    ("string.h", HeaderSubstitute::Provided),
    ("surface_indirect_functions.h", HeaderSubstitute::Provided),
    ("texture_indirect_functions.h", HeaderSubstitute::Provided),
    ("tuple", HeaderSubstitute::Libcudacxx),
    ("type_traits", HeaderSubstitute::Libcudacxx),
    ("utility", HeaderSubstitute::Libcudacxx),
    ("vector_functions.h", HeaderSubstitute::Provided),
];

/// The headers for the compiler: prelude, generated values, and the substitutes among `requested`.
///
/// A kernel without standard headers gets no substitutes, so that the added text stays short. The headers of a library
/// include any standard header, so that a kernel with a library gets all substitutes.
pub fn headers<'a>(
    parameters: &[(String, i64)],
    constants: &[(String, u64)],
    requested: impl IntoIterator<Item = &'a str>,
    libraries: &[HeaderLibrary],
) -> Vec<(String, String)> {
    let generated = format!("#pragma once\n{}", values(parameters, constants));
    let own: Vec<(&str, &str)> = libraries.iter().map(|library| library_header(*library)).collect();
    let includes: String = own.iter().map(|(name, _)| format!("#include <{name}>\n")).collect();
    let prelude = format!("{PRELUDE}{includes}#include <{GENERATED_NAME}>\n");
    let mut headers =
        vec![(PRELUDE_NAME.to_owned(), prelude), (GENERATED_NAME.to_owned(), generated)];
    headers.extend(own.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())));
    let all = STAND_INS.iter().map(|(name, _)| *name).filter(|_| !libraries.is_empty());
    for name in requested.into_iter().chain(all) {
        if let Some(text) = stand_in(name)
            && headers.iter().all(|(existing, _)| existing != name)
        {
            headers.push((name.to_owned(), text));
        }
    }
    headers
}

/// The names of all headers with a substitute.
pub fn stand_in_names() -> impl Iterator<Item = &'static str> {
    STAND_INS.iter().map(|(name, _)| *name)
}

/// The header that joins a library with the compiler: its name and text.
const fn library_header(library: HeaderLibrary) -> (&'static str, &'static str) {
    match library {
        HeaderLibrary::Cutlass => (CUTLASS_NAME, CUTLASS),
    }
}

/// Whether a header of this name is stood in for.
pub fn stands_in(name: &str) -> bool {
    STAND_INS.iter().any(|(known, _)| *known == name)
}

/// The substitute for a standard header, if NVRTC lacks it.
pub fn stand_in(name: &str) -> Option<String> {
    let (_, stand_in) = STAND_INS.iter().find(|(known, _)| *known == name)?;
    Some(match stand_in {
        HeaderSubstitute::Provided => "// The prelude and the compiler provide this.\n".to_owned(),
        HeaderSubstitute::Text(text) => (*text).to_owned(),
        HeaderSubstitute::Libcudacxx => format!(
            "#pragma once\n#include <cuda/std/{name}>\nnamespace std {{\nusing namespace cuda::std;\n}}\n"
        ),
    })
}

/// Parameters as `PARAM_NAME`, constants as `AXIS_name` and `axis::name`.
///
/// A plain macro `name` would also replace an argument of that name in the kernel's signature.
pub fn values(parameters: &[(String, i64)], constants: &[(String, u64)]) -> String {
    let mut text = String::new();
    for (name, value) in parameters {
        append(&mut text, format_args!("#define PARAM_{name} {}\n", literal((*value).into())));
    }
    for (name, value) in constants {
        append(&mut text, format_args!("#define AXIS_{name} {}\n", literal((*value).into())));
    }
    if !constants.is_empty() {
        text.push_str("namespace axis {\n");
        for (name, _) in constants {
            append(&mut text, format_args!("constexpr long long {name} = AXIS_{name};\n"));
        }
        text.push_str("} // namespace axis\n");
    }
    text
}

fn append(text: &mut String, line: std::fmt::Arguments<'_>) {
    #[expect(clippy::expect_used, reason = "writing to a String cannot fail")]
    text.write_fmt(line).expect("a String accepts every write");
}

/// An integer literal with this value: of type `int` if it fits.
fn literal(value: i128) -> String {
    const SMALLEST: i128 = i64::MIN as i128;
    match value {
        SMALLEST => "(-9223372036854775807LL - 1)".to_owned(),
        value if i32::try_from(value).is_err() => format!("({value}LL)"),
        value if value < 0 => format!("({value})"),
        value => value.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literals_keep_their_value() {
        let check = |value, expected: &str| assert_eq!(literal(value), expected);
        check(0, "0");
        check(-1, "(-1)");
        check(2_147_483_647, "2147483647");
        check(2_147_483_648, "(2147483648LL)");
        check(-2_147_483_648, "(-2147483648)");
        check(i64::MIN.into(), "(-9223372036854775807LL - 1)");
    }

    #[test]
    fn parameters_and_constants_become_macros_and_constants() {
        let text = values(&[("BLOCK".to_owned(), 256)], &[("cols".to_owned(), 8192)]);
        assert_eq!(
            text,
            "#define PARAM_BLOCK 256\n#define AXIS_cols 8192\nnamespace axis {\n\
             constexpr long long cols = AXIS_cols;\n} // namespace axis\n"
        );
    }

    #[test]
    fn only_requested_headers_are_added_and_once() {
        let headers = headers(&[], &[], ["cmath", "cmath", "cuda_bf16.h", "limits"], &[]);
        let names: Vec<_> = headers.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, [PRELUDE_NAME, GENERATED_NAME, "cmath", "limits"]);
    }

    #[test]
    fn a_library_is_joined_before_the_parameters_and_gets_every_standard_header() {
        let headers = headers(&[], &[], ["cmath"], &[HeaderLibrary::Cutlass]);
        let text =
            |wanted: &str| headers.iter().find(|(name, _)| name == wanted).unwrap().1.as_str();
        let prelude = text(PRELUDE_NAME);
        assert!(prelude.find(CUTLASS_NAME).unwrap() < prelude.find(GENERATED_NAME).unwrap());
        assert!(text(CUTLASS_NAME).contains("cute/config.hpp"));
        assert_eq!(headers.len(), 3 + STAND_INS.len());
    }
}
