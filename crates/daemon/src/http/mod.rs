//! The HTTP server of every daemon, and the pages that every daemon has.
//!
//! [`HttpServer`] takes a port and serves a [`axum::Router`] on it. It limits what strangers can use up: connections, the size
//! of a request's head, and the time that a connection may be silent. Handlers that wait for locks or disks run on
//! [`HandlerThreads`]; each pool of them has a bound of its own, so that a page that takes long does not hold up the others.

mod conf_page;
mod connection;
mod jmx;
mod mount;
mod options;
mod page;
mod query;
mod server;
mod standard;
mod threads;

pub use jmx::bean;
pub use mount::MountPoint;
pub use options::HttpOptions;
pub use page::{Page, streamed};
pub use query::QueryValues;
pub use server::{HttpServer, RemoteAddress};
pub use standard::{StandardPages, standard_pages};
pub use threads::{HandlerPermit, HandlerThreads, Unavailable};

#[cfg(test)]
mod server_test;
