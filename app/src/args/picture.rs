//! Arguments of `picture`.

use std::path::PathBuf;

use clap::Args;

/// Render the window as a PNG, without a display or a GPU.
#[derive(Debug, Args)]
pub struct Picture {
    /// The file to write; a project before it is opened first.
    #[arg(value_name = "[PROJECT] OUT.png", num_args = 1..=2, required = true)]
    pub paths: Vec<PathBuf>,

    /// Only this panel, such as `roofline` or `speed-of-light`.
    #[arg(long, value_name = "NAME")]
    pub panel: Option<String>,

    /// Edit, compare, search, teach or code.
    #[arg(long, value_name = "NAME", default_value = "edit")]
    pub layout: String,

    /// Dark, light or projector.
    #[arg(long, value_name = "NAME", default_value = "dark")]
    pub theme: String,

    /// Width and height in points.
    #[arg(long, value_name = "WIDTHxHEIGHT", default_value = "1280x800", value_parser = size)]
    pub size: [f32; 2],

    /// Pixels per point.
    #[arg(long, value_name = "FACTOR", default_value_t = 1.0, value_parser = scale)]
    pub scale: f32,

    /// The current kernel [default: the first].
    #[arg(long, value_name = "NAME")]
    pub kernel: Option<String>,

    /// Run that kernel first.
    #[arg(long, conflicts_with = "run_all")]
    pub run: bool,

    /// Run every kernel first.
    #[arg(long)]
    pub run_all: bool,

    /// Profile the kernel with Nsight Compute on the GPU first, and show stall samples beside the lines.
    #[arg(long)]
    pub profile: bool,
}

fn size(text: &str) -> Result<[f32; 2], String> {
    let parts = text.split_once('x');
    let side = |text: &str| text.parse::<u16>().ok().filter(|side| (100..=8000).contains(side));
    let found = parts.and_then(|(width, height)| Some([side(width)?, side(height)?]));
    let found = found.ok_or("expected a width and a height from 100 to 8000, such as 1280x800")?;
    Ok(found.map(f32::from))
}

fn scale(text: &str) -> Result<f32, String> {
    let found = text.parse::<f32>().ok().filter(|scale| (0.5..=4.0).contains(scale));
    found.ok_or_else(|| "expected a factor from 0.5 to 4".to_owned())
}
