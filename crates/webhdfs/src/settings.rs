//! The settings of calls.

use std::time::Duration;

use zerohop_conf::{Conf, keys, umask};
use zerohop_transport::login::User;

use crate::error::Result;
use crate::http::Timeouts;

/// Settings of a client.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    pub(crate) user: User,
    pub(crate) timeouts: Timeouts,
    /// Bits that new files and directories do not get.
    pub(crate) umask: u16,
    pub(crate) replication: i32,
    pub(crate) block_size: i64,
    pub(crate) buffer_size: i32,
    /// The header against cross-site requests, with the methods that need none.
    csrf: Option<(String, Vec<String>)>,
    /// Changes of the NameNode for one call.
    pub(crate) failovers_max: u32,
    /// Repetitions of one call that a NameNode asks for.
    pub(crate) retries_max: u32,
    pub(crate) delay_base: Duration,
    pub(crate) delay_max: Duration,
}

impl Settings {
    pub(crate) fn read(conf: &Conf) -> Result<Self> {
        let csrf = match conf.get(&keys::DFS_WEBHDFS_REST_CSRF_ENABLED)? {
            true => Some((
                conf.get(&keys::DFS_WEBHDFS_REST_CSRF_CUSTOM_HEADER)?,
                conf.get(&keys::DFS_WEBHDFS_REST_CSRF_METHODS_TO_IGNORE)?,
            )),
            false => None,
        };
        Ok(Self {
            user: User::of_process(),
            timeouts: Timeouts {
                connect: conf.get(&keys::DFS_WEBHDFS_SOCKET_CONNECT_TIMEOUT)?,
                read: conf.get(&keys::DFS_WEBHDFS_SOCKET_READ_TIMEOUT)?,
            },
            umask: umask::configured(conf)?,
            replication: conf.get(&keys::DFS_REPLICATION)?,
            block_size: i64::try_from(conf.get(&keys::DFS_BLOCKSIZE)?).unwrap_or(i64::MAX),
            buffer_size: conf.get(&keys::IO_FILE_BUFFER_SIZE)?,
            csrf,
            failovers_max: conf.get(&keys::DFS_HTTP_CLIENT_FAILOVER_MAX_ATTEMPTS)?,
            retries_max: conf.get(&keys::DFS_HTTP_CLIENT_RETRY_MAX_ATTEMPTS)?,
            delay_base: conf.get(&keys::DFS_HTTP_CLIENT_FAILOVER_SLEEP_BASE_MILLIS)?,
            delay_max: conf.get(&keys::DFS_HTTP_CLIENT_FAILOVER_SLEEP_MAX_MILLIS)?,
        })
    }

    /// Returns the headers that requests by a method carry.
    pub(crate) fn headers(&self, method: &str) -> String {
        match &self.csrf {
            Some((header, ignored)) if !ignored.iter().any(|known| known == method) => {
                format!("{header}: \"\"\r\n")
            }
            _ => String::new(),
        }
    }
}
