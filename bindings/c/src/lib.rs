//! Hadoop's C interface (`hdfs.h`) without a JVM.
//!
//! The functions of Apache's libhdfs with its structures and errno values, and those of libhdfs3 that programs
//! use. Handles are numbers, not addresses: a handle that is NULL, was closed, or is of another kind gives EBADF or
//! EINVAL. Every function may be called from any thread.
//!
//! After fork() the child's handles of before are closed ones (EBADF): their connections and threads are the parent's. It
//! may connect anew.
//!
//! A path is absolute, relative to the working directory of the file system's handle, or a URI; it is UTF-8.

#![allow(non_camel_case_types, non_upper_case_globals, non_snake_case)]

mod buffers;
mod builder;
mod configuration;
mod copy;
mod failure;
mod files;
mod fork;
mod handles;
mod hdfs_store;
mod info;
mod input;
mod local_store;
mod locations;
mod memory;
mod open;
mod output;
mod paths;
mod statistics;
mod store;
mod text;

pub use buffers::*;
pub use builder::*;
pub use configuration::*;
pub use copy::*;
pub use failure::*;
pub use files::*;
pub use handles::{hdfs_internal, hdfsFS, hdfsFile, hdfsFile_internal};
pub use info::*;
pub use input::*;
pub use locations::*;
pub use open::*;
pub use output::*;
pub use paths::*;
pub use statistics::*;

/// Bytes of one read or write.
pub type tSize = i32;
/// Seconds since 1970.
pub type tTime = libc::time_t;
/// An offset in a file, in bytes.
pub type tOffset = i64;
/// A port.
pub type tPort = u16;
