//! One record of an edit log as XML; the elements are those of `FSEditLogOp.toXml`.

use std::io::{Result, Write};

use zerohop_journal::op::{EditOp, Record};
use zerohop_journal::types::{
    AclEntry, AclKind, AclScope, CacheDirectiveRecord, CachePool, DelegationKey, EcPolicy,
    PermissionStatus, RpcIds, TokenIdentifier, XAttr, XAttrNamespace,
};
use zerohop_wire::Block;

use super::xml::Xml;

/// Writes a record.
pub fn write<W: Write>(xml: &mut Xml<W>, record: &Record) -> Result<()> {
    xml.group("RECORD", |xml| {
        xml.value("OPCODE", record.op.name())?;
        xml.group("DATA", |xml| {
            xml.value("TXID", record.txid.0)?;
            operation(xml, &record.op)?;
            // Apache's viewer leaves them out of a truncate.
            match record.op.has_rpc_ids() && !matches!(record.op, EditOp::Truncate(_)) {
                true => rpc_ids(xml, &record.rpc),
                false => Ok(()),
            }
        })
    })
}

fn operation<W: Write>(xml: &mut Xml<W>, op: &EditOp) -> Result<()> {
    match op {
        EditOp::Add(op) => {
            xml.value("LENGTH", 0)?;
            xml.value("INODEID", op.inode_id.0)?;
            xml.value("PATH", &op.path)?;
            xml.value("REPLICATION", op.replication)?;
            xml.value("MTIME", op.mtime_ms)?;
            xml.value("ATIME", op.atime_ms)?;
            xml.value("BLOCKSIZE", op.block_size)?;
            xml.value("CLIENT_NAME", &op.client_name)?;
            xml.value("CLIENT_MACHINE", &op.client_machine)?;
            xml.value("OVERWRITE", op.overwrite)?;
            blocks(xml, &op.blocks)?;
            permissions(xml, &op.permissions)?;
            acl(xml, &op.acl)?;
            xml.value("ERASURE_CODING_POLICY_ID", op.ec_policy_id as i8)
        }
        EditOp::Close(op) => {
            xml.value("LENGTH", 0)?;
            xml.value("INODEID", op.inode_id.0)?;
            xml.value("PATH", &op.path)?;
            xml.value("REPLICATION", op.replication)?;
            xml.value("MTIME", op.mtime_ms)?;
            xml.value("ATIME", op.atime_ms)?;
            xml.value("BLOCKSIZE", op.block_size)?;
            xml.value("CLIENT_NAME", "")?;
            xml.value("CLIENT_MACHINE", "")?;
            xml.value("OVERWRITE", false)?;
            blocks(xml, &op.blocks)?;
            permissions(xml, &op.permissions)
        }
        EditOp::Append(op) => {
            xml.value("PATH", &op.path)?;
            xml.value("CLIENT_NAME", &op.client_name)?;
            xml.value("CLIENT_MACHINE", &op.client_machine)?;
            xml.value("NEWBLOCK", op.new_block)
        }
        EditOp::AddBlock(op) => {
            xml.value("PATH", &op.path)?;
            op.penultimate.iter().try_for_each(|known| block(xml, known))?;
            block(xml, &op.last)
        }
        EditOp::UpdateBlocks(op) => {
            xml.value("PATH", &op.path)?;
            blocks(xml, &op.blocks)
        }
        EditOp::SetReplication(op) => {
            xml.value("PATH", &op.path)?;
            xml.value("REPLICATION", op.replication)
        }
        EditOp::ConcatDelete(op) => {
            xml.value("LENGTH", 0)?;
            xml.value("TRG", &op.target)?;
            xml.value("TIMESTAMP", op.timestamp_ms)?;
            xml.group("SOURCES", |xml| {
                let mut sources = op.sources.iter().enumerate();
                sources.try_for_each(|(at, source)| xml.value(&format!("SOURCE{}", at + 1), source))
            })
        }
        EditOp::RenameOld(op) => {
            xml.value("LENGTH", 0)?;
            xml.value("SRC", &op.src)?;
            xml.value("DST", &op.dst)?;
            xml.value("TIMESTAMP", op.timestamp_ms)
        }
        EditOp::Rename(op) => {
            xml.value("LENGTH", 0)?;
            xml.value("SRC", &op.src)?;
            xml.value("DST", &op.dst)?;
            xml.value("TIMESTAMP", op.timestamp_ms)?;
            let options: Vec<&str> =
                op.options.iter().map(|option| rename_option(*option)).collect();
            xml.value("OPTIONS", options.join("|"))
        }
        EditOp::Delete(op) => {
            xml.value("LENGTH", 0)?;
            xml.value("PATH", &op.path)?;
            xml.value("TIMESTAMP", op.timestamp_ms)
        }
        EditOp::Mkdir(op) => {
            xml.value("LENGTH", 0)?;
            xml.value("INODEID", op.inode_id.0)?;
            xml.value("PATH", &op.path)?;
            xml.value("TIMESTAMP", op.timestamp_ms)?;
            permissions(xml, &op.permissions)?;
            acl(xml, &op.acl)?;
            xattrs(xml, &op.xattrs)
        }
        EditOp::Symlink(op) => {
            xml.value("LENGTH", 0)?;
            xml.value("INODEID", op.inode_id.0)?;
            xml.value("PATH", &op.path)?;
            xml.value("VALUE", &op.target)?;
            xml.value("MTIME", op.mtime_ms)?;
            xml.value("ATIME", op.atime_ms)?;
            permissions(xml, &op.permissions)
        }
        EditOp::Times(op) => {
            xml.value("LENGTH", 0)?;
            xml.value("PATH", &op.path)?;
            xml.value("MTIME", op.mtime_ms)?;
            xml.value("ATIME", op.atime_ms)
        }
        EditOp::Truncate(op) => {
            xml.value("SRC", &op.path)?;
            xml.value("CLIENTNAME", &op.client_name)?;
            xml.value("CLIENTMACHINE", &op.client_machine)?;
            xml.value("NEWLENGTH", op.new_length)?;
            xml.value("TIMESTAMP", op.timestamp_ms)?;
            op.block.iter().try_for_each(|cut| block(xml, cut))
        }
        EditOp::ReassignLease(op) => {
            xml.value("LEASEHOLDER", &op.lease_holder)?;
            xml.value("PATH", &op.path)?;
            xml.value("NEWHOLDER", &op.new_holder)
        }
        other => of_attributes(xml, other),
    }
}

