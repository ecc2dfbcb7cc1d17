//! The rules of waiting, against random requests, cancellations and ends.

use proptest::prelude::*;

use crate::engine::event::CancelReason;
use crate::engine::queue::{AfterRun, CancelOutcome, Job, Queue, RunEnd};
use crate::engine::request::{AskedBy, RequestId, Topic};

#[derive(Clone, Copy, Debug)]
enum Move {
    Push { kernel: u8, asked_by: AskedBy },
    Begin,
    End(RunEnd),
    Cancel { id: u64 },
    Stop,
}

fn moves() -> impl Strategy<Value = Vec<Move>> {
    let asked_by = prop_oneof![Just(AskedBy::Person), Just(AskedBy::Background)];
    let ran = prop_oneof![Just(RunEnd::Completed), Just(RunEnd::Cancelled)];
    let one = prop_oneof![
        8 => (0_u8..4, asked_by).prop_map(|(kernel, asked_by)| Move::Push { kernel, asked_by }),
        6 => Just(Move::Begin),
        6 => ran.prop_map(Move::End),
        2 => (0_u64..40).prop_map(|id| Move::Cancel { id }),
        1 => Just(Move::Stop),
    ];
    prop::collection::vec(one, 1..60)
}

/// What a queue must keep, told move by move.
#[derive(Default)]
struct Ledger {
    taken: Vec<u64>,
    ended: Vec<(u64, Option<CancelReason>)>,
    running: Option<Job<()>>,
}

impl Ledger {
    fn end(&mut self, id: RequestId, because: Option<CancelReason>) {
        assert!(self.taken.contains(&id.0), "{id} was taken");
        assert!(self.ended.iter().all(|(ended, _)| *ended != id.0), "{id} ends once");
        self.ended.push((id.0, because));
    }

    fn carry_out(&mut self, queue: &mut Queue<()>, number: u64, one: Move) {
        match one {
            Move::Push { kernel, asked_by } => {
                let topic = Topic {
                    project: "project".into(),
                    kernel: kernel.to_string(),
                    chosen: std::collections::BTreeMap::new(),
                    asked_by,
                };
                let id = RequestId(number);
                let Ok(taken) = queue.push(Job { id, topic, task: () }) else { return };
                self.taken.push(number);
                for (older, because) in taken.ended {
                    assert_eq!(because, CancelReason::SupersededBy(id));
                    self.end(older, Some(because));
                }
            }
            Move::Begin => {
                if self.running.is_none()
                    && let Some((job, token)) = queue.begin()
                {
                    assert!(!token.is_cancelled(), "what begins is wanted");
                    self.running = Some(job);
                }
            }
            Move::End(ran) => {
                let Some(job) = self.running.take() else { return };
                let id = job.id;
                match queue.end(job, ran) {
                    AfterRun::Ends => {
                        assert_eq!(ran, RunEnd::Completed);
                        self.end(id, None);
                    }
                    AfterRun::EndsCancelled(because) => self.end(id, Some(because)),
                    AfterRun::WaitsAgain { .. } => {
                        assert!(!queue.is_stopping(), "nothing waits when nothing is wanted");
                    }
                }
            }
            Move::Cancel { id } => {
                if queue.cancel(RequestId(id)) == CancelOutcome::Waiting {
                    self.end(RequestId(id), Some(CancelReason::Requested));
                }
            }
            Move::Stop => {
                for (id, because) in queue.stop() {
                    self.end(id, Some(because));
                }
            }
        }
    }
}

proptest! {
    #[test]
    fn every_request_that_is_taken_ends_once(moves in moves()) {
        let mut queue = Queue::new();
        let mut ledger = Ledger::default();
        for (number, one) in moves.into_iter().enumerate() {
            ledger.carry_out(&mut queue, number as u64, one);
        }
        ledger.carry_out(&mut queue, u64::MAX, Move::Stop);
        ledger.carry_out(&mut queue, u64::MAX, Move::End(RunEnd::Cancelled));
        prop_assert!(queue.begin().is_none());
        let mut ended: Vec<u64> = ledger.ended.iter().map(|(id, _)| *id).collect();
        ended.sort_unstable();
        prop_assert_eq!(ended, ledger.taken);
    }

    #[test]
    fn no_background_request_begins_while_a_persons_waits(moves in moves()) {
        let mut queue = Queue::new();
        let mut ledger = Ledger::default();
        for (number, one) in moves.into_iter().enumerate() {
            ledger.carry_out(&mut queue, number as u64, one);
        }
        ledger.carry_out(&mut queue, u64::MAX, Move::End(RunEnd::Completed));
        let mut background = false;
        while let Some((job, _)) = queue.begin() {
            prop_assert!(!(background && job.topic.asked_by == AskedBy::Person));
            background |= job.topic.asked_by == AskedBy::Background;
            queue.end(job, RunEnd::Completed);
        }
    }
}
