//! Samples that are alike are counted together while a recording runs; names are looked up at its end.

use crate::handler::HEAD_LEN;
use crate::kernel_names::KernelNames;
use crate::symbols::{Function, KnownNames, Symbols};
use crate::tasks::{Tid, role};
use crate::waits::Wait;
use std::collections::HashMap;
use std::sync::Arc;

/// Different stacks that are kept; more are counted as dropped.
const STACKS_MAX: usize = 200_000;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Key {
    thread_name: [u64; 2],
    wait: u64,
    /// Addresses in the kernel, which are named at the end: reading all names takes a while.
    kernel: Vec<u64>,
    addresses: Vec<u64>,
}

/// How often each stack was found.
#[derive(Default)]
pub(crate) struct Tally {
    counts: HashMap<Key, u64>,
    dropped: u64,
    /// What threads waited for; a sample's tag is the place here, counted from 1.
    waits: Vec<Wait>,
    wait_tags: HashMap<Wait, u64>,
}

impl Tally {
    /// The tag for samples of threads that wait like this.
    pub(crate) fn tag(&mut self, wait: Wait) -> u64 {
        if let Some(tag) = self.wait_tags.get(&wait) {
            return *tag;
        }
        self.waits.push(wait.clone());
        let tag = self.waits.len() as u64;
        self.wait_tags.insert(wait, tag);
        tag
    }

    /// Counts a sample as `weight(thread)` many.
    pub(crate) fn add(&mut self, sample: &[u64], mut weight: impl FnMut(Tid) -> u64) {
        let Some(([thread, wait, name @ ..], addresses)) = sample.split_at_checked(HEAD_LEN) else {
            return;
        };
        let weight = weight(*thread as Tid);
        let mut thread_name = [0; 2];
        thread_name.iter_mut().zip(name).for_each(|(to, from)| *to = *from);
        let (wait, kernel) = (*wait, Vec::new());
        self.count(Key { thread_name, wait, kernel, addresses: addresses.to_vec() }, weight);
    }

    /// Counts a sample that the kernel took, with addresses of its own; the innermost first.
    pub(crate) fn add_with_kernel(
        &mut self,
        thread_name: [u64; 2],
        kernel: Vec<u64>,
        addresses: Vec<u64>,
    ) {
        self.count(Key { thread_name, wait: 0, kernel, addresses }, 1);
    }

    fn count(&mut self, key: Key, weight: u64) {
        let is_full = self.counts.len() >= STACKS_MAX;
        match self.counts.get_mut(&key) {
            Some(count) => *count += weight,
            None if is_full => self.dropped += weight,
            None => _ = self.counts.insert(key, weight),
        }
    }

    /// Samples that were one stack too many.
    pub(crate) fn dropped(&self) -> u64 {
        self.dropped
    }

    /// The stacks with names, the outermost function first, behind the role of the thread.
    pub(crate) fn named(self, known: &mut KnownNames) -> HashMap<Vec<Function>, u64> {
        let mut symbols = Symbols::new(known);
        let has_kernel = self.counts.keys().any(|key| !key.kernel.is_empty());
        let kernel_names = if has_kernel { KernelNames::read() } else { KernelNames::default() };
        let mut stacks = HashMap::new();
        for (key, count) in self.counts {
            let wait = key.wait.checked_sub(1).and_then(|index| self.waits.get(index as usize));
            let mut stack = named_wait(wait);
            let kernel = key.kernel.iter().map(|address| kernel_names.name(*address));
            stack.extend(kernel.map(of_kernel));
            for (depth, address) in key.addresses.iter().enumerate() {
                let address = *address as usize;
                // A return address is behind the call, and so is that of a thread in a system call.
                let is_behind = depth > 0 || symbols.follows_system_call(address);
                let address = address.saturating_sub(is_behind.into());
                stack.extend(symbols.functions(address).iter().cloned());
            }
            cut_thread_start(&mut stack);
            stack.push(Function::named(role(&thread_name(&key.thread_name))));
            stack.reverse();
            *stacks.entry(stack).or_default() += count;
        }
        stacks
    }
}

