//! `demo`: a cluster, a file in, listed, read back and compared, and the published table of local
//! reads in short; in a few seconds.

mod published;

use std::fs::File;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use zerohop_system::clock;

use clap::Args;
use comfy_table::{CellAlignment, Table, presets};
use zerohop_bench::dfsio::matrix::Rows;
use zerohop_client::CreateOptions;
use zerohop_client::blocking::FileSystem;
use zerohop_conf::{Conf, parse_size};

use crate::cluster::{Addresses, Cluster, Plan};
use crate::failure::{Failure, Outcome, complain};
use crate::fs::client_failure;
use crate::log;
use crate::settings::Settings;
use crate::stop::{Cause, Stop};
use crate::temporary;
use crate::units::human;

const BUFFER: usize = 1 << 20;
const PAGE: usize = 4096;
const TARGET: &str = "/demo/file";
const SOURCE: &str = "source";
/// The files of the published rows are so much smaller than the demo's file.
const SHARE: u64 = 16;

/// Options of `demo`.
#[derive(Args)]
pub struct Demo {
    /// Size of the file; the published rows are measured with two files of a sixteenth
    #[arg(long, value_name = "BYTES", default_value = "1g")]
    size: String,
    /// Where the temporary directory is made; it needs three times the size
    #[arg(long, value_name = "DIR")]
    directory: Option<PathBuf>,
}

pub fn run(settings: Settings, options: Demo) -> i32 {
    show(&settings, &options).unwrap_or_else(|failure| complain("demo", &failure))
}

/// What is shown at the end.
struct Results {
    steps: Steps,
    rows: Rows,
}

fn show(settings: &Settings, options: &Demo) -> Outcome<i32> {
    let size = parse_size(&options.size).and_then(|size| u64::try_from(size).ok());
    let size = size
        .ok_or_else(|| Failure::usage(format!("--size {}: give a size like 1g", options.size)))?;
    let base = options.directory.clone().unwrap_or_else(std::env::temp_dir);
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    // Signals first: gigabytes would stay in the directory.
    let mut stop = runtime.block_on(async { Stop::new() })?;
    let home = tempfile::Builder::new().prefix("zerohop-demo-").tempdir_in(&base)?;
    let plan = Plan {
        directory: home.path().to_owned(),
        addresses: Addresses::local_on_free_ports(),
        datanodes: 1,
        values: settings.values.clone(),
    };
    let done = check_space(home.path(), size)
        .and_then(|()| log::to_file(&home.path().join("zerohop.log")))
        .and_then(|()| runtime.block_on(measure(plan, size, &mut stop)));
    runtime.shutdown_timeout(Duration::from_secs(2));
    // Before anything is printed: the process ends where nobody reads that.
    temporary::remove(home);
    match done? {
        Ok(Results { steps, rows }) => {
            steps.print();
            print_published(&rows);
            print_next();
            Ok(0)
        }
        Err(cause) => Ok(cause.exit_code()),
    }
}

/// All steps, or the signal that came meanwhile.
async fn measure(plan: Plan, size: u64, stop: &mut Stop) -> Outcome<Result<Results, Cause>> {
    let home = plan.directory.clone();
    let (cluster, steps) = tokio::select! {
        begun = begin(plan, size) => begun?,
        cause = stop.wait() => return Ok(Err(cause)),
    };
    let conf = cluster.client_conf();
    let done = tokio::select! {
        done = blocking(move || work(conf, &home, size, steps)) => done.map(Ok),
        cause = stop.wait() => Ok(Err(cause)),
        failure = cluster.failure() => Err(failure),
    };
    let start = clock::now();
    if let Some(cause) = stop.unless_again(cluster.stop()).await {
        return Ok(Err(cause));
    }
    Ok(done?.map(|(mut steps, rows)| {
        steps.add("stop", 0, start);
        Results { steps, rows }
    }))
}

async fn begin(plan: Plan, size: u64) -> Outcome<(Cluster, Steps)> {
    let source = plan.directory.join(SOURCE);
    let mut steps = Steps::default();
    let start = clock::now();
    blocking(move || generate(&source, size)).await?;
    steps.add("generate a random file", size, start);
    let start = clock::now();
    let cluster = Cluster::start(plan).await?;
    steps.add("start NameNode and DataNode", 0, start);
    Ok((cluster, steps))
}

/// On a thread that may wait. It goes on when nobody waits for it any more, and ends with the process.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Outcome<T> + Send + 'static,
) -> Outcome<T> {
    tokio::task::spawn_blocking(work).await.map_err(Failure::of)?
}

fn check_space(directory: &Path, size: u64) -> Outcome {
    let stat = rustix::fs::statvfs(directory).map_err(std::io::Error::from)?;
    let free = stat.f_bavail * stat.f_frsize;
    let needed = 3 * size + (200 << 20);
    if free >= needed {
        return Ok(());
    }
    let text = |bytes: u64| human(i64::try_from(bytes).unwrap_or(i64::MAX), "B", 1);
    Err(Failure::io(format!(
        "{} has {} free and {} are needed; give another --directory or a smaller --size",
        directory.display(),
        text(free),
        text(needed)
    )))
}

