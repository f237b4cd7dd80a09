//! What stands in for the beans of a Java virtual machine: monitoring asks them for memory, threads, descriptors and load.

use super::jmx::bean;
use crate::metrics::{Memory, ThreadStates};
use crate::process;
use procfs::process::Process;
use procfs::{Current, CurrentSI};
use serde_json::{Value, json};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant, UNIX_EPOCH};
use zerohop_system::clock;

/// What is shown as the virtual machine's name.
const VM_NAME: &str = "zerohop (no Java virtual machine)";

/// Loads are those since the last look, but of at least this time.
const LOAD_PERIOD_MIN: Duration = Duration::from_secs(1);

/// The load of the processors between looks.
#[derive(Debug)]
pub(super) struct ProcessorLoad {
    started: Instant,
    state: Mutex<LoadState>,
}

#[derive(Debug, Default)]
struct LoadState {
    last: Option<Ticks>,
    shown: Load,
}

/// Time spent since the start of the machine, in ticks.
#[derive(Clone, Copy, Debug)]
struct Ticks {
    at: Instant,
    process: u64,
    busy: u64,
    all: u64,
}

/// Shares of all processors, 0 to 1.
#[derive(Clone, Copy, Debug, Default)]
struct Load {
    process: f64,
    system: f64,
}

impl ProcessorLoad {
    /// The load from now on.
    pub(super) fn begin() -> Self {
        let load = Self { started: clock::now(), state: Mutex::default() };
        load.look();
        load
    }

    fn look(&self) -> Load {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(now) = Ticks::now() else { return state.shown };
        match state.last {
            Some(last) if now.at.saturating_duration_since(last.at) < LOAD_PERIOD_MIN => {}
            Some(last) => {
                state.shown = now.load_since(&last);
                state.last = Some(now);
            }
            None => state.last = Some(now),
        }
        state.shown
    }

    /// The beans.
    pub(super) fn beans(&self) -> Vec<Value> {
        let (memory, threads) = (Memory::now(), ThreadStates::now());
        vec![
            self.runtime(),
            operating_system(self.look(), memory),
            memory_bean(memory),
            threading(threads),
        ]
    }

    fn runtime(&self) -> Value {
        let up = clock::since(self.started);
        let started = clock::wall().checked_sub(up).unwrap_or(UNIX_EPOCH);
        let started = started.duration_since(UNIX_EPOCH).unwrap_or_default();
        let values = json!({
            "Name": process::name(),
            "StartTime": millis(started),
            "Uptime": millis(up),
            "VmName": VM_NAME,
            "SpecVersion": "",
        });
        bean("java.lang:type=Runtime", "sun.management.RuntimeImpl", values)
    }
}

impl Ticks {
    fn now() -> Option<Self> {
        let stat = Process::myself().and_then(|process| process.stat()).ok()?;
        let cpu = procfs::KernelStats::current().ok()?.total;
        let busy = cpu.user
            + cpu.nice
            + cpu.system
            + cpu.irq.unwrap_or(0)
            + cpu.softirq.unwrap_or(0)
            + cpu.steal.unwrap_or(0);
        let all = busy + cpu.idle + cpu.iowait.unwrap_or(0);
        Some(Self { at: clock::now(), process: stat.utime + stat.stime, busy, all })
    }

    fn load_since(&self, last: &Self) -> Load {
        let all = self.all.saturating_sub(last.all);
        let share = |ticks: u64| if all == 0 { 0.0 } else { (ticks as f64 / all as f64).min(1.0) };
        Load {
            process: share(self.process.saturating_sub(last.process)),
            system: share(self.busy.saturating_sub(last.busy)),
        }
    }
}

