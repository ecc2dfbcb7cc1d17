//! Tests of hardware counters, energy and cache conditions, requested by keys and menus.

use egui_kittest::kittest::NodeT as _;
use lightbench_core::device::{DeviceSheet, LocalDevice};
use lightbench_core::engine::{CancelReason, Request, RequestId};
use lightbench_core::evaluate::profiled::Profiled;
use lightbench_core::measure::energy::Joules;
use lightbench_core::measure::{
    Conditions, DeviceMemory, Energy, EnergyError, EnergyUse, ExtraModes, Mode, Timing,
};
use lightbench_core::nsight::metric::{Unit, everything};
use lightbench_core::nsight::quantity::Quantity;
use lightbench_core::nsight::{Hardware, Measured, Profile, ProfiledLaunch, Profiler, stalls};
use lightbench_core::units::{Bytes, Hertz, Seconds, Watts};
use lightbench_core::verify::verdict::TimingUse;
use lightbench_core::worker::command::WorkerCommand;

use super::*;
use crate::workbench::background_task::{DetectedMachine, DeviceChoice};
use crate::workbench::command::MeasureCommand;
use crate::workbench::settings::Heat;
use crate::workbench::tests::timing;

/// The window on a machine with a GPU and a profiler.
fn on_a_gpu(
    theme: ThemeName,
    profiler: Result<Profiler, String>,
) -> (Harness<'static, State>, Script) {
    let (mut harness, script) = shown(theme, SIZE);
    let sheet = DeviceSheet::named("h200").unwrap();
    let (name, title) = (LocalDevice::Cuda(0).into(), "NVIDIA H200".to_owned());
    script.find(TaskResult::Machine(Ok(DetectedMachine {
        evaluator: Box::new(script.clone()),
        devices: vec![DeviceChoice { name, sheet, title, calibration: None, remarks: Vec::new() }],
        compiler: "NVRTC 13.5".to_owned(),
        without_gpu: None,
        profiler,
    })));
    harness.run();
    (harness, script)
}

fn profiler() -> Profiler {
    let command = WorkerCommand::new("/bin/lightbench", ["launch-once"]);
    Profiler { ncu: "/opt/ncu".into(), command, path: Vec::new() }
}

/// The profile request, if there is one.
fn asked(script: &Script) -> Option<(RequestId, String, Option<String>)> {
    let scripted = script.get();
    let numbered = scripted.asked.iter().zip(1..);
    let profiles = numbered.filter_map(|(request, number)| match request {
        Request::Profile(work, conditions, _) => {
            let (kernel, workload) = (work.kernel.name.clone(), conditions.workload.clone());
            Some((RequestId::from_number(number), kernel, workload))
        }
        Request::Evaluate(..)
        | Request::Screen(..)
        | Request::Compare(..)
        | Request::Compile(..)
        | Request::CompileAhead(..)
        | Request::Cancel(_)
        | Request::Stop => None,
    });
    profiles.last()
}

/// Numbers of an H200, and stalls at two lines of the kernel.
fn counted(kernel: &str) -> Hardware {
    let quantity = |unit: Unit| match unit {
        Unit::Seconds => Quantity::Seconds(128.3e-6),
        Unit::Bytes => Quantity::Bytes(536_870_912.0),
        Unit::Percent => Quantity::Percent(76.84),
        Unit::Count => Quantity::Count(1_048_576.0),
        Unit::Ratio => Quantity::Ratio(3.25),
    };
    let each = everything().metrics.into_iter();
    let measured =
        each.map(|metric| Measured { metric, quantity: Some(quantity(metric.unit)) }).collect();
    let (grid, block) = ("(16384, 1, 1)".to_owned(), "(256, 1, 1)".to_owned());
    let launch = ProfiledLaunch { kernel: kernel.to_owned(), grid, block, measured };
    let page = format!(
        "\"File Path\",\"/lightbench/kernels/{kernel}.cu\"\n\"Line No\",\"Source\",\"Address\",\"Source\",\"stall_long_sb\",\"stall_barrier\"\n\
         \"12\",\"\",\"-\"\n\"\",\"\",\"0x10\",\"FMUL R2, R2, R4\",\"870\",\"30\"\n\"14\",\"\",\"-\"\n\"\",\"\",\"0x20\",\"BAR.SYNC\",\"0\",\"100\"\n"
    );
    let profile = Profile { launches: vec![launch], in_all: 1, unknown: Vec::new() };
    Hardware { profile, stalls: Ok(stalls::read(&page).unwrap()) }
}

