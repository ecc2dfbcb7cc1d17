//! Energy of one execution: windows of many executions, compared with a window in which the device is idle.
//!
//! Energy is measured in separate runs: time and energy are never taken from the same execution.

use std::fmt;

use lightbench_units::{Seconds, Watts};
use serde::{Deserialize, Serialize};

/// Energy.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Joules(pub f64);

impl fmt::Display for Joules {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scales = [(1.0, "J"), (1e-3, "mJ"), (1e-6, "µJ")];
        let fits = |(scale, _): &(f64, &str)| self.0.abs() >= *scale;
        let (scale, unit) = scales.into_iter().find(fits).unwrap_or((1e-9, "nJ"));
        let number = self.0 / scale;
        let digits = if number.abs() < 10.0 { 2 } else { usize::from(number.abs() < 100.0) };
        write!(f, "{number:.digits$} {unit}")
    }
}

/// An interval of time between two readings of the energy counter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Window {
    /// Difference of the two counter readings.
    pub energy: Joules,
    /// Length of the interval.
    pub elapsed: Seconds,
    /// Executions in it.
    pub executions: u64,
}

impl Window {
    fn power(&self) -> f64 {
        self.energy.0 / self.elapsed.0
    }
}

/// Energy of one execution.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Energy {
    /// Energy of one execution above idle.
    pub each: Joules,
    /// The 95 % confidence interval of the mean over such runs, computed from the windows.
    pub interval: (Joules, Joules),
    /// Total power during the executions.
    pub power: Watts,
    /// Power of the idle device with its clocks raised.
    pub idle: Watts,
    /// Executions that this rests on.
    pub executions: u64,
    /// Duration of the executions.
    pub elapsed: Seconds,
}

/// Why no energy was measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "snake_case")]
pub enum EnergyError {
    /// The device has no counter, or its library is missing.
    #[error("NVML has no energy counter for this device")]
    NoCounter,
    /// The kernel changes its inputs, which would have to be restored before each execution.
    #[error("the kernel changes its own inputs, and restoring them would use energy too")]
    Restores,
    /// A virtual device uses no energy.
    #[error("a virtual device draws no power")]
    Virtual,
    /// The counter did not move as it does when a device works.
    #[error("the energy counter did not increase plausibly while the kernel ran")]
    Unsound,
}

/// 97.5 % points of Student's distribution, for 2 windows and more.
const STUDENT: [f64; 9] = [12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262];

impl Energy {
    /// The energy of one execution, from the windows.
    ///
    /// # Errors
    /// The counter did not increase plausibly.
    pub fn from_windows(idle: &Window, busy: &[Window]) -> Result<Self, EnergyError> {
        let count = busy.len();
        let student = count.checked_sub(2).map(|more| *STUDENT.get(more).unwrap_or(&2.262));
        let student = student.ok_or(EnergyError::Unsound)?;
        let each: Vec<f64> = busy
            .iter()
            .map(|it| (it.energy.0 - idle.power() * it.elapsed.0) / it.executions as f64)
            .collect();
        let mean = each.iter().sum::<f64>() / count as f64;
        let variance = each.iter().map(|it| (it - mean).powi(2)).sum::<f64>() / (count - 1) as f64;
        let half = student * (variance / count as f64).sqrt();
        let elapsed: Seconds = busy.iter().map(|it| it.elapsed).sum();
        let whole: f64 = busy.iter().map(|it| it.energy.0).sum();
        let is_sound = mean > 0.0 && half.is_finite() && idle.power() >= 0.0;
        if !is_sound {
            return Err(EnergyError::Unsound);
        }
        Ok(Self {
            each: Joules(mean),
            interval: (Joules(mean - half), Joules(mean + half)),
            power: Watts(whole / elapsed.0),
            idle: Watts(idle.power()),
            executions: busy.iter().map(|it| it.executions).sum(),
            elapsed,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn window(energy: f64, elapsed: f64, executions: u64) -> Window {
        Window { energy: Joules(energy), elapsed: Seconds(elapsed), executions }
    }

    #[test]
    fn what_an_idle_device_draws_is_no_energy_of_the_kernel() {
        let idle = window(60.0, 0.5, 0);
        let busy = [window(200.0, 0.4, 1000), window(202.0, 0.4, 1000), window(198.0, 0.4, 1000)];
        let energy = Energy::from_windows(&idle, &busy).unwrap();
        assert!((energy.each.0 - 0.152).abs() < 1e-12, "{energy:?}");
        let (low, high) = energy.interval;
        // 4.303 times 2 J over the root of 3, by 1000.
        assert!((high.0 - energy.each.0 - 4.968_7e-3).abs() < 1e-6 && low < energy.each);
        assert_eq!((energy.idle, energy.executions), (Watts(120.0), 3000));
        assert!((energy.power.0 - 500.0).abs() < 1e-9);
    }

    #[test]
    fn a_counter_that_does_not_move_gives_no_number() {
        let check = |idle: Window, busy: &[Window]| {
            assert_eq!(
                Energy::from_windows(&idle, busy),
                Err(EnergyError::Unsound),
                "{idle:?} {busy:?}"
            );
        };
        let good = window(200.0, 0.4, 1000);
        check(window(60.0, 0.5, 0), &[]);
        check(window(60.0, 0.5, 0), &[good]);
        check(window(60.0, 0.5, 0), &[window(0.0, 0.4, 1000); 3]);
        check(window(f64::NAN, 0.5, 0), &[good; 3]);
        check(window(60.0, 0.5, 0), &[good, window(200.0, 0.4, 0), good]);
    }

    #[test]
    fn energies_are_told_in_units_of_their_size() {
        let check = |joules: f64, words: &str| assert_eq!(Joules(joules).to_string(), words);
        check(1.234, "1.23 J");
        check(0.0456, "45.6 mJ");
        check(0.000_789, "789 µJ");
        check(2e-9, "2.00 nJ");
        check(0.0, "0.00 nJ");
    }
}
