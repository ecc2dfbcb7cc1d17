//! Rounds of samples, until there are enough: each round runs all programs in a shuffled order, each in its mode.

use std::time::{Duration, Instant};

use lightbench_device::{Device, Sampling, Timed, Timekeeping, Work};
use lightbench_measure::comparison::LEAST_ROUNDS;
use lightbench_measure::energy::{Energy, EnergyError};
use lightbench_measure::protocol::{Progress, Protocol};
use lightbench_measure::timing::{Clock, Mode, NoStamps, Reading, Stopped};
use lightbench_primitives::random::Stream;
use lightbench_units::Seconds;

use super::SessionFailure;
use super::bound::failure_from_device_error;
use super::measure::{Contender, MeasureRequest, Samples, Stop};

/// A warm sample is of as many executions as take this long.
const WARM_SAMPLE: Seconds = Seconds(20e-6);

/// A sample of replays is of as many as take this long.
const GRAPH_SAMPLE: Seconds = Seconds(200e-6);

/// Executions that arrive at random do so two hundred times in a second, and after a pause of this many means at most.
pub(super) const MEAN_PAUSE: Duration = Duration::from_millis(5);
const MOST_MEANS: f64 = 8.0;

/// Where the random numbers of pauses begin, beside those of orders.
const PAUSES: u64 = 1 << 63;

/// An execution that takes this long hardly depends on whether its code was loaded before.
const MUCH_LONGER_THAN_LOADING: Seconds = Seconds(0.1);

/// Rounds of one program for a verdict at least: the interval of its time is that between rounds.
const FEWEST_ROUNDS: u64 = 3;

/// Executions of a warm sample at most.
const MOST_BATCH: f64 = 256.0;

/// Most rounds beyond those that are needed; a random number of them hides which round is the last.
const MOST_EXTRA_ROUNDS: u64 = 4;

/// Rounds of all contenders until there are enough, and a few more.
pub(super) fn sampled(
    device: &mut dyn Device,
    order: &MeasureRequest,
    contenders: &[Contender],
) -> Result<Samples, Stop> {
    let once = Sampling::single(order.mode, 1);
    let longest = |times: Vec<Seconds>| {
        times.into_iter().fold(Seconds(0.0), |most, each| if each > most { each } else { most })
    };
    let (mut slowest, mut samplings) = (Seconds(0.0), Vec::new());
    for contender in contenders {
        // The first execution loads code; the second one counts, unless loading hardly matters.
        let mut alone = longest(timed(device, &contender.work, once)?.times);
        if alone < MUCH_LONGER_THAN_LOADING {
            alone = longest(timed(device, &contender.work, once)?.times);
        }
        slowest = if alone > slowest { alone } else { slowest };
        let batch = batch(order.mode, alone, &contender.work);
        let samples = samples(order.protocol, alone * f64::from(batch));
        samplings.push(Sampling { batch, ..Sampling::single(order.mode, samples) });
    }
    if order.abandon_above.is_some_and(|most| slowest > most) {
        return Err(Stop::Abandoned(slowest));
    }
    let mut samples = rounds(device, order, contenders, &samplings)?;
    if let (Mode::Cold, Some(first), Some(instruments)) =
        (order.mode, contenders.first(), device.instruments())
        && order.last.is_some()
    {
        let floor = instruments.launch_floor(&first.work);
        samples.launch_floor = floor.map_err(|error| failure_from_device_error(&error))?;
    }
    Ok(samples)
}

/// Executions of a sample: each contender has its own number, so that a fast contender beside a slow one is timed as
/// precisely as alone.
fn batch(mode: Mode, alone: Seconds, work: &Work) -> u32 {
    let of = |sample: Seconds| (sample / alone).0.ceil().clamp(1.0, MOST_BATCH) as u32;
    match mode {
        // What is read and written is put back before each sample, so that a sample is one execution.
        Mode::Warm | Mode::Graph if !work.restore.is_empty() => 1,
        Mode::Warm => of(WARM_SAMPLE),
        Mode::Graph => of(GRAPH_SAMPLE),
        Mode::Cold | Mode::Server => 1,
    }
}

/// Samples of a round: as many as the sampling time has room for in the fewest rounds, because a round is never cut short.
fn samples(protocol: Protocol, each: Seconds) -> u32 {
    let room = protocol.longest.as_secs_f64() / (each.0 * FEWEST_ROUNDS as f64);
    room.clamp(1.0, f64::from(protocol.per_round.max(1))) as u32
}

