//! Stopping rule of sampling. The interval is examined only at fixed sample counts, so that examining it does not bias
//! the result.

use std::time::Duration;

use lightbench_units::Seconds;
use serde::{Deserialize, Serialize};

use super::statistics::Summary;
use super::timing::{Mode, NoStamps, Stopped};

/// How samples are taken.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Protocol {
    /// Samples of a round.
    pub per_round: u32,
    /// Rounds before the first look.
    pub least_rounds: u32,
    pub most_rounds: u32,
    /// Half of the interval's width that is narrow enough, as a part of the median.
    pub precision: f64,
    /// Limit of the sampling time, by the host's clock.
    pub longest: Duration,
    /// The clock that measures single launches.
    #[serde(default)]
    pub clock: ClockUse,
    /// Conditions measured besides cold and warm caches.
    #[serde(default)]
    pub besides: ExtraModes,
    /// Whether energy is measured after the times.
    #[serde(default)]
    pub energy: EnergyUse,
    /// The frequency in megahertz at which the user locked the clocks; another component locks them.
    #[serde(default)]
    pub locked: Option<u32>,
}

/// Conditions measured besides cold and warm caches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ExtraModes {
    /// Nothing.
    #[default]
    Nothing,
    /// [`Mode::Graph`].
    Graph,
    /// [`Mode::Server`].
    Server,
}

impl ExtraModes {
    /// All modes that are timed.
    pub fn modes(self) -> impl Iterator<Item = Mode> {
        let more = match self {
            Self::Nothing => None,
            Self::Graph => Some(Mode::Graph),
            Self::Server => Some(Mode::Server),
        };
        [Mode::Cold, Mode::Warm].into_iter().chain(more)
    }
}

/// Whether energy is measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EnergyUse {
    /// Not requested.
    #[default]
    Skip,
    /// On every workload that is timed.
    Measure,
}

/// The clock that measures single launches. Several launches in a row are always measured by events.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ClockUse {
    /// The driver's time stamps if available, else events; the user chose neither.
    #[default]
    Best,
    /// Events around it.
    Events,
    /// Time stamps of the driver (CUPTI); if they are unavailable, events, with the reason.
    Cupti,
}

impl ClockUse {
    /// Whether this reason for using events is reported to the user.
    pub fn is_uncertain_about(self, reason: NoStamps) -> bool {
        match self {
            Self::Events => false,
            Self::Best => !matches!(reason, NoStamps::NotFound | NoStamps::Several),
            Self::Cupti => true,
        }
    }
}

/// If both medians have intervals this narrow, their ratio is known to 0.5 %.
const FINE: f64 = 0.0025;

impl Protocol {
    /// For a verdict.
    pub const FINAL: Self = Self {
        per_round: 5,
        least_rounds: 20,
        most_rounds: 640,
        precision: FINE,
        longest: Duration::from_millis(300),
        clock: ClockUse::Best,
        besides: ExtraModes::Nothing,
        energy: EnergyUse::Skip,
        locked: None,
    };

    /// For comparing two candidates.
    pub const PAIRED: Self = Self {
        per_round: 5,
        least_rounds: 40,
        most_rounds: 640,
        precision: 0.003,
        longest: Duration::from_millis(1000),
        clock: ClockUse::Best,
        besides: ExtraModes::Nothing,
        energy: EnergyUse::Skip,
        locked: None,
    };

    /// For screening and for a search.
    pub const QUICK: Self = Self {
        per_round: 3,
        least_rounds: 5,
        most_rounds: 20,
        precision: 0.02,
        longest: Duration::from_millis(30),
        clock: ClockUse::Best,
        besides: ExtraModes::Nothing,
        energy: EnergyUse::Skip,
        locked: None,
    };

    /// The protocol for a mode: in server mode, most of the sampling time is pauses.
    #[must_use]
    pub fn under(self, mode: Mode) -> Self {
        match mode {
            Mode::Cold | Mode::Warm | Mode::Graph => self,
            Mode::Server => Self { longest: self.longest * SERVER_PATIENCE, ..self },
        }
    }
}

/// Factor on the time limit in server mode.
const SERVER_PATIENCE: u32 = 5;

/// Sampling under way.
#[derive(Clone, Debug)]
pub struct Progress {
    protocol: Protocol,
    rounds: Vec<Vec<Seconds>>,
    /// Number of rounds at which the interval is examined next.
    next_look: u32,
}

impl Progress {
    /// Nothing yet.
    #[must_use]
    pub fn new(protocol: Protocol) -> Self {
        Self { protocol, rounds: Vec::new(), next_look: protocol.least_rounds.max(1) }
    }

    /// Adds a round. `elapsed` is the time since sampling began. Returns the reason to stop, if sampling is complete.
    pub fn add(&mut self, round: Vec<Seconds>, elapsed: Duration) -> Option<Stopped> {
        self.rounds.push(round);
        let count = u32::try_from(self.rounds.len()).unwrap_or(u32::MAX);
        if count >= self.next_look {
            // The next examination follows after half as many rounds again: few examinations, so that none stops by
            // chance.
            self.next_look = count.saturating_add(count.div_ceil(2));
            let error = Summary::from_rounds(&self.rounds).map(|summary| summary.relative_error());
            if error.is_some_and(|error| error <= self.protocol.precision) {
                return Some(Stopped::Precise);
            }
        }
        let over = count >= self.protocol.most_rounds || elapsed >= self.protocol.longest;
        over.then_some(Stopped::Budget)
    }

    /// All samples.
    #[must_use]
    pub fn into_rounds(self) -> Vec<Vec<Seconds>> {
        self.rounds
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::comparison::simulated::Noise;

    fn run(protocol: Protocol, noise: impl Fn(u64) -> Noise, each: Duration) -> (usize, Stopped) {
        let mut progress = Progress::new(protocol);
        for number in 0_u32.. {
            let round = noise(u64::from(number)).round(1e-4, protocol.per_round as usize);
            if let Some(stopped) = progress.add(round, each * (number + 1)) {
                return (progress.into_rounds().len(), stopped);
            }
        }
        unreachable!("sampling ends")
    }

    #[test]
    fn sampling_ends_when_it_is_precise_or_out_of_budget() {
        let protocol = Protocol::FINAL;
        let quick = Duration::from_micros(100);
        let (rounds, stopped) = run(protocol, Noise::quiet, quick);
        assert_eq!((rounds, stopped), (20, Stopped::Precise));
        let (rounds, stopped) = run(protocol, Noise::wild, quick);
        assert!(rounds > 20 && stopped == Stopped::Budget || stopped == Stopped::Precise);
        let (rounds, stopped) = run(protocol, Noise::wild, Duration::from_millis(100));
        assert_eq!((rounds, stopped), (3, Stopped::Budget));
        let hopeless = Protocol { precision: 0.0, most_rounds: 30, ..protocol };
        assert_eq!(run(hopeless, Noise::wild, quick), (30, Stopped::Budget));
    }

    #[test]
    fn samples_that_are_no_times_are_never_precise() {
        let mut progress = Progress::new(Protocol { most_rounds: 25, ..Protocol::FINAL });
        let mut ends = (0..25).map(|_| progress.add(vec![Seconds(f64::NAN)], Duration::ZERO));
        assert_eq!(ends.find_map(|end| end), Some(Stopped::Budget));
    }
}
