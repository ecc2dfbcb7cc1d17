//! `lightbench picture`: renders the window as a PNG, without a display or a GPU.

use std::fmt::Display;
use std::io::{self, Cursor};
use std::path::Path;

use image::{ImageFormat, RgbaImage};
use lightbench_core::whole_file;

use crate::args::Picture;
use crate::outcome::Outcome;
use crate::report;
use crate::session::Session;
use crate::theme::ThemeName;
use crate::window::headless::HeadlessError;
use crate::window::picture::{Profiling, Runs, Subject, picture};
use crate::workbench::panel::{LayoutName, Panel};

/// Renders and writes the picture.
pub fn run(session: Session, arguments: &Picture) -> Outcome {
    let subject = match subject(arguments) {
        Ok(subject) => subject,
        Err(message) => return report::request(&message, false),
    };
    let out = arguments.paths.last().cloned().unwrap_or_default();
    match picture(session, &subject) {
        Ok(image) => match written(&image, &out) {
            Ok(()) => {
                let (width, height) = image.dimensions();
                Outcome::passed(format!("{width} x {height} pixels in {}\n", out.display()))
            }
            Err(error) => report::unwritten(&out, &error, false),
        },
        Err(HeadlessError::Project(message)) => report::request(&message, false),
        Err(error @ (HeadlessError::Start(_) | HeadlessError::TooLong { .. })) => {
            report::environment(&error, false)
        }
    }
}

fn written(image: &RgbaImage, path: &Path) -> io::Result<()> {
    let mut bytes = Cursor::new(Vec::new());
    image.write_to(&mut bytes, ImageFormat::Png).map_err(io::Error::other)?;
    whole_file::replace(path, bytes.get_ref())
}

fn subject(arguments: &Picture) -> Result<Subject, String> {
    let project = match arguments.paths.as_slice() {
        [project, _] => Some(project.clone()),
        _ => None,
    };
    let panel = arguments.panel.as_deref();
    let panel =
        panel.map(|name| chosen(name, "panel", &Panel::ALL, |panel| panel.title().to_owned()));
    Ok(Subject {
        project,
        kernel: arguments.kernel.clone(),
        panel: panel.transpose()?,
        layout: chosen(&arguments.layout, "layout", &LayoutName::ALL, ToString::to_string)?,
        theme: chosen(&arguments.theme, "theme", &ThemeName::ALL, ToString::to_string)?,
        size: arguments.size,
        scale: arguments.scale,
        run: match (arguments.run, arguments.run_all) {
            (_, true) => Runs::All,
            (true, false) => Runs::One,
            (false, false) => Runs::None,
        },
        profiling: if arguments.profile { Profiling::Asked } else { Profiling::NotAsked },
    })
}

/// The item with this title, regardless of spaces and case.
fn chosen<T: Copy>(
    name: &str,
    what: &str,
    all: &[T],
    title: impl Fn(&T) -> String,
) -> Result<T, String> {
    let plain = |text: &dyn Display| text.to_string().to_lowercase().replace([' ', '_'], "-");
    let wanted = plain(&name);
    let found = all.iter().find(|one| plain(&title(one)) == wanted);
    found.copied().ok_or_else(|| {
        let known: Vec<String> = all.iter().map(|one| plain(&title(one))).collect();
        format!("there is no {what} `{name}`; known: {}", known.join(", "))
    })
}
