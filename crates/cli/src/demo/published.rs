//! The eight published rows of short-circuit reads, measured in short on the demo's cluster.

use std::path::Path;
use std::time::Duration;

use zerohop_bench::dfsio::matrix::{Cell, Matrix, Op, Plan, ReadMode, Rows};
use zerohop_conf::Conf;

use crate::failure::{Failure, Outcome};

/// Files, each with its reader, as in the published table.
const FILES: usize = 2;
const BUFFER_LEN: usize = 1 << 20;

/// Measures the eight rows once each, with files of `size` bytes in the cluster and in `home`, where
/// the cluster lives.
pub fn measure(conf: Conf, home: &Path, size: u64) -> Outcome<Rows> {
    let plan = Plan {
        conf,
        base: "/demo".to_owned(),
        local_directory: home.to_owned(),
        data_directories: vec![home.join("data1")],
        watched: Vec::new(),
        files: FILES,
        size,
        buffer_len: BUFFER_LEN,
        runs: 1,
        runs_dropped: 1,
        time: Duration::ZERO,
        modes: vec![ReadMode::Tcp, ReadMode::LocalMapped],
        ops: vec![Op::Read],
    };
    let failed = |error| Failure::io(format!("the published rows: {error}"));
    let cells: Vec<Cell> = plan.modes.iter().flat_map(|mode| rows_of(*mode)).collect();
    let matrix = Matrix::prepare(plan).map_err(failed)?;
    matrix.run_cells(&cells, &mut |_| ()).map_err(failed)
}

fn rows_of(mode: ReadMode) -> impl Iterator<Item = Cell> {
    let shapes = [(true, false), (true, true), (false, false), (false, true)];
    shapes.into_iter().map(move |(verified, is_dropped)| Cell {
        op: Op::Read,
        mode,
        verified,
        is_dropped,
        size: BUFFER_LEN,
        threads: FILES,
    })
}
