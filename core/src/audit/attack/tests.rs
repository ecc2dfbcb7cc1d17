//! Mutants of small kernels, and what becomes of them.

use std::path::Path;
use std::time::Duration;

use super::{AttackBench, AttackReport, AttackRequest, Attacked, Fate, Mutation, attack, mutants};
use crate::audit::{AuditError, VerdictSource};
use crate::evaluate::{EvaluateError, PolicyUse, Run};
use crate::project::{Kernel, Project, Workload};
use crate::verify::not_judged::NotJudged;
use crate::verify::verdict::{Checks, Failure, Passed, Step};

/// The mutants of one kind of a kernel with this body: the new text of each, without the rest.
fn made(mutation: Mutation, body: &str) -> Vec<String> {
    let text = format!("/*@ lightbench() @*/\n__global__ void k(float* p, int n) {{\n{body}\n}}\n");
    let found = mutants(&text).into_iter().filter(|mutant| mutant.mutation == mutation);
    found.map(|mutant| mutant.what).collect()
}

#[test]
fn each_kind_of_change_has_its_places() {
    let cases: &[(Mutation, &str, &[&str])] = &[
        (Mutation::DropBarrier, "__syncthreads();", &["without `__syncthreads();`"]),
        (Mutation::DropBarrier, "p[0] = __shfl_down_sync(~0u, p[0], 1);", &[]),
        (
            Mutation::MoveBarrier,
            "__syncthreads(); p[0] = 1;",
            &["`p[0] = 1; __syncthreads();` for `__syncthreads(); p[0] = 1;`"],
        ),
        (Mutation::DropFence, "__threadfence();", &["without `__threadfence();`"]),
        (Mutation::NarrowScope, "__threadfence();", &["`__threadfence_block` for `__threadfence`"]),
        (Mutation::NarrowScope, "asm(\"fence.acq_rel.gpu;\");", &["`.cta` for `.gpu`"]),
        (Mutation::MoveWait, "mbarrier_wait(p);", &["without `mbarrier_wait(p);`"]),
        (Mutation::WeakenWait, "asm(\"cp.async.wait_group 0;\");", &["`1` for `0`"]),
        (Mutation::ExpectBytes, "expect_tx(p, n * 4);", &["`(n * 4) + 16` for `n * 4`"]),
        (Mutation::FlipParity, "wait(p, phase);", &["`(phase) ^ 1` for `phase`"]),
        (
            Mutation::SwapIndexTerms,
            "p[n * 4 + 1] = n * 2 + 1;",
            &["`(1) * (4) + n` for `n * 4 + 1`"],
        ),
        (Mutation::ShortenLoop, "for (int i = 0; i < n; ++i) {}", &["`(n) - 1` for `n`"]),
        (
            Mutation::ChangeConstant,
            "p[0] = 2.5f;",
            &["`(0 + 1)` for `0`", "`(1.01f * 2.5f)` for `2.5f`"],
        ),
        (Mutation::ChangeConstant, "p[n] = 0.0f;", &["`0.01f` for `0.0f`"]),
        (Mutation::NarrowType, "long long i = n;", &["`int` for `long long`"]),
        (
            Mutation::NarrowAccumulator,
            "float s = p[n]; s += p[n];",
            &["`s = __uint_as_float(__float_as_uint(s + (p[n])) & 0xffff0000` for `s += p[n]`"],
        ),
        (Mutation::RemoveGuard, "if (n > 3) return;", &["`(false)` for `(n > 3)`"]),
        (Mutation::RemoveGuard, "if (n > 3) { p[n] = n; }", &["`(true)` for `(n > 3)`"]),
        (Mutation::ShiftGuard, "if (n > 3 || n <= 1) return;", &["`<` for `<=`", "`>=` for `>`"]),
        (Mutation::SwapExtremes, "p[n] = fmaxf(p[n], 1.0f);", &["`fminf` for `fmaxf`"]),
    ];
    for (mutation, body, expected) in cases {
        assert_eq!(made(*mutation, body), *expected, "{mutation}: {body}");
    }
}

