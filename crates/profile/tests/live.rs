//! Recordings of this process while it works.
#![allow(clippy::disallowed_methods, reason = "tests measure and wait")]

use std::hint::black_box;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};
use zerohop_profile::{Clock, Options, Recording, Turn, collapsed, flame_graph, pprof};

/// A name, and what the thread does until it is told to end.
type Thread = (&'static str, fn(&AtomicBool));

/// A process makes one recording at a time.
fn alone() -> MutexGuard<'static, ()> {
    static ONE: Mutex<()> = Mutex::new(());
    ONE.lock().unwrap_or_else(PoisonError::into_inner)
}

fn options(seconds: f64, clock: Clock) -> Options {
    Options { duration: Duration::from_secs_f64(seconds), hz: 99, clock, by_signals: true }
}

fn record(seconds: f64, clock: Clock) -> Recording {
    Turn::take("a test", options(seconds, clock)).unwrap().record(|| false).unwrap()
}

/// Processor time of this process so far, in seconds.
fn cpu_seconds() -> f64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the call writes the time.
    assert_eq!(unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &mut time) }, 0);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

/// There are about as many samples as the processor time that went by.
fn assert_complete(recording: &Recording, cpu_seconds: f64) {
    let expected = cpu_seconds * recording.hz;
    let samples = recording.samples() as f64;
    assert!(
        (expected * 0.4..expected * 1.6 + 10.0).contains(&samples),
        "{samples} of {expected}: {}",
        recording.subtitle()
    );
}

/// Runs threads with these names while `check` runs.
fn beside<T>(threads: &[Thread], check: impl FnOnce() -> T) -> T {
    let ends = AtomicBool::new(false);
    thread::scope(|scope| {
        for (name, work) in threads {
            let ends = &ends;
            let builder = thread::Builder::new().name((*name).to_owned());
            builder.spawn_scoped(scope, move || work(ends)).unwrap();
        }
        let _end = EndAtDrop(&ends);
        check()
    })
}

/// Ends the threads of a scope, whatever happens.
struct EndAtDrop<'a>(&'a AtomicBool);

impl Drop for EndAtDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
        *GATE.0.lock().unwrap_or_else(PoisonError::into_inner) = true;
        GATE.1.notify_all();
    }
}

#[inline(never)]
fn outer_work(ends: &AtomicBool) {
    while !ends.load(Ordering::Relaxed) {
        black_box(inner_work(black_box(100_000)));
    }
    black_box(());
}

/// Without calls, and long: a sample in the first instruction of a function misses its caller.
#[inline(never)]
fn inner_work(rounds: u64) -> u64 {
    let (mut sum, mut round) = (7_u64, 0_u64);
    while round < rounds {
        sum ^= round << 5;
        sum ^= sum >> 7;
        round += 1;
    }
    sum
}

static GATE: (Mutex<bool>, Condvar) = (Mutex::new(false), Condvar::new());

#[inline(never)]
fn wait_at_the_gate(_: &AtomicBool) {
    let mut open = GATE.0.lock().unwrap();
    while !*open {
        open = GATE.1.wait(open).unwrap();
    }
    black_box(&open);
}

/// The share of samples whose stack has all of these parts.
fn share(recording: &Recording, role: &str, parts: &[&str]) -> f64 {
    let (mut with, mut all) = (0, 0);
    for line in collapsed(recording).lines() {
        let (stack, count) = line.rsplit_once(' ').unwrap();
        if stack.split(';').next() == Some(role) {
            let count: u64 = count.parse().unwrap();
            all += count;
            let mut rest = stack;
            let has_all = parts.iter().all(|part| match rest.find(part) {
                Some(at) => {
                    rest = &rest[at..];
                    true
                }
                None => false,
            });
            with += if has_all { count } else { 0 };
        }
    }
    with as f64 / f64::max(all as f64, 1.0)
}