#[test]
fn a_kernel_is_profiled_by_a_key_and_its_lines_say_where_warps_waited() {
    for theme in ThemeName::ALL {
        let (mut harness, script) = on_a_gpu(theme, Ok(profiler()));
        press(&mut harness, Modifiers::COMMAND, Key::F5);
        let (request, kernel, workload) = asked(&script).expect("Ctrl+F5 profiles");
        assert_eq!(workload.as_deref(), Some(WORKLOAD));
        harness.get_by_label_contains("then profiling with Nsight Compute");
        let hardware = Some(counted(&kernel));
        let run = passed(7, 1.2e-4);
        let profiled = Profiled { run, workload: WORKLOAD.to_owned(), hardware };
        let ending = Ending::Profiled(Box::new(profiled));
        script.say(Event::Finished { request, ending });
        harness.state_mut().window.carry_out(Command::SetHeat(Heat::Stalls), NOW);
        harness.run();
        harness.get_by_label_contains("measured by Nsight Compute on NVIDIA H200");
        harness.get_by_label("DRAM bytes read");
        harness.get_by_label("90.0 %");
        harness.get_by_label("of 1\u{2009}000 samples");
        harness.get_by_label_contains("long scoreboard 97 %");
        let name = "Beside the lines: waiting";
        harness.get_by_label(name);
        testing::snapshot(&harness, "flow-profile");
        harness.get_by_label("line 12").click();
        harness.run();
        let file = harness.state().window.bench.documents.front().unwrap().file.clone();
        let (views, bench) = (&harness.state().window.views, &harness.state().window.bench);
        assert_eq!(views.editor.cursor(&file, &bench.documents), Some((12, 1)));
    }
}

#[test]
fn numbers_of_a_text_from_before_say_so() {
    let (mut harness, script) = on_a_gpu(ThemeName::Dark, Ok(profiler()));
    press(&mut harness, Modifiers::COMMAND, Key::F5);
    let (request, kernel, _) = asked(&script).unwrap();
    let hardware = Some(counted(&kernel));
    let profiled = Profiled { run: passed(7, 1.2e-4), workload: WORKLOAD.to_owned(), hardware };
    script.say(Event::Finished { request, ending: Ending::Profiled(Box::new(profiled)) });
    harness.run();
    let mut read = project();
    let mut kernels = read.kernels.iter_mut();
    kernels.find(|known| known.name == kernel).unwrap().source.push_str("// changed\n");
    script.find(TaskResult::Project(folder(), Box::new(Ok(read))));
    harness.run();
    harness.get_by_label_contains("Measured before the latest change of the text");
}

#[test]
fn where_nothing_can_be_profiled_a_sentence_says_why() {
    let check = |harness: &mut Harness<'static, State>, script: &Script, expected: &str| {
        press(harness, Modifiers::COMMAND, Key::F5);
        assert!(asked(script).is_none());
        harness.get_by_label_contains(expected);
    };
    let (mut harness, script) = shown(ThemeName::Dark, SIZE);
    harness.run();
    check(&mut harness, &script, "only a GPU has hardware counters");
    let absent = Err("Nsight Compute is not installed: there is no `ncu` on PATH".to_owned());
    let (mut harness, script) = on_a_gpu(ThemeName::Dark, absent);
    check(&mut harness, &script, "there is no `ncu` on PATH");
}

