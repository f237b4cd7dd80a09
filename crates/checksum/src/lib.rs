//! CRC32C and CRC32 of chunks, at the speed memory is read.
//!
//! HDFS keeps one 32-bit CRC for each `bytes_per_checksum` (512) bytes of a block; chunks are
//! independent, so several are computed at once with no combine step. The sums are big-endian and
//! lie at any alignment. Every function takes data that starts at a chunk boundary; only the last
//! chunk may be short. The kernel is chosen once, at run time, by what the processor can do.

mod algorithm;
mod combine;
mod kernel;
mod kernels;
mod poly;
mod portable;
mod run;
mod shared;

#[cfg(target_arch = "aarch64")]
mod aarch64;
#[cfg(target_arch = "x86_64")]
mod x86;

pub use algorithm::Algorithm;
pub use combine::Shift;
pub use run::{BadChunk, SUM_LEN, chunk_count, compute, copy_and_compute, copy_and_verify, verify};
pub use shared::SharedBytes;

/// The name of the kernel this processor runs.
pub fn kernel_name() -> &'static str {
    kernels::chosen().name
}

#[cfg(test)]
mod changing_source_test;
#[cfg(test)]
mod oracle_test;
