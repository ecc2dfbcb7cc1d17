//! The symbols were lowered by NVRTC 13.5 from the declarations beside them.

use lightbench_ptx::{ParameterKind, PtxParameter};
use proptest::prelude::*;

use super::*;

/// `expected` is the parameter list as [`ParameterType`] prints it.
fn check_signature(symbol: &str, expected: Option<&str>) {
    let seen = parameters(symbol)
        .map(|types| types.iter().map(ParameterType::to_string).collect::<Vec<_>>().join(", "));
    assert_eq!(seen.as_deref(), expected, "for {symbol}");
}

#[test]
fn parameter_types_are_read_from_symbols() {
    for (symbol, expected) in [
        // template <int B> rms(const __nv_bfloat16*, float*, long long, int, float, P, __nv_bfloat16)
        (
            "_Z3rmsILi256EEvPK13__nv_bfloat16Pfxif1PS0_",
            Some("bf16 const*, f32*, i64, i32, f32, P, bf16"),
        ),
        // k1(const void*, unsigned char*, char, signed char, bool, unsigned long, size_t, double,
        //    volatile int*, int* const*, unsigned short)
        (
            "_Z2k1PKvPhcabmmdPViPKPit",
            Some("void const*, u8*, i8, i8, bool, u64, u64, f64, i32*, i32* const*, u16"),
        ),
        ("_Z2k3v", Some("")),
        // A type of the kernel's own that is called `half`.
        ("_Z2k8P4half", Some("half*")),
        ("_Z2k4IfJidEEvPT_DpT0_", Some("f32*, i32, f64")),
        ("_ZN3ops5scaleI6__halfLb1EEEvPT_PKS2_", Some("f16*, f16 const*")),
        ("_ZN36_GLOBAL__N__00000000_4_k_cu_5a7960ef4anonEPfPA4_f", Some("f32*, float (*) [4]*")),
        ("_Z2k5ILb1EEvPf", Some("f32*")),
        ("_Z2k5ILc99EEvPf", Some("f32*")),
        ("_Z2k7I2FnEvT_Pf", Some("Fn, f32*")),
        ("cc", None),
        ("_Z", None),
        ("_ZTV3foo", None),
    ] {
        check_signature(symbol, expected);
    }
    // k2(const float4*, uint4*, const __half2*, __nv_fp8_e4m3*, __half, ns::Q, const ns::Q*,
    //    ns::V<float, 4>*, ns::E, ns::F, int (*)(int), const int (&)[3])
    let wide = parameters("_Z2k2PK6float4P5uint4PK7__half2P13__nv_fp8_e4m36__halfN2ns1QEPKSB_PNSA_1VIfLi4EEENSA_1EENSA_1FEPFiiERA3_Ki").unwrap();
    assert_eq!(wide.len(), 12);
    assert_eq!(wide[0].to_string(), "float4 const*");
    assert_eq!(wide[7].to_string(), "ns::V<float, 4>*");
    assert!(matches!(&wide[10], ParameterType::Other(_)), "{:?}", wide[10]);
    assert!(matches!(&wide[11], ParameterType::Pointer { .. }), "{:?}", wide[11]);
}

fn dtype(name: &str) -> Dtype {
    Dtype::ALL.into_iter().find(|dtype| dtype.name() == name).unwrap()
}

/// `bf16*`, `i64`, or `24:8` for bytes and alignment.
fn given(text: &str) -> LaunchArgument {
    let kind = match (text.strip_suffix('*'), text.split_once(':')) {
        (None, None) if text == "map" => LaunchArgumentKind::TensorMap,
        (None, None) if text == "null" => LaunchArgumentKind::Null,
        (Some(element), _) => LaunchArgumentKind::Buffer(dtype(element)),
        (None, Some((size, align))) => {
            LaunchArgumentKind::Bytes { size: size.parse().unwrap(), align: align.parse().unwrap() }
        }
        (None, None) => LaunchArgumentKind::Scalar(dtype(text)),
    };
    LaunchArgument { name: "x".to_owned(), kind }
}

