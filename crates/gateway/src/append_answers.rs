//! Answers to appends that were named, for their repetitions.

use std::collections::{HashMap, VecDeque};

/// So many are known; the oldest one is forgotten first.
const ANSWERS_MAX: usize = 10_000;

/// Which bytes of a file an append became.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Appended {
    /// Where they begin.
    pub(crate) start: u64,
    /// The offset behind them.
    pub(crate) end: u64,
}

/// Names an append: its user, its file and the user's name for it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct AnswerKey(String, String, String);

impl AnswerKey {
    pub(crate) fn new(user: &str, path: &str, name: &str) -> Self {
        Self(user.to_owned(), path.to_owned(), name.to_owned())
    }
}

/// What became of an append.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Known {
    /// It was answered.
    Done(Appended),
    /// It failed. The file may hold a beginning of it from `start` on, up to `end` at most.
    Begun { start: u64, end: u64 },
}

/// The last answers.
#[derive(Debug, Default)]
pub(crate) struct Answers {
    /// With the inode that the append was to: another file of that name does not have its bytes.
    by_key: HashMap<AnswerKey, (u64, Known)>,
    oldest_first: VecDeque<AnswerKey>,
    /// By inode the append that is under way, or failed, and behind which nothing was appended since.
    last_begun: HashMap<u64, AnswerKey>,
}

impl Answers {
    /// Whether there may be an answer.
    pub(crate) fn knows(&self, key: &AnswerKey) -> bool {
        self.by_key.contains_key(key)
    }

    /// What became of an append to the file of this inode.
    pub(crate) fn get(&self, key: &AnswerKey, file_id: u64) -> Option<Known> {
        self.by_key.get(key).filter(|(known_id, _)| *known_id == file_id).map(|(_, known)| *known)
    }

    /// An append begins at `start`. Until it is answered, a repetition goes on with it.
    pub(crate) fn begin(&mut self, key: AnswerKey, file_id: u64, start: u64) {
        self.last_begun.insert(file_id, key.clone());
        self.put(key, file_id, Known::Begun { start, end: u64::MAX });
    }

    /// A file is about to grow from `len` bytes on: what is behind them is not of the append that failed before.
    pub(crate) fn settle(&mut self, file_id: u64, len: u64) {
        let Some(key) = self.last_begun.remove(&file_id) else { return };
        if let Some((_, Known::Begun { end, .. })) = self.by_key.get_mut(&key) {
            *end = len.min(*end);
        }
    }

    /// An append was answered.
    pub(crate) fn finish(&mut self, key: AnswerKey, file_id: u64, answer: Appended) {
        self.last_begun.remove(&file_id);
        self.put(key, file_id, Known::Done(answer));
    }

    fn put(&mut self, key: AnswerKey, file_id: u64, known: Known) {
        if self.by_key.insert(key.clone(), (file_id, known)).is_none() {
            self.oldest_first.push_back(key);
        }
        if self.oldest_first.len() > ANSWERS_MAX
            && let Some(oldest) = self.oldest_first.pop_front()
            && let Some((file_id, _)) = self.by_key.remove(&oldest)
            && self.last_begun.get(&file_id) == Some(&oldest)
        {
            self.last_begun.remove(&file_id);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_answer_is_forgotten_first() {
        let mut answers = Answers::default();
        let key = |number: usize| AnswerKey::new("u", "/f", &number.to_string());
        let answer = |number: usize| Appended { start: number as u64, end: number as u64 + 1 };
        for number in 0..=ANSWERS_MAX {
            answers.finish(key(number), 7, answer(number));
        }
        assert_eq!(answers.get(&key(0), 7), None);
        assert_eq!(answers.get(&key(1), 7), Some(Known::Done(answer(1))));
        assert_eq!(answers.get(&key(1), 8), None, "of another file of that name");
        assert_eq!(answers.get(&AnswerKey::new("other", "/f", "1"), 7), None);
        assert_eq!(answers.by_key.len(), ANSWERS_MAX);
    }

    #[test]
    fn of_an_append_that_failed_only_what_was_there_before_the_next_one_is_known() {
        let mut answers = Answers::default();
        let key = |name: &str| AnswerKey::new("u", "/f", name);
        answers.begin(key("a"), 7, 10);
        assert_eq!(answers.get(&key("a"), 7), Some(Known::Begun { start: 10, end: u64::MAX }));
        answers.settle(8, 99);
        // The file has 15 bytes when the next append comes; those behind them are the next one's.
        for len in [15, 20] {
            answers.settle(7, len);
            assert_eq!(answers.get(&key("a"), 7), Some(Known::Begun { start: 10, end: 15 }));
        }
        let answer = Appended { start: 20, end: 25 };
        answers.begin(key("a"), 7, 20);
        answers.finish(key("a"), 7, answer);
        answers.settle(7, 22);
        assert_eq!(answers.get(&key("a"), 7), Some(Known::Done(answer)));
    }
}
