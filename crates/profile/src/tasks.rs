//! The threads of this process, as the kernel lists them.

use std::fs;
use std::io;

/// A thread's id, as the kernel counts them.
pub(crate) type Tid = libc::pid_t;

/// The ids of all threads.
pub(crate) fn threads() -> io::Result<Vec<Tid>> {
    let entries = fs::read_dir("/proc/self/task")?;
    Ok(entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect())
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
        assert!(threads().unwrap().contains(&own()));
    }
}
