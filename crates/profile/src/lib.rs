//! What a running process does with its time, found by the process itself: no agent, no other program.
//!
//! A [`Turn`] makes a [`Recording`]: each thread is interrupted again and again by a timer on its processor time, or by the
//! wall clock, and the handler of that signal follows the frame pointers of the stack it interrupted. Where the kernel lets the
//! process, it takes the samples itself, with its own functions (`perf_event_open`). Names are looked up afterwards. A recording becomes a flame graph ([`flame_graph`]), text ([`collapsed`]) or a pprof file ([`pprof()`]).
#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "tests measure and wait"))]

mod code;
mod collapsed;
mod debug_file;
mod flame;
mod handler;
pub mod heat;
mod kernel_names;
mod modules;
mod options;
mod perf;
mod pprof;
mod recorder;
mod recording;
mod ring;
mod samples;
mod symbols;
mod tally;
mod tasks;
mod timers;
mod waits;
mod walk;

pub use collapsed::collapsed;
pub use flame::{difference, flame_graph};
pub use options::{BadOption, Clock, HZ_MAX, Options, PROBE_ANSWER, SAMPLES_HEADER, SECONDS_MAX};
pub use pprof::pprof;
pub use recorder::{Busy, Turn};
pub use recording::Recording;
pub use symbols::Function;
