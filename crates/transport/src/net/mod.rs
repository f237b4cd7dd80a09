//! Data connections: plain blocking sockets, because block data moves on threads of its own.

mod connect;
mod low_water;
mod pool;

pub use connect::{ConnectOptions, connect, resolve};
pub use low_water::{LOW_WATER_MAX, LowWater};
pub use pool::Pool;
