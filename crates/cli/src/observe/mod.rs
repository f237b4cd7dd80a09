//! Pictures of running processes: their flame graphs and heat maps.

mod block;
pub mod heatmap;
mod output;
pub mod profile;
mod sockets;
pub mod target;
