//! Futures that are polled outside any runtime, dropped after some polls, and the list of those that a crate makes public.

use std::collections::BTreeSet;
use std::fs;
use std::future::Future;
use std::path::Path;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};
use std::time::Duration;

use crate::Outcome;

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// Polls a future so often, each time after it was woken, and drops it. Its output, if it was ready before.
pub fn give_up<F: Future>(future: F, polls: usize) -> Option<F::Output> {
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let mut future = pin!(future);
    for _ in 0..polls {
        if let Poll::Ready(output) = future.as_mut().poll(&mut Context::from_waker(&waker)) {
            return Some(output);
        }
        // One that waits for another call's end is not woken: the next poll finds it as it was.
        thread::park_timeout(Duration::from_millis(50));
    }
    None
}

/// Waits for a future on a thread that knows no runtime.
pub fn wait<F: Future>(future: F) -> F::Output {
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let mut future = pin!(future);
    loop {
        match future.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(output) => return output,
            Poll::Pending => thread::park(),
        }
    }
}

/// The async methods that types below a source directory make public, as `Type::method`.
pub fn public_async_methods(directory: &Path) -> Outcome<BTreeSet<String>> {
    let (mut found, mut left) = (BTreeSet::new(), vec![directory.to_owned()]);
    while let Some(directory) = left.pop() {
        let entries = fs::read_dir(&directory).map_err(|e| format!("{directory:?}: {e}"))?;
        for path in entries.map_while(Result::ok).map(|entry| entry.path()) {
            if path.is_dir() {
                left.push(path);
            } else if path.extension().is_some_and(|ending| ending == "rs") {
                let text = fs::read_to_string(&path).map_err(|e| format!("{path:?}: {e}"))?;
                found.extend(methods_in(&text));
            }
        }
    }
    Ok(found)
}

/// Types and methods begin their lines, as rustfmt has it.
fn methods_in(text: &str) -> Vec<String> {
    let (mut of, mut found) = (String::new(), Vec::new());
    for line in text.lines() {
        if let Some(rest) = line.strip_prefix("impl") {
            let name = rest.rsplit(" for ").next().unwrap_or_default();
            let name = name.trim_start_matches(|c: char| !c.is_alphabetic());
            of = name.chars().take_while(|c| c.is_alphanumeric()).collect();
        } else if let Some(rest) = line.trim_start().strip_prefix("pub async fn ") {
            let name: String =
                rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
            found.push(format!("{of}::{name}"));
        }
    }
    found
}

/// Fails unless these are all the methods.
pub fn are_all(covered: &BTreeSet<String>, public: &BTreeSet<String>) -> Outcome {
    let missing: Vec<&String> = public.difference(covered).collect();
    let gone: Vec<&String> = covered.difference(public).collect();
    if missing.is_empty() && gone.is_empty() {
        return Ok(());
    }
    Err(format!(
        "async methods that this test does not poll and drop, add them: {missing:?}; that are gone: {gone:?}"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn methods_are_found_by_their_types() {
        let text = "impl A {\n    pub async fn one(&self) {}\n    pub(crate) async fn no(&self) {}\n}\n\
                    impl<T> B for C<T> {\n    pub async fn two<X>(\n    ) {}\n}\n";
        assert_eq!(methods_in(text), ["A::one", "C::two"]);
    }
}
