//! The NameNodes of a name service: which one answers, and what is asked.

mod acls;
mod admin;
mod cache;
mod calls;
mod files;
mod local;
mod policy;
mod proxy;
mod target;
mod tree;

pub(crate) use calls::wire_path;
pub(crate) use files::{NewFile, Writing};
pub use local::{LocalAnswer, LocalNameNode};
pub(crate) use proxy::{CLIENT_PROTOCOL, NameNode, connect, within};
pub(crate) use target::Target;
