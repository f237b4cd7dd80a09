//! `qjournal://host:port;host:port;host:port/journal`.

use std::str::FromStr;

/// The port of JournalNodes whose address names none.
const DEFAULT_PORT: u16 = 8485;

/// Which JournalNodes keep which journal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QuorumAddress {
    /// `host:port` of each.
    pub nodes: Vec<String>,
    /// The journal's id, by custom that of the name service.
    pub journal: String,
}

impl QuorumAddress {
    /// What is unwise about it: an even number of JournalNodes.
    pub fn advice(&self) -> Option<String> {
        let count = self.nodes.len();
        let survives = (count - 1) / 2;
        (count.is_multiple_of(2)).then(|| {
            format!(
                "{count} JournalNodes survive the loss of {survives}, as {} do: name {} or {} of them",
                count - 1,
                count - 1,
                count + 1
            )
        })
    }
}

/// Why a text names no quorum.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{text}' names no JournalNodes: {reason}; write qjournal://HOST1:8485;HOST2:8485;HOST3:8485/NAMESERVICE"
)]
pub struct BadAddress {
    text: String,
    reason: &'static str,
}

impl FromStr for QuorumAddress {
    type Err = BadAddress;

    fn from_str(text: &str) -> Result<Self, BadAddress> {
        let bad = |reason| BadAddress { text: text.to_owned(), reason };
        let rest = text.strip_prefix("qjournal://").ok_or_else(|| bad("it begins otherwise"))?;
        let (hosts, journal) = rest.split_once('/').ok_or_else(|| bad("no journal is named"))?;
        let journal = journal.trim_end_matches('/');
        if journal.is_empty() || journal.starts_with('.') || journal.contains('/') {
            return Err(bad("that is no journal's name"));
        }
        let mut nodes: Vec<String> = Vec::new();
        for host in hosts.split([';', ',']).map(str::trim).filter(|host| !host.is_empty()) {
            let has_port =
                host.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_ok());
            let node = if has_port { host.to_owned() } else { format!("{host}:{DEFAULT_PORT}") };
            if nodes.contains(&node) {
                return Err(bad("a JournalNode is named twice"));
            }
            nodes.push(node);
        }
        if nodes.is_empty() {
            return Err(bad("no host is named"));
        }
        Ok(Self { nodes, journal: journal.to_owned() })
    }
}

/// The name space that writes, as JournalNodes check it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamespaceInfo {
    /// Identifies the name space.
    pub namespace_id: i32,
    /// Identifies the cluster.
    pub cluster_id: String,
    /// The block pool.
    pub block_pool_id: String,
    /// When the name space was last upgraded, ms since the epoch.
    pub c_time_ms: i64,
    /// The layout of edits.
    pub layout: i32,
}

impl NamespaceInfo {
    /// As `/getJournal` is asked with (`StorageInfo.toColonSeparatedString`).
    pub fn to_colon_separated(&self) -> String {
        format!("{}:{}:{}:{}", self.layout, self.namespace_id, self.c_time_ms, self.cluster_id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_even_number_of_journal_nodes_is_advised_against() {
        let advice = |text: &str| text.parse::<QuorumAddress>().unwrap().advice();
        assert_eq!((advice("qjournal://a/ns"), advice("qjournal://a;b;c/ns")), (None, None));
        let four = advice("qjournal://a;b;c;d/ns").unwrap();
        assert_eq!(four, "4 JournalNodes survive the loss of 1, as 3 do: name 3 or 5 of them");
    }

    #[test]
    fn addresses_are_read_as_apache_reads_them() {
        let address: QuorumAddress = "qjournal://a:1;b;c:3/ns".parse().unwrap();
        assert_eq!(address.nodes, ["a:1", "b:8485", "c:3"]);
        assert_eq!(address.journal, "ns");
        for bad in [
            "file:///x",
            "qjournal://a",
            "qjournal:///ns",
            "qjournal://a;a:8485/ns",
            "qjournal://a/",
            "qjournal://a/.x",
        ] {
            bad.parse::<QuorumAddress>().unwrap_err();
        }
    }
}
