//! `create`.

use super::Files;
use crate::access::{Check, WRITE};
use crate::blocks::policy;
use crate::error::{
    AlreadyExists, ArgumentError, LeaseOperation, LimitError, NotFound, PathError, PolicyError,
    refuse,
};
use crate::limits::{check_path_length, check_text};
use crate::ops::directory_rules::Modes;
use crate::ops::replication::verify_replication;
use crate::quota::Counts;
use crate::resolve::DirOp;
use crate::tree::{self, BLOCK_SIZE_MAX, Slot};
use crate::view::status::status_of;
use crate::walk::{Located, is_exact_reserved, is_reserved, is_reserved_inodes, is_reserved_raw};
use crate::{CreateRequest, FileStatus, Result, acl};
use zerohop_journal::op::{Add, EditOp};

impl Files<'_> {
    /// Creates a file and opens it for writing; with OVERWRITE one that is there is replaced in the same edit.
    ///
    /// # Errors
    /// As Hadoop's `create`.
    pub fn create(&mut self, request: &CreateRequest<'_>) -> Result<FileStatus> {
        let path = request.path;
        check_path_length("create", path)?;
        check_create_path(path)?;
        if request.flags.should_replicate && request.ec_policy.is_some_and(|name| !name.is_empty())
        {
            return refuse(ArgumentError::ReplicateAndErasureCode);
        }
        self.call.begin(|| format!("Cannot create file{path}"))?;
        let located = self.resolve_for_create(request)?;
        check_path_length("create", &located.path)?;
        check_text("The client's name", request.client_name)?;
        self.check_create_params(request)?;
        if let Some(existing) = located.last()
            && !request.flags.overwrite
        {
            let who = (request.client_name, &*self.call.ctx.client_host);
            self.recovery().recover_file_lease(
                LeaseOperation::Create,
                existing,
                &located.path,
                who,
            )?;
            let client_host = self.call.ctx.client_host.to_string();
            return refuse(AlreadyExists::File { path: located.path.into_owned(), client_host });
        }
        let replaced = located.last().and_then(|slot| self.call.state.tree().get(slot).as_file());
        let freed = replaced.map_or(0, |file| 1 + file.blocks.as_slice().len());
        self.call.check_object_limit(freed)?;
        let slot = self.create_file(request, &located)?;
        Ok(status_of(self.call.state, slot, String::new(), policy::UNSPECIFIED))
    }

    /// `FSDirWriteFileOp.resolvePathForStartFile`
    fn resolve_for_create<'a>(&self, request: &CreateRequest<'a>) -> Result<Located<'a>> {
        let located = self.call.access().resolve(request.path, DirOp::Create)?;
        self.call.access().check(&located, Check { ancestor: Some(WRITE), ..Check::default() })?;
        let Some(slot) = located.last() else {
            if !request.create_parent {
                self.call.rules().verify_parent(&located)?;
            }
            if !request.flags.create {
                return refuse(NotFound::Overwritten { path: request.path.to_owned() });
            }
            return Ok(located);
        };
        if self.call.state.tree().get(slot).is_directory() {
            return refuse(AlreadyExists::Directory { path: located.path.into_owned() });
        }
        self.call.state.paths().file_at(Some(slot), request.path)?;
        if request.flags.overwrite {
            self.call.access().check_access_to(&located, WRITE)?;
        }
        Ok(located)
    }

    fn check_create_params(&self, request: &CreateRequest<'_>) -> Result<()> {
        let minimum = self.call.params.block_size_min;
        if request.block_size < minimum {
            return refuse(LimitError::BlockTooSmall { size: request.block_size, minimum });
        }
        if request.block_size > BLOCK_SIZE_MAX {
            let (size, maximum) = (request.block_size, BLOCK_SIZE_MAX);
            return refuse(LimitError::BlockTooLarge { size, maximum });
        }
        verify_replication(
            self.call.params,
            request.path,
            request.replication,
            Some(&self.call.ctx.client_host),
        )?;
        match request.ec_policy {
            Some(name) if !name.is_empty() && !name.eq_ignore_ascii_case("replication") => {
                refuse(ArgumentError::ErasureCodingPolicy { name: name.to_owned() })
            }
            _ => Ok(()),
        }
    }

    fn create_file(&mut self, request: &CreateRequest<'_>, located: &Located<'_>) -> Result<Slot> {
        let policy = self.policy_for_create(request)?;
        let now = self.call.wall_ms();
        let parent = match located.last() {
            Some(existing) => {
                let parent = self.call.state.tree().get(existing).parent;
                // Limits are checked before the old file is deleted. Hadoop checks after, and loses the file if one is exceeded.
                self.call.rules().check_child_limits(
                    parent,
                    located.name(),
                    located.parent_path(),
                    false,
                )?;
                parent
            }
            None => {
                let parent = self.new_directories().create_file_parents(located)?;
                let usage = Counts { names: 1, ..Counts::default() };
                self.call.rules().check_insert(
                    parent,
                    located.name(),
                    located.parent_path(),
                    &usage,
                )?;
                parent
            }
        };
        let (mode, acl) = self.call.rules().new_mode(
            parent,
            Modes { masked: request.masked, unmasked: request.unmasked },
            false,
        );
        let op = Box::new(Add {
            inode_id: self.call.next_inode_id(),
            path: located.path.clone().into_owned(),
            replication: request.replication as i16,
            mtime_ms: now as i64,
            atime_ms: now as i64,
            block_size: request.block_size as i64,
            blocks: Vec::new(),
            permissions: self.call.rules().new_permissions(parent, mode),
            acl: acl.as_ref().map(|acl| acl::logical(mode, Some(acl))).unwrap_or_default(),
            xattrs: Vec::new(),
            client_name: request.client_name.to_owned(),
            client_machine: self.call.ctx.client_host.to_string(),
            overwrite: request.flags.overwrite,
            storage_policy_id: self.policy_at_create(policy, parent, request.flags.lazy_persist),
            ec_policy_id: 0,
        });
        Ok(self.call.commit_call(EditOp::Add(op))?.inode.unwrap_or(parent))
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

    /// The policy that the new file stores: one that only applies at creation is stored in the file (`setNewINodeStoragePolicy`).
    fn policy_at_create(&self, asked: u8, parent: Slot, lazy_persist: bool) -> u8 {
        const LAZY_PERSIST: u8 = 15;
        if lazy_persist {
            return LAZY_PERSIST;
        }
        let effective = if asked == policy::UNSPECIFIED {
            self.call.state.effective_policy(parent)
        } else {
            asked
        };
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
