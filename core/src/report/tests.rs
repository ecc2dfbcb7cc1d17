//! What a report says, and that nothing in it is anything but text.

use super::{Page, html, markdown};
use crate::history::fixture::{failed, passed};
use crate::history::record::{Outcome, RunRecord};
use crate::history::timing::Clock;
use crate::history::{Provenance, RunNumber, StoredRun};

const HOSTILE: &str = "</td><script>alert(1)</script>|`x`[l](javascript:y)\n@team \u{202e}&amp;";

fn stored(number: i64, record: RunRecord) -> StoredRun {
    StoredRun { number: RunNumber(number), provenance: Provenance::Own, record }
}

fn page(runs: &[StoredRun]) -> Page {
    Page::of("RMSNorm", "2026-11-21T20:00:00Z".parse().unwrap(), runs, &[RunNumber(2)])
}

fn story() -> Vec<StoredRun> {
    let mut modelled = passed("vector", "c", Some(9e-6)).0;
    let Outcome::Passed { timings, .. } = &mut modelled.outcome else { panic!("it passed") };
    timings[0].clock = Clock::Modelled;
    vec![
        stored(4, failed("vector", "d").0),
        stored(3, modelled),
        stored(2, passed("vector", "b", Some(1.25e-5)).0),
        stored(1, passed("naive", "a", Some(5e-5)).0),
    ]
}

#[test]
fn a_report_tells_each_kernel_and_each_run() {
    let page = page(&story());
    let kernels: Vec<_> = page
        .kernels
        .iter()
        .map(|line| (line.kernel.as_str(), line.runs, line.newest.verdict.as_str()))
        .collect();
    assert_eq!(kernels, [("naive", 1, "passed"), ("vector", 3, "wrong")]);
    assert_eq!(page.runs.len(), 4);
    assert_eq!(page.runs[2].remark, "best");
    assert!(page.runs[1].time.contains("modelled"), "{:?}", page.runs[1]);
    assert!(page.plot.is_some());
    assert!(html(&page).unwrap().contains("12.5 µs"));
    for text in [html(&page).unwrap(), markdown(&page)] {
        for part in ["RMSNorm", "naive", "vector", "50.0 µs", "modelled", "13.5.37", "virtual H200"]
        {
            assert!(text.contains(part), "{part} in\n{text}");
        }
    }
}

#[test]
fn a_modelled_time_is_not_better_than_a_measured_one() {
    let check = |runs: &[StoredRun], expected: &str| {
        let page = page(runs);
        let line = page.kernels.iter().find(|line| line.kernel == "vector").unwrap();
        assert!(line.best.contains(expected), "{line:?}");
    };
    let mut runs = story();
    check(&runs, "9.00 µs, modelled");
    runs.swap(1, 2);
    check(&runs, "12.5 µs, measured");
}

#[test]
fn a_report_without_times_has_no_picture() {
    let page = page(&[stored(1, failed("naive", "a").0)]);
    assert_eq!((page.plot.clone(), page.times.len()), (None, 0));
    assert!(!html(&page).unwrap().contains("<svg"));
}

#[test]
fn a_report_of_nothing_is_still_a_page() {
    let page = page(&[]);
    assert!(html(&page).unwrap().contains("No runs"));
    assert!(markdown(&page).contains("RMSNorm"));
}

#[test]
fn nothing_from_a_file_is_markup() {
    let mut record = passed(HOSTILE, HOSTILE, Some(1e-5)).0;
    record.project = HOSTILE.to_owned();
    record.device.title = HOSTILE.to_owned();
    record.environment.versions.insert(HOSTILE.to_owned(), HOSTILE.to_owned());
    let mut other = failed(HOSTILE, "b").0;
    let Outcome::Failed { sentence, .. } = &mut other.outcome else { panic!("it failed") };
    *sentence = HOSTILE.to_owned();
    let runs = [stored(2, other), stored(1, record)];
    let page = Page::of(HOSTILE, "2026-11-21T20:00:00Z".parse().unwrap(), &runs, &[]);
    let text = html(&page).unwrap();
    assert!(!text.contains("<script") && !text.contains("</td>|"), "{text}");
    assert!(text.contains("&lt;script&gt;"), "{text}");
    let markdown = markdown(&page);
    for part in ["<script", "`x`", "[l]", "@team", "\u{202e}"] {
        assert!(!markdown.contains(part) && !text.contains("\u{202e}"), "{part} in\n{markdown}");
    }
    let columns = |line: &str| line.matches('|').count();
    let lines: Vec<_> =
        markdown.lines().filter(|line| line.starts_with('|')).map(columns).collect();
    assert!(lines.iter().all(|count| [4, 7, 8].contains(count)), "{markdown}");
}

#[test]
fn a_page_asks_for_nothing_and_runs_nothing() {
    let text = html(&page(&story())).unwrap();
    assert!(text.contains("default-src 'none'"));
    for part in
        ["<script", "http:", "https:", "src=", "href=", "@import", "url(", "onload", "onerror"]
    {
        assert!(!text.contains(part), "{part}");
    }
    assert!(text.contains("prefers-color-scheme: dark") && text.contains("@media print"));
}

#[test]
fn every_mark_lies_inside_the_picture() {
    let check = |times: &[f64]| {
        let runs: Vec<_> = times
            .iter()
            .rev()
            .enumerate()
            .map(|(index, seconds)| {
                stored(index as i64 + 1, passed("naive", "a", Some(*seconds)).0)
            })
            .collect();
        let picture = serde_json::to_value(page(&runs).plot.unwrap()).unwrap();
        let marks = picture["series"][0]["marks"].as_array().unwrap();
        assert_eq!(marks.len(), times.len());
        for mark in marks {
            let (x, y) = (mark["x"].as_f64().unwrap(), mark["y"].as_f64().unwrap());
            assert!((84.0..=704.0).contains(&x) && (12.0..=260.0).contains(&y), "{mark}");
        }
        assert!(!picture["ticks"].as_array().unwrap().is_empty(), "{times:?}: {picture}");
    };
    check(&[1e-5]);
    check(&[1e-5, 1e-5]);
    check(&[1.23e-5, 1.25e-5, 1.31e-5]);
    check(&[1e-6, 1e-5, 2e-3]);
    check(&[f64::MIN_POSITIVE, 1e9]);
}