fn of_attributes<W: Write>(xml: &mut Xml<W>, op: &EditOp) -> Result<()> {
    match op {
        EditOp::SetPermissions(op) => {
            xml.value("SRC", &op.path)?;
            xml.value("MODE", op.mode)
        }
        EditOp::SetOwner(op) => {
            xml.value("SRC", &op.path)?;
            xml.some("USERNAME", op.user.as_deref())?;
            xml.some("GROUPNAME", op.group.as_deref())
        }
        EditOp::SetNsQuota(op) => {
            xml.value("SRC", &op.path)?;
            xml.value("NSQUOTA", op.ns_quota)
        }
        EditOp::ClearNsQuota(op) => xml.value("SRC", &op.path),
        EditOp::SetQuota(op) => {
            xml.value("SRC", &op.path)?;
            xml.value("NSQUOTA", op.ns_quota)?;
            xml.value("DSQUOTA", op.ds_quota)
        }
        EditOp::SetQuotaByStorageType(op) => {
            xml.value("SRC", &op.path)?;
            xml.value("STORAGETYPE", op.storage_type as i32)?;
            xml.value("DSQUOTA", op.quota)
        }
        EditOp::SetStoragePolicy(op) => {
            xml.value("PATH", &op.path)?;
            xml.value("POLICYID", op.policy_id as i8)
        }
        EditOp::SetAcl(op) => {
            xml.value("SRC", &op.path)?;
            acl(xml, &op.entries)
        }
        EditOp::SetXAttr(op) => {
            xml.value("SRC", &op.path)?;
            xattrs(xml, &op.xattrs)
        }
        EditOp::RemoveXAttr(op) => {
            xml.value("SRC", &op.path)?;
            xattrs(xml, &op.xattrs)
        }
        EditOp::AllowSnapshot(op) => xml.value("SNAPSHOTROOT", &op.root),
        EditOp::DisallowSnapshot(op) => xml.value("SNAPSHOTROOT", &op.root),
        EditOp::CreateSnapshot(op) => {
            xml.value("SNAPSHOTROOT", &op.root)?;
            xml.value("SNAPSHOTNAME", &op.name)?;
            xml.value("MTIME", op.mtime_ms)
        }
        EditOp::DeleteSnapshot(op) => {
            xml.value("SNAPSHOTROOT", &op.root)?;
            xml.value("SNAPSHOTNAME", &op.name)?;
            xml.value("MTIME", op.mtime_ms)
        }
        EditOp::RenameSnapshot(op) => {
            xml.value("SNAPSHOTROOT", &op.root)?;
            xml.value("SNAPSHOTOLDNAME", &op.old_name)?;
            xml.value("SNAPSHOTNEWNAME", &op.new_name)?;
            xml.value("MTIME", op.mtime_ms)
        }
        other => of_cluster(xml, other),
    }
}

