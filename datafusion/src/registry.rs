//! The stores of a session, found by URL.

use datafusion::error::{DataFusionError, Result};
use datafusion::execution::object_store::{DefaultObjectStoreRegistry, ObjectStoreRegistry};
use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;
use url::{Position, Url};
use zerohop::object_store::HdfsObjectStore;
use zerohop::object_store::object_store::ObjectStore;
use zerohop::{Builder, FileSystem};

const SCHEME: &str = "hdfs";

/// How long a file of a query stays open: the reads of its row groups follow each other sooner, as a rule.
const FILES_OPEN_FOR: Duration = Duration::from_secs(2);

/// The object stores of a DataFusion runtime: for `hdfs://` URLs a store is made when it is first asked for, one for each
/// name service or NameNode; for other schemes it is DataFusion's own registry.
///
/// A client belongs to the tokio runtime in which its first URL was used, and ends with it.
///
/// A file stays open for two seconds, so that the reads of one query ask the NameNode once for its blocks. What another
/// program does to a file in that time may be seen later, as with the lists and footers that DataFusion itself keeps:
/// [`with_files_open_for`](Self::with_files_open_for).
///
/// ```no_run
/// # fn example() -> datafusion::error::Result<()> {
/// use datafusion::execution::runtime_env::RuntimeEnvBuilder;
/// use datafusion::prelude::{SessionConfig, SessionContext};
/// use std::sync::Arc;
/// use zerohop_datafusion::HdfsRegistry;
/// let runtime = RuntimeEnvBuilder::new().with_object_store_registry(Arc::new(HdfsRegistry::new()));
/// let session = SessionContext::new_with_config_rt(SessionConfig::new(), runtime.build_arc()?);
/// # Ok(()) }
/// ```
pub struct HdfsRegistry {
    builder: Builder,
    files_open_for: Duration,
    /// By authority: `host:port`, a name service, or nothing for `fs.defaultFS`.
    known: Mutex<HashMap<String, Known>>,
    others: DefaultObjectStoreRegistry,
}

/// A client, and the store that keeps its files open.
#[derive(Clone)]
struct Known {
    fs: FileSystem,
    store: HdfsObjectStore,
}

impl Default for HdfsRegistry {
    fn default() -> Self {
        Self::with_builder(Builder::default())
    }
}

impl HdfsRegistry {
    /// With Hadoop's configuration as HADOOP_CONF_DIR names it, as the user of this process.
    pub fn new() -> Self {
        Self::default()
    }

    /// With clients that are made as `builder` says; URLs say of which NameNode or name service.
    ///
    /// ```
    /// use zerohop_datafusion::{HdfsRegistry, zerohop::FileSystem};
    /// let alice = FileSystem::builder().config_dir("/etc/hadoop/conf").user("alice");
    /// let registry = HdfsRegistry::with_builder(alice);
    /// ```
    pub fn with_builder(builder: Builder) -> Self {
        let others = DefaultObjectStoreRegistry::new();
        Self { builder, files_open_for: FILES_OPEN_FOR, known: Mutex::default(), others }
    }

    /// Keeps files open for another time after they were opened
    /// ([`HdfsObjectStore::with_files_open_for`]). With zero each read asks the NameNode.
    ///
    /// ```
    /// use std::time::Duration;
    /// use zerohop_datafusion::HdfsRegistry;
    /// let registry = HdfsRegistry::new().with_files_open_for(Duration::ZERO);
    /// ```
    #[must_use]
    pub fn with_files_open_for(mut self, time: Duration) -> Self {
        self.files_open_for = time;
        self
    }

    /// The client that serves a URL, made if there is none yet. Its statistics say which way bytes were read.
    ///
    /// ```no_run
    /// # fn example(registry: &zerohop_datafusion::HdfsRegistry) -> Result<(), Box<dyn std::error::Error>> {
    /// let fs = registry.file_system(&"hdfs://sales/".parse()?)?;
    /// println!("{} bytes were read locally", fs.read_statistics().local_bytes());
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// If the URL is not an `hdfs://` one, or the configuration has mistakes or does not name its NameNodes.
    pub fn file_system(&self, url: &Url) -> Result<FileSystem> {
        Ok(self.known(url)?.fs)
    }

