//! A view over the file systems of a mount table: where each path of it leads.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use zerohop_client::{FileKind, User};
use zerohop_conf::{Conf, keys};
use zerohop_system::users;

use super::location::{Location, absolute, child};
use super::mount_table::{MountTable, Node, Place, fallback_path};
use super::status::Status;
use super::store::{Store, Stores};
use crate::failure::{Failure, Kind, Outcome};
use crate::units::now_ms;

/// Permission bits of the directories of the mount table.
const READ_ONLY: u32 = 0o555;

/// What both paths of a rename must have in common.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RenameStrategy {
    MountPoint,
    Target,
    FileSystem,
}

impl RenameStrategy {
    pub fn parse(text: &str) -> Option<RenameStrategy> {
        Some(match text {
            "SAME_MOUNTPOINT" => RenameStrategy::MountPoint,
            "SAME_TARGET_URI_ACROSS_MOUNTPOINT" => RenameStrategy::Target,
            "SAME_FILESYSTEM_ACROSS_MOUNTPOINT" => RenameStrategy::FileSystem,
            _ => return None,
        })
    }

    fn check(self, from: &At, to: &At) -> Outcome {
        let allowed = match self {
            RenameStrategy::MountPoint => from.link == to.link,
            RenameStrategy::Target => from.target == to.target,
            RenameStrategy::FileSystem => from.target.store.uri() == to.target.store.uri(),
        };
        match allowed {
            true => Ok(()),
            false => Err(Failure::io("Renames across Mount points not supported")),
        }
    }
}

/// The file system of a link and the directory in it that the link leads to.
#[derive(Clone)]
pub struct Target {
    pub store: Arc<dyn Store>,
    pub root: String,
}

impl PartialEq for Target {
    fn eq(&self, other: &Target) -> bool {
        self.root == other.root && self.store.uri() == other.store.uri()
    }
}

/// A path in the file system of a link.
pub struct At {
    pub link: usize,
    pub target: Target,
    pub path: String,
    /// True if the path is the mount point itself.
    pub is_mount_point: bool,
    /// False if the fallback took what the mount table does not have.
    pub by_mount_point: bool,
}

/// The place that an operation goes to.
pub enum Found {
    Internal { directory: String, rest: String },
    Linked(At),
}

/// A mount table with the file systems that it leads to.
pub struct View {
    /// The authority of its URI.
    pub name: String,
    pub table: MountTable,
    strategy: RenameStrategy,
    /// True if mount points are listed as symbolic links.
    as_links: bool,
    /// True if the trash is below the mount point of what is deleted.
    pub trash_inside: bool,
    pub user: String,
    created_ms: i64,
    stores: Arc<dyn Stores>,
    /// Targets that were used, by the number of their link.
    targets: Mutex<BTreeMap<usize, Target>>,
}

pub fn read_only(operation: &str, path: &str) -> Failure {
    Failure::new(
        Kind::Denied,
        format!(
            "InternalDir of ViewFileSystem is readonly, operation {operation} not permitted on path {path}."
        ),
    )
}

pub fn not_mounted(operation: &str, path: &str) -> Failure {
    Failure::unsupported(format!("{operation} on path `{path}' is not within a mount point"))
}

pub fn not_a_file() -> Failure {
    Failure::new(Kind::NotFound, "Path points to dir not a file")
}

impl View {
    /// Reads the mount table of a name, or the default one; opens nothing yet.
    pub fn read(conf: &Conf, name: Option<&str>, stores: Arc<dyn Stores>) -> Outcome<View> {
        let default = conf.get(&keys::FS_VIEWFS_MOUNTTABLE_DEFAULT_NAME_KEY)?;
        let without_port = conf.get(&keys::FS_VIEWFS_IGNORE_PORT_IN_MOUNT_TABLE_NAME)?;
        let table_name = match name {
            Some(name) if without_port => name.split(':').next().unwrap_or_default(),
            Some(name) => name,
            None => &default,
        };
        let strategy = conf.get_as(
            &keys::FS_VIEWFS_RENAME_STRATEGY,
            "one of SAME_MOUNTPOINT, SAME_TARGET_URI_ACROSS_MOUNTPOINT, SAME_FILESYSTEM_ACROSS_MOUNTPOINT",
            |text| RenameStrategy::parse(&text),
        )?;
        Ok(View {
            name: name.unwrap_or_default().to_owned(),
            table: MountTable::read(conf, table_name)?,
            strategy,
            as_links: conf.get(&keys::FS_VIEWFS_MOUNT_LINKS_AS_SYMLINKS)?,
            trash_inside: conf.get(&keys::FS_VIEWFS_TRASH_FORCE_INSIDE_MOUNT_POINT)?,
            user: User::of_process().name,
            created_ms: now_ms(),
            stores,
            targets: Mutex::default(),
        })
    }

    pub fn target(&self, link: usize) -> Outcome<Target> {
        let lock = || self.targets.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(target) = lock().get(&link) {
            return Ok(target.clone());
        }
        let uri = self.table.links.get(link).map(|link| link.target.as_str()).unwrap_or_default();
        let location = Location::parse(uri);
        let store = self.stores.open(&location).map_err(|failure| {
            Failure::io(format!(
                "Could not initialize target File System for URI : {uri}: {}",
                failure.text
            ))
        })?;
        let target = Target { store, root: absolute(&location.path, "/") };
        Ok(lock().entry(link).or_insert(target).clone())
    }

