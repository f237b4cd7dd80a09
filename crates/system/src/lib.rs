//! What the machine decides and no input does: the time, how long a thread sleeps, random numbers, which ports are free, which users
//! there are, which process this is, whether a file could be closed, and whether standard error can be written.
//!
//! Everything else in this repository takes these from here. clippy.toml forbids the standard library's and other crates' functions
//! outside of tests and benchmarks, so that a test may one day replace them in one place.

pub mod clock;
pub mod files;
pub mod ports;
pub mod process;
pub mod random;
pub mod stderr;
pub mod users;
