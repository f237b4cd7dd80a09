//! `heatmap`: how long the disks of a DataNode take, over time.

use super::block::{self, Recorded};
use super::output;
use super::target::{Target, fetch};
use crate::failure::{Failure, Outcome, complain};
use crate::http::escape;
use crate::stop::Stop;
use clap::Args;
use serde_json::json;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use zerohop_profile::heat::{HeatMap, heat_picture};

const PATIENCE: Duration = Duration::from_secs(60);

/// Options of `heatmap`.
#[derive(Args)]
pub struct Heatmap {
    #[command(flatten)]
    target: Target,
    /// The last so many minutes, up to 60
    #[arg(long, value_name = "N", default_value = "10")]
    minutes: String,
    /// Record the disks of this machine for so many seconds instead: each request from its issue to its completion. For root
    #[arg(long, value_name = "SECONDS", num_args = 0..=1, default_missing_value = "60",
        value_parser = clap::value_parser!(u64).range(1..=3600), conflicts_with_all = ["address", "pid", "minutes"])]
    block: Option<u64>,
    /// File; one that ends with .json gets the figures. Without it the picture is printed
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

pub fn run(options: &Heatmap) -> i32 {
    heatmap(options).map_or_else(|failure| complain("heatmap", &failure), |()| 0)
}

fn heatmap(options: &Heatmap) -> Outcome {
    if let Some(seconds) = options.block {
        return requests(seconds, options);
    }
    let address = options.target.address("/heatmap")?;
    let format = if options.wants_json() { "json" } else { "svg" };
    let user = options.target.user_query();
    let path = format!("/heatmap?minutes={}&format={format}&{user}", escape(&options.minutes));
    output::write(&mut fetch(&address, &path, PATIENCE)?, options.output.as_deref())
}

impl Heatmap {
    fn wants_json(&self) -> bool {
        let ending = self.output.as_deref().and_then(|file| file.extension());
        ending.is_some_and(|ending| ending == "json")
    }
}

/// The requests to the disks of this machine. A signal ends the recording early, so that the kernel's trace ends with it.
fn requests(seconds: u64, options: &Heatmap) -> Outcome {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let recorded = runtime.block_on(async {
        let mut stop = Stop::new()?;
        let stopped = Arc::new(AtomicBool::new(false));
        let is_stopped = Arc::clone(&stopped);
        let record = move || block::record(seconds, || is_stopped.load(Ordering::Relaxed));
        let mut recording = tokio::task::spawn_blocking(record);
        tokio::select! {
            recorded = &mut recording => return recorded.map_err(Failure::of)?,
            cause = stop.wait() => {
                noteln!("heatmap: {}: the recording ends here", cause.name());
                stopped.store(true, Ordering::Relaxed);
            }
        }
        recording.await.map_err(Failure::of)?
    })?;
    let Recorded { maps, lost } = recorded;
    let picture = if options.wants_json() {
        let maps: Vec<_> = maps.iter().map(HeatMap::json).collect();
        let all = json!({ "seconds": seconds, "maps": maps, "lostEvents": lost });
        serde_json::to_string(&all).map_err(Failure::of)?
    } else {
        let title = format!("Requests to the disks of this machine, {seconds} s");
        heat_picture(&title, &note(lost), &maps)
    };
    output::write(&mut picture.as_bytes(), options.output.as_deref())
}

fn note(lost: u64) -> String {
    let note = "From the issue to the device to its completion, as the kernel's block layer has it";
    match lost {
        0 => note.to_owned(),
        lost => format!("{note}; {lost} events were lost"),
    }
}

#[cfg(test)]
mod tests {
    use super::note;

    #[test]
    fn events_that_were_lost_are_told() {
        assert!(!note(0).contains("lost"));
        assert!(note(7).ends_with("; 7 events were lost"));
    }
}
