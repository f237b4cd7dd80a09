//! What was read, and which way it went.

use crate::failure::{Failure, run, run_for_number};
use crate::files::FILES;
use crate::handles::{hdfsFS, hdfsFile};
use crate::memory;
use crate::store::FILE_SYSTEMS;
use std::ffi::c_int;
use zerohop::{ReadPath, ReadStatistics};

/// What was read of a file.
#[repr(C)]
pub struct hdfsReadStatistics {
    /// All bytes.
    pub totalBytesRead: u64,
    /// Bytes of replicas of this machine.
    pub totalLocalBytesRead: u64,
    /// Bytes that came from the files of replicas.
    pub totalShortCircuitBytesRead: u64,
    /// Bytes that were not copied.
    pub totalZeroCopyBytesRead: u64,
}

/// Reads that were sent to a second DataNode.
#[repr(C)]
pub struct hdfsHedgedReadMetrics {
    /// How many there were.
    pub hedgedReadOps: u64,
    /// How many the second one answered first.
    pub hedgedReadOpsWin: u64,
    /// How many were read without a thread of their own.
    pub hedgedReadOpsInCurThread: u64,
}

impl hdfsReadStatistics {
    fn of(statistics: &ReadStatistics) -> Self {
        let short_circuit = statistics.local_bytes();
        let on_this_machine = [ReadPath::DomainSocket, ReadPath::TcpLocal];
        let beside: u64 = on_this_machine.iter().map(|path| statistics.bytes_by(*path)).sum();
        Self {
            totalBytesRead: statistics.total(),
            totalLocalBytesRead: short_circuit + beside,
            totalShortCircuitBytesRead: short_circuit,
            totalZeroCopyBytesRead: statistics.zero_copy_bytes,
        }
    }

    fn since(self, before: &Self) -> Self {
        Self {
            totalBytesRead: self.totalBytesRead - before.totalBytesRead,
            totalLocalBytesRead: self.totalLocalBytesRead - before.totalLocalBytesRead,
            totalShortCircuitBytesRead: self.totalShortCircuitBytesRead
                - before.totalShortCircuitBytesRead,
            totalZeroCopyBytesRead: self.totalZeroCopyBytesRead - before.totalZeroCopyBytesRead,
        }
    }
}

/// What was read of a file, to be freed with hdfsFileFreeReadStatistics(). 0, or -1 with errno.
///
/// # Safety
/// `stats` is NULL or the place of a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hdfsFileGetReadStatistics(
    file: hdfsFile,
    stats: *mut *mut hdfsReadStatistics,
) -> c_int {
    run(-1, || {
        // SAFETY: as the caller promises.
        let stats = unsafe { stats.as_mut() };
        let stats = stats.ok_or_else(|| Failure::invalid("stats is NULL"))?;
        let file = FILES.get(file)?;
        let reading = file.input(libc::EINVAL)?;
        let before = hdfsReadStatistics::of(&reading.cleared.lock());
        let now = hdfsReadStatistics::of(&reading.input.read().statistics()?);
        let place = memory::zeroed::<hdfsReadStatistics>(1)?;
        // SAFETY: there is room for one, which nobody else knows of yet.
        unsafe { place.write(now.since(&before)) };
        *stats = place;
        Ok(0)
    })
}

/// Bytes that came from other machines.
///
/// # Safety
/// NULL, or what hdfsFileGetReadStatistics() gave.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hdfsReadStatisticsGetRemoteBytesRead(
    stats: *const hdfsReadStatistics,
) -> i64 {
    run(-1, || {
        // SAFETY: as the caller promises.
        let stats = unsafe { stats.as_ref() }.ok_or_else(|| Failure::invalid("stats is NULL"))?;
        Ok(stats.totalBytesRead.saturating_sub(stats.totalLocalBytesRead) as i64)
    })
}

/// Counts what is read of a file from 0 again. 0, or the number of the error.
#[unsafe(no_mangle)]
pub extern "C" fn hdfsFileClearReadStatistics(file: hdfsFile) -> c_int {
    run_for_number(|| {
        let file = FILES.get(file)?;
        let reading = file.input(libc::EINVAL)?;
        let now = reading.input.read().statistics()?;
        *reading.cleared.lock() = now;
        Ok(())
    })
}

/// Frees what hdfsFileGetReadStatistics() gave.
///
/// # Safety
/// NULL, or what hdfsFileGetReadStatistics() gave and was not freed yet.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hdfsFileFreeReadStatistics(stats: *mut hdfsReadStatistics) {
    // SAFETY: as the caller promises.
    unsafe { memory::free(stats) };
}

/// The hedged reads of this file system's client, to be freed with hdfsFreeHedgedReadMetrics(): all counts are 0 where
/// dfs.client.hedged.read.threadpool.size is. 0, or -1 with errno.
///
/// # Safety
/// `metrics` is NULL or the place of a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hdfsGetHedgedReadMetrics(
    fs: hdfsFS,
    metrics: *mut *mut hdfsHedgedReadMetrics,
) -> c_int {
    run(-1, || {
        let hedged = FILE_SYSTEMS.get(fs)?.store.hedged_reads();
        // SAFETY: as the caller promises.
        let metrics = unsafe { metrics.as_mut() };
        let metrics = metrics.ok_or_else(|| Failure::invalid("metrics is NULL"))?;
        let place = memory::zeroed::<hdfsHedgedReadMetrics>(1)?;
        let counts = hdfsHedgedReadMetrics {
            hedgedReadOps: hedged.ops,
            hedgedReadOpsWin: hedged.wins,
            hedgedReadOpsInCurThread: hedged.ops_in_current_thread,
        };
        // SAFETY: there is room for one, which nobody else knows of yet.
        unsafe { place.write(counts) };
        *metrics = place;
        Ok(0)
    })
}

/// Frees what hdfsGetHedgedReadMetrics() gave.
///
/// # Safety
/// NULL, or what hdfsGetHedgedReadMetrics() gave and was not freed yet.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hdfsFreeHedgedReadMetrics(metrics: *mut hdfsHedgedReadMetrics) {
    // SAFETY: as the caller promises.
    unsafe { memory::free(metrics) };
}
