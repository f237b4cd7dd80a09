//! Keys that the REST gateway reads. Hadoop has them in httpfs-site.xml.

use crate::key::keys;

keys! {
    /// Address of the gateway's port.
    HTTPFS_HTTP_HOSTNAME: String = "httpfs.http.hostname", "0.0.0.0", Plain;
    /// The gateway's port; 0 takes any free one.
    HTTPFS_HTTP_PORT: u16 = "httpfs.http.port", "14000", Plain;
    /// What may be done through the gateway: `read-write`, `read-only`, or `write-only`, which still tells what is there.
    HTTPFS_ACCESS_MODE: String = "httpfs.access.mode", "read-write", Plain;
}
