//! A directory for each test, in clusters that tests share.

use std::future::Future;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use zerohop_client::FileSystem;
use zerohop_interop::cluster::{Cluster, Spec};
use zerohop_interop::lost_answers::Relay;
use zerohop_interop::{Kind, Outcome, site};
use zerohop_object_store::HdfsObjectStore;

type Shared = Mutex<Weak<Mutex<Cluster>>>;

/// The running cluster of a kind, or a new one. The last test that holds it stops it.
fn cluster(kind: Kind) -> Outcome<Arc<Mutex<Cluster>>> {
    static OURS: Shared = Mutex::new(Weak::new());
    static APACHES: Shared = Mutex::new(Weak::new());
    let (shared, name) = match kind {
        Kind::Ours => (&OURS, "object-store"),
        Kind::Apache => (&APACHES, "object-store-apache"),
    };
    let mut shared = shared.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(running) = shared.upgrade() {
        return Ok(running);
    }
    let settings = site::settings(&[("dfs.replication", "1")]);
    let spec = Spec { name, namenode: kind, datanodes: kind, count: 1, settings };
    let started = Arc::new(Mutex::new(Cluster::start(&spec)?));
    *shared = Arc::downgrade(&started);
    Ok(started)
}

/// What a test works in.
pub struct Place {
    pub fs: FileSystem,
    conf: PathBuf,
    root: String,
}

impl Place {
    pub fn store(&self) -> HdfsObjectStore {
        HdfsObjectStore::new(self.fs.clone()).with_root(&self.root)
    }

    /// The same objects as another user sees them.
    pub fn store_of(&self, user: &str) -> HdfsObjectStore {
        let fs = FileSystem::builder().config_dir(&self.conf).user(user).build().unwrap();
        HdfsObjectStore::new(fs).with_root(&self.root)
    }

    /// The same objects through a relay that loses answers.
    pub fn store_through(&self, relay: &Relay) -> HdfsObjectStore {
        let builder = FileSystem::builder().config_dir(&self.conf);
        let fs = builder.name_node(format!("hdfs://{}", relay.address())).build().unwrap();
        HdfsObjectStore::new(fs).with_root(&self.root)
    }

    pub fn root(&self) -> &str {
        &self.root
    }

    /// One that keeps files open for longer than a test takes.
    pub fn store_with_open_files(&self) -> HdfsObjectStore {
        self.store().with_files_open_for(Duration::from_secs(3600))
    }

    /// The path of a file or directory below the root.
    pub fn path(&self, name: &str) -> String {
        format!("{}/{name}", self.root)
    }

    /// A place for a part of a test.
    pub fn below(&self, name: &str) -> Self {
        Self { fs: self.fs.clone(), conf: self.conf.clone(), root: self.path(name) }
    }

    /// Waits until nothing is left of what was written and not published.
    pub async fn no_hidden_files(&self) {
        for _ in 0..1000 {
            if self.hidden().await.is_empty() {
                return;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        panic!("{:?}", self.hidden().await);
    }

    /// Deletes the directories of uploads that were given up.
    pub async fn delete_uploads(&self) {
        for path in self.hidden().await {
            // With its directory, or published meanwhile.
            _ = self.fs.delete(&path, true).await;
        }
    }

    /// Waits until no file is open for writing.
    pub async fn no_open_files(&self) {
        let mut open = Vec::new();
        for _ in 0..1000 {
            open = self.fs.open_files(&self.root, 0).await.unwrap().0;
            if open.is_empty() {
                return;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        panic!("{open:?}");
    }

    async fn hidden(&self) -> Vec<String> {
        let (mut walk, mut found) = (self.fs.walk(&self.root), Vec::new());
        while let Some(entry) = walk.next().await.transpose().unwrap() {
            if entry.path.contains("/.zerohop-") {
                found.push(entry.path);
            }
        }
        found
    }
}

/// Runs a test in a directory of its name; what it wrote and did not publish is gone at the end.
pub fn run(
    kind: Kind,
    name: &str,
    test: impl for<'a> FnOnce(&'a Place) -> Pin<Box<dyn Future<Output = ()> + 'a>>,
) {
    let cluster = cluster(kind).unwrap();
    let conf = cluster.lock().unwrap_or_else(PoisonError::into_inner).conf();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let fs = FileSystem::builder().config_dir(&conf).build().unwrap();
        let place = Place { fs, conf, root: format!("/{name}") };
        place.fs.mkdirs(&place.root).await.unwrap();
        test(&place).await;
        place.no_hidden_files().await;
    });
}
