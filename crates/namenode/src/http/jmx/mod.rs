//! `/jmx` and `/prom`: what people's scripts and dashboards read, under Hadoop's names.

mod block_stats;
mod figures;
mod hot_directories;
mod info;
mod records;
mod status;
mod system;

use crate::core::Core;
use figures::{Figures, Lists};
use serde_json::Value;
use zerohop_daemon::metrics::Record;

/// The metrics.
pub(super) fn records(core: &Core) -> Vec<Record> {
    records::all(core)
}

/// The beans that are no metrics. Asks the disk for the sizes of the name directories.
pub(super) fn beans(core: &Core) -> Vec<Value> {
    let (figures, lists) = (Figures::take(core), Lists::take(core));
    let system = system::record(core, &figures);
    vec![
        info::bean_of(core, &figures, &lists),
        system::state(core, &figures, &system),
        system::replicated(&system),
        system::erasure_coded(&system),
        block_stats::bean_of(&lists.live),
        status::bean_of(core),
        hot_directories::bean_of(core),
    ]
}
