//! The retry cache: a call that a client sends again gets its first answer.
//!
//! It is looked at and filled under the namespace's write lock, in which every change is applied at once; so a call is
//! either not begun or in here, never in between. The caller lets a repeated answer wait until all that was logged is synced.

use crate::call_error::CallError;
use hashbrown::HashMap;
use std::collections::VecDeque;
use std::sync::Arc;
use zerohop_daemon::metrics::Counter;
use zerohop_journal::op::Append;
use zerohop_namespace::blocks::Now;
use zerohop_namespace::{FileStatus, LocatedBlock, Namespace, OpContext};
use zerohop_wire::RpcIds;

/// Most answers forgotten when one is kept: that happens under the namespace's lock. More than one, so that the number of
/// answers falls.
const EXPIRED_MAX: usize = 16;

/// Most answers kept; beyond, the oldest go before their time.
const ENTRIES_MAX: usize = 200_000;

/// The call's client and number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct CallKey {
    client: [u8; 16],
    call: i32,
}

impl CallKey {
    /// `None` for clients without an id: their calls cannot be told apart.
    pub(crate) fn new(ids: RpcIds) -> Option<Self> {
        let RpcIds { client_id, call_id: call } = ids;
        client_id.filter(|_| call >= 0).map(|client| Self { client, call })
    }
}

/// The answer of a call that was carried out.
#[derive(Clone, Debug)]
pub(crate) enum CachedAnswer {
    /// Success, and nothing more.
    Done,
    Bool(bool),
    /// The id of a new cache directive.
    DirectiveId(i64),
    /// The status of a created file.
    Created(Box<FileStatus>),
    /// The last block and the status of a file that was opened for append.
    Appended(Box<(Option<LocatedBlock>, FileStatus)>),
    /// An append found in the edit log. Its replicas are located only when the call is repeated.
    AppendEdit(Arc<Append>),
}

/// An answer that the retry cache can keep.
pub(crate) trait Remember: Sized {
    /// None for a call that is not carried out yet.
    fn to_cached(&self) -> Option<CachedAnswer>;

    /// None if the cached answer is one of another method: the client used a call id twice.
    fn from_cached(cached: CachedAnswer) -> Option<Self>;

    /// The answer to a repeated call.
    ///
    /// # Errors
    /// If the cached answer is one of another method, or if the file of an append is gone.
    fn recall(cached: CachedAnswer, _namespace: &Namespace) -> Result<Self, CallError> {
        Self::from_cached(cached).ok_or(CallError::CallIdOfAnotherMethod)
    }
}

impl Remember for () {
    fn to_cached(&self) -> Option<CachedAnswer> {
        Some(CachedAnswer::Done)
    }

    fn from_cached(cached: CachedAnswer) -> Option<Self> {
        matches!(cached, CachedAnswer::Done).then_some(())
    }
}

impl Remember for bool {
    fn to_cached(&self) -> Option<CachedAnswer> {
        Some(CachedAnswer::Bool(*self))
    }

    fn from_cached(cached: CachedAnswer) -> Option<Self> {
        match cached {
            CachedAnswer::Bool(answer) => Some(answer),
            _ => None,
        }
    }
}

impl Remember for i64 {
    fn to_cached(&self) -> Option<CachedAnswer> {
        Some(CachedAnswer::DirectiveId(*self))
    }

    fn from_cached(cached: CachedAnswer) -> Option<Self> {
        match cached {
            CachedAnswer::DirectiveId(id) => Some(id),
            _ => None,
        }
    }
}

impl Remember for FileStatus {
    fn to_cached(&self) -> Option<CachedAnswer> {
        Some(CachedAnswer::Created(Box::new(self.clone())))
    }

    fn from_cached(cached: CachedAnswer) -> Option<Self> {
        match cached {
            CachedAnswer::Created(status) => Some(*status),
            _ => None,
        }
    }
}

impl Remember for (Option<LocatedBlock>, FileStatus) {
    fn to_cached(&self) -> Option<CachedAnswer> {
        Some(CachedAnswer::Appended(Box::new(self.clone())))
    }

    fn from_cached(cached: CachedAnswer) -> Option<Self> {
        match cached {
            CachedAnswer::Appended(answer) => Some(*answer),
            _ => None,
        }
    }

    fn recall(cached: CachedAnswer, namespace: &Namespace) -> Result<Self, CallError> {
        match cached {
            CachedAnswer::AppendEdit(op) => {
                let ctx = OpContext::internal(Now::default());
                Ok(namespace.view(&ctx).repeat_append(&op)?)
            }
            cached => Self::from_cached(cached).ok_or(CallError::CallIdOfAnotherMethod),
        }
    }
}