/// Leaves out how the standard library starts a thread: the outermost dozen of functions, the same for all.
fn cut_thread_start(stack: &mut Vec<Function>) {
    let is_start = |function: &Function| function.name.contains("__rust_begin_short_backtrace");
    if let Some(index) = stack.iter().rposition(is_start) {
        stack.truncate(index);
    }
}

fn named_wait(wait: Option<&Wait>) -> Vec<Function> {
    let Some(wait) = wait else { return Vec::new() };
    let mut frames = vec![Function::named(wait.state)];
    frames.extend(wait.kernel.iter().cloned().map(of_kernel));
    frames
}

fn of_kernel(name: Arc<str>) -> Function {
    Function { is_kernel: true, ..Function::named(name) }
}

/// The name that `PR_GET_NAME` wrote.
fn thread_name(words: &[u64; 2]) -> String {
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_ne_bytes()).collect();
    let name = bytes.split(|byte| *byte == 0).next().unwrap_or_default();
    String::from_utf8_lossy(name).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_that_are_alike_are_counted_together() {
        let mut tally = Tally::default();
        let waits = Wait { state: "[waiting]", kernel: vec!["do_wait".into()] };
        let tag = tally.tag(waits.clone());
        assert_eq!(tally.tag(waits), tag);
        let name = u64::from_ne_bytes(*b"reader-7");
        tally.add(&[7, tag, name, 0, 0x10], |_| 1);
        tally.add(&[8, tag, name, 0, 0x10], |thread| thread as u64);
        tally.add(&[8, 0, name, 0], |_| 1);
        tally.add(&[], |_| 1);
        let named = tally.named(&mut KnownNames::default());
        let mut lines: Vec<(String, u64)> = named
            .iter()
            .map(|(stack, count)| {
                let names: Vec<&str> = stack.iter().map(|function| &*function.name).collect();
                (names.join(";"), *count)
            })
            .collect();
        lines.sort();
        let waits = "reader;[unknown];do_wait;[waiting]".to_owned();
        assert_eq!(lines, [("reader".to_owned(), 1), (waits, 9)]);
    }

    #[cfg(target_arch = "x86_64")]
    std::arch::global_asm!(
        ".pushsection .text.zerohop_tally_test,\"ax\",@progbits",
        ".type zerohop_system_call_at_its_end, @function",
        "zerohop_system_call_at_its_end:",
        "nop",
        "syscall",
        ".size zerohop_system_call_at_its_end, . - zerohop_system_call_at_its_end",
        ".type zerohop_next_function, @function",
        ".globl zerohop_next_function",
        "zerohop_next_function:",
        "nop",
        "ret",
        ".size zerohop_next_function, . - zerohop_next_function",
        ".popsection",
    );
    #[cfg(target_arch = "aarch64")]
    std::arch::global_asm!(
        ".pushsection .text.zerohop_tally_test,\"ax\",@progbits",
        ".balign 4",
        ".type zerohop_system_call_at_its_end, @function",
        "zerohop_system_call_at_its_end:",
        "nop",
        "svc #0",
        ".size zerohop_system_call_at_its_end, . - zerohop_system_call_at_its_end",
        ".type zerohop_next_function, @function",
        ".globl zerohop_next_function",
        "zerohop_next_function:",
        "nop",
        "ret",
        ".size zerohop_next_function, . - zerohop_next_function",
        ".popsection",
    );
    unsafe extern "C" {
        fn zerohop_next_function();
    }

    /// A thread in a system call is at the instruction behind it, which may be another function's.
    #[test]
    fn a_system_call_belongs_to_the_function_that_makes_it() {
        let behind_call = zerohop_next_function as unsafe extern "C" fn() as usize as u64;
        let mut tally = Tally::default();
        tally.add_with_kernel([0; 2], Vec::new(), vec![behind_call]);
        tally.add_with_kernel([0; 2], Vec::new(), vec![behind_call + 1, behind_call]);
        let named = tally.named(&mut KnownNames::default());
        let mut names: Vec<Vec<&str>> = named
            .keys()
            .map(|stack| stack.iter().map(|function| &*function.name).collect())
            .collect();
        names.sort();
        let (caller, next) = ("zerohop_system_call_at_its_end", "zerohop_next_function");
        assert_eq!(names, [vec!["thread", caller], vec!["thread", caller, next]]);
    }
}
