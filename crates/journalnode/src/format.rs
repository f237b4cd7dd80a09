//! Formatting after a disk was lost: what the NameNodes and the other JournalNodes still know is asked of them.
//!
//! A journal that is new is formatted by a NameNode. One JournalNode that lost its disk has to get its name space back, and must
//! not forget what it promised: with an older promise it would serve a writer that a majority has replaced.

use crate::epochs::Epochs;
use crate::error::Error;
use crate::node::{Error as StartError, rpc_address};
use crate::peers;
use crate::settings::{JournalUse, Settings};
use crate::storage::{JournalStorage, StorageInfo};
use std::path::{Path, PathBuf};
use zerohop_conf::{Conf, ConfError, keys};
use zerohop_proto::hdfs::qjournal::{
    GetJournalStateRequestProto, GetJournalStateResponseProto, JournalIdProto,
};
use zerohop_proto::hdfs::{VersionRequestProto, VersionResponseProto};
use zerohop_transport::login::User;
use zerohop_transport::rpc::{ClientOptions, RpcClient, RpcError};
use zerohop_wire::JavaException;

const NAMENODES: &str = "org.apache.hadoop.hdfs.server.protocol.NamenodeProtocol";
const JOURNAL_NODES: &str = "org.apache.hadoop.hdfs.qjournal.protocol.QJournalProtocol";

/// A journal that is to be formatted, and what for.
#[derive(Debug)]
pub struct JournalFormat {
    settings: Settings,
    id: String,
    root: PathBuf,
    info: StorageInfo,
    promised: u64,
}

/// Why a journal is not formatted.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FormatError {
    /// The configuration.
    #[error(transparent)]
    Conf(#[from] ConfError),
    /// This JournalNode's address.
    #[error(transparent)]
    Address(#[from] StartError),
    /// No journal of the configuration is kept here.
    #[error(
        "{}: no qjournal:// address names this JournalNode, {own}; -format needs one that does",
        keys::DFS_NAMENODE_SHARED_EDITS_DIR.name
    )]
    NotNamed {
        /// `host:port`
        own: String,
    },
    /// No NameNode has said which name space the journal is for.
    #[error(
        "journal {journal}: no NameNode says which name space it is for ({reasons}); start one, or, for a new name space, run `namenode -format', which formats the JournalNodes too"
    )]
    NoNameNode {
        /// The journal's id.
        journal: String,
        /// What each one answered.
        reasons: String,
    },
    /// Too few JournalNodes have said what they promised.
    #[error(
        "journal {journal}: {answered} other JournalNodes have it, and {needed} must say what was promised ({reasons}); start them first, or, if their disks are lost too, stop the NameNodes and run `namenode -initializeSharedEdits'"
    )]
    TooFew {
        /// The journal's id.
        journal: String,
        /// How many have answered.
        answered: usize,
        /// How many must.
        needed: usize,
        /// Why others did not.
        reasons: String,
    },
    /// The directory.
    #[error("journal {journal}: {source}")]
    Storage {
        /// The journal's id.
        journal: String,
        /// What is wrong with it.
        source: Box<Error>,
    },
}

impl JournalFormat {
    /// The journals that the configuration gives to this JournalNode, with what NameNodes and the other JournalNodes say of
    /// each.
    ///
    /// # Errors
    /// If the configuration names no such journal, or those who know it do not answer.
    pub async fn find(conf: &Conf) -> Result<Vec<Self>, FormatError> {
        let settings = Settings::from_conf(conf)?;
        let own = rpc_address(conf)?;
        let mut options = ClientOptions::from_conf(conf)?;
        // There are others to ask.
        (options.connect_retries, options.connect_retries_on_timeouts) = (0, 0);
        let mut found = Vec::new();
        for journal in JournalUse::all(conf)? {
            let others = peers::others(&journal.address.nodes, own);
            let count = journal.address.nodes.len();
            if others.len() == count {
                continue;
            }
            let info = name_space(&journal, &options).await?;
            let promised = promised(&journal.address.journal, &others, count, &options).await?;
            let id = journal.address.journal;
            let root = settings.root(&id, journal.service.as_deref());
            found.push(Self { settings: settings.clone(), id, root, info, promised });
        }
        if found.is_empty() {
            Err(FormatError::NotNamed { own: own.to_string() })
        } else {
            Ok(found)
        }
    }