fn of_cluster<W: Write>(xml: &mut Xml<W>, op: &EditOp) -> Result<()> {
    match op {
        EditOp::SetGenstampV1(op) => xml.value("GENSTAMP", op.stamp.0),
        EditOp::SetGenstampV2(op) => xml.value("GENSTAMPV2", op.stamp.0),
        EditOp::AllocateBlockId(op) => xml.value("BLOCK_ID", op.block_id.0),
        EditOp::RollingUpgradeStart(op) => xml.value("STARTTIME", op.time_ms),
        EditOp::RollingUpgradeFinalize(op) => xml.value("FINALIZETIME", op.time_ms),
        EditOp::GetDelegationToken(op) => {
            token(xml, &op.token)?;
            xml.value("EXPIRY_TIME", op.expiry_ms)
        }
        EditOp::RenewDelegationToken(op) => {
            token(xml, &op.token)?;
            xml.value("EXPIRY_TIME", op.expiry_ms)
        }
        EditOp::CancelDelegationToken(op) => token(xml, &op.token),
        EditOp::UpdateMasterKey(op) => key(xml, &op.key),
        EditOp::AddCacheDirective(op) => directive(xml, &op.directive),
        EditOp::ModifyCacheDirective(op) => directive(xml, &op.directive),
        EditOp::RemoveCacheDirective(op) => xml.value("ID", op.id),
        EditOp::AddCachePool(op) => pool(xml, &op.pool),
        EditOp::ModifyCachePool(op) => pool(xml, &op.pool),
        EditOp::RemoveCachePool(op) => xml.value("POOLNAME", &op.name),
        EditOp::AddErasureCodingPolicy(op) => policy(xml, &op.policy),
        EditOp::EnableErasureCodingPolicy(op) => xml.value("POLICYNAME", &op.name),
        EditOp::DisableErasureCodingPolicy(op) => xml.value("POLICYNAME", &op.name),
        EditOp::RemoveErasureCodingPolicy(op) => xml.value("POLICYNAME", &op.name),
        // A segment's first and last records say nothing; the others are written above.
        _ => Ok(()),
    }
}

/// `Options.Rename`.
fn rename_option(option: u8) -> &'static str {
    match option {
        0 => "NONE",
        1 => "OVERWRITE",
        _ => "TO_TRASH",
    }
}

/// The client's id as a UUID; empty where the log has none.
fn rpc_ids<W: Write>(xml: &mut Xml<W>, ids: &RpcIds) -> Result<()> {
    let client = ids.client_id.map_or(String::new(), |id| {
        let text = hex::encode(id);
        let part = |range: std::ops::Range<usize>| text.get(range).unwrap_or_default();
        [part(0..8), part(8..12), part(12..16), part(16..20), part(20..32)].join("-")
    });
    xml.value("RPC_CLIENTID", client)?;
    xml.value("RPC_CALLID", ids.call_id)
}

fn block<W: Write>(xml: &mut Xml<W>, block: &Block) -> Result<()> {
    xml.group("BLOCK", |xml| {
        xml.value("BLOCK_ID", block.id.0)?;
        xml.value("NUM_BYTES", block.len)?;
        xml.value("GENSTAMP", block.stamp.0)
    })
}

fn blocks<W: Write>(xml: &mut Xml<W>, blocks: &[Block]) -> Result<()> {
    blocks.iter().try_for_each(|one| block(xml, one))
}

fn permissions<W: Write>(xml: &mut Xml<W>, status: &PermissionStatus) -> Result<()> {
    xml.group("PERMISSION_STATUS", |xml| {
        xml.value("USERNAME", &status.user)?;
        xml.value("GROUPNAME", &status.group)?;
        xml.value("MODE", status.mode)
    })
}

