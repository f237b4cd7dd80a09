//! The transfer port's machinery: connections, threads, the accept loop. Operations are in `op`.

pub(crate) mod conn;
pub(crate) mod domain_port;
pub(crate) mod idle;
pub(crate) mod running;
pub(crate) mod server;
pub(crate) mod threads;
pub(crate) mod throttle;
