//! Arguments of `lesson`, `access` and `timeline`.

use std::path::PathBuf;

use clap::Args;

use super::whole;

/// Show a lesson, and check that its goals are reachable but not reached at first.
///
/// The initial kernel must not reach them, and the solutions must. This is for authors of lessons; it runs on the
/// virtual GPU unless a GPU is named.
#[derive(Debug, Args)]
pub struct Lesson {
    /// A project folder with a lesson.ron.
    #[arg(default_value = ".", value_name = "PROJECT")]
    pub project: PathBuf,

    /// Run the kernels in this folder, one file or folder for each student, and report the goals that they reach.
    #[arg(long, value_name = "SUBMISSIONS")]
    pub grade: Option<PathBuf>,

    /// `cuda`, `cuda:1`, or `virtual:` and a device sheet.
    #[arg(long, default_value = "virtual:h200", value_name = "DEVICE")]
    pub device: String,

    /// The seed of all random inputs; the same seed gives the same inputs.
    #[arg(long, default_value_t = 1, value_name = "N", value_parser = whole::<u64>)]
    pub seed: u64,

    /// The result as JSON on standard output.
    #[arg(long)]
    pub json: bool,
}

/// Show the memory accesses of a warp at a line of a kernel: addresses, sectors, banks.
///
/// Needs no GPU: the virtual GPU runs the kernel on the inputs of a small workload.
#[derive(Debug, Args)]
pub struct Access {
    /// A project folder, or a kernel file of one.
    #[arg(default_value = ".", value_name = "PROJECT")]
    pub target: PathBuf,

    /// The kernel [default: the first].
    #[arg(long, value_name = "NAME")]
    pub kernel: Option<String>,

    /// A line of its file [default: a list of the lines that access memory].
    #[arg(long, value_name = "N", value_parser = whole::<u32>)]
    pub line: Option<u32>,

    /// The warp within the block.
    #[arg(long, default_value_t = 0, value_name = "N", value_parser = whole::<u32>)]
    pub warp: u32,

    /// The block within the grid, such as 3 or 1,2,0.
    #[arg(long, default_value = "0", value_name = "X[,Y[,Z]]", value_parser = block)]
    pub block: [u32; 3],

    /// Which execution of the line by the warp, from 1.
    #[arg(long, default_value_t = 1, value_name = "N", value_parser = whole::<usize>)]
    pub execution: usize,

    /// The workload [default: the largest one for verification].
    #[arg(long, value_name = "NAME")]
    pub workload: Option<String>,

    /// The device sheet that the virtual GPU uses (see `lightbench devices`).
    #[arg(long, default_value = "h200", value_name = "SHEET")]
    pub device: String,

    /// The seed of all random inputs; the same seed gives the same inputs.
    #[arg(long, default_value_t = 1, value_name = "N", value_parser = whole::<u64>)]
    pub seed: u64,

    /// The result as JSON on standard output.
    #[arg(long)]
    pub json: bool,
}

/// Show what the warps of a block do at each time: copies, products, and what each warp waits for.
///
/// Needs no GPU: all times are modelled. Each launch of the kernel has its own timeline, of the block that starts first
/// on a multiprocessor.
#[derive(Debug, Args)]
pub struct Timeline {
    /// A project folder, or a kernel file of one.
    #[arg(default_value = ".", value_name = "PROJECT")]
    pub target: PathBuf,

    /// The kernel [default: the first].
    #[arg(long, value_name = "NAME")]
    pub kernel: Option<String>,

    /// The workload [default: the first one that is timed].
    #[arg(long, value_name = "NAME")]
    pub workload: Option<String>,

    /// The device sheet whose rates the model uses (see `lightbench devices`).
    #[arg(long, default_value = "h200", value_name = "SHEET")]
    pub device: String,

    /// The seed of all random inputs; the same seed gives the same inputs.
    #[arg(long, default_value_t = 1, value_name = "N", value_parser = whole::<u64>)]
    pub seed: u64,

    /// Write the timeline of the longest launch to this file as SVG.
    #[arg(long, value_name = "FILE")]
    pub svg: Option<PathBuf>,

    /// The result as JSON on standard output.
    #[arg(long)]
    pub json: bool,
}

fn block(text: &str) -> Result<[u32; 3], String> {
    let mut index = [0; 3];
    let parts: Vec<&str> = text.split(',').collect();
    let expected = || "expected one to three whole numbers, such as 3 or 1,2,0".to_owned();
    if parts.len() > index.len() {
        return Err(expected());
    }
    for (place, part) in index.iter_mut().zip(parts) {
        *place = part.trim().parse().map_err(|_error| expected())?;
    }
    Ok(index)
}