fn generate(path: &Path, size: u64) -> Outcome {
    let mut file = File::create(path)?;
    let mut buffer = vec![0; BUFFER];
    fastrand::Rng::with_seed(size).fill(&mut buffer);
    let mut left = size;
    while left > 0 {
        let count = usize::try_from(left).unwrap_or(BUFFER).min(BUFFER);
        // No two pages of the file are alike, and hardly any time goes into making them so.
        for (number, page) in buffer.chunks_exact_mut(PAGE).enumerate() {
            page[..8].copy_from_slice(&(left + number as u64).to_ne_bytes());
        }
        file.write_all(&buffer[..count])?;
        left -= count as u64;
    }
    Ok(())
}

fn work(conf: Conf, home: &Path, size: u64, mut steps: Steps) -> Outcome<(Steps, Rows)> {
    let source = home.join(SOURCE);
    let fs = FileSystem::connect(&conf, None).map_err(client_failure)?;
    steps.time("put it into HDFS", size, || put(&fs, &source))?;
    let listed = steps.time("list it", 0, || fs.list("/demo").map_err(client_failure))?;
    if listed.first().map(|file| file.len) != Some(size) {
        return Err(Failure::io(format!(
            "the listing shows {listed:?} and not one file of {size} bytes"
        )));
    }
    steps.time("read it back, checksums verified", size, || read(&fs))?;
    steps.time("read it again and compare", size, || compare(&fs, &source))?;
    let size = (size / SHARE).next_multiple_of(BUFFER as u64);
    let rows = steps.time("the eight rows below", 0, || published::measure(conf, home, size))?;
    Ok((steps, rows))
}

fn put(fs: &FileSystem, source: &Path) -> Outcome {
    let mut input = File::open(source)?;
    let mut output = fs.create(TARGET, CreateOptions::overwriting()).map_err(client_failure)?;
    let mut buffer = vec![0; BUFFER];
    loop {
        let count = input.read(&mut buffer)?;
        if count == 0 {
            return output.close().map_err(client_failure);
        }
        output.write_all(&buffer[..count])?;
    }
}

fn read(fs: &FileSystem) -> Outcome {
    let mut input = fs.open(TARGET).map_err(client_failure)?;
    let mut buffer = vec![0; BUFFER];
    while input.read(&mut buffer)? > 0 {}
    Ok(())
}

fn compare(fs: &FileSystem, source: &Path) -> Outcome {
    let mut ours = fs.open(TARGET).map_err(client_failure)?;
    let mut theirs = File::open(source)?;
    let (mut left, mut right) = (vec![0; BUFFER], vec![0; BUFFER]);
    let mut offset = 0_u64;
    loop {
        let count = theirs.read(&mut right)?;
        let filled = fill(&mut ours, &mut left[..count.max(1)])?;
        if filled != count || left[..count] != right[..count] {
            return Err(Failure::io(format!(
                "what was read differs from what was put after byte {offset}"
            )));
        }
        if count == 0 {
            return Ok(());
        }
        offset += count as u64;
    }
}

fn fill(input: &mut impl Read, buffer: &mut [u8]) -> Outcome<usize> {
    let mut filled = 0;
    while filled < buffer.len() {
        match input.read(&mut buffer[filled..])? {
            0 => break,
            count => filled += count,
        }
    }
    Ok(filled)
}

/// What was done and how long it took.
#[derive(Default)]
struct Steps {
    rows: Vec<(&'static str, u64, Duration)>,
}

impl Steps {
    fn time<T>(
        &mut self,
        name: &'static str,
        bytes: u64,
        step: impl FnOnce() -> Outcome<T>,
    ) -> Outcome<T> {
        let start = clock::now();
        let result = step()?;
        self.add(name, bytes, start);
        Ok(result)
    }

    fn add(&mut self, name: &'static str, bytes: u64, start: Instant) {
        self.rows.push((name, bytes, clock::since(start)));
    }

    fn print(&self) {
        let mut table = Table::new();
        table.load_style(presets::UTF8_HORIZONTAL_ONLY);
        table.set_header(["step", "time", "MB/s"]);
        for (name, bytes, took) in &self.rows {
            let rate = match bytes {
                0 => String::new(),
                _ => format!("{:.0}", *bytes as f64 / 1e6 / took.as_secs_f64()),
            };
            table.add_row([(*name).to_owned(), format!("{:.3} s", took.as_secs_f64()), rate]);
        }
        for column in 1..3 {
            if let Some(column) = table.column_mut(column) {
                column.set_cell_alignment(CellAlignment::Right);
            }
        }
        sayln!("{table}");
    }
}

fn print_published(rows: &Rows) {
    sayln!();
    sayln!(
        "Reads of two files by two readers: through the DataNode's port (tcp), and from its block files (local)."
    );
    sayln!(
        "`published' is what HDFS with a JVM reached when local reads came to it, on a machine with 32 cores and an SSD"
    );
    sayln!(
        "(TestDFSIO, MB/s of 2^20 bytes). `ours' is this machine now, and `times' is ours divided by published: it says"
    );
    sayln!(
        "as much of the machines as of the programs. `cache' dropped: the files were not in memory before."
    );
    sayln!();
    sayln!("{}", rows.to_published_table());
}

fn print_next() {
    let own = std::env::current_exe().unwrap_or_else(|_| "zerohop".into());
    let own = own.display();
    sayln!("The binary: {own}");
    sayln!("Next:");
    sayln!("  {own} up --data ~/zerohop         a cluster that keeps its data");
    sayln!("  {own} fs -help                    the commands for files");
    sayln!("  {own} up --exec 'zerohop fs -ls /'");
    sayln!("  {own} up --exec 'zerohop doctor'  whether reads take no network hop, and why not");
    sayln!("  {own} bench dfsio --matrix        every way to read, beside read(2)");
}
