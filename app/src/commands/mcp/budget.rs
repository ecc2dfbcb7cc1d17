//! What one server process may evaluate.

use std::time::{Duration, Instant};

use crate::workbench::settings::AgentSettings;

/// What is left for the agents of one server process.
#[derive(Debug)]
pub(super) struct Budget {
    limits: AgentSettings,
    started: Instant,
    evaluations: u32,
    device: Duration,
}

/// Why no further run starts. The texts name the setting that the user can change.
const EVALUATIONS: &str = "the budget of evaluations is used; the user can raise `agents: (evaluations: …)` in settings.ron and start the server again";
const DEVICE: &str = "the budget of device time is used; the user can raise `agents: (device_seconds: …)` in settings.ron and start the server again";
const WALL: &str = "the server has run for as long as it may; the user can raise `agents: (wall_seconds: …)` in settings.ron and start the server again";

impl Budget {
    pub(super) fn new(limits: AgentSettings, now: Instant) -> Self {
        Self { limits, started: now, evaluations: 0, device: Duration::ZERO }
    }

    /// Takes evaluations for a run.
    ///
    /// # Errors
    /// Which budget is used.
    pub(super) fn take(&mut self, evaluations: u32, now: Instant) -> Result<(), &'static str> {
        if now.duration_since(self.started).as_secs() >= self.limits.wall_seconds {
            return Err(WALL);
        }
        if self.device.as_secs() >= self.limits.device_seconds {
            return Err(DEVICE);
        }
        if self.evaluations.saturating_add(evaluations) > self.limits.evaluations {
            return Err(EVALUATIONS);
        }
        self.evaluations += evaluations;
        Ok(())
    }

    /// Adds the duration of a run.
    pub(super) fn used(&mut self, device: Duration) {
        self.device += device;
    }

    /// Evaluations that are left.
    pub(super) const fn evaluations_left(&self) -> u32 {
        self.limits.evaluations - self.evaluations
    }

    /// Seconds of device time that are left.
    pub(super) const fn device_seconds_left(&self) -> u64 {
        self.limits.device_seconds.saturating_sub(self.device.as_secs())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_budget_ends_with_a_sentence_that_names_its_setting() {
        let limits = AgentSettings {
            evaluations: 3,
            device_seconds: 10,
            wall_seconds: 100,
            ..AgentSettings::default()
        };
        let now = Instant::now();
        let mut budget = Budget::new(limits, now);
        budget.take(1, now).unwrap();
        budget.take(2, now).unwrap();
        assert_eq!(budget.evaluations_left(), 0);
        assert!(budget.take(1, now).unwrap_err().contains("evaluations: …"));
        budget.take(0, now).unwrap();
        budget.used(Duration::from_secs(10));
        assert!(budget.take(0, now).unwrap_err().contains("device_seconds: …"));
        assert_eq!(budget.device_seconds_left(), 0);
        let later = now + Duration::from_secs(100);
        assert!(budget.take(0, later).unwrap_err().contains("wall_seconds: …"));
    }
}
