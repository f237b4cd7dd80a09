//! Data connections: plain blocking sockets, because block data moves on threads of its own.

mod connect;
mod data_stream;
mod local;
mod low_water;
mod pool;

pub use connect::{ConnectOptions, resolve};
pub use data_stream::{DataStream, SendFileError};
pub use local::Unpaced;
pub use low_water::LowWater;
pub use pool::Pool;