pub(super) fn energy(
    device: &mut dyn Device,
    contenders: &[Contender],
) -> Result<Result<Energy, EnergyError>, SessionFailure> {
    match (contenders.first(), device.instruments()) {
        (Some(first), Some(instruments)) => {
            instruments.energy(&first.work).map_err(|error| failure_from_device_error(&error))
        }
        (_, None) => Ok(Err(EnergyError::NoCounter)),
        (None, _) => Err(SessionFailure::Order("nothing was ordered".to_owned())),
    }
}

/// A round of samples. Those that arrive at random come one by one, each after a pause of its own.
fn round_of(
    device: &mut dyn Device,
    work: &Work,
    sampling: Sampling,
    (stream, round): (Stream, u64),
) -> Result<Sample, Stop> {
    if sampling.mode != Mode::Server {
        return timed(device, work, sampling);
    }
    let mut all: Option<Sample> = None;
    for number in 0..sampling.samples.max(1) {
        let pause = pause(stream.unit(PAUSES | round << 16 | u64::from(number)));
        let sample = timed(device, work, Sampling { samples: 1, pause, ..sampling })?;
        match &mut all {
            Some(all) if all.clock.is_comparable_with(&sample.clock) => {
                all.times.extend(sample.times);
            }
            Some(_) | None => all = Some(sample),
        }
    }
    all.ok_or_else(|| SessionFailure::Order("nothing was timed".to_owned()).into())
}

/// Arrivals of a Poisson process are exponentially far apart; a wait of many means is cut off.
fn pause(uniform: f64) -> Duration {
    MEAN_PAUSE.mul_f64((-(1.0 - uniform).ln()).clamp(0.0, MOST_MEANS))
}

fn rounds(
    device: &mut dyn Device,
    order: &MeasureRequest,
    contenders: &[Contender],
    samplings: &[Sampling],
) -> Result<Samples, Stop> {
    let stream = Stream::new(order.seed, 0);
    let extra = ((u128::from(stream.bits(0)) * u128::from(MOST_EXTRA_ROUNDS + 1)) >> 64) as u64;
    // A last sample whose outputs are compared belongs to a verdict; other times are approximate.
    let (extra, fewest) = match (order.last, contenders.len()) {
        (Some(_), 1) => (extra, FEWEST_ROUNDS),
        (None, 1) => (0, 1),
        (Some(_) | None, _) => (extra, LEAST_ROUNDS as u64),
    };
    let mut all: Vec<Progress> = contenders.iter().map(|_| Progress::new(order.protocol)).collect();
    let mut turn: Vec<usize> = (0..contenders.len()).collect();
    let (mut clock, mut ended, mut remaining, mut why) = (None, None, extra, None);
    let mut readings = Vec::new();
    let started = Instant::now();
    'rounds: for round in 1_u64.. {
        shuffle(&mut turn, stream, round);
        let mut stops = Vec::new();
        for index in &turn {
            let work = &contenders[*index].work;
            let sample = round_of(device, work, samplings[*index], (stream, round))?;
            if clock.is_some_and(|clock: Clock| !clock.is_comparable_with(&sample.clock)) {
                // Times of two clocks are not compared: the samples so far are dropped, and events time all contenders.
                all.iter_mut().for_each(|each| *each = Progress::new(order.protocol));
                why = [clock, Some(sample.clock)].into_iter().flatten().find_map(without).or(why);
                clock = None;
                if let Some(instruments) = device.instruments() {
                    instruments.keep_time(&Timekeeping::Events);
                }
                continue 'rounds;
            }
            clock = clock.or(Some(sample.clock));
            readings.extend(sample.reading);
            let times = sample.times;
            stops.push(all[*index].add(times, started.elapsed()));
        }
        ended = ended.or_else(|| end(&stops, round, fewest));
        if ended.is_some() {
            if remaining == 0 {
                break;
            }
            remaining -= 1;
        }
    }
    let missing = || SessionFailure::Order("nothing was timed".to_owned());
    let (clock, stopped) = (clock.ok_or_else(missing)?, ended.ok_or_else(missing)?);
    let rounds = all.into_iter().map(Progress::into_rounds).collect();
    let clock = match clock {
        Clock::Events { offset, floor, without } => {
            let without = without.or(why);
            let asked = order.protocol.clock;
            let without = without.filter(|reason| asked.is_uncertain_about(*reason));
            Clock::Events { offset, floor, without }
        }
        Clock::Cupti { .. } | Clock::Modelled => clock,
    };
    let batches = samplings.iter().map(|sampling| sampling.batch).collect();
    let (left_dirty, launch_floor) = (Vec::new(), None);
    Ok(Samples { clock, batches, rounds, stopped, readings, left_dirty, launch_floor })
}

