//! How a client is made: for which file system, with which configuration, as which user.

use crate::error::{Error, ErrorKind, Result};
use parking_lot::Mutex;
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use zerohop_conf::{Conf, ineffective_keys, keys, running};
use zerohop_system::process::PerProcess;
use zerohop_transport::login::User;

/// Makes a file system's client. What is not set comes from the environment.
///
/// ```no_run
/// use zerohop_client::FileSystem;
/// # fn main() -> zerohop_client::Result<()> {
/// // Hadoop's configuration, as HADOOP_CONF_DIR names it, the user of this process.
/// let fs = FileSystem::builder().build()?;
/// // A NameNode by its address, without any file.
/// let fs = FileSystem::builder()
///     .without_files()
///     .name_node("hdfs://nn1.example.com:8020")
///     .set("dfs.client.read.shortcircuit", "true")
///     .set("dfs.domain.socket.path", "/var/lib/hadoop-hdfs/dn_socket")
///     .user("alice")
///     .build_blocking()?;
/// # Ok(()) }
/// ```
#[derive(Clone, Debug, Default)]
pub struct Builder {
    uri: Option<String>,
    files: Files,
    settings: Vec<(String, String)>,
    user: Option<String>,
}

/// Where the configuration is from.
#[derive(Clone, Debug, Default)]
enum Files {
    #[default]
    Environment,
    Directory(PathBuf),
    Given(Box<Conf>),
}

impl Builder {
    /// The file system's URI, `hdfs://host:port` or `hdfs://nameservice`; fs.defaultFS otherwise.
    #[must_use]
    pub fn name_node(mut self, uri: impl Into<String>) -> Self {
        self.uri = Some(uri.into());
        self
    }

    /// The directory of core-site.xml and hdfs-site.xml. Otherwise HADOOP_CONF_DIR names it, or
    /// HADOOP_HOME does. If neither is set and nothing else names a cluster, the client configuration of the
    /// `zerohop up` that this user runs on this machine counts, and Hadoop's defaults if none runs.
    #[must_use]
    pub fn config_dir(mut self, directory: impl Into<PathBuf>) -> Self {
        self.files = Files::Directory(directory.into());
        self
    }

    /// A configuration that was loaded already.
    #[must_use]
    pub fn conf(mut self, conf: Conf) -> Self {
        self.files = Files::Given(Box::new(conf));
        self
    }

    /// Hadoop's defaults; the environment is not read.
    #[must_use]
    pub fn without_files(self) -> Self {
        self.conf(Conf::new())
    }

    /// Sets a key of the configuration; this counts more than any file.
    #[must_use]
    pub fn set(mut self, key: impl Into<String>, value: impl Into<String>) -> Self {
        self.settings.push((key.into(), value.into()));
        self
    }

    /// The user's name; that of the process otherwise, or HADOOP_USER_NAME.
    #[must_use]
    pub fn user(mut self, name: impl Into<String>) -> Self {
        self.user = Some(name.into());
        self
    }

    /// One line for each key that is set and has no effect, because it is not implemented; none where this process was given
    /// the same lines before. For programs that show warnings in a way of their own: `build` logs what nobody has taken.
    pub fn take_warnings(&self) -> Result<Vec<String>> {
        Ok(not_given_before(ineffective_keys(&self.configuration()?)))
    }

    fn configuration(&self) -> Result<Conf> {
        let mut conf = match &self.files {
            Files::Environment => self.of_environment()?,
            Files::Directory(directory) => Conf::load(directory)?,
            Files::Given(conf) => Conf::clone(conf),
        };
        for (key, value) in &self.settings {
            conf.set(key, value.as_str());
        }
        Ok(conf)
    }

    /// Returns the configuration of the environment. If neither the environment nor the program names a cluster, returns
    /// that of the `zerohop up` which this user runs on this machine.
    ///
    /// # Errors
    /// Fails if several of them run.
    fn of_environment(&self) -> Result<Conf> {
        let conf = Conf::from_env()?;
        let is_set = self.settings.iter().any(|(key, _)| key == keys::FS_DEFAULTFS.name);
        if self.uri.is_some() || is_set || conf.directory().is_some() {
            return Ok(conf);
        }
        match only(&running::clusters())? {
            Some(cluster) => Ok(Conf::load(cluster)?),
            None => Ok(conf),
        }
    }

