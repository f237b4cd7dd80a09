//! The one function that changes durable state.

mod state;

pub(crate) use state::DurableState;
