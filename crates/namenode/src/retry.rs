//! The retry cache: a call that a client sends again gets its first answer.
//!
//! It is looked at and filled under the namespace's write lock, in which every change is applied at once; so a call is
//! either not begun or in here, never in between. The caller lets a repeated answer wait until all that was logged is synced.

use bytes::Bytes;
use hashbrown::HashMap;
use std::collections::VecDeque;
use std::sync::Arc;
use zerohop_journal::op::Append;

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
    pub(crate) fn new(client: &[u8], call: i32) -> Option<Self> {
        let client = client.try_into().ok()?;
        (call >= 0).then_some(Self { client, call })
    }
}

/// What is known of a call that was carried out.
#[derive(Clone, Debug)]
pub(crate) enum Known {
    /// Its answer, encoded.
    Answer(Bytes),
    /// It was an append, says the edit log: only now can it be said where the replicas are.
    Append(Arc<Append>),
}

/// Answers of the last minutes.
pub(crate) struct RetryCache {
    answers: HashMap<CallKey, Known>,
    /// In order of age, with the instant each is forgotten.
    ages: VecDeque<(u64, CallKey)>,
    expiry_ms: u64,
}

impl RetryCache {
    pub(crate) fn new(expiry_ms: u64) -> Self {
        Self { answers: HashMap::new(), ages: VecDeque::new(), expiry_ms }
    }

    pub(crate) fn get(&self, key: CallKey) -> Option<Known> {
        self.answers.get(&key).cloned()
    }

    pub(crate) fn put(&mut self, key: CallKey, answer: Known, now_ms: u64) {
        self.expire(now_ms);
        if self.answers.insert(key, answer).is_none() {
            self.ages.push_back((now_ms + self.expiry_ms, key));
        }
    }

    fn expire(&mut self, now_ms: u64) {
        while let Some((until_ms, key)) = self.ages.front().copied()
            && (until_ms <= now_ms || self.ages.len() >= ENTRIES_MAX)
        {
            self.ages.pop_front();
            self.answers.remove(&key);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(text: &'static str) -> Known {
        Known::Answer(Bytes::from_static(text.as_bytes()))
    }

    fn text(cache: &RetryCache, key: CallKey) -> Option<Bytes> {
        match cache.get(key)? {
            Known::Answer(bytes) => Some(bytes),
            Known::Append(_) => None,
        }
    }

    #[test]
    fn an_answer_is_kept_for_its_time() {
        let mut cache = RetryCache::new(100);
        let (one, two) = (CallKey::new(&[1; 16], 1).unwrap(), CallKey::new(&[1; 16], 2).unwrap());
        cache.put(one, answer("one"), 0);
        assert_eq!(text(&cache, one).unwrap(), "one");
        assert!(cache.get(two).is_none());
        cache.put(two, answer("two"), 100);
        assert!(cache.get(one).is_none());
        assert_eq!(text(&cache, two).unwrap(), "two");
    }

    #[test]
    fn calls_without_a_client_id_have_no_key() {
        assert_eq!(CallKey::new(&[], 1), None);
        assert_eq!(CallKey::new(&[1; 16], -3), None);
    }
}
