//! Files created.

use super::mkdirs::Modes;
use crate::access::{Check, WRITE};
use crate::blocks::policy;
use crate::error::{
    AlreadyExists, ArgumentError, LeaseOperation, LimitError, NotFound, PathError, PolicyError,
    ReplicationBound, refuse,
};
use crate::limits::{check_path_length, check_text};
use crate::quota::Counts;
use crate::resolve::DirOp;
use crate::tree::{self, BLOCK_SIZE_MAX, REPLICATION_MAX, Slot};
use crate::walk::{Located, is_exact_reserved, is_reserved, is_reserved_inodes, is_reserved_raw};
use crate::{CreateRequest, FileStatus, Namespace, OpContext, Result, acl};
use zerohop_journal::op::{Add, EditOp};

impl Namespace {
    /// Creates a file and opens it for writing; with OVERWRITE one that is there is replaced in the same edit.
    ///
    /// # Errors
    /// As Hadoop's `create`.
    pub fn create(&mut self, ctx: &OpContext, request: &CreateRequest<'_>) -> Result<FileStatus> {
        let path = request.path;
        check_path_length("create", path)?;
        check_create_path(path)?;
        if request.flags.should_replicate && request.ec_policy.is_some_and(|name| !name.is_empty())
        {
            return refuse(ArgumentError::ReplicateAndErasureCode);
        }
        self.begin(ctx, || format!("Cannot create file{path}"))?;
        let located = self.resolve_for_create(ctx, request)?;
        check_path_length("create", &located.path)?;
        check_text("The client's name", request.client_name)?;
        self.check_create_params(ctx, request)?;
        if let Some(existing) = located.last()
            && !request.flags.overwrite
        {
            let who = (request.client_name, &*ctx.client_host);
            self.recover_file_lease(LeaseOperation::Create, existing, &located.path, who)?;
            let client_host = ctx.client_host.to_string();
            return refuse(AlreadyExists::File { path: located.path.into_owned(), client_host });
        }
        let replaced = located.last().and_then(|slot| self.state.tree().get(slot).as_file());
        let freed = replaced.map_or(0, |file| 1 + file.blocks.as_slice().len());
        self.check_object_limit(freed)?;
        let slot = self.create_file(ctx, request, &located)?;
        Ok(self.status_of(slot, String::new(), policy::UNSPECIFIED))
    }

