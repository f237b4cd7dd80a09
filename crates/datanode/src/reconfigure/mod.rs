//! Configuration keys that are changed while the DataNode runs (`dfsadmin -reconfig datanode`).

mod adjustable;
mod state;
mod task;
mod volumes;

pub(crate) use adjustable::Adjustable;
pub(crate) use state::{Change, Reconfiguration};
pub(crate) use task::reconfigure;

#[cfg(test)]
mod reconfigure_test;