    fn known(&self, url: &Url) -> Result<Known> {
        if url.scheme() != SCHEME {
            let text = format!("{url} is not an hdfs:// URL");
            return Err(DataFusionError::Configuration(text));
        }
        let authority = authority(url);
        let mut all = self.known.lock();
        if let Some(known) = all.get(authority) {
            return Ok(known.clone());
        }
        let builder = self.builder.clone();
        let builder = match authority {
            "" => builder,
            authority => builder.name_node(format!("{SCHEME}://{authority}")),
        };
        let fs = builder.build().map_err(|error| {
            let text =
                format!("{url}: {error}; HADOOP_CONF_DIR names the directory of hdfs-site.xml");
            DataFusionError::Configuration(text)
        })?;
        let store = HdfsObjectStore::new(fs.clone()).with_files_open_for(self.files_open_for);
        let known = Known { fs, store };
        all.insert(authority.to_owned(), known.clone());
        Ok(known)
    }
}

impl std::fmt::Debug for HdfsRegistry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let names: Vec<String> = self.known.lock().keys().cloned().collect();
        f.debug_struct("HdfsRegistry").field("hdfs", &names).field("others", &self.others).finish()
    }
}

impl ObjectStoreRegistry for HdfsRegistry {
    /// A store that was registered is preferred to one that would be made.
    fn register_store(
        &self,
        url: &Url,
        store: Arc<dyn ObjectStore>,
    ) -> Option<Arc<dyn ObjectStore>> {
        self.others.register_store(url, store)
    }

    fn deregister_store(&self, url: &Url) -> Result<Arc<dyn ObjectStore>> {
        if url.scheme() == SCHEME && self.others.get_store(url).is_err() {
            let store = self.get_store(url)?;
            self.known.lock().remove(authority(url));
            return Ok(store);
        }
        self.others.deregister_store(url)
    }

    fn get_store(&self, url: &Url) -> Result<Arc<dyn ObjectStore>> {
        match self.others.get_store(url) {
            Err(_) if url.scheme() == SCHEME => Ok(Arc::new(self.known(url)?.store)),
            found => found,
        }
    }
}

/// Host and port, or the name service; the NameNode takes no name and password.
fn authority(url: &Url) -> &str {
    &url[Position::BeforeHost..Position::AfterPort]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn registry() -> HdfsRegistry {
        let builder = FileSystem::builder().without_files();
        HdfsRegistry::with_builder(builder.set("fs.defaultFS", "hdfs://default:1"))
    }

    fn url(text: &str) -> Url {
        text.parse().unwrap()
    }

    #[test]
    fn a_name_service_has_one_client() {
        let registry = registry();
        for (wanted, uri) in [
            ("hdfs://a:8020/x", "hdfs://a:8020"),
            ("hdfs://bob@a:8020/y", "hdfs://a:8020"),
            ("hdfs:///z", "hdfs://default:1"),
        ] {
            assert_eq!(registry.file_system(&url(wanted)).unwrap().uri(), uri);
            registry.get_store(&url(wanted)).unwrap();
        }
        assert_eq!(registry.known.lock().len(), 2);
    }

    #[test]
    fn other_schemes_are_those_of_datafusion() {
        let registry = registry();
        registry.get_store(&url("file:///tmp")).unwrap();
        assert!(registry.get_store(&url("s3://bucket/")).is_err());
        let refused = registry.file_system(&url("s3://bucket/")).map(drop).unwrap_err();
        assert!(refused.to_string().contains("not an hdfs:// URL"), "{refused}");
    }

    #[test]
    fn a_registered_store_comes_first() {
        let registry = registry();
        let place = url("hdfs://a:8020/");
        let fs = registry.file_system(&place).unwrap();
        let store = Arc::new(HdfsObjectStore::new(fs).with_root("/warehouse"));
        registry.register_store(&place, store);
        let found = registry.get_store(&place).unwrap().to_string();
        assert!(found.contains("/warehouse"), "{found}");
        registry.deregister_store(&place).unwrap();
        let found = registry.get_store(&place).unwrap().to_string();
        assert!(!found.contains("/warehouse"), "{found}");
        registry.deregister_store(&place).unwrap();
        assert!(registry.known.lock().is_empty());
    }
}
