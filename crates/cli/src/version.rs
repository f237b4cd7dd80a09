//! `version`

use crate::settings::Settings;

/// The release of Hadoop whose protocols and files are ours.
pub const COMPATIBLE: &str = "3.4.3";

pub fn run(_: Settings, _: Vec<String>) -> i32 {
    sayln!("zerohop {}", env!("CARGO_PKG_VERSION"));
    sayln!("Compatible with Apache Hadoop {COMPATIBLE}");
    if let Ok(path) = std::env::current_exe() {
        sayln!("This command was run using {}", path.display());
    }
    0
}
