//! Finalized segments that this JournalNode lacks, fetched from the others in turn (`JournalNodeSyncer`).
//!
//! A JournalNode that was away misses segments, and a NameNode only writes new ones to it. Without them a failure of the others
//! would lose what a majority had.

use crate::download::HttpSource;
use crate::error::{Error, Result};
use crate::journals::{Journals, OpenJournal};
use crate::peers;
use crate::rpc::{JOURNAL_NODES, VERSION};
use crate::storage::FETCHED;
use std::collections::BTreeSet;
use std::convert::Infallible;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use zerohop_daemon::storage::FileError;
use zerohop_journal::segment::finalized_name;
use zerohop_proto::hdfs::qjournal::{
    GetEditLogManifestRequestProto, GetEditLogManifestResponseProto, JournalIdProto,
};
use zerohop_quorum::segment_url;
use zerohop_system::clock;
use zerohop_transport::login::User;
use zerohop_transport::rpc::{ClientOptions, RpcClient};
use zerohop_wire::TxId;

/// Compares and fetches.
pub(crate) struct Syncer {
    journals: Arc<Journals>,
    own: SocketAddr,
    options: ClientOptions,
    /// Whose turn it is.
    turn: usize,
}

impl Syncer {
    pub(crate) fn new(
        journals: Arc<Journals>,
        own: SocketAddr,
        mut options: ClientOptions,
    ) -> Self {
        // One that is down is asked again in its next turn.
        (options.connect_retries, options.connect_retries_on_timeouts) = (0, 0);
        Self { journals, own, options, turn: 0 }
    }

    /// Asks one other JournalNode after each interval.
    pub(crate) async fn run(mut self, interval: std::time::Duration) -> Infallible {
        loop {
            clock::sleep(interval).await;
            for journal in self.journals.all() {
                if journal.figures().info.is_none() {
                    continue;
                }
                let others = self.others(&journal.id);
                let Some(other) = others.get(self.turn % others.len().max(1)) else { continue };
                match self.sync_with(&journal, other).await {
                    Ok(0) => {}
                    Ok(count) => tracing::info!(
                        "journal {}: {count} segments were fetched from {other}",
                        journal.id
                    ),
                    Err(error) => {
                        tracing::warn!(
                            "journal {}: not compared with {other}: {error}",
                            journal.id
                        );
                    }
                }
            }
            self.turn = self.turn.wrapping_add(1);
        }
    }

    /// The JournalNodes of a journal but this one.
    fn others(&self, journal: &str) -> Vec<String> {
        peers::others(&self.journals.settings().journal_nodes(journal), self.own)
    }

    async fn sync_with(&self, journal: &Arc<OpenJournal>, other: &str) -> Result<usize> {
        let user = User::of_process();
        let client = RpcClient::new(other, JOURNAL_NODES, VERSION, &user, self.options.clone());
        let request = GetEditLogManifestRequestProto {
            jid: JournalIdProto { identifier: journal.id.clone() },
            since_tx_id: 0,
            in_progress_ok: Some(false),
            name_service_id: None,
        };
        let theirs: GetEditLogManifestResponseProto =
            client.call("getEditLogManifestFromJournal", &request).await.map_err(Error::Compare)?;
        let ours = journal.worker.run(|journal| journal.manifest(TxId(0), false)).await?;
        let ours: BTreeSet<i64> = ours.segments.iter().map(|state| state.first.0).collect();
        let host = other.rsplit_once(':').map_or(other, |(host, _)| host);
        let port = theirs
            .from_url
            .as_deref()
            .and_then(|url| url.rsplit_once(':')?.1.trim_end_matches('/').parse().ok())
            .unwrap_or(theirs.http_port);
        let base = format!("http://{host}:{port}");
        let info = journal.figures().info;
        let namespace = info.map(|info| info.to_colon_separated()).unwrap_or_default();
        let mut fetched = 0;
        for log in &theirs.manifest.logs {
            let (first, last) = (TxId(log.start_tx_id as i64), TxId(log.end_tx_id as i64));
            let is_whole = !log.is_in_progress.unwrap_or(false) && first.0 > 0 && last >= first;
            if is_whole && !ours.contains(&first.0) {
                let url = segment_url(&base, &journal.id, &namespace, first, false);
                fetched += usize::from(self.fetch(journal, url, first, last).await?);
            }
        }
        Ok(fetched)
    }

    /// Fetches one segment; false if it is of no use here after all.
    async fn fetch(
        &self,
        journal: &Arc<OpenJournal>,
        url: String,
        first: TxId,
        last: TxId,
    ) -> Result<bool> {
        let directory = journal.root.join(FETCHED);
        let to = directory.join(finalized_name(first, last));
        let source = HttpSource { url, timeout: self.journals.settings().transfer_timeout };
        let file = to.clone();
        // Not on the journal's thread: a writer must not wait for a download.
        let download = tokio::task::spawn_blocking(move || {
            make_directory(&directory)?;
            source.fetch(&file)
        });
        download.await.map_err(|_| Error::Stopping)??;
        let file = to.clone();
        let added =
            journal.worker.run(move |journal| journal.add_fetched(&file, first, last)).await;
        if matches!(added, Ok(true)) {
            journal.worker.status().count_fetched();
        } else {
            let _ = std::fs::remove_file(&to);
        }
        added
    }
}

fn make_directory(directory: &Path) -> Result<()> {
    Ok(std::fs::create_dir_all(directory).map_err(FileError::new("create", directory))?)
}

#[cfg(test)]
#[path = "sync_test.rs"]
mod sync_test;
