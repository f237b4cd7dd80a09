//! The lock in ZooKeeper, and the record of who had it last (`ActiveStandbyElector`).

use crate::zookeeper::{Failure, ZooKeeperError, ZooKeeperOptions};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use zerohop_system::clock;
use zookeeper_client::{Client, CreateMode, Error, EventType, SessionState};

/// Wait before ZooKeeper is connected to again.
const RECONNECT_AFTER: Duration = Duration::from_secs(1);

/// What becomes of a candidate.
#[derive(Debug)]
pub(crate) enum Outcome {
    /// It has the lock.
    Won(Session),
    /// Another one has it.
    Lost,
}

/// A session that competes for the lock: it ends, and the lock with it, when the last copy is dropped.
#[derive(Clone)]
pub(crate) struct Session {
    options: Arc<ZooKeeperOptions>,
    client: Client,
    data: Arc<[u8]>,
}

impl std::fmt::Debug for Session {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Session").field("id", &self.client.session_id()).finish_non_exhaustive()
    }
}

/// The record of who was active last.
#[derive(Debug)]
pub(crate) struct Record {
    pub(crate) data: Vec<u8>,
    version: i32,
}

/// A candidate for the lock. Dropped, it gives it up.
pub(crate) struct Candidate {
    outcomes: mpsc::Receiver<Outcome>,
    /// Held for its life.
    _task: JoinSet<()>,
}

impl Candidate {
    /// Competes for the lock with this data.
    pub(crate) fn new(options: Arc<ZooKeeperOptions>, data: Arc<[u8]>) -> Self {
        let (sender, outcomes) = mpsc::channel(1);
        let mut task = JoinSet::new();
        task.spawn(compete(options, data, sender));
        Self { outcomes, _task: task }
    }

    /// Who has the lock, whenever that changes. May be dropped and called again.
    pub(crate) async fn outcome(&mut self) -> Outcome {
        match self.outcomes.recv().await {
            Some(outcome) => outcome,
            // The task ends only with this candidate.
            None => std::future::pending().await,
        }
    }
}

/// One session after the other: one that has expired has lost the lock.
async fn compete(options: Arc<ZooKeeperOptions>, data: Arc<[u8]>, outcomes: mpsc::Sender<Outcome>) {
    while !outcomes.is_closed() {
        match options.connect().await {
            Ok(client) => {
                let session =
                    Session { options: Arc::clone(&options), client, data: Arc::clone(&data) };
                if let Err(error) = session.compete(&outcomes).await {
                    tracing::warn!("election: {error}; a new session begins");
                }
            }
            Err(error) => tracing::warn!("election: {error}"),
        }
        clock::sleep(RECONNECT_AFTER).await;
    }
}

impl Session {
    fn lock_path(&self) -> String {
        format!("{}/ActiveStandbyElectorLock", self.options.znode())
    }

    fn record_path(&self) -> String {
        format!("{}/ActiveBreadCrumb", self.options.znode())
    }

    /// Reports who has the lock until the session ends.
    async fn compete(&self, outcomes: &mpsc::Sender<Outcome>) -> Result<(), Failure> {
        let path = self.lock_path();
        let mode = CreateMode::Ephemeral.with_acls(self.options.acl());
        let mut reported = None;
        loop {
            let look = || self.client.check_and_watch_stat(&path);
            let (stat, watcher) = self.options.retry("cannot look at the lock", look).await?;
            let Some(stat) = stat else {
                reported = None;
                let create = || self.client.create(&path, &self.data, &mode);
                match self.options.retry("cannot take the lock", create).await {
                    // A lock that was taken by a call whose answer was lost is this session's, too: the next look tells.
                    Ok(_) => {}
                    Err(failure) if failure.source == Error::NodeExists => {}
                    Err(failure) => return Err(failure),
                }
                continue;
            };
            let is_ours = stat.ephemeral_owner == self.client.session_id().0;
            if reported != Some(is_ours) {
                reported = Some(is_ours);
                let outcome = if is_ours { Outcome::Won(self.clone()) } else { Outcome::Lost };
                if outcomes.send(outcome).await.is_err() {
                    return Ok(());
                }
            }
            let event = watcher.changed().await;
            if event.event_type == EventType::Session
                && matches!(
                    event.session_state,
                    SessionState::Expired | SessionState::Closed | SessionState::AuthFailed
                )
            {
                return Err(Failure::ended(event.session_state));
            }
        }
    }

    /// What the record says; none if there is none.
    pub(crate) async fn record(&self) -> Result<Option<Record>, ZooKeeperError> {
        let path = self.record_path();
        let read = || self.client.get_data(&path);
        match self.options.retry("cannot read who was active last", read).await {
            Ok((data, stat)) => Ok(Some(Record { data, version: stat.version })),
            Err(failure) if failure.source == Error::NoNode => Ok(None),
            Err(failure) => Err(failure.into()),
        }
    }

    /// Whether a record is this candidate's.
    pub(crate) fn is_own(&self, record: &Record) -> bool {
        record.data == *self.data
    }

    /// Writes this candidate into the record in place of the one that was read.
    pub(crate) async fn write_record(&self, old: Option<&Record>) -> Result<(), ZooKeeperError> {
        let path = self.record_path();
        let what = "cannot record who is active";
        match old {
            None => {
                let mode = CreateMode::Persistent.with_acls(self.options.acl());
                let create = || self.client.create(&path, &self.data, &mode);
                self.options.retry(what, create).await?;
            }
            Some(old) => {
                let set = || self.client.set_data(&path, &self.data, Some(old.version));
                self.options.retry(what, set).await?;
            }
        }
        Ok(())
    }

    /// Removes this candidate's record, after it became standby in order: then it need not be fenced. If that fails it is.
    pub(crate) async fn remove_own_record(&self) {
        let remove = async {
            let Some(record) = self.record().await? else { return Ok(()) };
            if !self.is_own(&record) {
                tracing::warn!("the record of who is active is another one's: it is left alone");
                return Ok(());
            }
            let path = self.record_path();
            let delete = || self.client.delete(&path, Some(record.version));
            Ok::<_, ZooKeeperError>(
                self.options.retry("cannot remove the record of who is active", delete).await?,
            )
        };
        if let Err(error) = remove.await {
            tracing::warn!("{error}; the next active will fence this one");
        }
    }
}

/// The data of the candidate that has the lock, if there is one.
pub(crate) async fn holder(options: &ZooKeeperOptions) -> Result<Option<Vec<u8>>, ZooKeeperError> {
    let client = options.connect().await?;
    let path = format!("{}/ActiveStandbyElectorLock", options.znode());
    match options.retry("cannot read who is active", || client.get_data(&path)).await {
        Ok((data, _)) => Ok(Some(data)),
        Err(failure) if failure.source == Error::NoNode => Ok(None),
        Err(failure) => Err(failure.into()),
    }
}