    /// The configuration, the URI if one was given, and the user.
    pub(crate) fn finish(self) -> Result<(Conf, Option<String>, User)> {
        let conf = self.configuration()?;
        for line in not_given_before(ineffective_keys(&conf)) {
            tracing::warn!("{line}");
        }
        let user = self.user.map_or_else(User::of_process, |name| User::new(&name));
        Ok((conf, self.uri, user))
    }
}

/// Returns the only one of the clusters, or `None` if there is none.
///
/// # Errors
/// Fails if there are several.
fn only(clusters: &[PathBuf]) -> Result<Option<&Path>> {
    let [cluster, others @ ..] = clusters else { return Ok(None) };
    if others.is_empty() {
        return Ok(Some(cluster));
    }
    let listed: Vec<String> =
        clusters.iter().map(|cluster| format!("HADOOP_CONF_DIR={}", cluster.display())).collect();
    let text = format!(
        "{} clusters of `zerohop up' of this user are running; choose one: {}",
        clusters.len(),
        listed.join(", ")
    );
    Err(Error::new(ErrorKind::Invalid, text))
}

/// The lines, if this process has not asked for the same ones before.
fn not_given_before(lines: Vec<String>) -> Vec<String> {
    static GIVEN: PerProcess<Mutex<HashSet<Vec<String>>>> = PerProcess::new(Mutex::default);
    if lines.is_empty() || GIVEN.get().lock().insert(lines.clone()) { lines } else { Vec::new() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::FileSystem;

    #[test]
    fn keys_without_effect_are_told_once() {
        let builder =
            |value: &str| FileSystem::builder().without_files().set("dfs.xframe.value", value);
        let lines = builder("1").take_warnings().unwrap();
        assert_eq!(lines.len(), 1, "{lines:?}");
        assert!(lines[0].contains("has no effect"), "{lines:?}");
        assert_eq!(builder("2").take_warnings().unwrap(), Vec::<String>::new());
        let bare = FileSystem::builder().without_files();
        assert_eq!(bare.take_warnings().unwrap(), Vec::<String>::new());
    }

    #[test]
    fn the_only_running_cluster_is_meant_and_of_several_none() {
        let paths = ["/a", "/b"].map(PathBuf::from);
        assert_eq!(only(&[]).unwrap(), None);
        assert_eq!(only(&paths[..1]).unwrap(), Some(Path::new("/a")));
        let error = only(&paths).unwrap_err().to_string();
        assert!(error.contains("HADOOP_CONF_DIR=/a, HADOOP_CONF_DIR=/b"), "{error}");
    }

    /// Python's `connect()` said "`file:///' is not an hdfs:// URI" if no cluster was running.
    #[test]
    fn a_program_that_names_no_cluster_is_told_how_to_name_one() {
        let error = FileSystem::builder().without_files().build_blocking().err().unwrap();
        let text = error.to_string();
        assert!(text.contains("no cluster is named") && text.contains("HADOOP_CONF_DIR"), "{text}");
    }

    #[test]
    fn what_is_set_counts_more_than_files() {
        let directory = tempfile::tempdir().unwrap();
        let site = |name: &str, text: &str| {
            let text = format!("<configuration>{text}</configuration>");
            std::fs::write(directory.path().join(name), text).unwrap();
        };
        let property =
            |name, value| format!("<property><name>{name}</name><value>{value}</value></property>");
        let text = property("fs.defaultFS", "hdfs://a:1") + &property("dfs.replication", "7");
        site("core-site.xml", &text);
        let builder = FileSystem::builder().config_dir(directory.path()).user("alice");
        let fs = builder.clone().build_blocking().unwrap();
        assert_eq!((fs.uri(), fs.home().as_str()), ("hdfs://a:1", "/user/alice"));
        let builder = builder.set("fs.defaultFS", "hdfs://b:2");
        assert_eq!(builder.clone().build_blocking().unwrap().uri(), "hdfs://b:2");
        let fs = builder.clone().name_node("hdfs://c:3").build_blocking().unwrap();
        assert_eq!(fs.uri(), "hdfs://c:3");
        let bare = builder.without_files().finish().unwrap().0;
        assert_eq!(bare.get_raw("dfs.replication"), Conf::new().get_raw("dfs.replication"));
        let error = FileSystem::builder().config_dir("/nowhere").build_blocking().err().unwrap();
        assert!(error.to_string().contains("/nowhere"), "{error}");
    }
}
