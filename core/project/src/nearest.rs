//! Suggests the known name most similar to an unknown one.

/// The most similar candidate, or `None` if no candidate is similar.
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    /// Similarity from 0 to 1 below which a suggestion would only confuse.
    const CLOSE: f64 = 0.7;
    candidates
        .into_iter()
        .map(|candidate| {
            (strsim::jaro_winkler(&name.to_lowercase(), &candidate.to_lowercase()), candidate)
        })
        .filter(|(similarity, _)| *similarity >= CLOSE)
        .max_by(|left, right| left.0.total_cmp(&right.0))
        .map(|(_, candidate)| candidate)
}
