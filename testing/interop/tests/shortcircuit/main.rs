//! Short-circuit reads across implementations: Apache's client on our DataNode.

mod cached;
mod java;
mod misfortune;
mod place;
mod up;
