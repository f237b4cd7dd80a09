//! Real Apache Hadoop as the judge of ours: starts daemons of either kind on loopback, drives
//! clients of either kind with one script, and runs Apache's own test programs over a cluster.
//!
//! Every process started here is in a process group of its own, dies with the test program, and is
//! killed when its handle is dropped. Nothing here decides anything by sleeping: each wait names a
//! condition and a limit.
#![allow(clippy::print_stderr, clippy::print_stdout, reason = "people read what it prints")]

pub mod cluster;
pub mod content;
pub mod contract;
pub mod driver;
pub mod given_up;
pub mod harm;
pub mod http;
pub mod java;
pub mod lost_answers;
pub mod machines;
pub mod oracle;
pub mod page;
pub mod pair;
pub mod ports;
pub mod process;
pub mod programs;
pub mod prometheus;
pub mod script;
pub mod site;
pub mod socket_directory;
pub mod stepped_clock;
pub mod throttled;
pub mod tools;
pub mod wait;

/// Whose program plays a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Apache Hadoop 3.4.3.
    Apache,
    /// This repository's.
    Ours,
}

/// What harness functions return: the text of the failure goes straight into a test's output.
pub type Outcome<T = ()> = Result<T, String>;

/// A test cannot run here, for a reason. An error, unless whoever runs the tests has said that this machine lets them do less.
pub fn cannot_run(why: &str) -> Outcome {
    if std::env::var_os("ZEROHOP_TESTS_MAY_SKIP").is_some_and(|value| value == "1") {
        println!("skipped: {why}");
        return Ok(());
    }
    Err(format!("{why}. ZEROHOP_TESTS_MAY_SKIP=1 skips tests that this machine does not allow"))
}

/// A line that `interop-collector` appends.
pub fn collector_line(writer: &str, number: u64) -> String {
    let len = number.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 58;
    format!("{writer} {number} {}\n", "x".repeat(len as usize))
}
