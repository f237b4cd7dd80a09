//! The run of the matrix: files made, rows measured, everything removed.

use super::cache::{CacheDropper, drop_file};
use super::cell::{Cell, Op, cells};
use super::drive::{Amount, ReadRun, latencies, percentiles, run_readers};
use super::read_mode::{ReadMode, local_bytes};
use super::row::{Row, Rows};
use super::source::{Blocks, Cluster, Plain, Source};
use crate::GB;
use crate::dfsio::Test;
use crate::dfsio::result::TestResult;
use crate::files::Failure;
use crate::measure::{Latencies, median};
use crate::process::{CpuMeter, WatchedProcess};
use crate::raw::Scratch;
use crate::report::Report;
use std::io::Write;
use std::path::PathBuf;
use std::time::Duration;
use zerohop_client::blocking::FileSystem;
use zerohop_client::{CreateOptions, OpenOptions, Verify};
use zerohop_conf::Conf;

/// Bytes of each write of the files, the plain ones and the cluster's.
const WRITE_LEN: usize = 1 << 20;

/// What to measure, where.
#[derive(Clone)]
pub struct Plan {
    /// The client's configuration; each mode changes it for itself.
    pub conf: Conf,
    /// The directory of the files on the cluster.
    pub base: String,
    /// A directory on the DataNode's disk, for the plain files.
    pub local_directory: PathBuf,
    /// The DataNode's own directories, if they are on this machine.
    pub data_directories: Vec<PathBuf>,
    /// The DataNode's process, or the whole cluster's.
    pub watched: Vec<WatchedProcess>,
    /// Files, and readers of the rows with several.
    pub files: usize,
    /// Bytes of each file.
    pub size: u64,
    /// Bytes of each sequential call.
    pub buffer_len: usize,
    /// Runs that count, of rows with a warm cache.
    pub runs: usize,
    /// The same of rows with a dropped one.
    pub runs_dropped: usize,
    /// How long each random run goes on.
    pub time: Duration,
    /// How blocks are read.
    pub modes: Vec<ReadMode>,
    /// Which operations.
    pub ops: Vec<Op>,
}

/// A matrix being measured.
pub struct Matrix {
    plan: Plan,
    paths: Vec<String>,
    plain: Plain,
    /// The cluster's block files, where they can be opened from here.
    blocks: Option<Blocks>,
    dropper: CacheDropper,
}

impl Matrix {
    /// Writes the files.
    pub fn prepare(plan: Plan) -> Result<Self, Failure> {
        let mut bytes = vec![0; WRITE_LEN];
        fastrand::Rng::with_seed(11).fill(&mut bytes);
        let fs = FileSystem::connect(&ReadMode::Tcp.configure(&plan.conf), None)?;
        let name = |number| format!("{}/io_matrix/file_{number}", plan.base);
        let paths: Vec<String> = (0..plan.files).map(name).collect();
        let mut plain = Vec::new();
        for path in &paths {
            write(&fs, path, plan.size, &bytes)?;
            plain.push(Scratch::create_of(&plan.local_directory, plan.size, &bytes)?);
        }
        let located = super::cluster_files::find(&fs, &paths, &plan.data_directories)?;
        let dropper = CacheDropper::choose(located.iter().flat_map(|file| file.all()).collect());
        dropper.settle()?;
        plain.iter().try_for_each(|file| file.file.sync_all())?;
        let can_open = matches!(dropper, CacheDropper::Files(_));
        let blocks =
            can_open.then(|| Blocks { files: located.iter().map(|f| f.blocks()).collect() });
        Ok(Self { plan, paths, plain: Plain(plain), blocks, dropper })
    }

    /// Measures everything; `progress` sees each row as soon as it is there. What was written on the
    /// cluster is removed, also after a failure.
    pub fn run(self, progress: &mut dyn FnMut(&Row)) -> Result<Rows, Failure> {
        let plan = &self.plan;
        let cells = cells(&plan.ops, &plan.modes, plan.buffer_len, plan.files);
        self.run_cells(&cells, progress)
    }

