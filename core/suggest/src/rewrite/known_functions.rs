//! Names of functions of CUDA and of the language, which a kernel file does not define.

/// Functions with f32 arguments and an f32 result.
pub(super) const SINGLE: &[&str] = &[
    "expf",
    "exp2f",
    "exp10f",
    "logf",
    "log2f",
    "log10f",
    "log1pf",
    "expm1f",
    "sinf",
    "cosf",
    "tanf",
    "tanhf",
    "sqrtf",
    "rsqrtf",
    "powf",
    "fabsf",
    "fmaxf",
    "fminf",
    "fmaf",
    "erff",
    "erfcf",
    "floorf",
    "ceilf",
    "roundf",
    "truncf",
    "rintf",
    "fmodf",
    "copysignf",
    "cbrtf",
    "hypotf",
    "sinhf",
    "coshf",
    "atanf",
    "asinf",
    "acosf",
    "atan2f",
    "__expf",
    "__exp10f",
    "__logf",
    "__log2f",
    "__log10f",
    "__sinf",
    "__cosf",
    "__tanf",
    "__powf",
    "__fdividef",
    "__frcp_rn",
    "__fsqrt_rn",
    "__frsqrt_rn",
    "__bfloat162float",
    "__half2float",
    "__uint_as_float",
    "__int_as_float",
    "__fadd_rn",
    "__fmul_rn",
    "__fdiv_rn",
    "__saturatef",
    "__int2float_rn",
    "__uint2float_rn",
];

/// Whether a function belongs to CUDA or the language.
pub(super) fn is_known(name: &str) -> bool {
    SINGLE.contains(&name)
        || name.starts_with("__")
        || name.starts_with("atomic")
        || name.starts_with("make_")
        || matches!(
            name,
            "min" | "max" | "abs" | "static_cast" | "reinterpret_cast" | "float" | "int"
        )
}
