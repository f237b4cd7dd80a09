//! Configuration keys that are changed while the DataNode runs (`dfsadmin -reconfig datanode`).

mod adjustable;
mod task;
mod volumes;

pub(crate) use adjustable::Adjustable;

#[cfg(test)]
mod reconfigure_test;
