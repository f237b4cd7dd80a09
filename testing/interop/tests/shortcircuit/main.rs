//! Short-circuit reads across implementations: Apache's client on our DataNode.

mod java;
mod misfortune;
mod place;
