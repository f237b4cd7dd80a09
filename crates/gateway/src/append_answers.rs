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

/// What is known of an append.
#[derive(Clone, Copy, Debug)]
struct Known {
    /// The inode that it was done to: another file of that name does not have its bytes.
    file_id: u64,
    answer: Appended,
}

/// The last answers.
#[derive(Debug, Default)]
pub(crate) struct Answers {
    by_key: HashMap<AnswerKey, Known>,
    oldest_first: VecDeque<AnswerKey>,
}

impl Answers {
    /// Whether there may be an answer.
    pub(crate) fn knows(&self, key: &AnswerKey) -> bool {
        self.by_key.contains_key(key)
    }

    /// The answer to an append to the file of this inode.
    pub(crate) fn get(&self, key: &AnswerKey, file_id: u64) -> Option<Appended> {
        let known = self.by_key.get(key).filter(|known| known.file_id == file_id)?;
        Some(known.answer)
    }

    pub(crate) fn put(&mut self, key: AnswerKey, file_id: u64, answer: Appended) {
        if self.by_key.insert(key.clone(), Known { file_id, answer }).is_none() {
            self.oldest_first.push_back(key);
        }
        if self.oldest_first.len() > ANSWERS_MAX
            && let Some(oldest) = self.oldest_first.pop_front()
        {
            self.by_key.remove(&oldest);
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
            answers.put(key(number), 7, answer(number));
        }
        assert_eq!(answers.get(&key(0), 7), None);
        assert_eq!(answers.get(&key(1), 7), Some(answer(1)));
        assert_eq!(answers.get(&key(1), 8), None, "of another file of that name");
        assert_eq!(answers.get(&AnswerKey::new("other", "/f", "1"), 7), None);
        assert_eq!(answers.by_key.len(), ANSWERS_MAX);
    }
}
