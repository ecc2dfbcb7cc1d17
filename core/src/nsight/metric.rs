//! The metrics that are requested from Nsight Compute, in named sets. `assets/nsight.ron` is the data.

use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

use crate::project::nearest::nearest;

const TEXT: &str = include_str!("../../../assets/nsight.ron");

/// One metric.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Metric {
    /// The name in Nsight Compute.
    pub name: String,
    /// The name for display.
    pub title: String,
    /// The unit of the value.
    pub unit: Unit,
    /// The group in which it is shown.
    pub group: Group,
    /// The meaning, as a sentence.
    pub what: String,
}

/// The unit of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    /// A time.
    Seconds,
    /// A size.
    Bytes,
    /// A percentage.
    Percent,
    /// A count.
    Count,
    /// A plain ratio.
    Ratio,
}

/// A group of metrics that are shown together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Group {
    /// Durations.
    Time,
    /// Throughput relative to the peak.
    SpeedOfLight,
    /// Memory traffic.
    Memory,
    /// Executed instructions.
    Work,
    /// Occupancy.
    Warps,
    /// Warp stalls.
    Stalls,
}

impl std::fmt::Display for Group {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(match self {
            Self::Time => "time",
            Self::SpeedOfLight => "speed of light",
            Self::Memory => "memory",
            Self::Work => "work",
            Self::Warps => "warps",
            Self::Stalls => "stalls",
        })
    }
}

/// Metrics that answer one question.
#[derive(Clone, Debug)]
pub struct MetricSet {
    /// The name.
    pub name: &'static str,
    /// The purpose.
    pub what: &'static str,
    /// The metrics, in the order in which they are shown.
    pub metrics: Vec<&'static Metric>,
}

/// A name that no set has.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "there is no set of metrics `{name}`{}; the sets are {}",
    nearest.map(|name| format!(", did you mean `{name}`?")).unwrap_or_default(), known.join(", ")
)]
pub struct UnknownSet {
    /// The requested name.
    pub name: String,
    /// The most similar name.
    pub nearest: Option<&'static str>,
    /// All of them.
    pub known: Vec<&'static str>,
}

/// A stall reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reason {
    /// The column on the profiler's source page.
    pub column: String,
    /// The name for display.
    pub title: String,
    /// The meaning, as a sentence; empty for an unknown reason.
    pub what: Option<&'static str>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct MetricFile {
    metrics: Vec<Metric>,
    reasons: Vec<ReasonEntry>,
    sets: Vec<SetEntry>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ReasonEntry {
    column: String,
    title: String,
    #[serde(default)]
    what: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct SetEntry {
    name: String,
    what: String,
    metrics: Vec<String>,
}

/// All sets; the first is the default.
pub fn sets() -> impl Iterator<Item = MetricSet> {
    let MetricFile { metrics, sets, .. } = metric_file();
    let known = |name: &String| metrics.iter().find(|metric| metric.name == *name);
    sets.iter().map(move |set| MetricSet {
        name: &set.name,
        what: &set.what,
        metrics: set.metrics.iter().filter_map(known).collect(),
    })
}

/// The set of that name.
///
/// # Errors
/// No set has that name; the error has the most similar name.
pub fn set(name: &str) -> Result<MetricSet, UnknownSet> {
    sets().find(|set| set.name == name).ok_or_else(|| UnknownSet {
        name: name.to_owned(),
        nearest: nearest(name, sets().map(|set| set.name)),
        known: sets().map(|set| set.name).collect(),
    })
}

/// Every metric of every set.
#[must_use]
pub fn everything() -> MetricSet {
    let metrics = metric_file().metrics.iter().collect();
    MetricSet { name: "everything", what: "every metric that has a name here", metrics }
}

/// The stall reason of a column of the source page.
#[must_use]
pub fn reason(column: &str) -> Reason {
    let MetricFile { metrics, reasons, .. } = metric_file();
    let Some(known) = reasons.iter().find(|known| known.column == column) else {
        let title = column.replace('_', " ");
        return Reason { column: column.to_owned(), title, what: None };
    };
    let metric = metrics.iter().find(|metric| metric.title == known.title);
    let what = known.what.as_deref().or(metric.map(|metric| metric.what.as_str()));
    Reason { column: column.to_owned(), title: known.title.clone(), what }
}

#[expect(clippy::expect_used, reason = "the sets are a part of the program; a test reads them")]
fn metric_file() -> &'static MetricFile {
    static READ: LazyLock<MetricFile> =
        LazyLock::new(|| ron::from_str(TEXT).expect("assets/nsight.ron has the sets"));
    &READ
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_metric_is_declared_once_and_asked_for_by_a_set() {
        let MetricFile { metrics, sets: written, .. } = metric_file();
        let declared: BTreeSet<&str> = metrics.iter().map(|metric| metric.name.as_str()).collect();
        assert_eq!(declared.len(), metrics.len());
        let asked: BTreeSet<&str> =
            written.iter().flat_map(|set| &set.metrics).map(String::as_str).collect();
        assert_eq!(asked, declared);
        for (set, written) in sets().zip(written) {
            assert_eq!(set.metrics.len(), written.metrics.len(), "{}", set.name);
        }
    }

    #[test]
    fn names_are_those_of_nsight_compute_and_sentences_have_no_period() {
        for metric in &metric_file().metrics {
            let plain = |letter: char| letter.is_ascii_alphanumeric() || "_.".contains(letter);
            assert!(metric.name.contains("__") && metric.name.chars().all(plain), "{metric:?}");
            assert!(!metric.what.ends_with('.') && !metric.title.is_empty(), "{metric:?}");
        }
    }

    #[test]
    fn every_reason_has_one_sentence() {
        let MetricFile { metrics, reasons, .. } = metric_file();
        for known in reasons {
            let metric = metrics.iter().find(|metric| metric.title == known.title);
            assert_eq!(known.what.is_some(), metric.is_none(), "{known:?}");
            assert!(
                reason(&known.column).what.is_some_and(|what| !what.ends_with('.')),
                "{known:?}"
            );
        }
        assert_eq!(reason("long_sb").title, "long scoreboard");
        assert_eq!((reason("new_one").title.as_str(), reason("new_one").what), ("new one", None));
    }

    #[test]
    fn everything_is_asked_for_once() {
        assert_eq!(everything().metrics.len(), metric_file().metrics.len());
    }

    #[test]
    fn a_set_that_is_not_there_is_answered_with_the_nearest() {
        assert_eq!(set("memory").unwrap().name, "memory");
        let error = set("stals").unwrap_err();
        assert_eq!(error.nearest, Some("stalls"));
        assert!(error.to_string().contains("overview, memory, stalls, compute"), "{error}");
    }
}