/// `u64`, `f32`, `b32`, or `24:8` for bytes and alignment.
fn compiled(text: &str) -> PtxParameter {
    let (kind, size, alignment) = match text {
        "u8" => (ParameterKind::Integer, 1, 1),
        "u16" => (ParameterKind::Integer, 2, 2),
        "u32" => (ParameterKind::Integer, 4, 4),
        "u64" => (ParameterKind::Integer, 8, 8),
        "b32" => (ParameterKind::Bits, 4, 4),
        "f32" => (ParameterKind::Float, 4, 4),
        "f64" => (ParameterKind::Float, 8, 8),
        bytes => {
            let (size, align) = bytes.split_once(':').unwrap();
            (ParameterKind::Bytes, size.parse().unwrap(), align.parse().unwrap())
        }
    };
    PtxParameter { name: "p".to_owned(), kind, size, alignment, pointer: None }
}

fn check(arguments: &str, declared: &str, types: Option<&str>, expected: &[&str]) {
    let list = |text: &str| -> Vec<String> {
        text.split(", ").filter(|each| !each.is_empty()).map(str::to_owned).collect()
    };
    let arguments: Vec<LaunchArgument> = list(arguments).iter().map(|each| given(each)).collect();
    let declared: Vec<PtxParameter> = list(declared).iter().map(|each| compiled(each)).collect();
    let types: Option<Vec<ParameterType>> =
        types.map(|types| list(types).iter().map(|each| parse_type(each)).collect());
    let seen: Vec<String> = match_arguments(&arguments, &declared, types.as_deref())
        .iter()
        .map(|each| format!("{each:?}").split([' ', '{']).next().unwrap().to_owned())
        .collect();
    assert_eq!(seen, expected, "{arguments:?} against {declared:?} and {types:?}");
}

#[test]
fn arguments_that_fit_are_accepted() {
    check("", "", None, &[]);
    check("bf16*, f32*, i64, f32, bool, 24:8", "u64, u64, u64, f32, u8, 24:8", None, &[]);
    check("f16, bf16, i32, f32", "2:2, 2:2, b32, b32", None, &[]);
    check("i64, i32, bool", "u64, u32, u8", Some("unsigned long, unsigned int, bool"), &[]);
    check("8:8", "u64", Some("unsigned long long"), &[]);
}

#[test]
fn any_pointer_takes_null() {
    for pointee in ["float const*", "void*", "__nv_bfloat16**", "S*"] {
        check("null", "u64", Some(pointee), &[]);
    }
    check("null", "u64", None, &[]);
    check("null", "u64", Some("unsigned long"), &["PointerExpected"]);
    check("null", "u32", None, &["PointerExpected"]);
    check("null", "f64", None, &["PointerExpected"]);
}

#[test]
fn a_buffer_may_be_read_as_itself_or_as_raw_data() {
    for pointee in [
        "__nv_bfloat16 const*",
        "void*",
        "unsigned char*",
        "char const*",
        "uint4*",
        "float4*",
        "__nv_bfloat162*",
        "unsigned short*",
        "S*",
        "float (*) [4]",
    ] {
        check("bf16*", "u64", Some(pointee), &[]);
    }
    for pointee in
        ["__half*", "short*", "float*", "unsigned int*", "bool*", "double*", "__nv_bfloat16**"]
    {
        check("bf16*", "u64", Some(pointee), &["Pointee"]);
    }
    check(
        "f32*, i32*, u32*, i64*",
        "u64, u64, u64, u64",
        Some("int*, unsigned int*, int*, long*"),
        &["Pointee", "Pointee"],
    );
    check(
        "bool*, u8*, i8*, i4*, i4*",
        "u64, u64, u64, u64, u64",
        Some("bool*, bool*, signed char*, unsigned int*, float*"),
        &["Pointee", "Pointee"],
    );
}

#[test]
fn arguments_that_do_not_fit_are_named() {
    check("f32*", "u64, u32", None, &["Count"]);
    check("f32*, i32", "u64", None, &["Count"]);
    check("16:8", "32:8", None, &["Size"]);
    check("24:8", "24:4", None, &["Alignment"]);
    check("i64", "u32", None, &["Size"]);
    check("i32", "u64", None, &["Size"]);
    check("f32", "u32", None, &["Kind"]);
    check("i32", "f32", None, &["Kind"]);
    check("i32", "4:4", None, &["Kind"]);
    check("f16", "u16", None, &["Kind"]);
    check("f16", "2:2", Some("__nv_bfloat16"), &["Kind"]);
    check("u8", "u8", Some("bool"), &["Kind"]);
    check("f32*", "u32", None, &["PointerExpected"]);
    check("f32*", "f64", None, &["PointerExpected"]);
    check("f32*", "u64", Some("long"), &["PointerExpected"]);
    check("i64", "u64", Some("float*"), &["PointerUnexpected"]);
    check("8:8", "u64", Some("float*"), &["PointerUnexpected"]);
    check("i32, i32, f32*", "u64, f32, u64, u8", None, &["Count", "Size", "Kind"]);
}

