//! What specs mean, what is wrong with others, and that nothing makes the reader panic.

use lightbench_primitives::element_text::{element, element_text, encode};
use lightbench_primitives::random::Stream;
use lightbench_primitives::scalar_value::ScalarValue;
use proptest::prelude::*;

use super::*;
use crate::virtual_gpu::InitialContent;

fn initial(spec: &str, seed: u64) -> Vec<u8> {
    let SpecKind::Buffer(buffer) = Spec::parse(spec).unwrap().kind else { panic!("{spec}") };
    let read = |file: &str, _: u64| Err(format!("unexpected read of {file}"));
    match buffer.initial(seed, 0, read).unwrap() {
        InitialContent::Bytes(bytes) => bytes,
        InitialContent::Uninitialised | InitialContent::Repeated(_) => {
            panic!("{spec} holds something")
        }
    }
}

fn texts(spec: &str, seed: u64) -> Vec<String> {
    let SpecKind::Buffer(Buffer { c_type, .. }) = Spec::parse(spec).unwrap().kind else {
        panic!("{spec}")
    };
    let bytes = initial(spec, seed);
    let length = c_type.bytes() as usize;
    bytes
        .chunks(length)
        .map(|bytes| element_text(c_type, element(c_type, bytes).unwrap()))
        .collect()
}

#[test]
fn values_have_the_bits_of_their_type() {
    let check = |spec: &str, expected: &[u8]| match Spec::parse(spec).unwrap().kind {
        SpecKind::Value { bytes, .. } | SpecKind::Bytes(bytes) => {
            assert_eq!(bytes, expected, "{spec}");
        }
        SpecKind::Buffer(_) | SpecKind::Null | SpecKind::Same(_) => {
            panic!("{spec} is a value")
        }
    };
    check("u32:5", &[5, 0, 0, 0]);
    check("i8:-1", &[0xff]);
    check("u64:0xffffffffffffffff", &[0xff; 8]);
    check("i64:-9223372036854775808", &[0, 0, 0, 0, 0, 0, 0, 0x80]);
    check("f32:1.5", &[0, 0, 0xc0, 0x3f]);
    check("f32:-inf", &[0, 0, 0x80, 0xff]);
    check("f16:1", &[0, 0x3c]);
    check("f16:65504", &[0xff, 0x7b]);
    check("bf16:-2", &[0, 0xc0]);
    check("f64:0.1", &0.1_f64.to_le_bytes());
    check("bool:true", &[1]);
    check("bytes:00ff10", &[0, 0xff, 0x10]);
}