#[test]
fn a_busy_function_is_found_below_its_caller_and_thread() {
    let _alone = alone();
    let (recording, cpu) =
        beside(&[("cruncher-1", outer_work), ("cruncher-2", outer_work)], || {
            let before = cpu_seconds();
            // The time that looking up names takes afterwards does not count.
            let turn = Turn::take("a test", options(1.0, Clock::Cpu)).unwrap();
            let ended = std::cell::Cell::new(before);
            let recording = turn.record(|| {
                ended.set(cpu_seconds());
                false
            });
            (recording.unwrap(), ended.get() - before)
        });
    assert_complete(&recording, cpu);
    let text = collapsed(&recording);
    let found = share(&recording, "cruncher", &["outer_work", "inner_work"]);
    assert!(found > 0.8, "{found}\n{text}");
    let whole = share(&recording, "cruncher", &["cruncher;", "beside", "outer_work"]);
    assert!(whole > 0.8, "{whole}\n{text}");
    let picture = String::from_utf8(flame_graph(&recording).unwrap()).unwrap();
    assert!(picture.contains("inner_work") && picture.contains("cruncher"));
    assert!(pprof(&recording).unwrap().starts_with(&[0x1f, 0x8b]));
}

/// Where the kernel lets this process (root, or a low kernel.perf_event_paranoid); else it is a recording by signals again.
#[test]
fn the_kernel_takes_samples_of_the_same_stacks() {
    let _alone = alone();
    let (recording, cpu) = beside(&[("cruncher-1", outer_work), ("mapper", map_and_unmap)], || {
        let options = Options { by_signals: false, ..options(1.0, Clock::Cpu) };
        let (before, ended) = (cpu_seconds(), std::cell::Cell::new(0.0));
        let recording = Turn::take("a test", options).unwrap().record(|| {
            ended.set(cpu_seconds());
            false
        });
        (recording.unwrap(), ended.get() - before)
    });
    assert_complete(&recording, cpu);
    let text = collapsed(&recording);
    let found = share(&recording, "cruncher", &["outer_work", "inner_work"]);
    assert!(found > 0.8, "{found} {}\n{text}", recording.subtitle());
    let mapping = share(&recording, "mapper", &["map_and_unmap", "_[k]"]);
    assert!(!recording.has_kernel || mapping > 0.3, "{mapping}\n{text}");
}

#[inline(never)]
fn map_and_unmap(ends: &AtomicBool) {
    while !ends.load(Ordering::Relaxed) {
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_POPULATE;
        let rights = libc::PROT_READ | libc::PROT_WRITE;
        // SAFETY: a new map, which nothing uses, is removed.
        unsafe {
            let at = libc::mmap(std::ptr::null_mut(), 1 << 20, rights, flags, -1, 0);
            assert_ne!(at, libc::MAP_FAILED);
            assert_eq!(libc::munmap(at, 1 << 20), 0);
        }
    }
    black_box(());
}

#[test]
fn a_thread_that_waits_is_found_where_it_waits() {
    let _alone = alone();
    *GATE.0.lock().unwrap() = false;
    let recording = beside(&[("gatekeeper", wait_at_the_gate)], || record(1.0, Clock::Wall));
    let text = collapsed(&recording);
    let found = share(&recording, "gatekeeper", &["wait_at_the_gate", "[waiting]"]);
    assert!(found > 0.8, "{found}\n{text}");
    assert!(recording.hz > 5.0, "{}", recording.subtitle());
}

#[test]
fn a_second_recording_is_told_who_makes_the_first() {
    let _alone = alone();
    let turn = Turn::take("alice at 10.0.0.7", options(5.0, Clock::Cpu)).unwrap();
    let busy = Turn::take("bob", options(1.0, Clock::Wall)).unwrap_err();
    assert_eq!(busy.who, "alice at 10.0.0.7");
    let given_up = turn.record(|| true).unwrap();
    assert_eq!(given_up.samples(), 0, "it ends at once");
    assert!(Turn::take("bob", options(1.0, Clock::Cpu)).is_ok());
}