    /// The same of some rows.
    pub fn run_cells(
        self,
        cells: &[Cell],
        progress: &mut dyn FnMut(&Row),
    ) -> Result<Rows, Failure> {
        let measure = |cell| self.row(cell).inspect(&mut *progress);
        let rows: Result<Vec<Row>, Failure> = cells.iter().map(measure).collect();
        let fs = FileSystem::connect(&self.plan.conf, None)?;
        let cleaned = fs.delete(&format!("{}/io_matrix", self.plan.base), true);
        let rows = rows?;
        cleaned?;
        Ok(Rows { machine: Report::new().machine, file_len: self.plan.size, rows })
    }

    fn amount(&self) -> Amount {
        Amount { file_len: self.plan.size, files: self.plan.files, time: self.plan.time }
    }

    fn cluster(&self, cell: &Cell) -> Result<Cluster, Failure> {
        let fs = FileSystem::connect(&cell.mode.configure(&self.plan.conf), None)?;
        let verify = if cell.verified { Verify::Full } else { Verify::None };
        let options = OpenOptions::verifying(verify);
        Ok(Cluster { fs, paths: self.paths.clone(), options })
    }

    /// A row, or one that says why there is none; an error ends the run.
    fn row(&self, cell: &Cell) -> Result<Row, Failure> {
        if let (true, CacheDropper::Impossible(why)) = (cell.is_dropped, &self.dropper) {
            return Ok(Row::missing(cell, why));
        }
        // A short look first: a mode that does not work shall not cost the time of its runs.
        match self.look(cell) {
            Ok(None) => {}
            Ok(Some(missed)) => return Ok(Row::missing(cell, missed)),
            Err(error) => return Ok(Row::missing(cell, error.to_string())),
        }
        match self.measure(cell) {
            Ok(runs) => Ok(runs.row(cell)),
            Err(Stopped::Missed(why)) => Ok(Row::missing(cell, why)),
            Err(Stopped::Failed(error)) => Err(error),
        }
    }

    fn look(&self, cell: &Cell) -> Result<Option<String>, Failure> {
        let mut reader = self.cluster(cell)?.open(0)?;
        let len = (cell.size as u64).min(self.plan.size) as usize;
        reader.read_at(0, &mut vec![0; len])?;
        Ok(cell.mode.missed(&reader.statistics()))
    }

    fn limit<'a>(&'a self, cell: &Cell) -> &'a dyn Source {
        match (cell.op, &self.blocks) {
            (Op::RandomRead | Op::VectoredRead, Some(blocks)) => blocks,
            _ => &self.plain,
        }
    }

    fn drop_caches(&self) -> Result<(), Stopped> {
        let missed = |error: std::io::Error| Stopped::Missed(error.to_string());
        self.dropper.drop_cluster().map_err(missed)?;
        self.plain.0.iter().try_for_each(|file| drop_file(&file.file)).map_err(missed)
    }

    fn measure(&self, cell: &Cell) -> Result<Runs, Stopped> {
        let amount = self.amount();
        let limit = self.limit(cell);
        let watched = &self.plan.watched;
        let own = [WatchedProcess::this("client")];
        let mut kept = None;
        let mut runs = Runs::default();
        // The first one warms up and does not count; from a dropped cache there is nothing to warm.
        let count = if cell.is_dropped { self.plan.runs_dropped } else { self.plan.runs };
        for run in usize::from(cell.is_dropped)..=count {
            if cell.is_dropped {
                // The client's maps of the files go with it.
                kept = None;
                self.drop_caches()?;
            }
            let raw = run_readers(limit, cell, amount)?;
            if cell.is_dropped {
                // Both get memory that was freed just now: on a virtual machine that gives free memory
                // back to its host, taking it again costs more than the disk. And the limit of random
                // reads has read the same block files.
                self.drop_caches()?;
            }
            let ours = match kept.take() {
                Some(cluster) => cluster,
                None => self.cluster(cell)?,
            };
            let (client, servers) = (CpuMeter::start(&own), CpuMeter::start(watched));
            let read = run_readers(&ours, cell, amount)?;
            let (client, servers) = (client.stop(), servers.stop());
            if let Some(missed) = read.read.iter().find_map(|read| cell.mode.missed(read)) {
                return Err(Stopped::Missed(missed));
            }
            if run > 0 {
                let sum = |all: &[(String, f64)]| all.iter().map(|(_, seconds)| seconds).sum();
                runs.add(&raw, &read, sum(&client), (!watched.is_empty()).then(|| sum(&servers)));
                if cell.op == Op::RandomRead && !cell.is_dropped {
                    latencies(limit, cell, amount, &mut runs.limit_times)?;
                    latencies(&ours, cell, amount, &mut runs.times)?;
                }
            }
            kept = Some(ours);
        }
        if cell.op == Op::RandomRead && cell.is_dropped {
            kept = None;
            self.drop_caches()?;
            latencies(limit, cell, amount, &mut runs.limit_times)?;
            self.drop_caches()?;
            latencies(&self.cluster(cell)?, cell, amount, &mut runs.times)?;
        }
        drop(kept);
        Ok(runs)
    }
}

