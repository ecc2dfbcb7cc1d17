//! The same trials on measured noise: cold samples of an NVIDIA H200 (`recorded.txt`). Each trial draws pairs of
//! neighbouring rounds; one round of the pair serves as A, the other as B.

use lightbench_primitives::random::Stream;

use super::*;

const SAMPLES: &str = include_str!("recorded.txt");

/// Trials of each of fifteen series: a thousand in all.
const TRIALS: u64 = 67;

/// Rounds per trial. Comparisons on that device took few rounds for long kernels, until the interval was narrow enough,
/// and one second of rounds for kernels of a few microseconds (96 to 207).
const ROUNDS: u64 = 40;
const ROUNDS_OF_SHORT: u64 = 150;
const SHORT: Seconds = Seconds(10e-6);

/// The samples of one kernel on one workload.
struct Series {
    name: &'static str,
    rounds: Vec<Vec<Seconds>>,
}

impl Series {
    /// A line: the name, and rounds of nanoseconds.
    fn parsed(line: &'static str) -> Self {
        let (name, rounds) = line.split_once(':').unwrap();
        let sample = |text: &str| Seconds(text.parse::<f64>().unwrap() * 1e-9);
        let round = |text: &str| text.split_whitespace().map(sample).collect();
        Self { name, rounds: rounds.split('|').map(round).collect() }
    }

    fn conclusion(&self, trial: u64, ratio: f64) -> Conclusion {
        let stream = Stream::new(trial, 0);
        let (mut all_a, mut all_b) = (Vec::new(), Vec::new());
        let is_short = self.rounds[0][0] < SHORT;
        for number in 0..if is_short { ROUNDS_OF_SHORT } else { ROUNDS } {
            let bits = stream.bits(number);
            let at = (bits >> 1) as usize % (self.rounds.len() - 1);
            let (first, second) = (&self.rounds[at], &self.rounds[at + 1]);
            let (a, b) = if bits & 1 == 0 { (first, second) } else { (second, first) };
            all_a.push(a.clone());
            all_b.push(b.iter().map(|sample| *sample * ratio).collect());
        }
        Comparison::from_rounds(&all_a, &all_b).unwrap().conclusion
    }

    /// The number of trials with this conclusion.
    fn count(&self, ratio: f64, wanted: Conclusion) -> u64 {
        (0..TRIALS).filter(|trial| self.conclusion(*trial, ratio) == wanted).count() as u64
    }
}

/// The fraction of all trials with this conclusion, and the fraction of each series.
fn share(ratio: f64, wanted: Conclusion) -> (f64, String) {
    let series = SAMPLES.lines().filter(|line| !line.starts_with('#')).map(Series::parsed);
    let counts: Vec<_> = series.map(|series| (series.name, series.count(ratio, wanted))).collect();
    let sum: u64 = counts.iter().map(|(_, count)| count).sum();
    let all = TRIALS * counts.len() as u64;
    assert!(all >= 1000, "{all}");
    (sum as f64 / all as f64, format!("of {TRIALS} each: {counts:?}"))
}

#[test]
fn on_recorded_noise_a_kernel_differs_from_itself_in_one_trial_of_fifty_at_most() {
    let (same, each) = share(1.0, Conclusion::NoMeasurableDifference);
    assert!(same >= 0.98, "{same} {each}");
}

#[test]
fn on_recorded_noise_a_fiftieth_more_time_is_found_in_nine_trials_of_ten() {
    let (found, each) = share(1.02, Conclusion::Slower);
    assert!(found >= 0.9, "{found} {each}");
}
