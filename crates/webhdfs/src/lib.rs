//! A client of WebHDFS and HttpFS: files and directories by HTTP, as `WebHdfsFileSystem` speaks it.
//!
//! From the top: [`WebHdfs`] has a method for each operation, [`Reader`] and [`Writer`] are open files;
//! `exchange` sends one request to the active NameNode and follows its redirect; `answers` reads JSON;
//! `servers` and `settings` come from the configuration; `http` is HTTP/1.1 on blocking sockets. Imports go
//! down only. All bodies stream: nothing but answers in JSON is held in memory, and those have a limit.
#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "tests measure and wait"))]

mod answers;
mod client;
mod error;
mod exchange;
mod http;
mod operation;
mod query;
mod reader;
mod servers;
mod settings;
mod writer;

pub use answers::{BlockHosts, Checksum, FileSystemStatus, QuotaUsage, Status, Summary, TypeUsage};
pub use client::{AclChange, WebHdfs};
pub use error::{Error, ErrorKind, Result};
pub use reader::Reader;
pub use writer::Writer;
