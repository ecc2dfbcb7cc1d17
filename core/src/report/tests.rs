//! The content of a report, and the escaping of its texts.

use super::{Page, html, markdown};
use crate::device::DeviceSheet;
use crate::history::definition_hash::definition_hash;
use crate::history::fixture::{failed, passed};
use crate::history::record::{Outcome, RunRecord, WorkloadName};
use crate::history::timing::{BaselineSource, Clock, RecordedBaseline, RecordedLimiter};
use crate::history::{Provenance, RunNumber, StoredRun};
use crate::measure::energy::{Energy, Joules, Window};
use crate::project::Project;
use crate::units::Seconds;

const HOSTILE: &str = "</td><script>alert(1)</script>|`x`[l](javascript:y)\n@team \u{202e}&amp;";

fn stored(number: i64, record: RunRecord) -> StoredRun {
    StoredRun { number: RunNumber(number), provenance: Provenance::Own, label: None, record }
}

fn page(runs: &[StoredRun]) -> Page {
    Page::titled("RMSNorm", "2026-11-21T20:00:00Z".parse().unwrap(), runs, &[RunNumber(2)])
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
fn energy_stands_below_times_and_a_record_without_it_reads_as_before() {
    let mut record = passed("vector", "b", Some(1.25e-5)).0;
    let written = serde_json::to_value(&record).unwrap();
    assert!(!written.to_string().contains("energy"), "nobody asked: {written}");
    let name = record.timings()[0].workload.clone();
    let (idle, busy) = (window(60.0, 0), [window(160.0, 100), window(160.0, 100)]);
    let known = Energy::from_windows(&idle, &busy).unwrap();
    let Outcome::Passed { energy, .. } = &mut record.outcome else { panic!("it passed") };
    energy.insert(name, known);
    let again: RunRecord = serde_json::from_value(serde_json::to_value(&record).unwrap()).unwrap();
    assert_eq!(again, record);
    assert_eq!(serde_json::from_value::<RunRecord>(written).unwrap().energy().count(), 0);
    let page = page(&[stored(1, record)]);
    let line = page.times.iter().find(|line| line.mode == "energy").unwrap();
    assert_eq!((line.median.as_str(), line.interval.as_str()), ("1.00 J", "1.00 J to 1.00 J"));
}

fn window(energy: f64, executions: u64) -> Window {
    Window { energy: Joules(energy), elapsed: Seconds(1.0), executions }
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
    assert!(page.times_picture.is_some());
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
    assert_eq!((page.times_picture.clone(), page.times.len()), (None, 0));
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
    let Outcome::Passed { timings, .. } = &mut record.outcome else { panic!("it passed") };
    let (words, evidence) = (HOSTILE.to_owned(), vec![HOSTILE.to_owned()]);
    timings[0].limiter = Some(RecordedLimiter { words, evidence });
    timings[0].baselines = vec![RecordedBaseline {
        name: HOSTILE.to_owned(),
        source: HOSTILE.to_owned(),
        taken: BaselineSource::NotTimed,
        median: None,
        interval: None,
        score: None,
    }];
    let mut other = failed(HOSTILE, "b").0;
    let Outcome::Failed { sentence, .. } = &mut other.outcome else { panic!("it failed") };
    *sentence = HOSTILE.to_owned();
    let runs = [stored(2, other), stored(1, record)];
    let page = Page::titled(HOSTILE, "2026-11-21T20:00:00Z".parse().unwrap(), &runs, &[]);
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
    assert!(lines.iter().all(|count| [4, 7, 10].contains(count)), "{markdown}");
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
        let picture = page(&runs).times_picture.unwrap().svg;
        // The first circle is the key of its kernel.
        let marks: Vec<(f64, f64)> = picture
            .split("<circle ")
            .skip(2)
            .map(|circle| (attribute(circle, "cx"), attribute(circle, "cy")))
            .collect();
        assert_eq!(marks.len(), times.len());
        for (x, y) in marks {
            assert!((0.0..=760.0).contains(&x) && (0.0..=320.0).contains(&y), "{x} {y}");
        }
        assert!(picture.matches("text-anchor=\"end\"").count() > 1, "{times:?}: {picture}");
    };
    check(&[1e-5]);
    check(&[1e-5, 1e-5]);
    check(&[1.23e-5, 1.25e-5, 1.31e-5]);
    check(&[1e-6, 1e-5, 2e-3]);
    check(&[f64::MIN_POSITIVE, 1e9]);
}

fn attribute(element: &str, name: &str) -> f64 {
    let value = element.split(&format!("{name}=\"")).nth(1).unwrap();
    value.split('"').next().unwrap().parse().unwrap()
}

#[test]
fn kernels_lie_under_the_roofs_of_their_device() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../sample-projects");
    let check = |name: &str, workload: &str, expected: &[&str]| {
        let project = Project::load(&root.join(name)).unwrap();
        let run = |number: i64, kernel: &str, seconds: f64| {
            let mut record = passed(kernel, kernel, Some(seconds)).0;
            record.definition = Some(definition_hash(&project));
            let Outcome::Passed { timings, .. } = &mut record.outcome else { panic!("it passed") };
            let found = project.workloads.iter().find(|each| each.name == workload).unwrap();
            timings[0].workload = WorkloadName::from_workload(found).unwrap();
            stored(number, record)
        };
        let runs = [run(2, "registers", 1.28e-4), run(1, "naive", 2.66e-3)];
        let page = Page::new(&project, "2026-11-21T20:00:00Z".parse().unwrap(), &runs, &[]);
        assert_eq!(page.rooflines.len(), 1, "{name}");
        let text = html(&page).unwrap();
        for part in expected.iter().chain(&["registers", "naive", workload]) {
            assert!(text.contains(part), "{part} in the report of {name}");
        }
        let mut other = runs.clone();
        other.iter_mut().for_each(|run| run.record.definition = None);
        let page = Page::new(&project, "2026-11-21T20:00:00Z".parse().unwrap(), &other, &[]);
        assert!(page.rooflines.is_empty(), "what was asked for is not known");
    };
    check("rmsnorm", "llama-70b-prefill", &["FP32 66.9 TFLOP/s", "Arithmetic intensity"]);
}

#[test]
fn a_title_finds_its_sheet() {
    let check = |title: &str, expected: Option<&str>| {
        let found = DeviceSheet::titled(title).map(|sheet| sheet.name.as_str());
        assert_eq!(found, expected, "{title}");
    };
    check("NVIDIA H200", Some("h200"));
    check("virtual H200", Some("h200"));
    check("NVIDIA L40S", Some("l40s"));
    check("NVIDIA GeForce RTX 4090", Some("rtx4090"));
    check("NVIDIA A100-SXM4-80GB", Some("a100-80gb"));
    check("NVIDIA H100 80GB HBM3", Some("h100-sxm"));
    check("NVIDIA RTX A6000", Some("a6000"));
    check("NVIDIA GeForce RTX 4060 Laptop GPU", Some("rtx4060-laptop"));
    check("virtual NVIDIA H200 SXM 141 GB", Some("h200"));
    check("NVIDIA H100 64GB HBM2", None);
}
