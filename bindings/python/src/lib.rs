//! The extension module `zerohop._zerohop`: the client of the crate `zerohop` as Python objects. The package's Python
//! files (`python/zerohop`) make of it what users see.
//!
//! What has to wait is an [`Operation`](operation::Operation): a future that a thread waits for, or that runs as a task
//! and reports to an event loop of asyncio. Waiting releases the interpreter's lock and looks for signals.

mod client;
mod completions;
mod failure;
mod held;
mod listing;
mod operation;
mod process;
mod reader;
mod shutdown;
mod status;
mod writer;

/// The module.
#[pyo3::pymodule]
mod _zerohop {
    #[pymodule_export]
    use crate::{
        client::Client,
        completions::{Completions, Task},
        held::HeldBytes,
        listing::Listing,
        operation::Operation,
        reader::Reader,
        shutdown::{after_fork, end_waits},
        status::{BlockLocation, ContentSummary, FileStatus},
        writer::Writer,
    };
}
