//! `/jmx`: the beans that people's scripts read, under Hadoop's names.

mod figures;
mod info;
mod others;
mod system;

use crate::core::Core;
use figures::Figures;
use serde_json::Value;

/// All beans. Asks the disk for the sizes of the name directories.
pub(super) fn beans(core: &Core) -> Vec<Value> {
    let figures = Figures::take(core);
    vec![
        info::bean_of(core, &figures),
        system::system(core, &figures),
        system::state(core, &figures),
        system::replicated(&figures),
        others::status(core),
        others::activity(core),
        others::runtime(core),
    ]
}
