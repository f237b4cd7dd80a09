//! The NameNode: RPC services, journal, DataNode manager, HTTP pages

pub mod storage;
