//! ClientNamenodeProtocol: what file system clients and administrators call.

mod acl;
mod admin;
mod attribute;
mod block;
mod cache;
mod file;
mod lease;
mod listing;
mod none;
mod policy;
mod quota;
mod report;
mod tree;
mod xattr;

pub(super) use block::report_bad_blocks;

use super::answer::Call;
use super::service::Protocol;
use zerohop_transport::rpc::server::{Reply, no_such_method};
use zerohop_wire::JavaException;

pub(super) struct ClientProtocol;

impl Protocol for ClientProtocol {
    const NAME: &'static str = "org.apache.hadoop.hdfs.protocol.ClientProtocol";

    fn call(call: Call<'_>, method: &str) -> Reply {
        match method {
            "getFileInfo" => listing::file_info(call),
            "getFileLinkInfo" => listing::file_link_info(call),
            "getLocatedFileInfo" => listing::located_file_info(call),
            "getListing" => listing::listing(call),
            "getBatchedListing" => listing::batched_listing(call),
            "getBlockLocations" => listing::block_locations(call),
            "isFileClosed" => listing::is_file_closed(call),
            "getPreferredBlockSize" => listing::preferred_block_size(call),
            "getContentSummary" => quota::content_summary(call),
            "getQuotaUsage" => quota::quota_usage(call),
            "setQuota" => quota::set_quota(call),
            "create" => file::create(call),
            "append" => file::append(call),
            "truncate" => file::truncate(call),
            "concat" => file::concat(call),
            "complete" => file::complete(call),
            "fsync" => file::fsync(call),
            "addBlock" => block::add_block(call),
            "abandonBlock" => block::abandon_block(call),
            "getAdditionalDatanode" => block::additional_datanode(call),
            "updateBlockForPipeline" => block::update_block_for_pipeline(call),
            "updatePipeline" => block::update_pipeline(call),
            "reportBadBlocks" => report_bad_blocks(call),
            "mkdirs" => tree::mkdirs(call),
            "rename" => tree::rename(call),
            "rename2" => tree::rename2(call),
            "delete" => tree::delete(call),
            "createSymlink" => tree::create_symlink(call),
            "getLinkTarget" => tree::link_target(call),
            "setReplication" => attribute::set_replication(call),
            "setPermission" => attribute::set_permission(call),
            "setOwner" => attribute::set_owner(call),
            "setTimes" => attribute::set_times(call),
            "checkAccess" => attribute::check_access(call),
            "modifyAclEntries" => acl::modify(call),
            "removeAclEntries" => acl::remove_entries(call),
            "removeDefaultAcl" => acl::remove_default(call),
            "removeAcl" => acl::remove(call),
            "setAcl" => acl::set(call),
            "getAclStatus" => acl::status(call),
            "setXAttr" => xattr::set(call),
            "getXAttrs" => xattr::get(call),
            "listXAttrs" => xattr::list(call),
            "removeXAttr" => xattr::remove(call),
            "setStoragePolicy" => policy::set(call),
            "unsetStoragePolicy" => policy::unset(call),
            "getStoragePolicy" => policy::get(call),
            "getStoragePolicies" => policy::all(call),
            "renewLease" => lease::renew(call),
            "recoverLease" => lease::recover(call),
            "listOpenFiles" => lease::open_files(call),
            "getServerDefaults" => admin::server_defaults(call),
            "getFsStats" => report::fs_stats(call),
            "getFsReplicatedBlockStats" => report::replicated_block_stats(call),
            "getFsECBlockGroupStats" => report::ec_block_group_stats(call),
            "getDatanodeReport" => report::datanodes(call),
            "getDatanodeStorageReport" => report::datanode_storages(call),
            "getSlowDatanodeReport" => report::slow_datanodes(call),
            "listCorruptFileBlocks" => report::corrupt_file_blocks(call),
            "setSafeMode" => admin::set_safe_mode(call),
            "saveNamespace" => admin::save_namespace(call),
            "rollEdits" => admin::roll_edits(call),
            "refreshNodes" => admin::refresh_nodes(call),
            "finalizeUpgrade" => admin::finalize_upgrade(call),
            "upgradeStatus" => admin::upgrade_status(call),
            "rollingUpgrade" => admin::rolling_upgrade(call),
            "restoreFailedStorage" => admin::restore_failed_storage(call),
            "setBalancerBandwidth" => admin::set_balancer_bandwidth(call),
            "getCurrentEditLogTxid" => admin::current_txid(call),
            "getHAServiceState" => admin::ha_state(call),
            "msync" => admin::msync(call),
            "getDelegationToken" => none::delegation_token(call),
            "renewDelegationToken" => none::renew_delegation_token(call),
            "cancelDelegationToken" => none::cancel_delegation_token(call),
            "getDataEncryptionKey" => none::data_encryption_key(call),
            "getEZForPath" => none::encryption_zone(call),
            "listEncryptionZones" => none::encryption_zones(call),
            "getErasureCodingPolicy" => none::erasure_coding_policy(call),
            "getErasureCodingPolicies" => none::erasure_coding_policies(call),
            "getErasureCodingCodecs" => none::erasure_coding_codecs(call),
            "getSnapshottableDirListing" => none::snapshottable_directories(call),
            "listCacheDirectives" => cache::list_directives(call),
            "listCachePools" => cache::list_pools(call),
            "addCacheDirective" => cache::add_directive(call),
            "modifyCacheDirective" => cache::modify_directive(call),
            "removeCacheDirective" => cache::remove_directive(call),
            "addCachePool" => cache::add_pool(call),
            "modifyCachePool" => cache::modify_pool(call),
            "removeCachePool" => cache::remove_pool(call),
            "getEnclosingRoot" => none::enclosing_root(call),
            other if NOT_YET.contains(&other) => Reply::exception(
                JavaException::UnsupportedOperation
                    .with(format!("{other} is not supported by this NameNode")),
            ),
            other => Reply::exception(no_such_method(Self::NAME, other)),
        }
    }
}

/// Methods of the protocol that answer UnsupportedOperationException by name.
const NOT_YET: &[&str] = &[
    "metaSave",
    "createSnapshot",
    "renameSnapshot",
    "allowSnapshot",
    "disallowSnapshot",
    "deleteSnapshot",
    "getSnapshotListing",
    "getSnapshotDiffReport",
    "getSnapshotDiffReportListing",
    "createEncryptionZone",
    "reencryptEncryptionZone",
    "listReencryptionStatus",
    "setErasureCodingPolicy",
    "unsetErasureCodingPolicy",
    "getECTopologyResultForPolicies",
    "addErasureCodingPolicies",
    "removeErasureCodingPolicy",
    "enableErasureCodingPolicy",
    "disableErasureCodingPolicy",
    "getEditsFromTxid",
    "satisfyStoragePolicy",
];
