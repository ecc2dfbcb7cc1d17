//! Assigns the driver's time stamps to the samples of the work that was enqueued.
//!
//! A sample lasts from the start of its first timed call on the device to the end of its last one. Time between two
//! calls counts, because the user of the result waits for it. Stamps that do not match the enqueued calls are rejected.

use std::collections::BTreeMap;

use lightbench_measure::timing::NoStamps;
use lightbench_units::Seconds;

/// The device operation of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Call {
    Launch,
    Fill,
    Copy,
}

/// The driver's record of a call, or of a part of it. Times are nanoseconds of the driver's clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Activity {
    pub(super) call: Call,
    /// Ascends with every call of the process.
    pub(super) number: u32,
    pub(super) begin: u64,
    pub(super) end: u64,
}

/// The calls of one sample, in their order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Calls {
    pub(super) before: Vec<Call>,
    pub(super) timed: Vec<Call>,
}

impl Calls {
    /// The times of the samples of these calls; the records must belong to these calls only.
    pub(super) fn spans(
        &self,
        records: &[Activity],
        samples: usize,
    ) -> Result<Vec<Seconds>, NoStamps> {
        let mut calls: BTreeMap<u32, Activity> = BTreeMap::new();
        for record in records {
            if record.begin == 0 || record.end < record.begin {
                return Err(NoStamps::Unlike);
            }
            let known = calls.entry(record.number).or_insert(*record);
            known.begin = known.begin.min(record.begin);
            known.end = known.end.max(record.end);
        }
        let each = self.before.len() + self.timed.len();
        let made: Vec<Activity> = calls.into_values().collect();
        if each == 0 || self.timed.is_empty() || made.len() != samples * each {
            return Err(NoStamps::Unlike);
        }
        made.chunks_exact(each).map(|sample| self.span(sample)).collect()
    }

    fn span(&self, sample: &[Activity]) -> Result<Seconds, NoStamps> {
        let expected = self.before.iter().chain(&self.timed);
        if sample.iter().map(|made| &made.call).ne(expected) {
            return Err(NoStamps::Unlike);
        }
        let timed = sample.iter().skip(self.before.len());
        let begin = timed.clone().map(|made| made.begin).min();
        let end = timed.map(|made| made.end).max();
        let (begin, end) = begin.zip(end).ok_or(NoStamps::Unlike)?;
        Ok(Seconds((end - begin) as f64 / 1e9))
    }
}

#[cfg(test)]
mod tests {
    use super::Call::{Copy, Fill, Launch};
    use super::*;

    fn made(call: Call, number: u32, begin: u64, end: u64) -> Activity {
        Activity { call, number, begin, end }
    }

    fn check(timed: &[Call], records: &[Activity], expected: Result<&[f64], NoStamps>) {
        let calls = Calls { before: vec![Fill, Launch], timed: timed.to_vec() };
        let found =
            calls.spans(records, 2).map(|all| all.iter().map(|it| it.0).collect::<Vec<_>>());
        assert_eq!(found, expected.map(<[f64]>::to_vec), "{records:?}");
    }

    #[test]
    fn a_sample_is_from_its_first_begin_to_its_last_end_and_the_flush_is_none_of_it() {
        let one = [
            made(Fill, 3, 100, 200),
            made(Launch, 5, 300, 900),
            made(Launch, 7, 1_000, 3_000),
            made(Fill, 9, 4_000, 4_100),
            made(Launch, 11, 4_200, 5_000),
            made(Launch, 12, 6_000, 9_000),
        ];
        check(&[Launch], &one, Ok(&[2e-6, 3e-6]));
        // Records come in any order, and a fill may be of several.
        let mut shuffled = one;
        shuffled.reverse();
        check(&[Launch], &shuffled, Ok(&[2e-6, 3e-6]));
        let parts = [&one[..], &[made(Fill, 9, 4_100, 4_150)]].concat();
        check(&[Launch], &parts, Ok(&[2e-6, 3e-6]));
    }

    #[test]
    fn what_lies_between_two_launches_of_a_sample_counts() {
        let sample = |number: u32, begin: u64| {
            [
                made(Fill, number, begin, begin + 10),
                made(Launch, number + 1, begin + 20, begin + 30),
                made(Fill, number + 2, begin + 1_000, begin + 2_000),
                made(Launch, number + 3, begin + 3_000, begin + 6_000),
            ]
        };
        let both = [sample(1, 1), sample(8, 10_000)].concat();
        check(&[Fill, Launch], &both, Ok(&[5e-6, 5e-6]));
        check(&[Launch, Fill], &both, Err(NoStamps::Unlike));
        check(&[Copy, Launch], &both, Err(NoStamps::Unlike));
    }

    #[test]
    fn records_that_do_not_fit_what_was_launched_are_no_times() {
        let sample = |number: u32| {
            [
                made(Fill, number, 10, 20),
                made(Launch, number + 1, 30, 40),
                made(Launch, number + 2, 50, 60),
            ]
        };
        let both = [sample(1), sample(8)].concat();
        check(&[Launch], &both, Ok(&[1e-8, 1e-8]));
        check(&[Launch], &both[1..], Err(NoStamps::Unlike));
        check(&[Launch], &[], Err(NoStamps::Unlike));
        // A kernel that launches kernels, or another thread of the process.
        check(&[Launch], &[&both[..], &[made(Launch, 99, 70, 80)]].concat(), Err(NoStamps::Unlike));
        for broken in [made(Launch, 10, 0, 60), made(Launch, 10, 60, 50)] {
            let mut records = both.clone();
            records[5] = broken;
            check(&[Launch], &records, Err(NoStamps::Unlike));
        }
    }
}
