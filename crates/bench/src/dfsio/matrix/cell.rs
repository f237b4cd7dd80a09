//! What is measured: an operation, how it reads, and under which circumstances.

use super::read_mode::ReadMode;

/// What a reader does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op {
    /// From the start of the file to its end.
    Read,
    /// The same by zero-copy reads.
    Scan,
    /// Whole calls at random places.
    RandomRead,
    /// Many ranges at random places with one call.
    VectoredRead,
}

/// Ranges of a vectored read.
pub const RANGES: usize = 100;

impl Op {
    /// All of them.
    pub const ALL: [Op; 4] = [Op::Read, Op::Scan, Op::RandomRead, Op::VectoredRead];

    /// Its name in every report.
    pub const fn name(self) -> &'static str {
        match self {
            Op::Read => "read",
            Op::Scan => "scan",
            Op::RandomRead => "random-read",
            Op::VectoredRead => "vectored-read",
        }
    }

    /// Whether it goes from the start of a file to its end.
    pub const fn is_sequential(self) -> bool {
        matches!(self, Op::Read | Op::Scan)
    }

    /// The one with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|op| op.name() == name)
    }
}

/// One row of the matrix, not measured yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cell {
    /// What is done.
    pub op: Op,
    /// How it is read.
    pub mode: ReadMode,
    /// Whether checksums are checked.
    pub verified: bool,
    /// Whether the page cache is dropped before each run.
    pub is_dropped: bool,
    /// Bytes of each call.
    pub size: usize,
    /// Readers at once.
    pub threads: usize,
}

impl Cell {
    /// `warm` or `dropped`.
    pub const fn cache(&self) -> &'static str {
        if self.is_dropped { "dropped" } else { "warm" }
    }
}

/// What is measured in which circumstances: sequential reads by one and by `readers` threads; random
/// ones of 4 KiB and 64 KiB by one and by four, from a dropped cache only the smallest; scans and
/// vectored reads from a warm cache by one. Only what is mapped can be lent.
pub fn cells(ops: &[Op], modes: &[ReadMode], buffer_len: usize, readers: usize) -> Vec<Cell> {
    let mut shapes = Vec::new();
    for op in ops {
        match op {
            Op::Read => {
                for is_dropped in [false, true] {
                    shapes.push((Op::Read, buffer_len, 1, is_dropped));
                    if readers > 1 {
                        shapes.push((Op::Read, buffer_len, readers, is_dropped));
                    }
                }
            }
            Op::Scan => shapes.push((Op::Scan, buffer_len, 1, false)),
            Op::VectoredRead => shapes.push((Op::VectoredRead, 4 << 10, 1, false)),
            Op::RandomRead => {
                for size in [4 << 10, 64 << 10] {
                    shapes.extend([1, 4].map(|threads| (Op::RandomRead, size, threads, false)));
                }
                shapes.push((Op::RandomRead, 4 << 10, 1, true));
            }
        }
    }
    let mut cells = Vec::new();
    for (op, size, threads, is_dropped) in shapes {
        for mode in modes.iter().filter(|mode| op != Op::Scan || **mode == ReadMode::LocalMapped) {
            for verified in [true, false] {
                cells.push(Cell { op, mode: *mode, verified, is_dropped, size, threads });
            }
        }
    }
    // A row that drops the cache leaves none that is warm.
    cells.sort_by_key(|cell| cell.is_dropped);
    cells
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_matrix_is_whole() {
        let cells = cells(&Op::ALL, &ReadMode::ALL, 1 << 20, 2);
        assert_eq!(cells.len(), (4 + 5 + 1) * 4 * 2 + 2);
        assert!(cells.is_sorted_by_key(|cell| cell.is_dropped));
        for mode in ReadMode::ALL {
            for verified in [true, false] {
                for is_dropped in [false, true] {
                    let found = cells.iter().filter(|cell| {
                        (cell.mode, cell.verified, cell.is_dropped) == (mode, verified, is_dropped)
                    });
                    let ops: Vec<Op> = found.map(|cell| cell.op).collect();
                    assert!(ops.contains(&Op::Read) && ops.contains(&Op::RandomRead), "{mode:?}");
                }
            }
        }
    }
}
