//! Notices: shown for some seconds, then kept in the log.

use std::collections::VecDeque;
use std::time::Duration;

/// How long a notice stays visible.
const SHOWN_FOR: Duration = Duration::from_secs(8);
/// Maximum number of kept notices.
const MOST_KEPT: usize = 500;

/// Severity of a notice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoticeLevel {
    Good,
    Note,
    Warning,
    Error,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    /// Severity of a notice.
    pub weight: NoticeLevel,
    pub text: String,
    /// The time since the window opened.
    pub at: Duration,
    /// Number of repetitions.
    pub count: u32,
}

/// All notices, the newest last.
#[derive(Clone, Debug, Default)]
pub struct Notices {
    all: VecDeque<Notice>,
    /// Number of unread notices.
    unread: usize,
}

impl Notices {
    /// Adds a notice; a repetition of the latest one increments its count.
    pub fn add(&mut self, weight: NoticeLevel, text: impl Into<String>, at: Duration) {
        let text = text.into();
        self.unread = (self.unread + 1).min(MOST_KEPT);
        if let Some(last) = self.all.back_mut().filter(|last| last.text == text) {
            last.count += 1;
            last.at = at;
            return;
        }
        if self.all.len() == MOST_KEPT {
            self.all.pop_front();
        }
        self.all.push_back(Notice { weight, text, at, count: 1 });
    }

    /// All notices, the newest first.
    pub fn newest(&self) -> impl Iterator<Item = &Notice> {
        self.all.iter().rev()
    }

    /// The notices to show now.
    pub fn fresh(&self, now: Duration) -> impl Iterator<Item = &Notice> {
        let unread = self.unread;
        self.newest().take(unread).take_while(move |notice| now < notice.at + SHOWN_FOR)
    }

    /// Time until the shown notices change; `None` if none is shown.
    #[must_use]
    pub fn next_change(&self, now: Duration) -> Option<Duration> {
        self.fresh(now).map(|notice| (notice.at + SHOWN_FOR).saturating_sub(now)).min()
    }

    /// The number of unread notices.
    #[must_use]
    pub const fn unread(&self) -> usize {
        self.unread
    }

    /// Marks all notices as read.
    pub const fn dismiss(&mut self) {
        self.unread = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn at(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    #[test]
    fn notices_are_shown_for_a_while_and_kept() {
        let mut notices = Notices::default();
        notices.add(NoticeLevel::Note, "one", at(0));
        notices.add(NoticeLevel::Note, "one", at(1));
        notices.add(NoticeLevel::Error, "two", at(5));
        let check = |notices: &Notices, now, expected: &[&str]| {
            let fresh: Vec<_> = notices.fresh(at(now)).map(|notice| notice.text.as_str()).collect();
            assert_eq!(fresh, expected, "after {now} s");
        };
        check(&notices, 6, &["two", "one"]);
        check(&notices, 10, &["two"]);
        assert_eq!(notices.next_change(at(10)), Some(at(3)));
        check(&notices, 14, &[]);
        assert_eq!((notices.newest().count(), notices.unread()), (2, 3));
        notices.dismiss();
        check(&notices, 6, &[]);
    }

    #[test]
    fn the_list_is_bounded() {
        let mut notices = Notices::default();
        for number in 0..2 * MOST_KEPT {
            notices.add(NoticeLevel::Note, number.to_string(), at(0));
        }
        assert_eq!(notices.newest().count(), MOST_KEPT);
    }
}
