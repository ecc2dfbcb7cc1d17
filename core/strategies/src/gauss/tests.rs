//! Processes of one and two points, worked out by hand, and what must hold of all.

use super::{Process, Smoothness, matern};

fn close(name: &str, got: f64, expected: f64) {
    assert!((got - expected).abs() <= 1e-9 * expected.abs().max(1.0), "{name}: {got}, {expected}");
}

fn smooth(scales: &[f64], noise: f64) -> Smoothness {
    Smoothness { scales: scales.to_vec(), noise }
}

#[test]
fn likeness_is_the_matern_formula() {
    // √5 ≈ 2.2360679775: (1 + √5 + 5/3) e^(−√5) = 0.5239941088318203.
    for (left, right, scales, expected) in [
        (vec![0.0], vec![0.0], vec![1.0], 1.0),
        (vec![0.0], vec![1.0], vec![1.0], 0.523_994_108_831_820_3),
        (vec![1.0], vec![5.0], vec![4.0], 0.523_994_108_831_820_3),
        (vec![0.0, 0.0], vec![3.0, 0.8], vec![5.0, 1.0], 0.523_994_108_831_820_3),
    ] {
        close("likeness", matern(&left, &right, &scales), expected);
    }
}

#[test]
fn two_points_are_as_worked_out_by_hand() {
    // Values −1 and 1 have mean 0. With likeness k the inverse of [[1, k], [k, 1]] times them is
    // ∓1/(1 − k), so the most likely variance is 1/(1 − k); halfway, by symmetry, 0 is expected,
    // and two likenesses h leave 1 − 2h²/(1 + k) of the variance.
    let process =
        Process::condition(&[vec![0.0], vec![1.0]], &[-1.0, 1.0], smooth(&[1.0], 0.0)).unwrap();
    let k = 0.523_994_108_831_820_3_f64;
    let h = matern(&[0.0], &[0.5], &[1.0]);
    let variance = 1.0 / (1.0 - k);
    let halfway = process.predict(&[0.5]);
    close("mean halfway", halfway.mean, 0.0);
    close(
        "deviation halfway",
        halfway.deviation.powi(2),
        variance * (1.0 - 2.0 * h * h / (1.0 + k)),
    );
    close("known value", process.predict(&[1.0]).mean, 1.0);
    assert!(process.predict(&[1.0]).deviation < 1e-7);
    let likelihood = -variance.ln() - 0.5 * (1.0 - k * k).ln() - (1.0 + std::f64::consts::TAU.ln());
    close("likelihood", process.log_likelihood(), likelihood);
    close("far away", process.predict(&[100.0]).deviation.powi(2), variance);
}

#[test]
fn noise_is_seen_but_not_expected() {
    let points = [vec![0.0], vec![1.0]];
    let process = Process::condition(&points, &[-1.0, 1.0], smooth(&[1.0], 0.5)).unwrap();
    let k = 0.523_994_108_831_820_3_f64;
    let variance = 1.0 / (1.5 - k);
    close("shrunk", process.predict(&[1.0]).mean, (1.0 - k) / (1.5 - k));
    let (own, seen) = (process.predict(&[9.0]), process.predict_seen(&[9.0]));
    close("noise", seen.deviation.powi(2) - own.deviation.powi(2), 0.5 * variance);
}

#[test]
fn what_cannot_be_learnt_from_is_refused() {
    for (points, values) in [
        (vec![], vec![]),
        (vec![vec![0.0]], vec![]),
        (vec![vec![0.0]], vec![f64::NAN]),
        (vec![vec![f64::INFINITY]], vec![1.0]),
    ] {
        assert!(Process::fit(&points, &values).is_none(), "{points:?}");
    }
}

#[test]
fn equal_values_and_equal_points_are_no_trouble() {
    let same = vec![vec![0.5, 0.5]; 20];
    let flat = Process::fit(&same, &[3.0; 20]).unwrap();
    close("flat", flat.predict(&[0.1, 0.9]).mean, 3.0);
    let torn: Vec<f64> = (0..20).map(f64::from).collect();
    let noisy = Process::fit(&same, &torn).unwrap();
    assert!((noisy.predict(&[0.5, 0.5]).mean - 9.5).abs() < 0.5);
    assert!((noisy.smoothness().noise - 0.1).abs() < 1e-12);
}

#[test]
fn a_dimension_that_does_not_matter_gets_a_long_scale() {
    let points: Vec<Vec<f64>> =
        (0..36).map(|place| vec![f64::from(place % 6) / 5.0, f64::from(place / 6) / 5.0]).collect();
    let values: Vec<f64> = points.iter().map(|point| (3.0 * point[0]).sin()).collect();
    let process = Process::fit(&points, &values).unwrap();
    let scales = &process.smoothness().scales;
    assert!(scales[1] > 2.0 * scales[0], "{scales:?}");
    let predicted = process.predict(&[0.3, 0.7]);
    assert!((predicted.mean - 0.9_f64.sin()).abs() < 0.05, "{predicted:?}");
}
