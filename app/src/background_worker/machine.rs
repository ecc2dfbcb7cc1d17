//! Detects devices and the compiler, and disassembles machine code.

use std::sync::Arc;

use lightbench_core::cancellation::Cancellation;
use lightbench_core::compile::facts::Facts;
use lightbench_core::compile::sass::{SassFunction, SourceLine};
use lightbench_core::device::{DeviceName, DeviceSheet, LocalDevice};
use lightbench_core::engine::{DeviceSetting, Engine, Settings, Wake};
use lightbench_core::nsight::Profiler;
use lightbench_core::toolchain::doctor::examine;
use lightbench_core::toolchain::{
    Libraries, NsightProgram, Toolchain, discover, libraries, nsight,
};

use super::TaskRunner;
use crate::commands::evaluation_setup::{ChosenDevice, open_device};
use crate::commands::python_setup;
use crate::workbench::background_task::{DetectedMachine, DeviceChoice, TaskResult};
use crate::workbench::notices::NoticeLevel;

/// The first device if there is no GPU.
const FIRST_VIRTUAL: &str = "h200";

fn choice(chosen: &ChosenDevice) -> DeviceChoice {
    DeviceChoice {
        name: chosen.device.clone(),
        sheet: chosen.sheet,
        title: chosen.title.clone(),
        calibration: chosen.calibration().cloned(),
        remarks: chosen.remarks().to_vec(),
    }
}

impl TaskRunner {
    pub(super) fn find_machine(&mut self) {
        let found = self.machine();
        self.results.send(TaskResult::Machine(found));
    }

    pub(super) fn fetch_compiler(&mut self) {
        let set = self.session.compiler_to_fetch();
        let megabytes = set.download_megabytes();
        let notice = format!("fetching the compiler with pip: {megabytes} MB");
        self.results.notice(NoticeLevel::Note, notice);
        match self.session.fetch(set) {
            Ok(()) => self.results.notice(NoticeLevel::Good, "the compiler is installed"),
            Err(error) => self.results.notice(NoticeLevel::Error, error.to_string()),
        }
        self.find_machine();
    }

    fn machine(&mut self) -> Result<DetectedMachine, String> {
        let told = |error: &dyn std::fmt::Display| error.to_string();
        let toolchain = self.toolchain()?;
        let command = self.session.worker_command().map_err(|error| told(&error))?;
        let libraries = libraries(&self.session.host);
        let mut devices = Vec::new();
        let mut settings = Vec::new();
        let mut without_gpu = None;
        for ordinal in 0_u32.. {
            match open_device(&self.session, &command, &format!("cuda:{ordinal}")) {
                Ok((chosen, checker)) => {
                    settings.push(DeviceSetting {
                        device: chosen.device.clone(),
                        checker,
                        libraries: libraries.clone(),
                    });
                    for notice in chosen.notices() {
                        self.results.notice(NoticeLevel::Warning, notice);
                    }
                    devices.push(chosen);
                }
                Err(unopened) => {
                    if ordinal == 0 {
                        without_gpu = Some(unopened.reason().to_owned());
                    }
                    break;
                }
            }
        }
        let mut sheets = DeviceSheet::all().map_err(|error| told(&error))?;
        sheets.sort_by_key(|sheet| (sheet.name != FIRST_VIRTUAL, sheet.title.clone()));
        for sheet in sheets {
            let device = DeviceName::from(LocalDevice::Virtual(sheet));
            let title = format!("virtual {}", sheet.title);
            let libraries = Libraries::default();
            settings.push(DeviceSetting { device: device.clone(), checker: None, libraries });
            devices.push(ChosenDevice { device, sheet, title, virtual_reason: None, gpu: None });
        }
        let compiler = format!("NVRTC {}", toolchain.nvrtc.version);
        let wake = Arc::clone(&self.results.wake);
        let settings = Settings {
            command,
            hosts: self.session.hosts.clone(),
            toolchain,
            python: python_setup::access(&self.session),
            cache: self.session.host.cache.clone(),
            devices: settings,
            wake: Some(Wake(Box::new(move || wake()))),
        };
        let evaluator = Arc::new(Engine::start(settings).map_err(|error| told(&error))?);
        self.engine = Some(Arc::clone(&evaluator));
        self.devices = devices;
        let devices = self.devices.iter().map(choice).collect();
        let (evaluator, profiler) = (Box::new(evaluator), self.profiler());
        Ok(DetectedMachine { evaluator, devices, compiler, without_gpu, profiler })
    }

    /// The hardware profiler, or why it is unavailable.
    fn profiler(&self) -> Result<Profiler, String> {
        let surroundings = &self.session.host;
        let ncu = nsight(surroundings, NsightProgram::CommandLine);
        Ok(Profiler {
            ncu: ncu.map_err(|absent| absent.to_string())?,
            command: self.session.launch_once_command().map_err(|error| error.to_string())?,
            path: surroundings.path.clone(),
        })
    }

    /// The installed compiler; this fetches nothing.
    pub(super) fn toolchain(&self) -> Result<Toolchain, String> {
        discover(&self.session.host).into_toolchain().map_err(|error| error.to_string())
    }

    pub(super) fn disassemble(&self, facts: Arc<Facts>) {
        let sass = self.sass(&facts);
        self.results.send(TaskResult::Sass(facts, sass));
    }

    fn sass(&self, facts: &Facts) -> Result<Vec<SassFunction>, String> {
        let mut compiler = self.compiler()?;
        let artifact = &facts.artifact;
        let disassembled = compiler.disassemble(artifact, &Cancellation::new());
        let mut functions = disassembled.map_err(|error| error.to_string())?;
        for instruction in functions.iter_mut().flat_map(|function| &mut function.instructions) {
            let known = |line: &SourceLine| SourceLine {
                file: artifact.names.display_name(&line.file).into(),
                line: line.line,
            };
            instruction.source = instruction.source.iter().map(known).collect();
        }
        Ok(functions)
    }

    pub(super) fn examine(&self) {
        let mut report = examine(&self.session.host);
        report.findings.push(python_setup::finding(&self.session));
        self.results.send(TaskResult::DoctorReport(Box::new(report)));
    }
}
