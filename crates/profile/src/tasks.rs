//! The threads of this process, as the kernel lists them.

use std::collections::{BTreeSet, HashMap};
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;

/// A thread's id, as the kernel counts them.
pub(crate) type Tid = libc::pid_t;

/// The ids of all threads, and of some that have just ended.
///
/// A listing ends early when the thread that the kernel stands at ends: listings are joined until one has as many ids as there were
/// threads before and after it.
pub(crate) fn threads() -> io::Result<Vec<Tid>> {
    const LISTINGS: usize = 10;
    let mut all = BTreeSet::new();
    let mut before = count()?;
    for _ in 0..LISTINGS {
        let entries = fs::read_dir("/proc/self/task")?.flatten();
        let listed: Vec<Tid> =
            entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect();
        let after = count()?;
        let is_whole = listed.len() >= before.max(after);
        all.extend(listed);
        if is_whole {
            break;
        }
        before = after;
    }
    Ok(all.into_iter().collect())
}

/// How many threads there are: the directory's links but its own entry and the one in itself.
fn count() -> io::Result<usize> {
    let links = fs::metadata("/proc/self/task")?.nlink().saturating_sub(2);
    Ok(usize::try_from(links).unwrap_or(usize::MAX))
}

/// Names of threads, as the words that `PR_GET_NAME` would write.
#[derive(Default)]
pub(crate) struct ThreadNames(HashMap<Tid, [u64; 2]>);

impl ThreadNames {
    /// The name that the thread has now; the same until it is forgotten. Empty if it has ended.
    pub(crate) fn words(&mut self, tid: Tid) -> [u64; 2] {
        *self.0.entry(tid).or_insert_with(|| {
            let mut bytes = [0; 16];
            let name = fs::read(format!("/proc/self/task/{tid}/comm")).unwrap_or_default();
            let letters = name.iter().take_while(|byte| **byte != b'\n');
            bytes.iter_mut().zip(letters).for_each(|(to, from)| *to = *from);
            let (words, _) = bytes.as_chunks::<8>();
            [0, 1].map(|index| words.get(index).map_or(0, |word| u64::from_ne_bytes(*word)))
        })
    }

    /// Threads may get other names.
    pub(crate) fn forget(&mut self) {
        self.0.clear();
    }
}

/// The calling thread's id.
pub(crate) fn own() -> Tid {
    // SAFETY: a system call without arguments.
    unsafe { libc::syscall(libc::SYS_gettid) as Tid }
}

/// What a thread does by its name: threads whose names differ in a number only have the same role.
pub(crate) fn role(name: &str) -> String {
    let counted = |letter: char| {
        letter.is_ascii_digit() || matches!(letter, '-' | '_' | '#' | ':' | ' ' | '.')
    };
    let role = match name.chars().next_back() {
        Some(last) if last.is_ascii_digit() => name.trim_end_matches(counted),
        _ => name,
    };
    let role: String =
        role.chars().map(|letter| if letter.is_control() { '?' } else { letter }).collect();
    match role.as_str() {
        "" => "thread".to_owned(),
        "tokio-rt-worker" | "tokio-runtime-w" => "tokio worker".to_owned(),
        _ => role,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roles_are_names_without_their_numbers() {
        let roles = ["ipc-8020-3", "block receiver", "tokio-rt-worker", "7", "", "a\nb", "x 1:2"];
        let expected = ["ipc", "block receiver", "tokio worker", "thread", "thread", "a?b", "x"];
        assert_eq!(roles.map(role), expected);
    }

    #[test]
    fn this_thread_is_listed() {
        // Other tests' threads begin and end meanwhile: once is enough.
        assert!((0..100).any(|_| threads().unwrap().contains(&own())));
    }

    #[test]
    fn threads_are_counted() {
        assert!(count().unwrap() >= 1);
    }
}
