//! REST: long files, appends, short files and many connections, against any server with WebHDFS's URLs.
//!
//! The experiment that was published with Hoop, and what its users asked for since. The client is a thread with a socket; what it
//! costs is shown beside what the server costs.

mod appends;
mod args;
mod connection;
mod connections;
mod files;
mod plan;
mod run;
mod service;
mod shell;
mod short;

pub use args::{Args, USAGE};
pub use plan::{GATEWAY, RestPlan, Section, permit_open_files};
pub use run::run;
pub use service::Service;
pub use shell::Shell;
