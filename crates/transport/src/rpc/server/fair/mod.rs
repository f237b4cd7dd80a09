//! Fair scheduling of calls (`FairCallQueue` with `DecayRpcScheduler`): who calls much waits behind who calls little.
//!
//! Where it is configured, a connection's task does not answer a call itself. It puts it into the queue, and handler
//! threads take calls from there, from the queue of light users more often than from those of heavy ones.

mod handlers;
mod options;
mod queue;
mod scheduler;

pub(super) use handlers::{CallQueue, Handlers, Place, QueuedCall};
pub use options::FairOptions;
pub(super) use options::{backoff, fails_over};
