//! Files through our client: long ones, short ones, and the wait for a flush.

mod flush;
mod sequential;
mod small;

pub use flush::{FlushKind, flush};
pub use sequential::{Sequential, read, write};
pub use small::{SmallFiles, small_files};

use crate::process::{CpuMeter, WatchedProcess};
use crate::report::Row;
use std::io;

/// The error that stopped a workload.
pub type Failure = Box<dyn std::error::Error + Send + Sync>;

/// The watched processes and this one, which is the client.
fn with_client(watched: &[WatchedProcess]) -> Vec<WatchedProcess> {
    let own = std::process::id();
    let others = watched.iter().filter(|process| process.pid != own).cloned();
    std::iter::once(WatchedProcess::this("client")).chain(others).collect()
}

/// Runs `work` several times, each time after `prepare`; each run gives its figure and how many units
/// its CPU time is for.
pub(crate) fn repeat(
    name: String,
    unit: &'static str,
    (runs, cost_unit): (usize, &'static str),
    watched: &[WatchedProcess],
    prepare: impl Fn() -> io::Result<()>,
    mut work: impl FnMut(usize) -> Result<(f64, f64), Failure>,
) -> Result<Row, Failure> {
    let watched = with_client(watched);
    let mut figures = Vec::with_capacity(runs);
    let mut spent: Vec<(String, Vec<f64>)> =
        watched.iter().map(|process| (process.name.clone(), Vec::new())).collect();
    for run in 0..runs {
        prepare()?;
        let meter = CpuMeter::start(&watched);
        let (figure, units) = work(run)?;
        figures.push(figure);
        for ((_, all), (_, seconds)) in spent.iter_mut().zip(meter.stop()) {
            all.push(seconds / units);
        }
    }
    let row = Row::new(name, unit, figures);
    Ok(spent
        .iter()
        .fold(row, |row, (process, all)| row.cost(process, crate::median(all), cost_unit)))
}
