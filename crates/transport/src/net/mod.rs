//! Data connections: plain blocking sockets, because block data moves on threads of its own.

mod connect;
mod local;
mod low_water;
mod pool;

pub use connect::{ConnectOptions, connect, resolve};
pub use local::{Unpaced, unpace_before_connect};
pub use low_water::LowWater;
pub use pool::Pool;