#[test]
fn a_profile_that_nobody_wants_any_more_or_that_is_not_permitted_ends() {
    let (mut harness, script) = on_a_gpu(ThemeName::Dark, Ok(profiler()));
    press(&mut harness, Modifiers::COMMAND, Key::F5);
    let (request, ..) = asked(&script).unwrap();
    press(&mut harness, Modifiers::SHIFT, Key::F5);
    assert!(
        script
            .get()
            .asked
            .iter()
            .any(|asked| matches!(asked, Request::Cancel(id) if *id == request))
    );
    let ending = Ending::Cancelled { because: CancelReason::Requested, so_far: None };
    script.say(Event::Finished { request, ending });
    harness.run();
    assert!(harness.query_by_label_contains("then profiling with Nsight Compute").is_none());
    press(&mut harness, Modifiers::COMMAND, Key::F5);
    let (request, kernel, _) = asked(&script).unwrap();
    let why = "this user may not read the GPU's performance counters".to_owned();
    let error = lightbench_core::evaluate::EvaluateError::Environment(why);
    script.say(Event::Finished { request, ending: Ending::Impossible(error) });
    harness.run();
    assert!(harness.query_all_by_label_contains("may not read the GPU's performance").count() >= 1);
    let known = harness.state().window.bench.evaluations.kernel(&kernel).unwrap();
    assert!(known.obstacle.is_none(), "a verdict does not depend on a profiler");
}

/// A verdict with every condition and energy.
fn everything_measured(seed: u64) -> lightbench_core::evaluate::Run {
    let mut run = passed(seed, 1.28e-4);
    let timing = |mode: Mode, seconds: f64| Timing {
        mode,
        conditions: Conditions {
            sm_clock: Some((Hertz(1.74e9), Hertz(1.98e9))),
            power: Some(Watts(573.0)),
            celsius: Some(61),
            power_capped: true,
            other_processes: 0,
            locked: None,
            memory: Some(DeviceMemory { free: Bytes(97 << 30), total: Bytes(140 << 30) }),
        },
        ..timing(seconds)
    };
    let told = &mut run.verdict.as_mut().unwrap().timings[0];
    told.timings = vec![
        timing(Mode::Cold, 1.28e-4),
        timing(Mode::Warm, 1.31e-4),
        timing(Mode::Graph, 1.31e-4),
        timing(Mode::Server, 1.33e-4),
    ];
    told.energy = Some(Ok(Energy {
        each: Joules(0.06),
        interval: (Joules(0.0593), Joules(0.0607)),
        power: Watts(573.0),
        idle: Watts(124.0),
        executions: 18_000,
        elapsed: Seconds(2.4),
    }));
    run
}

#[test]
fn energy_and_every_condition_are_shown_where_they_were_measured() {
    for theme in ThemeName::ALL {
        for panel in [Panel::Timing, Panel::Device] {
            let (mut harness, script) = on_a_gpu(theme, Ok(profiler()));
            press(&mut harness, Modifiers::NONE, Key::F5);
            let ending = |seed| Ending::Evaluated(Box::new(everything_measured(seed)));
            settled(&mut harness, ending, &script);
            harness.state_mut().window.carry_out(Command::Show(panel), NOW);
            harness.run();
            // In the status bar, whatever panel is shown.
            harness.get_by_label_contains(
                "573 W · 61 °C · 97 GiB of 140 GiB free · 60.0 mJ an execution",
            );
            if panel == Panel::Timing {
                for label in ["cold", "warm", "graph", "server", "energy", "60.0 mJ"] {
                    harness.get_by_label(label);
                }
                harness.get_by_label("server").click();
                harness.run();
                let toggled = harness.get_by_label("server").accesskit_node().toggled();
                assert_eq!(toggled, Some(egui::accesskit::Toggled::True));
            } else {
                harness.get_by_label("reduced the clock");
                harness.get_by_label("at least 97 GiB of 140 GiB free");
            }
            testing::snapshot(&harness, &format!("measured-{}", panel.title()));
        }
    }
}