fn acl<W: Write>(xml: &mut Xml<W>, entries: &[AclEntry]) -> Result<()> {
    entries.iter().try_for_each(|entry| {
        xml.group("ENTRY", |xml| {
            let scope = match entry.scope {
                AclScope::Access => "ACCESS",
                AclScope::Default => "DEFAULT",
            };
            let kind = match entry.kind {
                AclKind::User => "USER",
                AclKind::Group => "GROUP",
                AclKind::Mask => "MASK",
                AclKind::Other => "OTHER",
            };
            xml.value("SCOPE", scope)?;
            xml.value("TYPE", kind)?;
            xml.some("NAME", entry.name.as_deref())?;
            let letters = [(4, 'r'), (2, 'w'), (1, 'x')];
            let perm =
                letters.map(|(bit, letter)| if entry.permission & bit != 0 { letter } else { '-' });
            xml.value("PERM", perm.iter().collect::<String>())
        })
    })
}

fn xattrs<W: Write>(xml: &mut Xml<W>, xattrs: &[XAttr]) -> Result<()> {
    xattrs.iter().try_for_each(|xattr| {
        xml.group("XATTR", |xml| {
            let namespace = match xattr.namespace {
                XAttrNamespace::User => "USER",
                XAttrNamespace::Trusted => "TRUSTED",
                XAttrNamespace::Security => "SECURITY",
                XAttrNamespace::System => "SYSTEM",
                XAttrNamespace::Raw => "RAW",
            };
            xml.value("NAMESPACE", namespace)?;
            xml.value("NAME", &xattr.name)?;
            xml.some("VALUE", xattr.value.as_ref().map(|value| format!("0x{}", hex::encode(value))))
        })
    })
}

fn token<W: Write>(xml: &mut Xml<W>, token: &TokenIdentifier) -> Result<()> {
    xml.group("DELEGATION_TOKEN_IDENTIFIER", |xml| {
        xml.value("KIND", "HDFS_DELEGATION_TOKEN")?;
        xml.value("SEQUENCE_NUMBER", token.sequence_number)?;
        xml.value("OWNER", &token.owner)?;
        xml.value("RENEWER", &token.renewer)?;
        xml.value("REALUSER", &token.real_user)?;
        xml.value("ISSUE_DATE", token.issue_date_ms)?;
        xml.value("MAX_DATE", token.max_date_ms)?;
        xml.value("MASTER_KEY_ID", token.master_key_id)
    })
}

fn key<W: Write>(xml: &mut Xml<W>, key: &DelegationKey) -> Result<()> {
    xml.group("DELEGATION_KEY", |xml| {
        xml.value("KEY_ID", key.id)?;
        xml.value("EXPIRY_DATE", key.expiry_ms)?;
        xml.some("KEY", key.key.as_ref().map(hex::encode))
    })
}

fn directive<W: Write>(xml: &mut Xml<W>, directive: &CacheDirectiveRecord) -> Result<()> {
    xml.value("ID", directive.id)?;
    xml.some("PATH", directive.path.as_deref())?;
    xml.some("REPLICATION", directive.replication)?;
    xml.some("POOL", directive.pool.as_deref())?;
    xml.some("EXPIRATION", directive.expiration_ms)
}

fn pool<W: Write>(xml: &mut Xml<W>, pool: &CachePool) -> Result<()> {
    xml.value("POOLNAME", &pool.name)?;
    xml.some("OWNERNAME", pool.owner.as_deref())?;
    xml.some("GROUPNAME", pool.group.as_deref())?;
    xml.some("MODE", pool.mode)?;
    xml.some("LIMIT", pool.limit)?;
    xml.some("MAXRELATIVEEXPIRY", pool.max_relative_expiry_ms)?;
    xml.some("DEFAULTREPLICATION", pool.default_replication)
}

fn policy<W: Write>(xml: &mut Xml<W>, policy: &EcPolicy) -> Result<()> {
    xml.value("CODEC", &policy.codec)?;
    xml.value("DATAUNITS", policy.data_units)?;
    xml.value("PARITYUNITS", policy.parity_units)?;
    xml.value("CELLSIZE", policy.cell_size)?;
    xml.value("EXTRAOPTIONS", policy.options.len())?;
    policy.options.iter().try_for_each(|(key, value)| {
        xml.group("EXTRAOPTION", |xml| {
            xml.value("KEY", key)?;
            xml.value("VALUE", value)
        })
    })
}
