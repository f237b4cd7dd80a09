//! Mount tables as one file system: `viewfs`, as Hadoop's `ViewFileSystem` behaves.

use std::sync::Arc;

use zerohop_client::{AclEntry, FileKind};
use zerohop_conf::Conf;

use super::acl_entry::AclChange;
use super::location::{child, file_name};
use super::status::{Checksum, FsStatus, QuotaUsage, Status, Summary};
use super::store::{CreateHow, Input, MountUsage, OpenHow, Output, Resolved, Store, Stores, Times};
use super::view::{Found, View, not_mounted, read_only};
use crate::failure::{Failure, Kind, Outcome};

/// Creates the file system of `viewfs://name`; without a name that of the default table.
pub fn connect(
    conf: &Conf,
    name: Option<&str>,
    stores: Arc<dyn Stores>,
) -> Outcome<Arc<dyn Store>> {
    Ok(Arc::new(ViewStore(View::read(conf, name, stores)?)))
}

struct ViewStore(View);

fn is_below(path: &str, directory: &str) -> bool {
    let directory = directory.trim_end_matches('/');
    path.strip_prefix(directory).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

impl Store for ViewStore {
    fn uri(&self) -> String {
        format!("viewfs://{}", self.0.name)
    }

    fn is_local(&self) -> bool {
        false
    }

    fn home(&self) -> String {
        child(&self.0.table.home, &self.0.user)
    }

    fn resolve(&self, path: &str) -> Outcome<Option<Resolved>> {
        match self.0.find(path, true)? {
            Found::Linked(at) => match at.target.store.resolve(&at.path)? {
                Some(further) => Ok(Some(further)),
                None => Ok(Some(Resolved { store: at.target.store, path: at.path })),
            },
            Found::Internal { .. } => Ok(None),
        }
    }

    fn trash_root_inside(&self, path: &str) -> Outcome<Option<String>> {
        if !self.0.trash_inside {
            return Ok(None);
        }
        let at = self.0.mounted(path, "getTrashRoot")?;
        let mounted_on = self.0.table.links.get(at.link).map_or("/", |link| &link.path);
        let (root, trash) = (&at.target.root, at.target.store.trash_root());
        // The user's own trash where the mount point has it; but not that of a home in a root that is mounted elsewhere.
        let is_home = root == "/" && mounted_on != "/" && is_below(&trash, &at.target.store.home());
        Ok(Some(match is_below(&trash, root) && !is_home {
            true => self.0.table.view_path(at.link, root, &trash),
            false => child(mounted_on, &format!(".Trash/{}", self.0.user)),
        }))
    }

    fn mounts(&self, path: &str) -> Outcome<Option<Vec<MountUsage>>> {
        let names = |path: &str| -> Vec<String> {
            path.split('/').filter(|name| !name.is_empty()).map(str::to_owned).collect()
        };
        let asked = names(path);
        let mut found = Vec::new();
        for (number, link) in self.0.table.links.iter().enumerate() {
            let mounted_on = names(&link.path);
            let common = mounted_on.iter().zip(&asked).take_while(|(a, b)| a == b).count();
            let is_above = common == mounted_on.len() && Some(number) != self.0.table.fallback;
            let leads_there = common > 0 || asked.is_empty();
            if !is_above && !leads_there || Some(number) == self.0.table.fallback {
                continue;
            }
            let usage = MountUsage {
                target: link.target.clone(),
                mounted_on: link.path.clone(),
                status: self.0.target(number)?.store.fs_status()?,
            };
            if is_above {
                return Ok(Some(vec![usage]));
            }
            found.push(usage);
        }
        match found.is_empty() {
            true => Err(not_mounted("getStatus", &self.0.qualified(path))),
            false => Ok(Some(found)),
        }
    }

    fn read_report(&self) -> Vec<String> {
        self.0.used().iter().flat_map(|store| store.read_report()).collect()
    }

    fn status(&self, path: &str) -> Outcome<Status> {
        match self.0.find(path, true)? {
            Found::Internal { .. } => Ok(self.0.own_status(path.to_owned(), FileKind::Directory)),
            Found::Linked(at) => {
                Ok(Status { path: path.to_owned(), ..at.target.store.status(&at.path)? })
            }
        }
    }

    fn list(&self, path: &str, page: &mut dyn FnMut(Vec<Status>) -> Outcome) -> Outcome {
        let at = match self.0.find(path, true)? {
            Found::Internal { directory, .. } => return page(self.0.internal_entries(&directory)?),
            Found::Linked(at) => at,
        };
        at.target.store.list(&at.path, &mut |mut entries| {
            for entry in &mut entries {
                // A file lists itself.
                entry.path = match entry.path == at.path {
                    true => path.to_owned(),
                    false => self.0.table.view_path(at.link, &at.target.root, &entry.path),
                };
            }
            page(entries)
        })
    }

    fn open(&self, path: &str, how: OpenHow) -> Outcome<Box<dyn Input>> {
        let at = self.0.file(path)?;
        at.target.store.open(&at.path, how)
    }

    fn create(&self, path: &str, how: CreateHow) -> Outcome<Box<dyn Output>> {
        let found = self.0.find(path, false).map_err(|failure| match failure.kind {
            Kind::NotFound => read_only("create", &self.0.qualified(path)),
            _ => failure,
        })?;
        let (directory, rest) = match found {
            Found::Linked(at) => return at.target.store.create(&at.path, how),
            Found::Internal { directory, rest } => (directory, rest),
        };
        if rest == "/" {
            return Err(Failure::exists_as(format!(
                "/ is not a file. The directory / already exist at: {directory}"
            )));
        }
        let Some(at) = self.0.fallback(&directory, &rest)? else {
            return Err(read_only("create", &rest));
        };
        let name = file_name(&rest);
        if self.0.table.directory(&directory).is_some_and(|node| node.children.contains_key(name)) {
            return Err(Failure::exists_as(format!(
                "A mount path(file/dir) already exist with the requested path: {path}"
            )));
        }
        at.target.store.create(&at.path, how)
    }

    fn append(&self, path: &str, new_block: bool) -> Outcome<Box<dyn Output>> {
        let at = self.0.changed(path, "append")?;
        at.target.store.append(&at.path, new_block)
    }

    fn mkdirs(&self, path: &str) -> Outcome<bool> {
        let (directory, rest) = match self.0.find(path, false)? {
            Found::Linked(at) => return at.target.store.mkdirs(&at.path),
            Found::Internal { directory, rest } => (directory, rest),
        };
        let node = self.0.table.directory(&directory);
        if node.is_some_and(|node| node.children.contains_key(rest.trim_start_matches('/'))) {
            return Ok(true);
        }
        match self.0.fallback(&directory, &rest)? {
            Some(at) => at.target.store.mkdirs(&at.path),
            None => Err(read_only("mkdirs", &rest)),
        }
    }

    fn delete(&self, path: &str, recursive: bool) -> Outcome<bool> {
        match self.0.find(path, true)? {
            Found::Linked(at) if !at.is_mount_point => at.target.store.delete(&at.path, recursive),
            _ => Err(read_only("delete", &self.0.qualified(path))),
        }
    }

    fn rename(&self, from: &str, to: &str) -> Outcome<bool> {
        self.0.renamed(from, to, |store, from, to| store.rename(from, to))
    }

    fn replace(&self, from: &str, to: &str) -> Outcome {
        self.0.renamed(from, to, |store, from, to| store.replace(from, to))
    }

    fn rename_to_trash(&self, from: &str, to: &str) -> Outcome {
        self.0.renamed(from, to, |store, from, to| store.rename_to_trash(from, to))
    }

    fn set_permission(&self, path: &str, mode: u32) -> Outcome {
        let at = self.0.changed(path, "setPermission")?;
        at.target.store.set_permission(&at.path, mode)
    }

    fn set_owner(&self, path: &str, owner: Option<&str>, group: Option<&str>) -> Outcome {
        let at = self.0.changed(path, "setOwner")?;
        at.target.store.set_owner(&at.path, owner, group)
    }

    fn set_times(&self, path: &str, times: Times) -> Outcome {
        let at = self.0.changed(path, "setTimes")?;
        at.target.store.set_times(&at.path, times)
    }

    fn summary(&self, path: &str) -> Outcome<Summary> {
        let directory = match self.0.find(path, true)? {
            Found::Linked(at) => return at.target.store.summary(&at.path),
            Found::Internal { directory, .. } => directory,
        };
        let mut sum = Summary { directories: 1, quota: -1, space_quota: -1, ..Summary::default() };
        for entry in self.0.internal_entries(&directory)? {
            let below = self.summary(&entry.path)?;
            sum.length += below.length;
            sum.files += below.files;
            sum.directories += below.directories;
        }
        Ok(sum)
    }

    fn fs_status(&self) -> Outcome<FsStatus> {
        let mut sum = FsStatus::default();
        for link in 0..self.0.table.links.len() {
            let status = self.0.target(link)?.store.fs_status()?;
            sum.capacity += status.capacity;
            sum.used += status.used;
            sum.remaining += status.remaining;
        }
        Ok(sum)
    }

    fn access(&self, path: &str, mask: u32) -> Outcome {
        match self.0.find(path, true)? {
            Found::Linked(at) => at.target.store.access(&at.path, mask),
            Found::Internal { .. } if mask & !5 == 0 => Ok(()),
            Found::Internal { directory, .. } => Err(Failure::new(
                Kind::Denied,
                format!("Permission denied: user={}, path=\"{directory}\"", self.0.user),
            )),
        }
    }

    fn set_replication(&self, path: &str, replication: i32) -> Outcome<bool> {
        let at = self.0.changed(path, "setReplication")?;
        at.target.store.set_replication(&at.path, replication)
    }

    fn replicas(&self, path: &str) -> Outcome<Vec<usize>> {
        let at = self.0.file(path)?;
        at.target.store.replicas(&at.path)
    }

    fn truncate(&self, path: &str, length: i64) -> Outcome<bool> {
        let at = self.0.changed(path, "truncate")?;
        at.target.store.truncate(&at.path, length)
    }

    fn quota_usage(&self, path: &str) -> Outcome<QuotaUsage> {
        let at = self.0.mounted(path, "getQuotaUsage")?;
        at.target.store.quota_usage(&at.path)
    }

    fn checksum(&self, path: &str) -> Outcome<Option<Checksum>> {
        let at = self.0.file(path)?;
        at.target.store.checksum(&at.path)
    }

    fn checksum_of(&self, path: &str, len: u64) -> Outcome<Option<Checksum>> {
        let at = self.0.file(path)?;
        at.target.store.checksum_of(&at.path, len)
    }

    fn trash_interval_min(&self) -> Outcome<i64> {
        Err(not_mounted("getServerDefaults", "/"))
    }

    fn acl(&self, path: &str) -> Outcome<Vec<AclEntry>> {
        match self.0.find(path, true)? {
            Found::Linked(at) => at.target.store.acl(&at.path),
            Found::Internal { .. } => Ok(Vec::new()),
        }
    }

    fn change_acl(&self, path: &str, change: AclChange) -> Outcome {
        let operation = match change {
            AclChange::Modify(_) => "modifyAclEntries",
            AclChange::Remove(_) => "removeAclEntries",
            AclChange::Set(_) => "setAcl",
            AclChange::RemoveDefault => "removeDefaultAcl",
            AclChange::RemoveAll => "removeAcl",
        };
        let at = self.0.changed(path, operation)?;
        at.target.store.change_acl(&at.path, change)
    }

    fn xattrs(&self, path: &str) -> Outcome<Vec<(String, Vec<u8>)>> {
        let at = self.0.mounted(path, "getXAttrs")?;
        at.target.store.xattrs(&at.path)
    }

    fn set_xattr(&self, path: &str, name: &str, value: &[u8]) -> Outcome {
        let at = self.0.changed(path, "setXAttr")?;
        at.target.store.set_xattr(&at.path, name, value)
    }

    fn remove_xattr(&self, path: &str, name: &str) -> Outcome {
        let at = self.0.changed(path, "removeXAttr")?;
        at.target.store.remove_xattr(&at.path, name)
    }

    fn create_snapshot(&self, path: &str, name: Option<&str>) -> Outcome<String> {
        let at = self.0.changed(path, "createSnapshot")?;
        at.target.store.create_snapshot(&at.path, name)
    }

    fn delete_snapshot(&self, path: &str, name: &str) -> Outcome {
        let at = self.0.changed(path, "deleteSnapshot")?;
        at.target.store.delete_snapshot(&at.path, name)
    }

    fn rename_snapshot(&self, path: &str, from: &str, to: &str) -> Outcome {
        let at = self.0.changed(path, "renameSnapshot")?;
        at.target.store.rename_snapshot(&at.path, from, to)
    }
}
