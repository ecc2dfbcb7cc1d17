//! Advice: the techniques of the playbook that apply to a kernel, ordered by expected gain, each with its evidence.

use lightbench_units::Fraction;
use lightbench_virtual_gpu::cost::time::LimitingResource;

use super::limiter::{Bottleneck, Limiter, known_busy};
use super::performance_data::PerformanceData;
use super::playbook::{Gain, Technique, playbook};

/// At and above this fraction of the speed of light, further optimisation is rarely worth the work (AutoKernel moves on at
/// 90 %).
const NEAR_ENOUGH: f64 = 0.9;

/// Advice for a kernel.
#[derive(Clone, Debug)]
pub enum Advice {
    /// These, the most promising first; at least one.
    Try(Vec<Suggestion>),
    /// The kernel is near the speed of light.
    NearEnough {
        /// The share that was reached.
        fraction: f64,
    },
    /// The busy time of the model is close to the bound; no technique applies to the rest of the modelled range.
    NearLeast {
        /// Times as fast, at most.
        room: f64,
    },
    /// No technique of the playbook applies.
    Nothing,
}

/// A technique for this kernel.
#[derive(Clone, Debug)]
pub struct Suggestion {
    /// The technique.
    pub technique: &'static Technique,
    /// The evidence, one sentence for each fact.
    pub evidence: Vec<String>,
    /// Times as fast, at best.
    pub gain: ExpectedGain,
}

/// The expected speed-up of a technique.
#[derive(Clone, Debug, PartialEq)]
pub struct ExpectedGain {
    /// The least expected speed-up; `None` if only the best case is known.
    pub from: Option<f64>,
    /// Times as fast, at most.
    pub to: f64,
    /// The source of the numbers.
    pub source: &'static str,
    /// The limit of the largest speed-up.
    pub limit: GainLimit,
}

/// The limit of the largest speed-up of a technique.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GainLimit {
    /// The technique itself.
    Technique,
    /// The speed of light.
    SpeedOfLight,
    /// A unit that has as much to do as before.
    Unit(LimitingResource),
}

/// The advice for a kernel with this limiter.
#[must_use]
pub fn advise(data: &PerformanceData<'_>, limiter: &Limiter) -> Advice {
    match (data.bound_fraction(), data.busy_headroom()) {
        (Some(fraction), _) if fraction >= NEAR_ENOUGH => return Advice::NearEnough { fraction },
        (_, Some(room)) if room <= 1.0 / NEAR_ENOUGH => return Advice::NearLeast { room },
        (Some(_) | None, _) => {}
    }
    let suggestions = suggestions(data, limiter.bottleneck);
    if suggestions.is_empty() { Advice::Nothing } else { Advice::Try(suggestions) }
}

/// All techniques that apply and relieve the bottleneck, largest gain first.
#[must_use]
pub fn suggestions(data: &PerformanceData<'_>, against: Bottleneck) -> Vec<Suggestion> {
    let fitting = playbook().techniques.iter().filter(|technique| technique.helps(against));
    let mut all: Vec<([f64; 2], Suggestion)> = fitting
        .filter(|technique| technique.applies(data))
        .filter_map(|technique| suggestion(technique, data))
        .collect();
    // Techniques with equal gains stay in the order of the playbook.
    all.sort_by(|(a, _), (b, _)| b[0].total_cmp(&a[0]).then(b[1].total_cmp(&a[1])));
    all.into_iter().map(|(_, suggestion)| suggestion).collect()
}

