//! What a JournalNode reads of its configuration.

use crate::calls::JournalOptions;
use crate::error::{Error, Result};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;
use zerohop_conf::{Conf, ConfError, keys};
use zerohop_quorum::QuorumAddress;

/// Settings of a JournalNode.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    /// Where the journals are (`dfs.journalnode.edits.dir`).
    directory: PathBuf,
    /// Other places, by name service (`dfs.journalnode.edits.dir.<name service>`).
    directories: BTreeMap<String, PathBuf>,
    pub(crate) journal: JournalOptions,
    /// How often the JournalNodes compare their segments; none: they do not (`dfs.journalnode.enable.sync`,
    /// `dfs.journalnode.sync.interval`).
    pub(crate) sync_interval: Option<Duration>,
    /// All journals.
    journals: Vec<JournalUse>,
    /// See [`HttpSource::timeout`](crate::download::HttpSource).
    pub(crate) transfer_timeout: Duration,
    /// Most journals that are open (`zerohop.journalnode.journals.max`).
    pub(crate) journals_max: usize,
}

impl Settings {
    pub(crate) fn from_conf(conf: &Conf) -> std::result::Result<Self, ConfError> {
        let cached = conf.get(&keys::DFS_HA_TAIL_EDITS_IN_PROGRESS)?;
        let capacity = conf.get(&keys::DFS_JOURNALNODE_EDIT_CACHE_SIZE_BYTES)?;
        let capacity = capacity.map_or(CACHE_CAPACITY, |bytes| bytes as usize);
        let directory = absolute(conf, conf)?;
        let mut directories = BTreeMap::new();
        for service in conf.get(&keys::DFS_NAMESERVICES)? {
            let of_service = absolute(&conf.specialize(Some(&service), None), conf)?;
            if of_service != directory {
                directories.insert(service, of_service);
            }
        }
        let interval = conf.get(&keys::DFS_JOURNALNODE_SYNC_INTERVAL)?;
        let enabled = conf.get(&keys::DFS_JOURNALNODE_ENABLE_SYNC)?;
        Ok(Self {
            directory,
            directories,
            journal: JournalOptions {
                mode: mode(conf)?,
                op_size_max: conf.get(&keys::DFS_NAMENODE_MAX_OP_SIZE)?.max(0) as usize,
                cache_capacity: cached.then_some(capacity),
                format_over_data: conf.get(&keys::ZEROHOP_JOURNALNODE_FORMAT_OVER_DATA)?,
            },
            sync_interval: Some(interval).filter(|interval| enabled && !interval.is_zero()),
            journals: JournalUse::all(conf)?,
            transfer_timeout: conf
                .get(&keys::DFS_EDIT_LOG_TRANSFER_TIMEOUT)?
                .min(conf.get(&keys::ZEROHOP_JOURNAL_TRANSFER_STALL_TIMEOUT_MS)?),
            journals_max: conf.get(&keys::ZEROHOP_JOURNALNODE_JOURNALS_MAX)?,
        })
    }

    /// The directories in which journals are.
    pub(crate) fn directories(&self) -> impl Iterator<Item = (Option<&str>, &Path)> {
        let named =
            self.directories.iter().map(|(service, path)| (Some(service.as_str()), &**path));
        std::iter::once((None, &*self.directory)).chain(named)
    }

    /// Where the journal of a name service is.
    pub(crate) fn root(&self, journal: &str, service: Option<&str>) -> PathBuf {
        let named = service.and_then(|service| self.directories.get(service));
        named.unwrap_or(&self.directory).join(journal)
    }

    /// All JournalNodes of a journal, as `host:port`.
    pub(crate) fn journal_nodes(&self, journal: &str) -> Vec<String> {
        let of_journal = self.journals.iter().find(|known| known.address.journal == journal);
        of_journal.map(|known| known.address.nodes.clone()).unwrap_or_default()
    }
}

/// A journal that the configuration names, and the NameNodes that write it.
#[derive(Clone, Debug)]
pub(crate) struct JournalUse {
    /// `qjournal://HOSTS/JOURNAL` (`dfs.namenode.shared.edits.dir`).
    pub(crate) address: QuorumAddress,
    /// The name service, if it has a name.
    pub(crate) service: Option<String>,
    /// `host:port` of each (`dfs.namenode.rpc-address`).
    pub(crate) namenodes: Vec<String>,
}

