//! Units: which quotients mean what, and how quantities read.

use std::fmt;

use super::*;

#[track_caller]
fn check(quantity: impl fmt::Display, expected: &str) {
    assert_eq!(quantity.to_string(), expected);
}

#[test]
fn a_quantity_reads_with_three_digits_and_a_prefix() {
    check(BytesPerSecond(4.814e12), "4.81 TB/s");
    check(BytesPerSecond(936e9), "936 GB/s");
    check(Hertz(1.98e9), "1.98 GHz");
    check(Seconds(12.345e-6), "12.3 µs");
    check(Seconds(0.25), "250 ms");
    check(Seconds(3.0), "3.00 s");
    check(Seconds(2.5e-13), "0.25 ps");
    check(Seconds(-1.5e-3), "-1.50 ms");
    check(FlopsPerSecond(989.4e12), "989 TFLOP/s");
    check(Flops(2.0), "2.00 FLOP");
    check(Intensity(205.57), "206 FLOP/B");
    check(Intensity(0.0833), "0.08 FLOP/B");
    check(Watts(700.0), "700 W");
}

#[test]
fn counts_read_in_groups_of_three() {
    check(grouped(999), "999");
    check(grouped(1_234_567), "1,234,567");
    check(counted(0, "run", "runs"), "0 runs");
    check(counted(1, "run", "runs"), "1 run");
    check(counted(1000, "run", "runs"), "1,000 runs");
}

#[test]
fn rounding_carries_into_the_next_prefix() {
    check(Hertz(999.6e6), "1.00 GHz");
    check(Hertz(999.4e6), "999 MHz");
    check(Seconds(9.996e-6), "10.0 µs");
    check(Seconds(99.96e-6), "100 µs");
}

#[test]
fn a_whole_size_reads_without_decimals() {
    check(Bytes(48 * 1024), "48 KiB");
    check(Bytes(0), "0 B");
    check(Bytes(1023), "1023 B");
    check(Bytes(17), "17 B");
    check(Bytes::from_gib(141), "141 GiB");
    check(Bytes(62_914_560), "60 MiB");
    check(Bytes(1_536), "1.50 KiB");
}

#[test]
fn an_extreme_is_shown_and_never_clamped() {
    check(Fraction(1.07), "107 %");
    check(Fraction(0.0), "0 %");
    check(Fraction(0.875), "87.5 %");
    check(Fraction(0.0012), "0.12 %");
    check(Seconds(0.0), "0 s");
    check(Seconds(f64::INFINITY), "inf s");
    assert!(Seconds(f64::NAN).to_string().starts_with("NaN"));
}

#[test]
fn a_width_is_honoured() {
    assert_eq!(format!("[{:>10}]", Hertz(1.98e9)), "[  1.98 GHz]");
}

#[test]
fn quotients_and_products_have_the_right_unit() {
    let time: Seconds = Bytes(4_814_000) / BytesPerSecond(4.814e12);
    assert!((time.0 - 1e-6).abs() < 1e-18);
    let rate: BytesPerSecond = Bytes(1000) / Seconds(0.5);
    assert_eq!(rate, BytesPerSecond(2000.0));
    let intensity: Intensity = Flops(600.0) / Bytes(300);
    assert_eq!(intensity, Intensity(2.0));
    let flops: Flops = intensity * Bytes(300);
    assert_eq!(flops, Flops(600.0));
    let ridge: Intensity = FlopsPerSecond(1000.0) / BytesPerSecond(10.0);
    assert_eq!(ridge, Intensity(100.0));
    let roof: FlopsPerSecond = ridge * BytesPerSecond(10.0);
    assert_eq!(roof, FlopsPerSecond(1000.0));
    let compute: Seconds = Flops(10.0) / FlopsPerSecond(5.0);
    assert_eq!(compute, Seconds(2.0));
    let standing: Fraction = Seconds(1.0) / Seconds(4.0);
    assert_eq!(standing, Fraction(0.25));
    assert_eq!(Hertz(2e9).time_of(4.0), Seconds(2e-9));
}

#[test]
fn sizes_round_up_to_allocation_units() {
    assert_eq!(Bytes(1025).round_up_to(Bytes(128)), Bytes(1152));
    assert_eq!(Bytes(0).round_up_to(Bytes(128)), Bytes(0));
    assert_eq!(Bytes(7).round_up_to(Bytes(0)), Bytes(7));
    assert_eq!(Bytes(7).checked_sub(Bytes(8)), None);
}

#[test]
fn a_quantity_is_a_bare_number_in_json() {
    assert_eq!(serde_json::to_string(&Seconds(0.5)).unwrap(), "0.5");
    assert_eq!(serde_json::from_str::<Bytes>("4096").unwrap(), Bytes(4096));
}
