//! What is measured: an operation, a way, and under which circumstances.

use super::way::Way;

/// What a reader does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op {
    /// From the start of the file to its end.
    Read,
    /// Whole calls at random places.
    RandomRead,
}

impl Op {
    /// All of them.
    pub const ALL: [Op; 2] = [Op::Read, Op::RandomRead];

    /// Its name in every report.
    pub const fn name(self) -> &'static str {
        match self {
            Op::Read => "read",
            Op::RandomRead => "random-read",
        }
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
    /// Which way.
    pub way: Way,
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
/// ones of 4 KiB and 64 KiB by one and by four, from a dropped cache only the smallest.
pub fn cells(ops: &[Op], ways: &[Way], buffer_len: usize, readers: usize) -> Vec<Cell> {
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
        for way in ways {
            for verified in [true, false] {
                cells.push(Cell { op, way: *way, verified, is_dropped, size, threads });
            }
        }
    }
    cells
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_matrix_is_whole() {
        let cells = cells(&Op::ALL, &Way::ALL, 1 << 20, 2);
        assert_eq!(cells.len(), (4 + 5) * 4 * 2);
        for way in Way::ALL {
            for verified in [true, false] {
                for is_dropped in [false, true] {
                    let found = cells.iter().filter(|cell| {
                        (cell.way, cell.verified, cell.is_dropped) == (way, verified, is_dropped)
                    });
                    let ops: Vec<Op> = found.map(|cell| cell.op).collect();
                    assert!(Op::ALL.iter().all(|op| ops.contains(op)), "{way:?} {verified}");
                }
            }
        }
    }
}