impl JournalUse {
    pub(crate) fn all(conf: &Conf) -> std::result::Result<Vec<Self>, ConfError> {
        let mut all = Vec::<Self>::new();
        let mut add = |conf: &Conf, service: Option<&str>| {
            let address = conf.get(&keys::DFS_NAMENODE_SHARED_EDITS_DIR)?;
            // A file system that is shared by other means has no JournalNodes.
            let address = address.and_then(|uri| uri.trim().parse::<QuorumAddress>().ok());
            let Some(address) = address else { return Ok(()) };
            let namenode = conf.get(&keys::DFS_NAMENODE_RPC_ADDRESS)?;
            match all.iter_mut().find(|known| known.address.journal == address.journal) {
                // The NameNodes of a name service share their edits: where each names them, all say the same.
                Some(known) => {
                    known.service = known.service.take().or(service.map(str::to_owned));
                    known.namenodes.extend(namenode);
                }
                None => all.push(Self {
                    address,
                    service: service.map(str::to_owned),
                    namenodes: Vec::from_iter(namenode),
                }),
            }
            Ok::<(), ConfError>(())
        };
        add(conf, None)?;
        for service in conf.get(&keys::DFS_NAMESERVICES)? {
            let own = conf.specialize(Some(&service), None);
            let namenodes = own.get_raw(&format!("dfs.ha.namenodes.{service}")).unwrap_or_default();
            add(&own, Some(&service))?;
            for id in namenodes.split(',') {
                add(&conf.specialize(Some(&service), Some(id.trim())), Some(&service))?;
            }
        }
        all.iter_mut().for_each(|known| {
            known.namenodes.sort();
            known.namenodes.dedup();
        });
        Ok(all)
    }
}

/// Bytes of edits in memory where the configuration names no number.
const CACHE_CAPACITY: usize = 16 << 20;

/// The directory of the journals; `all` is the configuration that says where the key stands.
fn absolute(conf: &Conf, all: &Conf) -> std::result::Result<PathBuf, ConfError> {
    let key = &keys::DFS_JOURNALNODE_EDITS_DIR;
    let directory = PathBuf::from(conf.get(key)?.trim());
    match directory.is_absolute() {
        true => Ok(directory),
        false => Err(all.misfit(key.name, "an absolute path")),
    }
}

/// The permissions, which are octal digits.
fn mode(conf: &Conf) -> std::result::Result<u32, ConfError> {
    let key = &keys::DFS_JOURNALNODE_EDITS_DIR_PERM;
    let digits = conf.get(key)?;
    u32::from_str_radix(digits.trim(), 8)
        .ok()
        .filter(|mode| *mode <= 0o777)
        .ok_or_else(|| conf.misfit(key.name, "three octal digits"))
}

/// That a journal's id names a directory and nothing else (`QuorumJournalManager.checkJournalId`).
pub(crate) fn check_journal_id(id: &str) -> Result<()> {
    let is_good = !id.is_empty() && !id.contains(['/', '\0']) && !id.starts_with('.');
    is_good.then_some(()).ok_or_else(|| Error::BadJournalId(id.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_journal_has_its_directory_and_its_journal_nodes() {
        let mut conf = Conf::new();
        conf.set("dfs.journalnode.edits.dir", "/a");
        conf.set("dfs.nameservices", "x,y");
        conf.set("dfs.journalnode.edits.dir.y", "/b");
        conf.set("dfs.ha.namenodes.x", "n1,n2");
        conf.set("dfs.namenode.shared.edits.dir.x.n1", "qjournal://h1:1;h2/x");
        conf.set("dfs.namenode.shared.edits.dir.y", "qjournal://h3:3/y");
        let settings = Settings::from_conf(&conf).unwrap();
        assert_eq!(settings.root("x", Some("x")), Path::new("/a/x"));
        assert_eq!(settings.root("y", Some("y")), Path::new("/b/y"));
        assert_eq!(settings.journal_nodes("x"), ["h1:1", "h2:8485"]);
        assert_eq!(settings.journal_nodes("y"), ["h3:3"]);
        assert_eq!(settings.journal_nodes("z"), Vec::<String>::new());
        conf.set("dfs.journalnode.edits.dir", "a");
        let error = Settings::from_conf(&conf).unwrap_err().to_string();
        assert!(
            error.contains("dfs.journalnode.edits.dir") && error.contains("an absolute path"),
            "{error}"
        );
    }
}
