//! The hosts file of JSON (`CombinedHostFileManager`): a list of DataNodes, each with what the operator wants of it.

use serde::Deserialize;
use std::collections::HashMap;
use std::io;
use std::net::{IpAddr, ToSocketAddrs};
use zerohop_namespace::blocks::{Admission, DatanodeId, NO_EXPIRY_MS};

/// An entry of the file (`DatanodeAdminProperties`).
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Entry {
    host_name: String,
    /// 0 means all DataNodes there.
    #[serde(default)]
    port: u16,
    upgrade_domain: Option<String>,
    #[serde(default)]
    admin_state: Wanted,
    #[serde(rename = "maintenanceExpireTimeInMS")]
    maintenance_expire_ms: Option<u64>,
}

#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
enum Wanted {
    #[default]
    Normal,
    Decommissioned,
    InMaintenance,
    // States that a DataNode passes through; naming one in the file asks for nothing, as in Hadoop.
    #[serde(alias = "DECOMMISSION_INPROGRESS")]
    DecommissionInProgress,
    EnteringMaintenance,
}

/// The entries by address.
#[derive(Debug, Default)]
pub(crate) struct JsonHosts {
    entries: HashMap<IpAddr, Vec<Entry>>,
    /// At least one DataNode is to serve: those that are not named may not register.
    is_include_list: bool,
}

impl JsonHosts {
    /// Reads a file; names are looked up, which blocks. An empty file names no host.
    pub(crate) fn read(file: &str) -> io::Result<Self> {
        let text = std::fs::read_to_string(file)
            .map_err(|e| io::Error::new(e.kind(), format!("cannot read {file}: {e}")))?;
        let entries = parse(&text).map_err(|e| {
            let message = format!("{file} is no JSON list of DataNodes: {e}");
            io::Error::new(io::ErrorKind::InvalidData, message)
        })?;
        let mut hosts = Self::default();
        for entry in entries {
            let host = entry.host_name.clone();
            if !hosts.add(entry) {
                tracing::warn!(
                    "{file}: `{host}' has no address and is ignored: correct it, then run dfsadmin -refreshNodes"
                );
            }
        }
        Ok(hosts)
    }

    /// False if the name has no address.
    fn add(&mut self, entry: Entry) -> bool {
        let Ok(found) = (&*entry.host_name, 0).to_socket_addrs() else { return false };
        let mut is_known = false;
        for address in found {
            self.entries.entry(address.ip().to_canonical()).or_default().push(entry.clone());
            is_known = true;
        }
        self.is_include_list |= is_known && entry.admin_state == Wanted::Normal;
        is_known
    }

    fn of(&self, id: &DatanodeId) -> impl Iterator<Item = &Entry> {
        let ip = id.ip.parse::<IpAddr>().ok().map(|ip| ip.to_canonical());
        let entries = ip.and_then(|ip| self.entries.get(&ip)).into_iter().flatten();
        let port = id.xfer_port;
        entries.filter(move |entry| entry.port == 0 || u32::from(entry.port) == port)
    }

    pub(crate) fn judge(&self, id: &DatanodeId) -> Admission {
        let mut maintenance =
            self.of(id).filter(|entry| entry.admin_state == Wanted::InMaintenance);
        if self.is_include_list && self.of(id).next().is_none() {
            Admission::Refused
        } else if self.of(id).any(|entry| entry.admin_state == Wanted::Decommissioned) {
            Admission::Excluded
        } else if let Some(entry) = maintenance.next() {
            Admission::Maintenance(entry.maintenance_expire_ms.unwrap_or(NO_EXPIRY_MS))
        } else {
            Admission::Allowed
        }
    }

    pub(crate) fn upgrade_domain(&self, id: &DatanodeId) -> Option<String> {
        self.of(id).next()?.upgrade_domain.clone()
    }
}

/// A list, or objects one after the other as Hadoop 2 wrote them.
fn parse(text: &str) -> serde_json::Result<Vec<Entry>> {
    if text.trim_start().starts_with('[') {
        return serde_json::from_str(text);
    }
    serde_json::Deserializer::from_str(text).into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hosts(text: &str) -> JsonHosts {
        let mut hosts = JsonHosts::default();
        for entry in parse(text).unwrap() {
            hosts.add(entry);
        }
        hosts
    }

    fn node(ip: &str, xfer_port: u32) -> DatanodeId {
        DatanodeId { ip: ip.to_owned(), xfer_port, ..DatanodeId::default() }
    }

    #[test]
    fn each_entry_says_what_its_datanode_is_to_be() {
        let text = r#"[{"hostName": "10.0.0.1", "upgradeDomain": "ud1"},
            {"hostName": "10.0.0.2", "adminState": "DECOMMISSIONED"},
            {"hostName": "10.0.0.3", "port": 9866, "adminState": "IN_MAINTENANCE", "maintenanceExpireTimeInMS": 77},
            {"hostName": "10.0.0.4", "adminState": "IN_MAINTENANCE"}]"#;
        let hosts = hosts(text);
        let judge = |ip, port| hosts.judge(&node(ip, port));
        assert_eq!(judge("10.0.0.1", 1), Admission::Allowed);
        assert_eq!(judge("10.0.0.2", 1), Admission::Excluded);
        assert_eq!(judge("10.0.0.3", 9866), Admission::Maintenance(77));
        assert_eq!(judge("10.0.0.3", 1), Admission::Refused);
        assert_eq!(judge("10.0.0.4", 1), Admission::Maintenance(NO_EXPIRY_MS));
        assert_eq!(hosts.upgrade_domain(&node("10.0.0.1", 1)).as_deref(), Some("ud1"));
        assert_eq!(hosts.upgrade_domain(&node("10.0.0.2", 1)), None);
    }

    /// As in Hadoop: a file that takes DataNodes out of service only is no include list.
    #[test]
    fn without_a_datanode_in_service_everybody_may_register() {
        let hosts = hosts(
            "{\"hostName\": \"10.0.0.2\", \"adminState\": \"DECOMMISSIONED\"}\n{\"hostName\": \"10.0.0.3\", \"adminState\": \"IN_MAINTENANCE\"}",
        );
        assert_eq!(hosts.judge(&node("10.0.0.9", 1)), Admission::Allowed);
        assert_eq!(hosts.judge(&node("10.0.0.2", 1)), Admission::Excluded);
        assert!(parse("").unwrap().is_empty());
        assert!(parse("10.0.0.1\n").is_err());
    }
}
