//! Spellings that sources use, and those that are no scalar type.

use super::*;

fn check(name: &str, expected: Option<Dtype>) {
    assert_eq!(Dtype::from_c_name(name), expected, "{name}");
}

#[test]
fn names_of_scalar_types() {
    let long = if cfg!(windows) { Dtype::I32 } else { Dtype::I64 };
    check("long", Some(long));
    check("int long", Some(long));
    check("unsigned long long int", Some(Dtype::U64));
    check("long unsigned long", Some(Dtype::U64));
    check("short int", Some(Dtype::I16));
    check("unsigned", Some(Dtype::U32));
    check("char", Some(Dtype::I8));
    check("signed char", Some(Dtype::I8));
    check("::std::uint16_t", Some(Dtype::U16));
    check("cuda::std::int64_t", Some(Dtype::I64));
    check("nv_bfloat16", Some(Dtype::Bf16));
    for other in ["", "void", "long double", "long long long", "short char", "float4", "T", "é"] {
        check(other, None);
    }
}

#[test]
fn aliases_are_no_types() {
    for alias in ["half", "nv_bfloat16", "uint", "size_t", "int64_t", "ulong", "std::int8_t"] {
        assert_eq!(Dtype::from_c_type(alias), None, "{alias}");
        assert!(Dtype::from_c_name(alias).is_some(), "{alias}");
    }
}

#[test]
fn names_of_vector_types() {
    let check = |name: &str, expected| assert_eq!(Dtype::vector_from_c_name(name), expected);
    check("float4", Some((Dtype::F32, 4)));
    check("ulonglong2", Some((Dtype::U64, 2)));
    check("__half2", Some((Dtype::F16, 2)));
    check("cuDoubleComplex", Some((Dtype::F64, 2)));
    for other in ["", "4", "é", "float", "float5", "float0", "bool2", "int32_t"] {
        check(other, None);
    }
}

#[test]
fn the_name_of_an_element_is_read_as_its_dtype() {
    for dtype in Dtype::ALL.into_iter().filter(|dtype| !dtype.is_packed()) {
        check(dtype.c_name(), Some(dtype));
    }
}
