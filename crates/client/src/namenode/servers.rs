//! The NameNodes of a name service, and which of them is active.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::task::JoinSet;
use zerohop_proto::common::HaServiceStateProto;
use zerohop_proto::hdfs::{HaServiceStateRequestProto, HaServiceStateResponseProto};
use zerohop_system::clock;
use zerohop_transport::rpc::{RpcClient, RpcError};

/// A NameNode that has not answered a call for so long may be frozen: the others are asked whether one of them is active.
const SUSPECT_AFTER: Duration = Duration::from_secs(2);
/// First and longest wait between two questions which NameNode is active.
const SEARCH_AGAIN: (Duration, Duration) = (Duration::from_millis(50), Duration::from_secs(1));
/// How long such a question may take where that is not configured.
pub(super) const STATE_WITHIN: Duration = Duration::from_secs(2);

/// The NameNodes of a name service.
pub(super) struct Servers {
    list: Vec<RpcClient>,
    /// Index of the one that answered last.
    active: AtomicUsize,
    /// Held while the active one is looked for, so that calls that wait do so once.
    searching: tokio::sync::Mutex<()>,
}

impl Servers {
    pub(super) fn new(list: Vec<RpcClient>) -> Self {
        Self { list, active: AtomicUsize::new(0), searching: tokio::sync::Mutex::default() }
    }

    pub(super) fn len(&self) -> usize {
        self.list.len()
    }

    pub(super) fn get(&self, at: usize) -> Option<&RpcClient> {
        self.list.get(at)
    }

    /// The one to ask first.
    pub(super) fn active(&self) -> usize {
        self.active.load(Ordering::Relaxed)
    }

    /// The server after `failed`, unless another call has moved on already.
    pub(super) fn fail_over(&self, failed: usize) -> usize {
        let next = (failed + 1) % self.list.len().max(1);
        match self.active.compare_exchange(failed, next, Ordering::Relaxed, Ordering::Relaxed) {
            Ok(_) => next,
            Err(current) => current,
        }
    }

    /// Ready when a NameNode says that it is active. All calls that wait look for it together.
    pub(super) async fn until_one_is_active(&self) -> usize {
        let before = self.active();
        let _one_at_a_time = self.searching.lock().await;
        let now = self.active();
        if now != before {
            return now;
        }
        let (mut pause, longest) = SEARCH_AGAIN;
        loop {
            if let Some(found) = self.find_active(None).await {
                return found;
            }
            clock::sleep(pause).await;
            pause = (pause * 2).min(longest);
        }
    }

    /// Ready when the server has not answered for a while, and another one says that it is active: one that was frozen and
    /// replaced does not hold a call for as long as that may take.
    pub(super) async fn until_replaced(&self, silent: usize) -> usize {
        loop {
            clock::sleep(SUSPECT_AFTER).await;
            if let Some(found) = self.find_active(Some(silent)).await {
                return found;
            }
        }
    }

    /// Asks all at once; the first that says that it is active. From then on it is asked first.
    pub(super) async fn find_active(&self, except: Option<usize>) -> Option<usize> {
        let mut questions = JoinSet::new();
        for (at, server) in self.list.iter().enumerate().filter(|(at, _)| Some(*at) != except) {
            let server = server.clone();
            questions.spawn(async move { (at, state(&server, STATE_WITHIN).await) });
        }
        while let Some(answer) = questions.join_next().await {
            if let Ok((at, Some(HaServiceStateProto::Active))) = answer {
                self.active.store(at, Ordering::Relaxed);
                return Some(at);
            }
        }
        None
    }
}

/// What a NameNode says it is; none if it does not say `within` that time.
pub(super) async fn state(server: &RpcClient, within: Duration) -> Option<HaServiceStateProto> {
    let question = HaServiceStateRequestProto {};
    let answer = server.call("getHAServiceState", &question);
    let answer: Result<HaServiceStateResponseProto, RpcError> = tokio::select! {
        answer = answer => answer,
        () = clock::sleep(within) => return None,
    };
    answer.ok().map(|answer| answer.state())
}

/// Ready when a NameNode has not answered a call for a while, and does not say `within` that time what it is either.
pub(super) async fn until_silent(server: &RpcClient, within: Duration) {
    loop {
        clock::sleep(SUSPECT_AFTER).await;
        if state(server, within).await.is_none() {
            return;
        }
    }
}
