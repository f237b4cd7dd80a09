//! TestDFSIO without MapReduce: its options, its files, its result lines; a thread is a map task.
//!
//! The files lie where Apache's program puts them, so that either can read what the other wrote.

mod args;
pub mod matrix;
mod result;
mod size;
mod work;

pub use args::{Args, USAGE};
pub use result::{Task, Test, TestResult, decimal};
pub use size::{MEGA, parse_size};
pub use work::{Work, clean, run_test};

/// Where the files lie unless `test.build.data` says otherwise.
pub const BASE_DIRECTORY: &str = "/benchmarks/TestDFSIO";
/// The key that names another directory.
pub const BASE_DIRECTORY_KEY: &str = "test.build.data";
