//! What to try next: the techniques of the playbook that apply, the one that gains most first, with the evidence.

use lightbench_units::Fraction;
use lightbench_virtual_gpu::cost::time::LimitingResource;

use super::limiter::{Bottleneck, Limiter, known_busy};
use super::performance_data::PerformanceData;
use super::playbook::{Gain, Technique, playbook};

/// From this share of the speed of light on, what is left is rarely worth the work (AutoKernel moves on at 90 %).
const NEAR_ENOUGH: f64 = 0.9;

/// What to try next.
#[derive(Clone, Debug)]
pub enum Advice {
    /// These, the most promising first; at least one.
    Try(Vec<Suggestion>),
    /// The kernel is near the speed of light.
    NearEnough {
        /// The share that was reached.
        fraction: f64,
    },
    /// What a model counted is nearly the least that can be counted; the rest of its band has no technique.
    NearLeast {
        /// Times as fast, at most.
        room: f64,
    },
    /// Nothing of the playbook applies.
    Nothing,
}

/// A technique for this kernel.
#[derive(Clone, Debug)]
pub struct Suggestion {
    /// The technique.
    pub technique: &'static Technique,
    /// What speaks for it, in words.
    pub evidence: Vec<String>,
    /// Times as fast, at best.
    pub gain: ExpectedGain,
}

/// What may be gained.
#[derive(Clone, Debug, PartialEq)]
pub struct ExpectedGain {
    /// Times as fast, from; none where only the best case is known.
    pub from: Option<f64>,
    /// Times as fast, at most.
    pub to: f64,
    /// Where the numbers come from.
    pub source: &'static str,
    /// What sets the most.
    pub limit: GainLimit,
}

/// What sets the most that a technique can gain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GainLimit {
    /// The technique itself.
    Technique,
    /// The speed of light.
    SpeedOfLight,
    /// A unit that has as much to do as before.
    Unit(LimitingResource),
}

/// What to try next with a kernel whose bottleneck is known.
#[must_use]
pub fn advise(data: &PerformanceData<'_>, limiter: &Limiter) -> Advice {
    match (data.bound_fraction(), data.headroom()) {
        (Some(fraction), _) if fraction >= NEAR_ENOUGH => return Advice::NearEnough { fraction },
        (_, Some(room)) if room <= 1.0 / NEAR_ENOUGH => return Advice::NearLeast { room },
        (Some(_) | None, _) => {}
    }
    let suggestions = suggestions(data, limiter.bottleneck);
    if suggestions.is_empty() { Advice::Nothing } else { Advice::Try(suggestions) }
}

/// All techniques that apply and help, the one that gains most first.
#[must_use]
pub fn suggestions(data: &PerformanceData<'_>, against: Bottleneck) -> Vec<Suggestion> {
    let fitting = playbook().techniques.iter().filter(|technique| technique.helps(against));
    let mut all: Vec<([f64; 2], Suggestion)> = fitting
        .filter(|technique| technique.applies(data))
        .filter_map(|technique| suggestion(technique, data))
        .collect();
    // Equal ones stay in the order of the playbook.
    all.sort_by(|(a, _), (b, _)| b[0].total_cmp(&a[0]).then(b[1].total_cmp(&a[1])));
    all.into_iter().map(|(_, suggestion)| suggestion).collect()
}

/// The suggestion and what it is worth, as it is and if nothing else became the limit; none where next to nothing could be
/// gained.
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
    // Middle of what is reported, or all of what is counted too much.
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

/// How many times as fast a kernel can become at most, whatever is reported of a technique, and what stands there: the bound,
/// or a unit that has as much to do as before.
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

    /// In one sentence, with the evidence.
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
                format!("what is counted leaves no more than {room:.2} times to gain")
            }
            Self::Nothing => "nothing of the playbook applies".to_owned(),
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
            GainLimit::SpeedOfLight => ", where the speed of light is".to_owned(),
            GainLimit::Unit(unit) => format!(", where {unit} is the limit"),
        };
        let to = format!("{:.1}", self.to);
        match self.from.map(|from| format!("{from:.1}")) {
            Some(from) if from == to => format!("about {to} times as fast{end}"),
            Some(from) => format!("{from} to {to} times as fast{end}"),
            None => format!("up to {to} times as fast{end}"),
        }
    }
}
