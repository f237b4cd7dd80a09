//! Short-circuit reads, the DataNode's side: who holds descriptors of which replicas, and how they
//! are told to let go.

mod cache;
mod descriptor_counts;
mod key;
mod listing;
mod registry;
#[cfg(test)]
mod registry_test;
mod socket;

pub(crate) use cache::{BlockCache, CacheLimits, system_limit};
pub(crate) use key::BlockKey;
pub(crate) use listing::{LocalReader, listing, local_readers};
#[cfg(test)]
pub(crate) use registry::SegmentGuard;
pub(crate) use registry::{Limits, Registry};
pub(crate) use socket::SocketState;
