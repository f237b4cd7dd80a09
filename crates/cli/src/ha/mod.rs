//! Clusters with two NameNodes: their configuration, and what sets them up.

pub mod init;
mod pair;
mod units;
