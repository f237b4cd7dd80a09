//! `heatmap`: how long the disks of a DataNode take, over time.

use super::output;
use super::target::{Target, fetch};
use crate::failure::{Outcome, complain};
use crate::http::escape;
use clap::Args;
use std::path::{Path, PathBuf};
use std::time::Duration;

const PATIENCE: Duration = Duration::from_secs(60);

/// Options of `heatmap`.
#[derive(Args)]
pub struct Heatmap {
    #[command(flatten)]
    target: Target,
    /// The last so many minutes, up to 60
    #[arg(long, value_name = "N", default_value = "10")]
    minutes: String,
    /// File; one that ends with .json gets the figures. Without it the picture is printed
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

pub fn run(options: &Heatmap) -> i32 {
    heatmap(options).map_or_else(|failure| complain("heatmap", &failure), |()| 0)
}

fn heatmap(options: &Heatmap) -> Outcome {
    let address = options.target.address()?;
    let ending = |file: &Path| file.extension().is_some_and(|ending| ending == "json");
    let format = if options.output.as_deref().is_some_and(ending) { "json" } else { "svg" };
    let user = options.target.user_query();
    let path = format!("/heatmap?minutes={}&format={format}&{user}", escape(&options.minutes));
    output::write(&mut fetch(&address, &path, PATIENCE)?, options.output.as_deref())
}