    /// `FSDirWriteFileOp.resolvePathForStartFile`
    fn resolve_for_create<'a>(
        &self,
        ctx: &OpContext,
        request: &CreateRequest<'a>,
    ) -> Result<Located<'a>> {
        let located = self.resolve(ctx, request.path, DirOp::Create)?;
        self.check(ctx, &located, Check { ancestor: Some(WRITE), ..Check::default() })?;
        let Some(slot) = located.last() else {
            if !request.create_parent {
                self.verify_parent(&located)?;
            }
            if !request.flags.create {
                return refuse(NotFound::Overwritten { path: request.path.to_owned() });
            }
            return Ok(located);
        };
        if self.state.tree().get(slot).is_directory() {
            return refuse(AlreadyExists::Directory { path: located.path.into_owned() });
        }
        self.state.paths().file_at(Some(slot), request.path)?;
        if request.flags.overwrite {
            self.check_access_to(ctx, &located, WRITE)?;
        }
        Ok(located)
    }

    fn check_create_params(&self, ctx: &OpContext, request: &CreateRequest<'_>) -> Result<()> {
        let minimum = self.params.block_size_min;
        if request.block_size < minimum {
            return refuse(LimitError::BlockTooSmall { size: request.block_size, minimum });
        }
        if request.block_size > BLOCK_SIZE_MAX {
            let (size, maximum) = (request.block_size, BLOCK_SIZE_MAX);
            return refuse(LimitError::BlockTooLarge { size, maximum });
        }
        self.verify_replication(request.path, request.replication, Some(&ctx.client_host))?;
        match request.ec_policy {
            Some(name) if !name.is_empty() && !name.eq_ignore_ascii_case("replication") => {
                refuse(ArgumentError::ErasureCodingPolicy { name: name.to_owned() })
            }
            _ => Ok(()),
        }
    }

    /// `BlockManager.verifyReplication`, and what an inode can hold, where `dfs.replication.max` allows more.
    pub(crate) fn verify_replication(
        &self,
        path: &str,
        replication: u16,
        client: Option<&str>,
    ) -> Result<()> {
        let (minimum, maximum) = (self.params.replication_min, self.params.replication_max);
        let bound = if replication > maximum {
            ReplicationBound::Maximum(maximum)
        } else if replication < minimum {
            ReplicationBound::Minimum(minimum)
        } else if replication > REPLICATION_MAX {
            return refuse(LimitError::ReplicationValue { replication });
        } else {
            return Ok(());
        };
        let (path, client_host) = (path.to_owned(), client.map(str::to_owned));
        refuse(LimitError::Replication { replication, bound, path, client_host })
    }

    fn create_file(
        &mut self,
        ctx: &OpContext,
        request: &CreateRequest<'_>,
        located: &Located<'_>,
    ) -> Result<Slot> {
        let policy = self.policy_for_create(request)?;
        let now = self.wall_ms();
        let parent = match located.last() {
            Some(existing) => {
                let parent = self.state.tree().get(existing).parent;
                // Limits are checked before the old file goes: Hadoop checks after, and loses it when one is hit.
                self.check_child_limits(parent, located.name(), located.parent_path(), false)?;
                parent
            }
            None => {
                let parent = self.create_file_parents(ctx, located)?;
                let usage = Counts { names: 1, ..Counts::default() };
                self.check_insert(parent, located.name(), located.parent_path(), &usage)?;
                parent
            }
        };
        let (mode, acl) = self.new_mode(
            parent,
            Modes { masked: request.masked, unmasked: request.unmasked },
            false,
        );
        let op = Box::new(Add {
            inode_id: self.next_inode_id(),
            path: located.path.clone().into_owned(),
            replication: request.replication as i16,
            mtime_ms: now as i64,
            atime_ms: now as i64,
            block_size: request.block_size as i64,
            blocks: Vec::new(),
            permissions: self.new_permissions(ctx, parent, mode),
            acl: acl.as_ref().map(|acl| acl::logical(mode, Some(acl))).unwrap_or_default(),
            xattrs: Vec::new(),
            client_name: request.client_name.to_owned(),
            client_machine: ctx.client_host.to_string(),
            overwrite: request.flags.overwrite,
            storage_policy_id: self.policy_at_create(policy, parent, request.flags.lazy_persist),
            ec_policy_id: 0,
        });
        Ok(self.commit_call(ctx, EditOp::Add(op))?.inode.unwrap_or(parent))
    }

    fn policy_for_create(&self, request: &CreateRequest<'_>) -> Result<u8> {
        match request.storage_policy {
            Some(name) if !name.is_empty() => match policy::StoragePolicy::by_name(name) {
                Some(policy) => Ok(policy.id),
                None => refuse(PolicyError::Unknown { name: name.to_owned() }),
            },
            _ => Ok(policy::UNSPECIFIED),
        }
    }

    /// Policies that count only at creation are written into the file (`setNewINodeStoragePolicy`).
    fn policy_at_create(&self, asked: u8, parent: Slot, lazy_persist: bool) -> u8 {
        const LAZY_PERSIST: u8 = 15;
        if lazy_persist {
            return LAZY_PERSIST;
        }
        let effective =
            if asked == policy::UNSPECIFIED { self.state.effective_policy(parent) } else { asked };
        match policy::StoragePolicy::by_id(effective) {
            Some(policy) if policy.copy_on_create => policy.id,
            _ => asked,
        }
    }
}

fn check_create_path(path: &str) -> Result<()> {
    let reserved = is_reserved(path) && !is_reserved_raw(path) && !is_reserved_inodes(path);
    if !tree::is_valid_name(path) || is_exact_reserved(path) || reserved {
        return refuse(PathError::Invalid { path: path.to_owned() });
    }
    Ok(())
}
