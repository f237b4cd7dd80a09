//! What clients do. What they do next they do after the answer, and that comes when the edit is durable.

use super::replicas::{NODES, Replica};
use super::running::{RunningNameNode, Work};
use zerohop_namespace::{
    AddBlockRequest, CreateFlags, CreateRequest, LocatedBlock, RenameOptions, XAttr, XAttrNamespace,
};
use zerohop_wire::{Block, InodeId, ReplicaState};

const PATHS: [&str; 12] = [
    "/a", "/a/b", "/a/b/c", "/a/b/c/f", "/a/g", "/d", "/d/e", "/d/e/f", "/d/h", "/i", "/i/j", "/k",
];
const BLOCK_SIZE: u64 = 1 << 20;
const CLIENT: &str = "client";

impl RunningNameNode<'_> {
    fn path(&mut self) -> &'static str {
        PATHS[self.rng.usize(0..PATHS.len())]
    }

    /// One operation. One that is refused changes nothing.
    pub(super) fn step(&mut self) -> Work {
        let (path, other) = (self.path(), self.path());
        let context = self.context();
        let n = self.rng.u64(0..2 * BLOCK_SIZE);
        let yes = self.rng.bool();
        let namespace = &mut self.namespace;
        match self.rng.u8(0..32) {
            0..4 => drop(namespace.directories(&context).mkdirs(path, 0o755, Some(0o777), true)),
            4..10 => self.write(path)?,
            10..13 => self.append(path)?,
            13..15 => drop(namespace.files(&context).truncate(path, n, CLIENT)),
            15..17 => drop(namespace.directories(&context).rename(path, other)),
            17..19 => {
                let options = RenameOptions { overwrite: yes, to_trash: false };
                drop(namespace.directories(&context).rename2(path, other, options));
            }
            19..21 => drop(namespace.directories(&context).delete(path, yes)),
            21 => drop(namespace.files(&context).concat(path, &[other.to_owned()])),
            22 => drop(namespace.attributes(&context).set_permission(path, (n % 0o1000) as u16)),
            23 => {
                let user = if yes { "alice" } else { "bob" };
                drop(namespace.attributes(&context).set_owner(path, Some(user), Some("staff")));
            }
            24 => drop(namespace.attributes(&context).set_times(path, n as i64, n as i64)),
            25 => drop(namespace.attributes(&context).set_replication(path, (n % 3) as u16 + 1)),
            26 => drop(namespace.quotas(&context).set_quota(path, 20, 8 * BLOCK_SIZE as i64, None)),
            27 => {
                let value = Some(vec![7; (n % 600) as usize].into());
                let xattr = XAttr { namespace: XAttrNamespace::User, name: "n".into(), value };
                drop(namespace.xattrs(&context).set_xattr(path, xattr, true, true));
            }
            28 => {
                let policy = if yes { "HOT" } else { "COLD" };
                drop(namespace.storage_policies(&context).set_storage_policy(path, policy));
            }
            29 => drop(namespace.lease_manager(&context).recover_lease(path, "other")),
            _ => {
                self.pass(n % 100_000);
                let context = self.context();
                self.namespace.lease_manager(&context).check_leases(10);
            }
        }
        self.log();
        Ok(())
    }

    /// Writes a file of some blocks; the client may die on the way.
    fn write(&mut self, path: &str) -> Work {
        let flags = CreateFlags { create: true, overwrite: true, ..CreateFlags::default() };
        let replication = self.rng.u16(1..=NODES as u16);
        let request = CreateRequest {
            path,
            masked: 0o644,
            unmasked: Some(0o666),
            client_name: CLIENT,
            flags,
            create_parent: true,
            replication,
            block_size: BLOCK_SIZE,
            storage_policy: None,
            ec_policy: None,
        };
        if self.namespace.files(&self.context()).create(&request).is_err() {
            return Ok(());
        }
        self.add_blocks(path, None)
    }

    fn add_blocks(&mut self, path: &str, mut previous: Option<Block>) -> Work {
        let count = self.rng.usize(0..4);
        for n in 1..=count {
            self.sync()?;
            if self.rng.u8(0..10) == 0 {
                return Ok(());
            }
            let request = AddBlockRequest {
                path,
                client_name: CLIENT,
                previous,
                ..AddBlockRequest::default()
            };
            let Ok(located) = self.namespace.file_writes(&self.context()).add_block(&request)
            else {
                break;
            };
            self.sync()?;
            let len = if n == count { self.rng.u64(1..BLOCK_SIZE) } else { BLOCK_SIZE };
            previous = Some(self.fill(&located, located.block(), len));
        }
        self.complete(path, previous)
    }

    /// The client writes a block to its DataNodes, which report it.
    fn fill(&mut self, located: &LocatedBlock, block: Block, len: u64) -> Block {
        let block = Block { len, ..block };
        for location in &located.locations.replicas {
            let uuid = &location.node.id.uuid;
            let replica = Replica { stamp: block.stamp, len, state: ReplicaState::Finalized };
            self.replicas.put(uuid, block.id, replica);
        }
        self.journal.replicas_are(&self.replicas);
        for location in &located.locations.replicas {
            self.report_received(&location.node.id.uuid, block);
        }
        self.log();
        block
    }

    fn complete(&mut self, path: &str, last: Option<Block>) -> Work {
        if self.rng.u8(0..8) > 0 {
            let context = self.context();
            let id = InodeId::GRANDFATHER;
            let _ = self.namespace.file_writes(&context).complete(path, id, CLIENT, last);
        }
        self.log();
        Ok(())
    }

    /// Goes on with a file: its last block under a new stamp, or a further block.
    fn append(&mut self, path: &str) -> Work {
        let flags = CreateFlags { new_block: self.rng.bool(), ..CreateFlags::default() };
        let Ok((last, _)) = self.namespace.files(&self.context()).append(path, CLIENT, flags)
        else {
            return Ok(());
        };
        let Some(located) = last.filter(|_| !flags.new_block) else {
            return self.add_blocks(path, None);
        };
        self.sync()?;
        let old = located.block();
        let context = self.context();
        let renewed = self.namespace.file_writes(&context).update_block_for_pipeline(old, CLIENT);
        let Ok(renewed) = renewed else { return Ok(()) };
        self.sync()?;
        let new = Block { len: old.len, ..renewed.block() };
        let storages = located.locations.replicas.iter();
        let storages: Vec<_> = storages
            .map(|location| (location.node.id.uuid.clone(), location.storage_id.to_string()))
            .collect();
        // The DataNodes have the new stamp before the NameNode hears of it.
        for (uuid, _) in &storages {
            let replica = Replica { stamp: new.stamp, len: new.len, state: ReplicaState::Rbw };
            self.replicas.put(uuid, new.id, replica);
        }
        self.journal.replicas_are(&self.replicas);
        if self
            .namespace
            .file_writes(&context)
            .update_pipeline(CLIENT, old, new, &storages)
            .is_err()
        {
            return Ok(());
        }
        self.sync()?;
        let len = (old.len + self.rng.u64(0..1000)).min(BLOCK_SIZE);
        let last = self.fill(&located, new, len);
        self.complete(path, Some(last))
    }
}
