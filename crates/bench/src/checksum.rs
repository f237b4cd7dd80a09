//! The chunk checksum kernel alone, by CPU time: it waits for nothing.

use crate::measure::thread_cpu_s;
use crate::report::Row;
use zerohop_checksum::{Algorithm, SUM_LEN, compute, copy_and_verify, verify};

/// Chunks of 512 bytes, `len` bytes of them at a time, `total` bytes a run.
pub fn checksum_rows(len: usize, total: usize, runs: usize) -> Vec<Row> {
    let data: Vec<u8> = std::iter::repeat_with(|| fastrand::u8(..)).take(len).collect();
    let mut target = vec![0; len];
    let times = (total / len).max(1);
    let mut rows = Vec::new();
    for algorithm in [Algorithm::Crc32c, Algorithm::Crc32] {
        let mut sums = vec![0; len.div_ceil(512) * SUM_LEN];
        compute(algorithm, 512, &data, &mut sums);
        let mut measure = |what: &str, work: &mut dyn FnMut() -> bool| {
            let speed = |_| {
                let start = thread_cpu_s();
                let good = (0..times).all(|_| work());
                assert!(good, "the sums of unchanged data matched before");
                (times * len) as f64 / 1e6 / (thread_cpu_s() - start)
            };
            let name = format!("{what} {algorithm:?}, {} KiB in cache", len / 1024);
            rows.push(Row::new(name, "MB/s", (0..runs).map(speed).collect()));
        };
        measure("verify", &mut || verify(algorithm, 512, &data, &sums).is_ok());
        measure("copy and verify", &mut || {
            copy_and_verify(algorithm, 512, &data, &mut target, &sums).is_ok()
        });
    }
    rows
}

#[cfg(test)]
mod tests {
    #[test]
    fn both_checksums_are_measured_both_ways() {
        assert_eq!(super::checksum_rows(4096, 8192, 2).len(), 4);
    }
}
