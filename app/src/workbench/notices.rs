//! What a person should hear of and did not ask for: shown for a while, and kept in a list.

use std::collections::VecDeque;
use std::time::Duration;

/// How long a notice is shown by itself.
const SHOWN_FOR: Duration = Duration::from_secs(8);
/// Notices that are kept.
const MOST_KEPT: usize = 500;

/// How much it matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Weight {
    /// Good news.
    Good,
    /// To know.
    Note,
    /// Something is not as it should be.
    Warning,
    /// Something could not be done.
    Error,
}

/// One notice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    /// How much it matters.
    pub weight: Weight,
    /// In a sentence.
    pub text: String,
    /// When, since the window opened.
    pub at: Duration,
    /// How often it was said.
    pub count: u32,
}

/// All notices, the newest last.
#[derive(Clone, Debug, Default)]
pub struct Notices {
    all: VecDeque<Notice>,
    /// How many of the newest were not read.
    unread: usize,
}

impl Notices {
    /// Says something; what was just said is only counted.
    pub fn say(&mut self, weight: Weight, text: impl Into<String>, at: Duration) {
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

    /// All of them, the newest first.
    pub fn newest(&self) -> impl Iterator<Item = &Notice> {
        self.all.iter().rev()
    }

    /// Those to be shown by themselves now.
    pub fn fresh(&self, now: Duration) -> impl Iterator<Item = &Notice> {
        let unread = self.unread;
        self.newest().take(unread).take_while(move |notice| now < notice.at + SHOWN_FOR)
    }

    /// How long until what is shown changes; none where nothing is.
    #[must_use]
    pub fn next_change(&self, now: Duration) -> Option<Duration> {
        self.fresh(now).map(|notice| (notice.at + SHOWN_FOR).saturating_sub(now)).min()
    }

    /// How many were not read.
    #[must_use]
    pub const fn unread(&self) -> usize {
        self.unread
    }

    /// All were read.
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
        notices.say(Weight::Note, "one", at(0));
        notices.say(Weight::Note, "one", at(1));
        notices.say(Weight::Error, "two", at(5));
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
            notices.say(Weight::Note, number.to_string(), at(0));
        }
        assert_eq!(notices.newest().count(), MOST_KEPT);
    }
}