/// Why there were no time stamps.
fn without(clock: Clock) -> Option<NoStamps> {
    match clock {
        Clock::Events { without, .. } => without,
        Clock::Cupti { .. } | Clock::Modelled => None,
    }
}

/// Why no further round is needed after this one, counted from 1, if so: all contenders are precise, or one of them has
/// used up the time. Fewer rounds than an interval or a comparison needs are never enough, however long each takes.
fn end(stops: &[Option<Stopped>], round: u64, fewest: u64) -> Option<Stopped> {
    if round < fewest {
        return None;
    }
    if stops.contains(&Some(Stopped::Budget)) {
        return Some(Stopped::Budget);
    }
    stops.iter().all(Option::is_some).then_some(Stopped::Precise)
}

/// Fisher and Yates, from the numbers of one round.
fn shuffle(turn: &mut [usize], stream: Stream, round: u64) {
    for last in (1..turn.len()).rev() {
        let bits = u128::from(stream.bits(round << 16 | last as u64));
        turn.swap(last, ((bits * (last as u128 + 1)) >> 64) as usize);
    }
}

/// One sample.
pub(super) struct Sample {
    pub(super) clock: Clock,
    pub(super) times: Vec<Seconds>,
    reading: Option<Reading>,
}

pub(super) fn timed(
    device: &mut dyn Device,
    work: &Work,
    sampling: Sampling,
) -> Result<Sample, Stop> {
    match device.time(work, sampling).map_err(|error| failure_from_device_error(&error))? {
        Timed::Samples { clock, times, reading } => Ok(Sample { clock, times, reading }),
        Timed::Modelled(_) => {
            Err(SessionFailure::Order("a GPU modelled its time".to_owned()).into())
        }
        Timed::Faulted(faults) => Err(Stop::Faulted(faults)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrivals_are_exponentially_far_apart() {
        let all: Vec<f64> =
            (0..4000).map(|number| pause(Stream::new(7, 0).unit(number)).as_secs_f64()).collect();
        let mean = all.iter().sum::<f64>() / all.len() as f64 / MEAN_PAUSE.as_secs_f64();
        assert!((mean - 1.0).abs() < 0.05, "{mean}");
        let short = all.iter().filter(|pause| **pause < MEAN_PAUSE.as_secs_f64()).count();
        // 1 − 1/e of them are shorter than the mean.
        assert!((short as f64 / all.len() as f64 - 0.632).abs() < 0.03, "{short}");
        assert_eq!(pause(0.0), Duration::ZERO);
        assert_eq!(pause(1.0), MEAN_PAUSE.mul_f64(MOST_MEANS));
    }

    #[test]
    fn a_round_of_a_slow_program_has_fewer_samples() {
        let check = |milliseconds: f64, expected: u32| {
            assert_eq!(samples(Protocol::FINAL, Seconds(milliseconds / 1e3)), expected);
        };
        check(0.01, 5);
        check(20.0, 5);
        check(24.0, 4);
        check(49.0, 2);
        check(2000.0, 1);
        check(0.0, 5);
    }

    #[test]
    fn slow_programs_run_often_enough() {
        use Stopped::{Budget, Precise};
        let enough = LEAST_ROUNDS as u64;
        let check = |stops: &[Option<Stopped>], round: u64, expected: Option<Stopped>| {
            assert_eq!(end(stops, round, enough), expected, "{stops:?} after {round}");
        };
        check(&[Some(Budget), Some(Budget)], 1, None);
        check(&[Some(Budget), Some(Budget)], enough - 1, None);
        check(&[Some(Budget), Some(Budget)], enough, Some(Budget));
        check(&[Some(Budget), None], enough, Some(Budget));
        check(&[Some(Precise), Some(Precise)], enough - 1, None);
        check(&[Some(Precise), Some(Precise)], enough, Some(Precise));
        check(&[Some(Precise), None], enough, None);
        check(&[None], 40, None);
        assert_eq!(end(&[Some(Budget)], 2, FEWEST_ROUNDS), None);
        assert_eq!(end(&[Some(Budget)], FEWEST_ROUNDS, FEWEST_ROUNDS), Some(Budget));
        assert_eq!(end(&[Some(Budget)], 1, 1), Some(Budget));
    }
}