fn operating_system(load: Load, memory: Memory) -> Value {
    let me = Process::myself().ok();
    let open = me.as_ref().and_then(|process| process.fd_count().ok()).unwrap_or(0);
    let limit = rustix::process::getrlimit(rustix::process::Resource::Nofile).current;
    let stat = me.as_ref().and_then(|process| process.stat().ok());
    let ticks = stat.map_or(0, |stat| stat.utime + stat.stime);
    let cpu_ns = u128::from(ticks) * 1_000_000_000 / u128::from(procfs::ticks_per_second().max(1));
    let machine = procfs::Meminfo::current().ok();
    let machine = |field: fn(&procfs::Meminfo) -> u64| machine.as_ref().map_or(0, field);
    let average = procfs::LoadAverage::current().map_or(-1.0, |load| f64::from(load.one));
    let values = json!({
        "Name": "Linux",
        "Arch": std::env::consts::ARCH,
        "Version": procfs::sys::kernel::Version::current().map_or_else(|_| String::new(), |version| {
            format!("{}.{}.{}", version.major, version.minor, version.patch)
        }),
        "AvailableProcessors": std::thread::available_parallelism().map_or(1, usize::from),
        "SystemLoadAverage": average,
        "OpenFileDescriptorCount": open,
        "MaxFileDescriptorCount": limit.map_or(i64::MAX, |limit| i64::try_from(limit).unwrap_or(i64::MAX)),
        "ProcessCpuTime": u64::try_from(cpu_ns).unwrap_or(u64::MAX),
        "ProcessCpuLoad": load.process,
        "SystemCpuLoad": load.system,
        "CpuLoad": load.system,
        "CommittedVirtualMemorySize": memory.addresses,
        "TotalPhysicalMemorySize": machine(|memory| memory.mem_total),
        "FreePhysicalMemorySize": machine(|memory| memory.mem_free),
        "TotalMemorySize": machine(|memory| memory.mem_total),
        "FreeMemorySize": machine(|memory| memory.mem_free),
        "TotalSwapSpaceSize": machine(|memory| memory.swap_total),
        "FreeSwapSpaceSize": machine(|memory| memory.swap_free),
    });
    bean(
        "java.lang:type=OperatingSystem",
        "com.sun.management.internal.OperatingSystemImpl",
        values,
    )
}

fn memory_bean(memory: Memory) -> Value {
    let usage = |used: u64, max: Option<u64>| json!({ "committed": used, "init": 0, "max": max.map_or(-1, |max| i64::try_from(max).unwrap_or(-1)), "used": used });
    let values = json!({
        "HeapMemoryUsage": usage(memory.allocated, Some(memory.max)),
        "NonHeapMemoryUsage": usage(memory.mapped, None),
        "ObjectPendingFinalizationCount": 0,
        "Verbose": false,
    });
    bean("java.lang:type=Memory", "sun.management.MemoryImpl", values)
}

fn threading(threads: ThreadStates) -> Value {
    let values = json!({ "ThreadCount": threads.count() });
    bean("java.lang:type=Threading", "com.sun.management.internal.HotSpotThreadImpl", values)
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loads_are_shares_of_all_processors_since_the_last_look() {
        let at = |process, busy, all| Ticks { at: clock::now(), process, busy, all };
        let load = at(30, 80, 200).load_since(&at(10, 30, 100));
        assert_eq!((load.process, load.system), (0.2, 0.5));
        assert_eq!(at(1, 1, 1).load_since(&at(1, 1, 1)).system, 0.0);
    }

    #[test]
    fn monitoring_finds_memory_threads_descriptors_and_the_start() {
        let beans = ProcessorLoad::begin().beans();
        let member = |kind: &str, name: &str| {
            let bean = beans.iter().find(|bean| bean["name"] == format!("java.lang:type={kind}"));
            bean.unwrap()[name].clone()
        };
        let memory = member("Memory", "HeapMemoryUsage");
        assert!(
            memory["used"].as_u64() > Some(0) && memory["max"].as_u64() > memory["used"].as_u64()
        );
        assert!(member("Threading", "ThreadCount").as_u64() > Some(0));
        assert!(member("OperatingSystem", "OpenFileDescriptorCount").as_u64() > Some(2));
        assert!(member("OperatingSystem", "MaxFileDescriptorCount").as_u64() > Some(2));
        assert!(member("Runtime", "StartTime").as_u64() > Some(1_700_000_000_000));
    }
}
