//! Keys of the file systems of the shell beside HDFS and the local one: webhdfs, swebhdfs, viewfs.

use std::time::Duration;

use crate::key::keys;

keys! {
    /// Time in which the WebHDFS client must be connected; 0 means no limit.
    DFS_WEBHDFS_SOCKET_CONNECT_TIMEOUT: Duration = "dfs.webhdfs.socket.connect-timeout", "60s", Millis;
    /// Time that the WebHDFS client waits for each read and write; 0 means no limit.
    DFS_WEBHDFS_SOCKET_READ_TIMEOUT: Duration = "dfs.webhdfs.socket.read-timeout", "60s", Millis;
    /// Changes of the NameNode that the WebHDFS client makes for one call.
    DFS_HTTP_CLIENT_FAILOVER_MAX_ATTEMPTS: u32 = "dfs.http.client.failover.max.attempts", "15", Plain;
    /// Repetitions of one call of the WebHDFS client that a NameNode of a pair asks for, as in safe mode.
    DFS_HTTP_CLIENT_RETRY_MAX_ATTEMPTS: u32 = "dfs.http.client.retry.max.attempts", "10", Plain;
    /// Wait of the WebHDFS client after all NameNodes failed once; doubled each time.
    DFS_HTTP_CLIENT_FAILOVER_SLEEP_BASE_MILLIS: Duration = "dfs.http.client.failover.sleep.base.millis", "500", Millis;
    /// Longest wait of the WebHDFS client between two NameNodes.
    DFS_HTTP_CLIENT_FAILOVER_SLEEP_MAX_MILLIS: Duration = "dfs.http.client.failover.sleep.max.millis", "15000", Millis;
    /// File beside core-site.xml with the trust store of clients (ssl.client.truststore.location, in PEM or JKS).
    HADOOP_SSL_CLIENT_CONF: String = "hadoop.ssl.client.conf", "ssl-client.xml", Plain;
    /// Renames between two mount points of viewfs: SAME_MOUNTPOINT forbids them, SAME_TARGET_URI_ACROSS_MOUNTPOINT and SAME_FILESYSTEM_ACROSS_MOUNTPOINT allow those.
    FS_VIEWFS_RENAME_STRATEGY: String = "fs.viewfs.rename.strategy", "SAME_MOUNTPOINT", Plain;
    /// Mount table of a viewfs URI without a name.
    FS_VIEWFS_MOUNTTABLE_DEFAULT_NAME_KEY: String = "fs.viewfs.mounttable.default.name.key", "default", Plain;
    /// Whether a mount point may lie below another one.
    FS_VIEWFS_MOUNTTABLE_NESTED_MOUNT_POINT_SUPPORTED: bool = "fs.viewfs.mounttable.nested.mount.point.supported", "true", Plain;
    /// Whether viewfs looks up its mount table without the port of the URI.
    FS_VIEWFS_IGNORE_PORT_IN_MOUNT_TABLE_NAME: bool = "fs.viewfs.ignore.port.in.mount.table.name", "false", Plain;
    /// Whether viewfs lists a mount point as a symbolic link, and not as the directory that it leads to.
    FS_VIEWFS_MOUNT_LINKS_AS_SYMLINKS: bool = "fs.viewfs.mount.links.as.symlinks", "true", Plain;
    /// Whether the trash of viewfs is below the mount point of what is deleted.
    FS_VIEWFS_TRASH_FORCE_INSIDE_MOUNT_POINT: bool = "fs.viewfs.trash.force-inside-mount-point", "false", Plain;
}