#[test]
fn a_device_without_a_meter_says_so() {
    let (mut harness, script) = on_a_gpu(ThemeName::Dark, Ok(profiler()));
    press(&mut harness, Modifiers::NONE, Key::F5);
    let ending = |seed| {
        let mut run = everything_measured(seed);
        run.verdict.as_mut().unwrap().timings[0].energy = Some(Err(EnergyError::NoCounter));
        Ending::Evaluated(Box::new(run))
    };
    settled(&mut harness, ending, &script);
    harness.state_mut().window.carry_out(Command::Show(Panel::Timing), NOW);
    harness.run();
    harness.get_by_label_contains("NVML has no energy counter");
}

#[test]
fn conditions_of_times_are_chosen_and_asked_for() {
    let check = |commands: &[Command], besides: ExtraModes, energy: EnergyUse| {
        let (mut bench, script) = opened();
        for command in commands {
            bench.carry_out(command.clone(), NOW);
        }
        bench.carry_out(Command::Run, NOW);
        let scripted = script.get();
        let protocol = scripted.asked.iter().find_map(|request| match request {
            Request::Evaluate(_, conditions) => match conditions.timing {
                TimingUse::Measure(protocol) => Some(protocol),
                TimingUse::Skip => None,
            },
            Request::Profile(..)
            | Request::Screen(..)
            | Request::Compare(..)
            | Request::Compile(..)
            | Request::CompileAhead(..)
            | Request::Cancel(_)
            | Request::Stop => None,
        });
        let protocol = protocol.unwrap();
        assert_eq!((protocol.besides, protocol.energy), (besides, energy), "{commands:?}");
    };
    let (mut harness, _) = on_a_gpu(ThemeName::Dark, Ok(profiler()));
    harness.get_by_label("On save: compile, verify and time").click();
    harness.run();
    testing::snapshot(&harness, "flow-measuring");
    harness.get_by_label("energy too").click();
    harness.run();
    let measuring = harness.state().window.bench.settings.measuring;
    assert_eq!(measuring.energy, EnergyUse::Measure);
    check(&[], ExtraModes::Nothing, EnergyUse::Skip);
    let besides = |besides| Command::Measure(MeasureCommand::Besides(besides));
    check(&[besides(ExtraModes::Graph)], ExtraModes::Graph, EnergyUse::Skip);
    let energy = Command::Measure(MeasureCommand::Energy(EnergyUse::Measure));
    let both = [besides(ExtraModes::Server), energy];
    check(&both, ExtraModes::Server, EnergyUse::Measure);
}

#[test]
fn a_run_of_the_history_is_read_for_what_its_row_does_not_hold() {
    let (mut harness, script) = shown(ThemeName::Dark, SIZE);
    harness.state_mut().window.carry_out(Command::Show(Panel::Timing), NOW);
    harness.run();
    script.handed();
    harness.get_by_label_contains("#4 vector16").click();
    harness.run();
    assert!(
        script.handed().iter().any(|task| matches!(task, BackgroundTask::ReadRun(_, RunNumber(4))))
    );
    let mut run = stored(4, "vector16", 0, Some(1.31e-4));
    let energy = match everything_measured(1).verdict.unwrap().timings.remove(0).energy {
        Some(Ok(energy)) => energy,
        other => panic!("{other:?}"),
    };
    let workload = run.record.timings()[0].workload.clone();
    if let lightbench_core::history::record::Outcome::Passed { energy: kept, .. } =
        &mut run.record.outcome
    {
        kept.insert(workload, energy);
    }
    script.find(read(&run, None));
    harness.run();
    harness.get_by_label("energy");
    harness.get_by_label("cold");
}
