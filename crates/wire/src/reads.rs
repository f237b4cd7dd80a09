//! The reads of ClientProtocol (`@ReadOnly`): what a NameNode that follows the active one may answer.

use Freshness::{Any, Coordinated};

/// How old the state may be that a read is answered from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Freshness {
    /// Not older than what its client has seen (`isCoordinated = true`).
    Coordinated,
    /// Of any age.
    Any,
}

/// In order of name.
const READS: [(&str, Freshness); 42] = [
    ("checkAccess", Coordinated),
    ("getAclStatus", Coordinated),
    ("getBatchedListing", Coordinated),
    ("getBlockLocations", Coordinated),
    ("getContentSummary", Coordinated),
    ("getCurrentEditLogTxid", Coordinated),
    ("getDataEncryptionKey", Coordinated),
    ("getDatanodeReport", Any),
    ("getDatanodeStorageReport", Any),
    ("getECTopologyResultForPolicies", Any),
    ("getEZForPath", Coordinated),
    ("getEditsFromTxid", Coordinated),
    ("getEnclosingRoot", Coordinated),
    ("getErasureCodingCodecs", Coordinated),
    ("getErasureCodingPolicies", Coordinated),
    ("getErasureCodingPolicy", Coordinated),
    ("getFileInfo", Coordinated),
    ("getFileLinkInfo", Coordinated),
    ("getFsECBlockGroupStats", Any),
    ("getFsReplicatedBlockStats", Any),
    ("getFsStats", Any),
    ("getLinkTarget", Coordinated),
    ("getListing", Coordinated),
    ("getLocatedFileInfo", Coordinated),
    ("getPreferredBlockSize", Coordinated),
    ("getServerDefaults", Coordinated),
    ("getSlowDatanodeReport", Any),
    ("getSnapshotDiffReport", Coordinated),
    ("getSnapshotDiffReportListing", Coordinated),
    ("getSnapshotListing", Coordinated),
    ("getSnapshottableDirListing", Coordinated),
    ("getStoragePolicies", Coordinated),
    ("getStoragePolicy", Coordinated),
    ("getXAttrs", Coordinated),
    ("isFileClosed", Coordinated),
    ("listCacheDirectives", Coordinated),
    ("listCachePools", Coordinated),
    ("listCorruptFileBlocks", Coordinated),
    ("listEncryptionZones", Coordinated),
    ("listOpenFiles", Coordinated),
    ("listReencryptionStatus", Coordinated),
    ("listXAttrs", Coordinated),
];

/// How old the state may be that a method is answered from; none for a method that is no read.
pub fn read_freshness(method: &str) -> Option<Freshness> {
    let at = READS.binary_search_by_key(&method, |(name, _)| name).ok()?;
    READS.get(at).map(|(_, freshness)| *freshness)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_are_found_and_writes_are_none() {
        assert!(READS.is_sorted_by_key(|(name, _)| *name));
        assert_eq!(read_freshness("getFileInfo"), Some(Coordinated));
        assert_eq!(read_freshness("getDatanodeReport"), Some(Any));
        for method in ["getFsStats", "getDatanodeStorageReport"] {
            assert_eq!(read_freshness(method), Some(Any), "{method}");
        }
        // Only the active one answers these.
        for method in ["getQuotaUsage", "msync", "create", "getHAServiceState", "renewLease"] {
            assert_eq!(read_freshness(method), None, "{method}");
        }
    }
}