/// The suggestion with its worth, limited by other units and unlimited; `None` if the gain is negligible.
fn suggestion(
    technique: &'static Technique,
    data: &PerformanceData<'_>,
) -> Option<([f64; 2], Suggestion)> {
    let (from, to, source) = match &technique.gain {
        Gain::Reported { from, to, source } => (Some(*from), *to, source),
        Gain::UpTo { fact, source } => (None, fact.value(data)?, source),
    };
    let gains = to > 1.0;
    if !gains {
        return None;
    }
    // The geometric mean of a reported range, or the whole of the counted waste.
    let worth = |from: Option<f64>, to: f64| from.map_or(to, |from| (from * to).sqrt());
    let alone = worth(from, to);
    let room = headroom(technique, data);
    if room.is_some_and(|(room, _)| room < 1.0 / NEAR_ENOUGH) {
        return None;
    }
    let (to, end) = room.filter(|(room, _)| *room < to).unwrap_or((to, GainLimit::Technique));
    let from = from.filter(|from| *from <= to);
    let evidence = technique.evidence.iter().filter_map(|condition| {
        let fact = condition.fact();
        fact.value(data).map(|value| fact.sentence(value))
    });
    let source = playbook().sources.get(source).map_or("", String::as_str);
    let gain = ExpectedGain { from, to, source, limit: end };
    let suggestion = Suggestion { technique, evidence: evidence.collect(), gain };
    Some(([worth(from, to), alone], suggestion))
}

/// The largest possible speed-up, independent of the reported gain of the technique, and its limit: the bound, or a unit
/// whose work the technique does not reduce.
fn headroom(technique: &Technique, data: &PerformanceData<'_>) -> Option<(f64, GainLimit)> {
    let bound = data.headroom().map(|room| (room, GainLimit::SpeedOfLight));
    let others = known_busy(data).filter(|(unit, _)| !technique.spares(*unit));
    let units = others.map(|(unit, busy)| (1.0 / busy.0, GainLimit::Unit(unit)));
    bound.into_iter().chain(units).min_by(|a, b| a.0.total_cmp(&b.0))
}

impl Advice {
    /// The first thing to try.
    #[must_use]
    pub fn first(&self) -> Option<&Suggestion> {
        match self {
            Self::Try(suggestions) => suggestions.first(),
            Self::NearEnough { .. } | Self::NearLeast { .. } | Self::Nothing => None,
        }
    }

    /// Everything to try, the one that gains most first.
    #[must_use]
    pub fn all(&self) -> &[Suggestion] {
        match self {
            Self::Try(suggestions) => suggestions,
            Self::NearEnough { .. } | Self::NearLeast { .. } | Self::Nothing => &[],
        }
    }

    /// The advice as one sentence, with its evidence.
    #[must_use]
    pub fn sentence(&self) -> String {
        match self {
            Self::Try(suggestions) => {
                suggestions.first().map(Suggestion::sentence).unwrap_or_default()
            }
            Self::NearEnough { fraction } => format!(
                "at {} of the speed of light there is little left to gain",
                Fraction(*fraction)
            ),
            Self::NearLeast { room } => {
                format!(
                    "no further advice: the lower end of the modelled range is {room:.2} times the bound"
                )
            }
            Self::Nothing => "no further advice".to_owned(),
        }
    }
}

impl Suggestion {
    /// `pad rows of shared memory: 97.0 % of the passes … are bank conflicts; up to 32 times as fast`.
    #[must_use]
    pub fn sentence(&self) -> String {
        format!("{}: {}; {}", self.technique.title, self.evidence.join(", "), self.gain.words())
    }
}

impl ExpectedGain {
    /// `up to 1.8 times as fast`.
    #[must_use]
    pub fn words(&self) -> String {
        let end = match self.limit {
            GainLimit::Technique => String::new(),
            GainLimit::SpeedOfLight => ", then at the speed of light".to_owned(),
            GainLimit::Unit(unit) => format!(", then limited by {unit}"),
        };
        let to = format!("{:.1}", self.to);
        match self.from.map(|from| format!("{from:.1}")) {
            Some(from) if from == to => format!("about {to} times as fast{end}"),
            Some(from) => format!("{from} to {to} times as fast{end}"),
            None => format!("up to {to} times as fast{end}"),
        }
    }
}
