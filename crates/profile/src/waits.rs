//! What a thread waits for, as the kernel says, and the signal that has it say where.

use crate::handler::SIGNAL;
use crate::tasks::Tid;
use std::fs;
use std::sync::Arc;

/// The number of frames that a kernel stack has at most.
const KERNEL_DEPTH_MAX: usize = 64;

/// A thread's state when it was looked at.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Wait {
    /// `[running]`, `[waiting]`, `[disk]` or `[stopped]`.
    pub(crate) state: &'static str,
    /// Functions of the kernel, innermost first: the one it waits in, or all of them for root.
    pub(crate) kernel: Vec<Arc<str>>,
}

/// Looks at a thread. None if it has ended.
pub(crate) fn look(tid: Tid) -> Option<Wait> {
    let stat = fs::read_to_string(format!("/proc/self/task/{tid}/stat")).ok()?;
    let state = state_of(&stat);
    let kernel = match state {
        "[running]" => Vec::new(),
        _ => kernel_stack(tid).unwrap_or_else(|| wait_channel(tid)),
    };
    Some(Wait { state, kernel })
}

fn state_of(stat: &str) -> &'static str {
    let behind_name = stat.rsplit_once(')').map_or("", |(_, rest)| rest);
    match behind_name.trim_start().chars().next() {
        Some('R') => "[running]",
        Some('D') => "[disk]",
        Some('T' | 't') => "[stopped]",
        _ => "[waiting]",
    }
}

/// Root may read it.
fn kernel_stack(tid: Tid) -> Option<Vec<Arc<str>>> {
    let text = fs::read_to_string(format!("/proc/self/task/{tid}/stack")).ok()?;
    let frames = names_of_stack(&text);
    (!frames.is_empty()).then_some(frames)
}

/// `[<0>] name+0x1a/0x90`, a line a frame.
fn names_of_stack(text: &str) -> Vec<Arc<str>> {
    let name = |line: &str| Some(line.split_once("] ")?.1.split('+').next()?.trim().into());
    text.lines().take(KERNEL_DEPTH_MAX).filter_map(name).collect()
}

fn wait_channel(tid: Tid) -> Vec<Arc<str>> {
    let name = fs::read_to_string(format!("/proc/self/task/{tid}/wchan")).unwrap_or_default();
    match name.trim() {
        "" | "0" => Vec::new(),
        name => vec![name.into()],
    }
}

/// Has a thread take a sample of itself; its tag comes with the sample. False if the thread has ended or too many signals wait.
pub(crate) fn interrupt(tid: Tid, tag: u64) -> bool {
    // The kernel's layout of a queued signal: number, error, code, padding, process, user, value.
    let mut info = [0u64; 16];
    let code = libc::SI_QUEUE;
    let process = std::process::id();
    info[0] = u64::from(SIGNAL as u32);
    info[1] = u64::from(code as u32);
    info[2] = u64::from(process);
    info[3] = tag;
    let arguments = (process as libc::pid_t, tid, SIGNAL);
    // SAFETY: the kernel reads the 128 bytes of the information.
    let sent = unsafe {
        libc::syscall(
            libc::SYS_rt_tgsigqueueinfo,
            arguments.0,
            arguments.1,
            arguments.2,
            info.as_ptr(),
        )
    };
    sent == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_are_read_behind_any_name() {
        assert_eq!(state_of("12 (a) R) b) D 1 2"), "[disk]");
        assert_eq!(state_of("12 (x) R 1"), "[running]");
        assert_eq!(state_of("12 (x) S 1"), "[waiting]");
        assert_eq!(state_of(""), "[waiting]");
    }

    #[test]
    fn a_kernel_stack_is_read() {
        let text = "[<0>] futex_wait_queue+0x67/0xa0\n[<0>] do_futex+0xa3/0x150\nodd\n";
        let names = names_of_stack(text);
        assert_eq!(
            names.iter().map(|name| &**name).collect::<Vec<_>>(),
            ["futex_wait_queue", "do_futex"]
        );
    }

    #[test]
    fn a_thread_that_waits_is_found_waiting() {
        let (go_on, gate) = std::sync::mpsc::channel::<()>();
        let (tell, told) = std::sync::mpsc::channel();
        let waiting = std::thread::spawn(move || {
            tell.send(crate::tasks::own()).unwrap();
            gate.recv()
        });
        let tid = told.recv().unwrap();
        while look(tid).unwrap().state != "[waiting]" {
            std::thread::yield_now();
        }
        drop(go_on);
        assert!(waiting.join().unwrap().is_err());
        assert_eq!(look(-1), None);
    }
}