/// The answer of a call that is carried out in several attempts; none until it is.
impl<R: Remember> Remember for Option<R> {
    fn to_cached(&self) -> Option<CachedAnswer> {
        self.as_ref()?.to_cached()
    }

    fn from_cached(cached: CachedAnswer) -> Option<Self> {
        R::from_cached(cached).map(Some)
    }

    fn recall(cached: CachedAnswer, namespace: &Namespace) -> Result<Self, CallError> {
        R::recall(cached, namespace).map(Some)
    }
}

/// What happened to the cache.
#[derive(Debug, Default)]
pub(crate) struct RetryCounters {
    /// Calls that got an answer of the cache.
    pub(crate) hits: Counter,
    /// Answers kept.
    pub(crate) updates: Counter,
}

/// Answers of the last minutes.
pub(crate) struct RetryCache {
    counters: Arc<RetryCounters>,
    answers: HashMap<CallKey, CachedAnswer>,
    /// In order of age, with the instant each is forgotten.
    ages: VecDeque<(u64, CallKey)>,
    expiry_ms: u64,
}

impl RetryCache {
    pub(crate) fn new(expiry_ms: u64) -> Self {
        let counters = Arc::default();
        Self { counters, answers: HashMap::new(), ages: VecDeque::new(), expiry_ms }
    }

    /// What happened to it, to be read without its lock.
    pub(crate) fn counters(&self) -> &Arc<RetryCounters> {
        &self.counters
    }

    pub(crate) fn get(&self, key: CallKey) -> Option<CachedAnswer> {
        let answer = self.answers.get(&key).cloned();
        self.counters.hits.add(u64::from(answer.is_some()));
        answer
    }

    pub(crate) fn put(&mut self, key: CallKey, answer: CachedAnswer, now_ms: u64) {
        self.expire(now_ms);
        self.counters.updates.increment();
        if self.answers.insert(key, answer).is_none() {
            self.ages.push_back((now_ms + self.expiry_ms, key));
        }
    }

    fn expire(&mut self, now_ms: u64) {
        for _ in 0..EXPIRED_MAX {
            let len = self.ages.len();
            let is_due =
                |(until_ms, _): &mut (u64, CallKey)| *until_ms <= now_ms || len >= ENTRIES_MAX;
            let Some((_, key)) = self.ages.pop_front_if(is_due) else { return };
            self.answers.remove(&key);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(call: i32) -> CallKey {
        CallKey::new(RpcIds::new(&[1; 16], call)).unwrap()
    }

    fn id(cache: &RetryCache, key: CallKey) -> Option<i64> {
        i64::from_cached(cache.get(key)?)
    }

    #[test]
    fn an_answer_is_kept_for_its_time() {
        let mut cache = RetryCache::new(100);
        let [one, two] = [1, 2].map(key);
        cache.put(one, CachedAnswer::DirectiveId(1), 0);
        assert_eq!(id(&cache, one), Some(1));
        assert!(cache.get(two).is_none());
        cache.put(two, CachedAnswer::DirectiveId(2), 100);
        assert!(cache.get(one).is_none());
        assert_eq!(id(&cache, two), Some(2));
    }

    #[test]
    fn an_answer_of_another_method_is_not_given() {
        let [number, truth] = [1_i64.to_cached().unwrap(), true.to_cached().unwrap()];
        assert_eq!(bool::from_cached(number), None);
        assert_eq!(bool::from_cached(truth), Some(true));
    }

    #[test]
    fn a_call_that_is_not_carried_out_yet_has_no_answer_to_keep() {
        assert!(None::<bool>.to_cached().is_none());
        let done = Some(true).to_cached().unwrap();
        assert_eq!(Option::<bool>::from_cached(done), Some(Some(true)));
    }

    /// After a burst of calls and a pause, one call had to forget all of them under the namespace's lock.
    #[test]
    fn one_call_forgets_a_few_answers_only() {
        let mut cache = RetryCache::new(100);
        (0..1000).for_each(|call| cache.put(key(call), CachedAnswer::Done, 0));
        for put in 1..=62 {
            cache.put(key(1000 + put), CachedAnswer::Done, 100);
            let old = 1000 - EXPIRED_MAX * put as usize;
            assert_eq!(cache.answers.len(), old + put as usize);
        }
        cache.put(key(2000), CachedAnswer::Done, 100);
        assert_eq!((cache.answers.len(), cache.ages.len()), (63, 63));
    }

    #[test]
    fn calls_without_a_client_id_have_no_key() {
        assert_eq!(CallKey::new(RpcIds::new(&[], 1)), None);
        assert_eq!(CallKey::new(RpcIds::new(&[1; 16], -3)), None);
    }
}
