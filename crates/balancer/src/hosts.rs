//! DataNodes by the names that administrators give them.

use std::collections::BTreeSet;
use zerohop_client::DatanodeInfo;

/// Hosts, or hosts with the port for block data.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HostSet(BTreeSet<String>);

impl HostSet {
    /// Hosts separated by commas.
    pub fn from_list(text: &str) -> Self {
        let words = text.split(',').map(str::trim).filter(|word| !word.is_empty());
        Self(words.map(str::to_owned).collect())
    }

    /// The text of a file: words on lines; `#` begins a comment.
    pub fn from_file(text: &str) -> Self {
        let lines = text.lines().map(|line| line.split('#').next().unwrap_or_default());
        Self(lines.flat_map(str::split_whitespace).map(str::to_owned).collect())
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether it names a DataNode, by address or host name.
    pub fn has(&self, node: &DatanodeInfo) -> bool {
        let has = |host: &str| {
            self.0.contains(host) || self.0.contains(&format!("{host}:{}", node.transfer_port()))
        };
        has(node.ip()) || has(node.host())
    }

    /// The same, where an empty set stands for all DataNodes.
    pub fn is_empty_or_has(&self, node: &DatanodeInfo) -> bool {
        self.is_empty() || self.has(node)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use zerohop_proto::hdfs::{DatanodeIdProto, DatanodeInfoProto};

    #[test]
    fn a_datanode_is_named_by_address_or_host_with_or_without_port() {
        let id = DatanodeIdProto {
            ip_addr: "10.0.0.1".into(),
            host_name: "dn1".into(),
            xfer_port: 9866,
            ..Default::default()
        };
        let node = DatanodeInfo::from(DatanodeInfoProto { id, ..Default::default() });
        for (list, is_in) in [
            ("dn1", true),
            (" x , 10.0.0.1:9866", true),
            ("dn1:9866", true),
            ("dn1:1", false),
            ("", false),
        ] {
            assert_eq!(HostSet::from_list(list).has(&node), is_in, "{list}");
        }
        assert!(HostSet::from_file("# all\nx y # dn1\ndn1\n").has(&node));
        assert!(!HostSet::from_file("x # dn1").has(&node));
        assert!(HostSet::default().is_empty_or_has(&node));
    }
}
