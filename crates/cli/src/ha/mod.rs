//! Clusters with two NameNodes: their configuration, and what sets them up.

pub mod children;
pub mod init;
mod pair;
mod site;
mod units;
pub mod up;
