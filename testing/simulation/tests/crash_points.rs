//! The short part of the crash histories; `make faults` runs more.
#![allow(clippy::print_stderr, clippy::print_stdout, reason = "people read what it prints")]

use std::time::Duration;
use zerohop_simulation::Effort;
use zerohop_simulation::campaign::{self, Until};

#[test]
fn acknowledged_edits_outlive_a_crash_at_every_point() {
    let until = Until { time: Duration::from_secs(5), histories: 2, crashes: 500 };
    match campaign::run(1, until, Effort::SHORT, 2) {
        Ok(counts) => println!("{counts:?}"),
        Err(error) => panic!("{error}"),
    }
}
