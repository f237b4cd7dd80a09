//! The HTTP server of every daemon, and the pages that every daemon has.
//!
//! [`HttpServer`] takes a port and serves a [`axum::Router`] on it. It limits what strangers can use up: connections, in all
//! and of one address, the size of a request's head, the time that a connection may be silent, and how slow it may be. Handlers that wait for locks or disks run on
//! [`HandlerThreads`]; each pool of them has a bound of its own, so that a page that takes long does not hold up the others.

mod address_limits;
mod admin;
mod caller_socket;
mod conf_page;
mod connection;
mod cross_origin;
mod file_sender;
mod health;
mod heat_page;
mod java_beans;
mod jmx;
mod metric_beans;
mod mount;
mod options;
mod page;
mod profile_page;
mod prom;
mod query;
mod remote_address;
mod request_body;
mod serve_connection;
mod server;
mod slow_peer;
mod standard;
mod threads;
mod tls;
mod watched_requests;

pub use admin::check_administrator;
pub use cross_origin::{CrossOrigin, FromAllowedOrigin};
pub use file_sender::{BytesInFile, FileSender};
pub use health::Health;
pub use heat_page::{HeatMaps, heat_page};
pub use jmx::bean;
pub use mount::MountPoint;
pub use options::HttpOptions;
pub use page::{Page, streamed};
pub use profile_page::profile_page;
pub use query::QueryValues;
pub use remote_address::RemoteAddress;
pub use serve_connection::Encrypted;
pub use server::HttpServer;
pub use slow_peer::MinimumRate;
pub use standard::{StandardPages, standard_pages};
pub use threads::{HandlerPermit, HandlerThreads, Unavailable};
pub use tls::{Tls, TlsError, TlsVersions};

#[cfg(test)]
mod server_test;
#[cfg(test)]
mod tls_test;
