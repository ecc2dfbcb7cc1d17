//! How long something took each time: by the clock, and on the processor alone, which others at work disturb less.

use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};

/// What was measured, one of each for each time.
#[derive(Default)]
pub(crate) struct Times {
    clock: Vec<Duration>,
    processor: Vec<Duration>,
}

impl Times {
    /// Does it, and remembers how long it took.
    pub(crate) fn take<T>(&mut self, what: impl FnOnce() -> T) -> T {
        let (processor, clock) = (on_processor(), Instant::now());
        let done = what();
        self.clock.push(clock.elapsed());
        self.processor.push(on_processor() - processor);
        done
    }

    /// How long the last one took by the clock.
    pub(crate) fn last(&self) -> Duration {
        self.clock.last().copied().unwrap_or_default()
    }

    /// Prints the median, the 99th percentile and the slowest.
    pub(crate) fn print(mut self, name: &str) {
        self.clock.sort();
        self.processor.sort();
        println!(
            "  {name}: {} by the clock, {} on the processor ({} times)",
            in_words(&self.clock),
            in_words(&self.processor),
            self.clock.len(),
        );
    }
}

fn in_words(sorted: &[Duration]) -> String {
    let at = |part: f64| {
        let index = ((sorted.len() as f64 * part) as usize).min(sorted.len() - 1);
        sorted[index].as_secs_f64() * 1e3
    };
    format!("median {:.2} ms, 99 % {:.2} ms, slowest {:.2} ms", at(0.5), at(0.99), at(1.0))
}

/// What this thread has used of a processor.
fn on_processor() -> Duration {
    Duration::try_from(clock_gettime(ClockId::ThreadCPUTime)).unwrap()
}