#[test]
fn a_tensor_map_is_passed_by_value() {
    let of = |text: &str| match_arguments(&[given("map")], &[compiled(text)], None);
    for fits in ["128:64", "128:128"] {
        assert_eq!(of(fits), [], "{fits}");
    }
    check("map", "128:8", None, &["Alignment"]);
    check("map", "64:64", None, &["Size"]);
    check("map", "u64", None, &["Size"]);
    check("map", "u64", Some("CUtensorMap_st const*"), &["PointerUnexpected"]);
    let types = [parse_type("CUtensorMap_st const*")];
    let mismatches = match_arguments(&[given("map")], &[compiled("u64")], Some(&types));
    assert_eq!(
        mismatches[0].to_string(),
        "parameter 1 (`x`) is the pointer CUtensorMap_st const*, but a value is given: declare \
         `const __grid_constant__ CUtensorMap x`"
    );
}

#[test]
fn objects_of_cutlass_host_code_are_refused_in_one_sentence() {
    let params = "cutlass::gemm::kernel::GemmUniversal<cute::tuple<int, int>, float>::Params";
    let mismatches = match_arguments(
        &[given("bf16*"), given("bf16*"), given("i32")],
        &[compiled("384:64")],
        Some(&[parse_type(params)]),
    );
    let [only] = mismatches.as_slice() else { panic!("{mismatches:?}") };
    let text = only.to_string();
    assert!(text.contains("object of cutlass::gemm::kernel::GemmUniversal::Params,"), "{text}");
    check("f32*", "64:8", Some("cute::TiledCopy<int>"), &["HostBuilt"]);
    check("bf16*, f32", "u64, 64:8", Some("cutlass::bfloat16_t*, cute::TiledMMA<int>"), &["Size"]);
    check("bf16*", "u64", Some("cutlass::bfloat16_t const*"), &[]);
    check("bf16", "2:2", Some("cutlass::bfloat16_t"), &[]);
}

#[test]
fn a_mismatch_says_what_to_declare() {
    let types = [parse_type("float const*")];
    let mismatches = match_arguments(&[given("bf16*")], &[compiled("u64")], Some(&types));
    assert_eq!(
        mismatches[0].to_string(),
        "parameter 1 (`x`) points to f32 but the buffer holds bf16: declare a pointer to bf16"
    );
    let mismatches = match_arguments(&[given("16:8")], &[compiled("64:8")], None);
    assert_eq!(
        mismatches[0].to_string(),
        "parameter 1 (`x`) has 64 bytes but is given 16: declare a struct of 16 bytes aligned to 8"
    );
}

proptest! {
    #[test]
    fn any_symbol_is_read_without_panic(symbol in "_Z([0-9]{1,2}|[a-zA-Z_]|N|E|I|P|K|S_|T_|S0_|J|Dp){0,60}") {
        drop(parameters(&symbol));
    }

    #[test]
    fn any_type_is_read_without_panic(text in any::<String>()) {
        drop(parse_type(&text));
    }
}

#[test]
fn symbols_that_explode_are_given_up() {
    // Each argument pairs the two before it.
    let mut symbol = "_Z1fI1A".to_owned();
    for number in 0..40 {
        let known = ["S_", "S0_", "S1_", "S2_"][number.min(3)];
        symbol += &format!("1BI{known}{known}E");
    }
    symbol += "Evv";
    let begun = std::time::Instant::now();
    drop(parameters(&symbol));
    drop(parameters(&format!("_Z1f{}i", "P".repeat(60_000))));
    assert!(begun.elapsed().as_secs_f64() < 2.0);
}

#[test]
fn sentences_name_things_as_people_wrote_them() {
    let check = |text, expected: &str| assert_eq!(with_readable_names(text), expected);
    check("offset 0 of `_ZZ1kPKfPfiE1s`, which", "offset 0 of `s`, which");
    check("_Z1kPKfPfi", "k");
    check("`_ZN4work5stepsE` and `plain`", "`work::steps` and `plain`");
    check("_Zwhat is this", "_Zwhat is this");
    check("no name", "no name");
}
