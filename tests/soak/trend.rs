//! The growth of a series: a line through the means of blocks, with the interval of its slope.

/// Blocks of a series. Neighbouring samples depend on each other; means of long blocks hardly do.
const BLOCKS: usize = 20;
/// The 99.5 % quantile of Student's t distribution with `BLOCKS - 2` degrees of freedom.
const QUANTILE: f64 = 2.878;

/// The growth of a value per operation, with its interval of 99 %.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Growth {
    pub(super) slope: f64,
    pub(super) half_width: f64,
}

impl Growth {
    /// Fits samples of operations and a value, without the first half, in which caches fill: of texts and results, of pages
    /// of the database, and of the allocator.
    pub(super) fn fit(samples: &[(f64, f64)]) -> Option<Self> {
        let samples = &samples[samples.len() / 2..];
        if samples.len() < BLOCKS {
            return None;
        }
        let means: Vec<(f64, f64)> = (0..BLOCKS)
            .map(|block| {
                let edge = |block: usize| block * samples.len() / BLOCKS;
                mean(&samples[edge(block)..edge(block + 1)])
            })
            .collect();
        let (x, y) = mean(&means);
        let sum = |each: &dyn Fn(f64, f64) -> f64| -> f64 {
            means.iter().map(|mean| each(mean.0, mean.1)).sum()
        };
        let spread = sum(&|at, _| (at - x).powi(2));
        let slope = sum(&|at, value| (at - x) * (value - y)) / spread;
        let rest = sum(&|at, value| (value - y - slope * (at - x)).powi(2));
        let variance = rest / (BLOCKS - 2) as f64 / spread;
        Some(Self { slope, half_width: QUANTILE * variance.sqrt() })
    }

    /// Whether zero is below the whole interval.
    pub(super) fn is_growing(self) -> bool {
        self.slope > self.half_width
    }
}

fn mean(samples: &[(f64, f64)]) -> (f64, f64) {
    let count = samples.len() as f64;
    let sum = |each: fn(&(f64, f64)) -> f64| samples.iter().map(each).sum::<f64>() / count;
    (sum(|sample| sample.0), sum(|sample| sample.1))
}

#[test]
fn growth_is_told_from_noise() {
    // A sawtooth, as of a heap that is trimmed now and then, with this much more for each operation.
    let check = |growth: f64, is_growing: bool| {
        let value = |at: u32| f64::from(at * 7919 % 101) + growth * f64::from(at);
        let samples: Vec<(f64, f64)> = (0..600).map(|at| (f64::from(at), value(at))).collect();
        let fitted = Growth::fit(&samples).unwrap();
        assert_eq!(fitted.is_growing(), is_growing, "{growth}: {fitted:?}");
        assert!((fitted.slope - growth).abs() < 0.05, "{growth}: {fitted:?}");
    };
    check(0.0, false);
    check(-0.5, false);
    check(0.1, true);
    check(1.0, true);
    assert_eq!(Growth::fit(&[(0.0, 1.0); 30]), None);
    // Warming up is no growth.
    let warm: Vec<(f64, f64)> = (0..90).map(|at| (f64::from(at), f64::from(at.min(20)))).collect();
    assert!(!Growth::fit(&warm).unwrap().is_growing());
}
