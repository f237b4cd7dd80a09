//! Data connections: plain blocking sockets, because block data moves on threads of its own.

mod connect;
mod data_stream;
#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "linux")]
mod local;
mod low_water;
mod pool;

pub use connect::{ConnectOptions, is_own_address, resolve};
pub use data_stream::DataStream;
#[cfg(target_os = "linux")]
pub use linux::SendFileError;
#[cfg(target_os = "linux")]
pub use local::Unpaced;
pub use low_water::LowWater;
pub use pool::Pool;