#[test]
fn a_pointer_is_null_or_that_of_an_earlier_buffer() {
    let specs: Vec<Spec> = ["null", "buf:f32[4]", "same:1", "same:2", "same:0", "same:5"]
        .map(|text| Spec::parse(text).unwrap())
        .into();
    assert_eq!(specs[0].kind, SpecKind::Null);
    let sizes = (0..specs.len()).map(|index| buffer_of(&specs, index).map(Buffer::size));
    let sizes: Vec<Option<u64>> = sizes.collect();
    assert_eq!(sizes, [None, Some(16), Some(16), Some(16), None, None]);
    for wrong in ["same:", "same:x", "same:-1", "null:1", "nul"] {
        assert!(Spec::parse(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn contents_are_what_their_names_say() {
    let check = |spec: &str, expected: &[&str]| assert_eq!(texts(spec, 1), expected, "{spec}");
    check("buf:f32[3]=zeros", &["0.0", "0.0", "0.0"]);
    check("buf:bf16[2]=ones", &["1.0", "1.0"]);
    check("buf:u8[3]=iota", &["0", "1", "2"]);
    check("buf:f16[3]=iota", &["0.0", "1.0", "2.0"]);
    check("buf:u64[3]=1,2,3", &["1", "2", "3"]);
    check("buf:f32[4]=0.1, -0,inf,nan", &["0.1", "-0.0", "inf", "nan"]);
    check("buf:f16[2]=0.1,-1e-7", &["0.1", "-1e-7"]);
    check("in:i32[2]=constant(-7)", &["-7", "-7"]);
    check("buf:i32[0]=zeros", &[]);
    check("buf:i32[3]=uniform(4,4)", &["4", "4", "4"]);
    check("buf:f64[2]=normal(2.5,0)", &["2.5", "2.5"]);
}

#[test]
fn what_is_wrong_has_a_column_and_what_was_expected() {
    let check = |spec: &str, column: usize, message: &str| {
        let error = Spec::parse(spec).unwrap_err();
        assert_eq!(error.column, column, "{error}");
        assert!(error.to_string().contains(message), "{message:?} in {error}");
    };
    check("", 1, "is not a type");
    check("float:1", 1, "`float` is not a type; expected i8, u8");
    check("u32", 4, "expected `:` and a value");
    check("u32:", 5, "`` is not a value of u32");
    check("u8:256", 4, "expected an integer from 0 to 255");
    check("i8:--1", 4, "expected an integer from -128 to 127");
    check("u32:1.5", 5, "`1.5` is not a value of u32");
    check("f16:70000", 5, "`70000` is not a value of f16");
    check("f32:1e99", 5, "is not a value of f32");
    check("f32:1.5x", 5, "a decimal number");
    check("bool:2", 6, "true or false");
    check("bytes:0g", 7, "hexadecimal");
    check("bytes:012", 9, "hexadecimal");
    check("buf:f32", 8, "`[` and a number of elements");
    check("buf:f32[]", 9, "a number of elements");
    check("buf:f32[-1]", 9, "a number of elements");
    check("buf:f32[4", 10, "`]`");
    check("buf:f32[4]x", 11, "`=`");
    check("buf:f32[4]=", 12, "`` is not a value of f32");
    check("buf:f32[4]=nomal", 12, "zeros, ones, iota");
    check("buf:u8[2]=1,ä", 13, "`ä` is not a value of u8");
    check("buf:u8[2]=1,2,3", 11, "3 values for 2 elements");
    check("buf:u8[2]=1", 11, "`constant(…)`");
    check("buf:i32[2]=normal", 12, "`normal` cannot fill a buffer of i32");
    check("buf:u8[2]=uniform(0,256)", 11, "`uniform` cannot fill a buffer of u8");
    check("buf:f32[2]=uniform(1,0)", 12, "the lower one first");
    check("buf:f32[2]=normal(0", 20, "two numbers");
    check("buf:f32[2]=normal(0,-1)", 18, "not negative");
    check("buf:f32[2]=zeros,1", 17, "nothing more");
    check("buf:f32[99999999999999999999]", 9, "more than");
    check("buf:f32[9999999999999]", 9, "more than 1099511627776 bytes");
    check("buf:f32[2]=@", 13, "the name of a file");
    check("in:f32[2]", 10, "an input is read-only");
}

#[test]
fn a_file_gives_the_bytes_and_must_have_as_many() {
    let SpecKind::Buffer(buffer) = Spec::parse("buf:u16[2]=@bytes.bin").unwrap().kind else {
        panic!("a buffer")
    };
    let given = |bytes: Vec<u8>| buffer.initial(0, 0, |_, _| Ok(bytes));
    assert_eq!(given(vec![1, 2, 3, 4]), Ok(InitialContent::Bytes(vec![1, 2, 3, 4])));
    assert!(given(vec![1, 2, 3]).unwrap_err().to_string().contains("3 bytes; the buffer has 4"));
}

#[test]
fn a_seed_decides_every_random_element() {
    assert_eq!(initial("buf:f32[64]=normal", 7), initial("buf:f32[64]=normal", 7));
    assert_ne!(initial("buf:f32[64]=normal", 7), initial("buf:f32[64]=normal", 8));
    // The beginning of a longer buffer is the shorter one.
    assert_eq!(initial("buf:u8[99]=uniform", 3)[..9], initial("buf:u8[9]=uniform", 3));
}

#[test]
fn normal_numbers_have_their_mean_and_deviation() {
    let stream = Stream::new(1, 0);
    let count = 100_000;
    let numbers: Vec<f64> = (0..count).map(|index| stream.normal(index)).collect();
    let mean = numbers.iter().sum::<f64>() / count as f64;
    let variance = numbers.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / count as f64;
    assert!(mean.abs() < 0.02, "{mean}");
    assert!((variance - 1.0).abs() < 0.02, "{variance}");
}

#[test]
fn integers_between_two_reach_both_ends() {
    let found = texts("buf:i32[1000]=uniform(-2,2)", 5);
    for wanted in ["-2", "-1", "0", "1", "2"] {
        assert!(found.iter().any(|one| one == wanted), "{wanted}");
    }
    assert!(found.iter().all(|one| one.parse::<i32>().unwrap().abs() <= 2));
}

proptest! {
    #[test]
    fn no_text_makes_the_reader_panic(text in any::<String>()) {
        Spec::parse(&text).ok();
    }

    #[test]
    fn no_text_that_begins_well_makes_the_reader_panic(
        start in prop::sample::select(vec!["buf:f32[4]=", "in:u8[", "f16:", "bytes:", "buf:i64[2]=uniform("]),
        text in "[-+0-9a-fx.,()\\[\\]=@ einfäu]{0,24}",
    ) {
        let text = format!("{start}{text}");
        if let Err(error) = Spec::parse(&text) {
            prop_assert!(error.column >= 1 && error.column <= text.chars().count() + 1);
        }
    }

    #[test]
    fn shortest_texts_mean_the_same_half(bits: u16) {
        for c_type in [CType::F16, CType::Bf16] {
            let value = element(c_type, &bits.to_le_bytes()).unwrap();
            let ScalarValue::Real(real) = value else { panic!("a float") };
            let read = encode(c_type, &element_text(c_type, value)).unwrap();
            prop_assert!(real.is_nan() || read == bits.to_le_bytes());
        }
    }
}
