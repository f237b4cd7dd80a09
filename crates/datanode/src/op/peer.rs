//! The transfer port of another DataNode.

use crate::node::Node;
use crate::settings::TIMEOUT_EXTENSION;
use crate::transfer::conn::{Conn, invalid};
use std::io;
use std::net::ToSocketAddrs;
use std::time::Duration;
use zerohop_proto::hdfs::{DatanodeIdProto, DatanodeInfoProto};

/// `host:port` of a DataNode's transfer port, as clients write it.
pub(super) fn transfer_name(id: &DatanodeIdProto) -> String {
    format!("{}:{}", id.ip_addr, id.xfer_port)
}

/// How long a DataNode may be silent that waits for `downstream` others itself.
pub(super) fn patience(node: &Node, downstream: u32) -> Duration {
    node.settings.socket_timeout + TIMEOUT_EXTENSION * downstream
}

/// Connects to the transfer port of another DataNode.
pub(super) fn connect(node: &Node, target: &DatanodeInfoProto, extra: u32) -> io::Result<Conn> {
    let id = &target.id;
    let host = if node.settings.connect_by_name { &id.host_name } else { &id.ip_addr };
    let port = u16::try_from(id.xfer_port).map_err(invalid)?;
    let patience = patience(node, extra);
    let addrs = (host.as_str(), port).to_socket_addrs()?;
    let mut last = io::Error::other(format!("{host} has no address"));
    for addr in addrs {
        match Conn::connect(addr, patience) {
            Ok(mut conn) => {
                conn.set_read_timeout(patience)?;
                conn.set_write_timeout(node.settings.write_timeout + TIMEOUT_EXTENSION * extra)?;
                return Ok(conn);
            }
            Err(error) => last = error,
        }
    }
    Err(last)
}