#[test]
fn a_tensor_map_has_another_swizzle() {
    let text = "/*@ lightbench(maps: [(swizzle: b64)]) @*/\n__global__ void k() {}\n";
    let found = mutants(text);
    let [only] = found.as_slice() else { panic!("{found:?}") };
    assert_eq!((only.mutation, only.line), (Mutation::ChangeSwizzle, 1));
    assert!(only.source.contains("swizzle: b128"), "{}", only.source);
    assert!(mutants("no kernel {{{").is_empty());
}

/// A bench that decides by the text of the kernel.
#[derive(Default)]
struct Scripted {
    verdicts: usize,
}

impl VerdictSource for Scripted {
    fn verdict(
        &mut self,
        _name: &str,
        kernel: &Kernel,
        _policy: PolicyUse,
    ) -> Result<Run, EvaluateError> {
        self.verdicts += 1;
        let text = &kernel.source;
        let passed = |digest: &str, worst_error: f64| {
            let digests = vec![digest.to_owned()];
            let checks = Checks { digests, worst_error, ..Checks::default() };
            Ok(Passed { checks, timings: Vec::new() })
        };
        let (step, workload, at) = (Step::Results, None, None);
        let verdict = if text.contains("const int index") {
            passed("other", 0.9)
        } else if text.contains("(true)") {
            Err(Failure::TimedOut { step, workload, limit: Duration::ZERO, at }.into())
        } else if text.contains("<=") {
            Err(NotJudged::DeviceLost { step, reason: "gone".to_owned() }.into())
        } else {
            passed("same", 0.1)
        };
        Ok(Run { candidate: None, seed: 1, verdict, elapsed: Duration::ZERO })
    }
}

impl AttackBench for Scripted {
    fn code(&mut self, kernel: &Kernel, _: &Workload) -> Result<Option<String>, AuditError> {
        let text = &kernel.source;
        let changes = ["const int index", "(true)", "<="];
        let changed = changes.iter().find(|change| text.contains(**change));
        Ok(Some(changed.map_or("", |change| *change).to_owned()))
    }
}

fn attacked(budget: usize, known: &[Attacked]) -> (AttackReport, Vec<Attacked>, usize) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../sample-projects/vector-add");
    let project = Project::load(&folder).unwrap();
    let request =
        AttackRequest { project: &project, kernel: Some("naive"), budget, seed: 1, known };
    let (mut bench, mut recorded) = (Scripted::default(), Vec::new());
    let mut record = |mutant: &Attacked| {
        recorded.push(mutant.clone());
        Ok(())
    };
    let report = attack(&request, &mut bench, &mut record).unwrap();
    (report, recorded, bench.verdicts)
}

#[test]
fn mutants_are_told_apart_by_their_code_their_verdict_and_their_results() {
    let (report, recorded, verdicts) = attacked(100, &[]);
    assert_eq!(recorded, report.mutants);
    assert_eq!((report.all, report.mutants.len()), (4, 4));
    let fate = |mutation: Mutation, line: usize, what: &str| {
        let mut found = report.mutants.iter().filter(|mutant| {
            (mutant.mutation, mutant.line) == (mutation, line) && mutant.what.contains(what)
        });
        found.next().map(|mutant| mutant.fate)
    };
    assert_eq!(fate(Mutation::RemoveGuard, 17, "(true)"), Some(Fate::Caught));
    assert_eq!(fate(Mutation::ShiftGuard, 17, "<="), Some(Fate::NotJudged));
    assert_eq!(report.count(Fate::Hole), 1);
    assert_eq!(report.count(Fate::Equivalent), 1);
    assert_eq!(report.score(), Some(0.5));
    // The kernel itself, and the mutants with other code.
    assert_eq!(verdicts, 4);
}

#[test]
fn a_larger_budget_continues_an_attack() {
    let (first, _, _) = attacked(2, &[]);
    let (second, recorded, _) = attacked(4, &first.mutants);
    assert_eq!(second.mutants.get(..2), Some(first.mutants.as_slice()));
    assert_eq!(recorded.as_slice(), &second.mutants[2..]);
}