    pub fn linked(&self, link: usize, rest: &str, by_mount_point: bool) -> Outcome<At> {
        let target = self.target(link)?;
        let path = absolute(&format!("{}/{rest}", target.root), "/");
        Ok(At { link, target, path, is_mount_point: rest == "/", by_mount_point })
    }

    pub fn find(&self, path: &str, last: bool) -> Outcome<Found> {
        Ok(match self.table.resolve(path, last)? {
            Place::Internal { directory, rest } => Found::Internal { directory, rest },
            Place::Linked { link, rest, by_mount_point } => {
                Found::Linked(self.linked(link, &rest, by_mount_point)?)
            }
        })
    }

    /// Returns where an existing path leads to; directories of the mount table refuse the operation.
    pub fn changed(&self, path: &str, operation: &str) -> Outcome<At> {
        match self.find(path, true)? {
            Found::Linked(at) => Ok(at),
            Found::Internal { rest, .. } => Err(read_only(operation, &rest)),
        }
    }

    /// Returns where an existing path leads to; directories of the mount table do not have the operation.
    pub fn mounted(&self, path: &str, operation: &str) -> Outcome<At> {
        match self.find(path, true)? {
            Found::Linked(at) => Ok(at),
            Found::Internal { rest, .. } => Err(not_mounted(operation, &rest)),
        }
    }

    pub fn file(&self, path: &str) -> Outcome<At> {
        match self.find(path, true)? {
            Found::Linked(at) => Ok(at),
            Found::Internal { .. } => Err(not_a_file()),
        }
    }

    /// Returns the path of a fallback for a name that an internal directory lacks; `None` without a fallback.
    pub fn fallback(&self, directory: &str, rest: &str) -> Outcome<Option<At>> {
        let Some(link) = self.table.fallback else { return Ok(None) };
        self.linked(link, &fallback_path(directory, rest), false).map(Some)
    }

    /// Describes a directory of the mount table, or a mount point as a link.
    pub fn own_status(&self, path: String, kind: FileKind) -> Status {
        Status {
            path,
            kind,
            length: 0,
            replication: 0,
            block_size: 0,
            modified_ms: self.created_ms,
            accessed_ms: self.created_ms,
            owner: self.user.clone(),
            group: users::groups_of(&self.user).into_iter().next().unwrap_or_default(),
            mode: READ_ONLY,
            has_acl: false,
            erasure_policy: String::new(),
            id: None,
        }
    }

    fn entry(&self, path: String, node: &Node) -> Outcome<Status> {
        let Some(link) = node.link else { return Ok(self.own_status(path, FileKind::Directory)) };
        if self.as_links {
            return Ok(self.own_status(path, FileKind::Symlink));
        }
        let target = self.target(link)?;
        Ok(Status { path, ..target.store.status(&target.root)? })
    }

    /// Lists a directory of the mount table. Mount points come before entries of the fallback with their name, and those
    /// before directories of the table.
    pub fn internal_entries(&self, directory: &str) -> Outcome<Vec<Status>> {
        let node = self.table.directory(directory);
        let mut entries = BTreeMap::new();
        for (name, node) in node.into_iter().flat_map(|node| &node.children) {
            entries.insert(name.clone(), self.entry(child(directory, name), node)?);
        }
        let is_link = |name: &str| {
            let found = node.and_then(|node| node.children.get(name));
            found.is_some_and(|node| node.link.is_some())
        };
        let fallback = self.fallback(directory, "/")?;
        let fallback = match fallback {
            Some(at) if directory == "/" || at.target.store.exists(&at.path)? => Some(at),
            _ => None,
        };
        if let Some(at) = fallback {
            for status in at.target.store.list_all(&at.path)? {
                let name = status.name().to_owned();
                if !is_link(&name) {
                    let path = child(directory, &name);
                    entries.insert(name, Status { path, ..status });
                }
            }
        }
        Ok(entries.into_values().collect())
    }

    /// Returns where a rename takes its source from.
    pub fn rename_source(&self, path: &str) -> Outcome<At> {
        if let Found::Linked(at) = self.find(path, false)? {
            return Ok(at);
        }
        match self.find(path, true) {
            Ok(Found::Linked(at)) if self.table.fallback.is_some() && !at.by_mount_point => Ok(at),
            Err(failure) if self.table.fallback.is_some() => Err(failure),
            _ => Err(read_only("rename", &self.qualified(path))),
        }
    }

    /// Returns where a rename puts its target.
    pub fn rename_target(&self, path: &str) -> Outcome<At> {
        if let Found::Linked(at) = self.find(path, false)? {
            return Ok(at);
        }
        let Some(link) = self.table.fallback else {
            return Err(read_only("rename", &self.qualified(path)));
        };
        match self.find(path, true)? {
            Found::Linked(at) => Ok(at),
            // A directory of the table that the fallback has, too.
            Found::Internal { directory, .. } => self.linked(link, &directory, false),
        }
    }

    /// Returns the file systems that were used.
    pub fn used(&self) -> Vec<Arc<dyn Store>> {
        let targets = self.targets.lock().unwrap_or_else(PoisonError::into_inner);
        targets.values().map(|target| target.store.clone()).collect()
    }

    pub fn qualified(&self, path: &str) -> String {
        format!("viewfs://{}{path}", self.name)
    }

    pub fn renamed<T>(
        &self,
        from: &str,
        to: &str,
        rename: impl FnOnce(&dyn Store, &str, &str) -> Outcome<T>,
    ) -> Outcome<T> {
        let from = self.rename_source(from)?;
        let to = self.rename_target(to)?;
        self.strategy.check(&from, &to)?;
        rename(&*from.target.store, &from.path, &to.path)
    }
}