/// Why a row has no figures.
enum Stopped {
    /// It was read in another mode, or its circumstances could not be made.
    Missed(String),
    /// Nothing else can be measured either.
    Failed(Failure),
}

impl From<Failure> for Stopped {
    fn from(error: Failure) -> Self {
        Self::Failed(error)
    }
}

/// The runs of a row.
#[derive(Default)]
struct Runs {
    mb_s: Vec<f64>,
    ops_s: Vec<f64>,
    limit_mb_s: Vec<f64>,
    limit_ops_s: Vec<f64>,
    client: Vec<f64>,
    servers: Vec<f64>,
    throughput: Vec<f64>,
    average: Vec<f64>,
    deviation: Vec<f64>,
    seconds: Vec<f64>,
    local_bytes: u64,
    times: Latencies,
    limit_times: Latencies,
}

impl Runs {
    fn add(&mut self, raw: &ReadRun, read: &ReadRun, client: f64, servers: Option<f64>) {
        self.mb_s.push(read.mb_per_s());
        self.ops_s.push(read.calls_per_s());
        self.limit_mb_s.push(raw.mb_per_s());
        self.limit_ops_s.push(raw.calls_per_s());
        let gb = read.bytes() as f64 / GB;
        self.client.push(client / gb);
        self.servers.extend(servers.map(|seconds| seconds / gb));
        let result =
            TestResult { test: Test::Read, tasks: read.tasks.clone(), seconds: read.seconds };
        self.throughput.push(result.throughput());
        self.average.push(result.average_rate());
        self.deviation.push(result.deviation());
        self.seconds.push(read.seconds);
        self.local_bytes += read.read.iter().map(local_bytes).sum::<u64>();
    }

    fn row(&self, cell: &Cell) -> Row {
        let of = |all: &[f64]| (!all.is_empty()).then(|| median(all));
        let (ours, limit) = (percentiles(&self.times), percentiles(&self.limit_times));
        let (mb_s, limit_mb_s) = (of(&self.mb_s), of(&self.limit_mb_s));
        Row {
            mb_s,
            ops_s: of(&self.ops_s),
            limit_mb_s,
            limit_ops_s: of(&self.limit_ops_s),
            ratio: mb_s.zip(limit_mb_s).map(|(ours, limit)| ours / limit),
            p50_us: ours.map(|times| times.p50_us),
            p99_us: ours.map(|times| times.p99_us),
            limit_p50_us: limit.map(|times| times.p50_us),
            limit_p99_us: limit.map(|times| times.p99_us),
            client_cpu_s_per_gb: of(&self.client),
            datanode_cpu_s_per_gb: of(&self.servers),
            throughput: of(&self.throughput),
            average_rate: of(&self.average),
            rate_deviation: of(&self.deviation),
            seconds: of(&self.seconds),
            local_bytes: self.local_bytes,
            runs: self.mb_s.len(),
            mb_s_runs: self.mb_s.clone(),
            limit_mb_s_runs: self.limit_mb_s.clone(),
            ..Row::of(cell)
        }
    }
}

fn write(fs: &FileSystem, path: &str, len: u64, bytes: &[u8]) -> Result<(), Failure> {
    let mut file = fs.create(path, CreateOptions::overwriting())?;
    let mut left = len;
    while left > 0 {
        let take = left.min(bytes.len() as u64);
        file.write_all(&bytes[..take as usize])?;
        left -= take;
    }
    Ok(file.close()?)
}