    /// The directory, if it holds anything.
    pub fn data_before_format(&self) -> Option<String> {
        let occupied = std::fs::read_dir(self.root.join("current"))
            .is_ok_and(|mut files| files.next().is_some());
        occupied.then(|| self.root.display().to_string())
    }

    /// Formats the journal, with all that its directory holds.
    ///
    /// # Errors
    /// If a JournalNode runs on the directory, or it cannot be written.
    pub fn run(self) -> Result<(), FormatError> {
        let failed = |source: Error| FormatError::Storage {
            journal: self.id.clone(),
            source: Box::new(source),
        };
        let mode = self.settings.journal.mode;
        let mut storage = JournalStorage::open(&self.root, mode).map_err(failed)?;
        let promised = self.promised;
        // A crash in between must not leave a journal that serves and has forgotten its promise.
        let promise = |current: &Path| Epochs::open(current)?.promise(promised);
        storage.format_with(self.info, true, promise).map_err(failed)
    }
}

impl std::fmt::Display for JournalFormat {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "journal {} in {}: name space {} of cluster {}, epoch {}",
            self.id,
            self.root.display(),
            self.info.namespace_id,
            self.info.cluster_id,
            self.promised
        )
    }
}

/// What the first NameNode says that answers.
async fn name_space(
    journal: &JournalUse,
    options: &ClientOptions,
) -> Result<StorageInfo, FormatError> {
    let mut reasons = Vec::new();
    for namenode in &journal.namenodes {
        let client = RpcClient::new(namenode, NAMENODES, 1, &User::of_process(), options.clone());
        let answer = client.call("versionRequest", &VersionRequestProto {}).await;
        match answer {
            Ok(VersionResponseProto { info }) => return Ok((&info.storage_info).into()),
            Err(error) => reasons.push(error.to_string()),
        }
    }
    let reasons =
        if reasons.is_empty() { "none is configured".to_owned() } else { reasons.join("; ") };
    Err(FormatError::NoNameNode { journal: journal.address.journal.clone(), reasons })
}

/// The highest epoch that was promised to a writer. A majority of all `count` JournalNodes promised it, of which this one may have
/// been one: so many of the others must be asked that one of them is sure to know it.
async fn promised(
    journal: &str,
    others: &[String],
    count: usize,
    options: &ClientOptions,
) -> Result<u64, FormatError> {
    let (mut promises, mut reasons) = (Vec::new(), Vec::new());
    for node in others {
        let client = RpcClient::new(node, JOURNAL_NODES, 1, &User::of_process(), options.clone());
        let request = GetJournalStateRequestProto {
            jid: JournalIdProto { identifier: journal.to_owned() },
            name_service_id: None,
        };
        let answer: Result<GetJournalStateResponseProto, RpcError> =
            client.call("getJournalState", &request).await;
        match answer {
            Ok(state) => promises.push(state.last_promised_epoch),
            Err(error) if error.remote_kind() == Some(JavaException::JournalNotFormatted) => {
                reasons.push(format!("{node} is not formatted"));
            }
            Err(error) => reasons.push(error.to_string()),
        }
    }
    let needed = count - count / 2;
    match promises.iter().max() {
        Some(promised) if promises.len() >= needed => Ok(*promised),
        _ => Err(FormatError::TooFew {
            journal: journal.to_owned(),
            answered: promises.len(),
            needed,
            reasons: reasons.join("; "),
        }),
    }
}