/// What a signal handler that allocates or locks would hang or break in: the allocator, threads that come and go, maps that
/// change, locks, system calls that are interrupted.
#[test]
fn the_heaviest_load_neither_hangs_nor_breaks() {
    let _alone = alone();
    let seconds = std::env::var("ZEROHOP_PROFILE_SECONDS").ok().and_then(|word| word.parse().ok());
    let seconds: f64 = seconds.unwrap_or(20.0);
    static TURNS: [AtomicU64; 6] = [const { AtomicU64::new(0) }; 6];
    static CONTENDED: Mutex<u64> = Mutex::new(0);
    fn each(ends: &AtomicBool, kind: usize, mut work: impl FnMut()) {
        while !ends.load(Ordering::Relaxed) {
            work();
            TURNS[kind].fetch_add(1, Ordering::Relaxed);
        }
    }
    let allocate = |ends: &AtomicBool| {
        each(ends, 0, || {
            let pieces: Vec<Vec<u8>> = (1..40).map(|n| vec![n as u8; n * 531]).collect();
            assert!(pieces.iter().all(|piece| piece[piece.len() - 1] == piece[0]));
        });
    };
    let churn = |ends: &AtomicBool| {
        each(ends, 1, || {
            let short = thread::spawn(|| inner_work(20_000));
            assert_ne!(short.join().unwrap(), 0);
        });
    };
    let lock = |ends: &AtomicBool| each(ends, 2, || *CONTENDED.lock().unwrap() += 1);
    let map = |ends: &AtomicBool| {
        each(ends, 3, || {
            let len = 1 << 20;
            let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
            let rights = libc::PROT_READ | libc::PROT_WRITE;
            // SAFETY: a new map, which is written within its bounds and removed.
            unsafe {
                let at = libc::mmap(std::ptr::null_mut(), len, rights, flags, -1, 0);
                assert_ne!(at, libc::MAP_FAILED);
                at.cast::<u8>().add(len / 2).write(7);
                assert_eq!(libc::munmap(at, len), 0);
            }
        });
    };
    let talk = |ends: &AtomicBool| {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut near = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (mut far, _) = listener.accept().unwrap();
        for stream in [&near, &far] {
            stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        }
        each(ends, 4, || {
            let mut bytes = [0; 4096];
            near.write_all(&[9; 4096]).unwrap();
            far.read_exact(&mut bytes).unwrap();
            assert_eq!(bytes, [9; 4096]);
        });
    };
    let sleep = |ends: &AtomicBool| {
        each(ends, 5, || {
            let begun = Instant::now();
            thread::sleep(Duration::from_millis(5));
            assert!(begun.elapsed() >= Duration::from_millis(5));
        });
    };
    let threads: [Thread; 8] = [
        ("allocator-1", allocate),
        ("allocator-2", allocate),
        ("thread churn", churn),
        ("locker-1", lock),
        ("locker-2", lock),
        ("mapper", map),
        ("talker", talk),
        ("sleeper", sleep),
    ];
    let begun = Instant::now();
    beside(&threads, || {
        let kinds = [(Clock::Cpu, true), (Clock::Wall, true), (Clock::Cpu, false)];
        for (clock, by_signals) in kinds.into_iter().cycle() {
            let left = seconds - begun.elapsed().as_secs_f64();
            if left <= 0.0 {
                break;
            }
            let before = TURNS.each_ref().map(|turns| turns.load(Ordering::Relaxed));
            let mut fast = options(left.min(5.0), clock);
            (fast.hz, fast.by_signals) = (999, by_signals);
            let recording = Turn::take("a test", fast).unwrap().record(|| false).unwrap();
            assert!(recording.samples() > 0, "{}", recording.subtitle());
            let after = TURNS.each_ref().map(|turns| turns.load(Ordering::Relaxed));
            if left > 1.0 {
                assert!(
                    after.iter().zip(before).all(|(now, then)| *now > then),
                    "{after:?} {before:?}"
                );
            }
        }
    });
}
