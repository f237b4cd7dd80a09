//! The NameNodes of a name service: which one answers, and what is asked.

mod acls;
mod admin;
mod attributes;
mod caching;
mod calls;
mod erasure_coding;
mod files;
mod local;
mod observers;
mod paths;
mod policy;
mod provider;
mod proxy;
#[cfg(test)]
mod proxy_test;
mod quotas;
mod servers;
mod snapshots;
mod storage_policies;
mod target;
mod wire_path;
mod xattrs;

pub(crate) use calls::Calls;
pub(crate) use files::{NewFile, Writing};
pub use local::{LocalAnswer, LocalNameNode};
pub(crate) use proxy::{CLIENT_PROTOCOL, NameNode, connect, within};
pub(crate) use target::Target;
pub(crate) use wire_path::wire_path;
