//! Data connections: plain blocking sockets, because block data moves on threads of its own.

mod connect;
mod pool;

pub use connect::{ConnectOptions, connect, resolve};
pub use pool::Pool;
