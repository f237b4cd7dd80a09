//! Crashes of the NameNode in the middle of a load: nothing that was answered is lost, whatever
//! happens to the process, the last record, or a directory.
#![allow(clippy::print_stderr, clippy::print_stdout, reason = "people read what it prints")]

use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::{Duration, Instant};

use zerohop_client::blocking::FileSystem;
use zerohop_interop::harm::{self, Explain, SmallDisks, flip};
use zerohop_interop::oracle::Promises;
use zerohop_interop::process::{Process, tail};
use zerohop_interop::site::{Setting, Site, settings};
use zerohop_interop::{Outcome, tools, wait};
use zerohop_journal::segment;

const THREADS: u64 = 6;
const LIMIT: Duration = Duration::from_secs(40);
const OP_SIZE_MAX: usize = 50 << 20;

/// A NameNode of ours alone, on directories of its own, perhaps on small disks.
struct Alone {
    directory: PathBuf,
    site: Site,
    disks: Option<SmallDisks>,
    process: Option<Process>,
    promises: Vec<Promises>,
}

impl Alone {
    fn new(name: &str, extra: &dyn Fn(&Path) -> Vec<Setting>) -> Outcome<Self> {
        let directory = tools::out().join("run").join(name);
        let _ = std::fs::remove_dir_all(&directory);
        std::fs::create_dir_all(&directory).at("the test's directory")?;
        let directory = directory.canonicalize().at("the test's directory")?;
        let site = Site::new(&directory, 0);
        site.write(&extra(&directory))?;
        let seed = fastrand::u64(..);
        println!("{name}: seed {seed}");
        let promises = (0..THREADS).map(|i| Promises::new(&format!("/t{i}"), seed + i)).collect();
        Ok(Self { directory, site, disks: None, process: None, promises })
    }

    fn log(&self) -> PathBuf {
        self.site.log("nn")
    }

    fn logged(&self) -> String {
        std::fs::read_to_string(self.log()).unwrap_or_default()
    }

    fn command(&self, args: &[&str]) -> Outcome<Command> {
        match &self.disks {
            Some(disks) => disks.zerohop(&self.site.conf(), args),
            None => {
                let mut command = Command::new(tools::zerohop()?);
                command.arg("--config").arg(self.site.conf()).args(args);
                Ok(command)
            }
        }
    }

    fn format(&self) -> Outcome {
        let log = self.site.log("format");
        let command = self.command(&["namenode", "--format"])?;
        let status = Process::daemon("format", command, &log)?.finish(LIMIT)?;
        if status.success() { Ok(()) } else { Err(tail(&log, 20)) }
    }

    fn launch(&mut self) -> Outcome {
        let command = self.command(&["namenode"])?;
        self.process = Some(Process::daemon("NameNode", command, &self.log())?);
        Ok(())
    }

    fn client(&self) -> Outcome<FileSystem> {
        harm::client(&self.site.conf(), &[("ipc.client.connect.max.retries", "0")])
    }

    fn start(&mut self) -> Outcome {
        self.launch()?;
        let fs = self.client()?;
        wait::until("the NameNode serves", LIMIT, || {
            if let Some(process) = &mut self.process {
                process.alive()?;
            }
            fs.mkdirs("/serves").map_err(|e| e.to_string())
        })
    }

    /// The end of a NameNode that ends by itself.
    fn end(&mut self) -> Outcome<ExitStatus> {
        let mut process = self.process.take().ok_or("no NameNode")?;
        wait::until("an end by itself", LIMIT, || Ok(process.ended().is_some()))
            .map_err(|e| format!("{e}\n{}", tail(&self.log(), 20)))?;
        process.ended().ok_or_else(|| "no exit status".to_owned())
    }

    /// Loads from all threads; `during` runs beside them from when each has had an answer, and its end
    /// ends the load.
    fn load(&mut self, during: impl FnOnce(&mut Option<Process>) -> Outcome) -> Outcome<u64> {
        let goes_on = AtomicBool::new(true);
        let fs = self.client()?;
        let mut promises = std::mem::take(&mut self.promises);
        let before: u64 = promises.iter().map(Promises::count).sum();
        let looks: Vec<AtomicU32> = promises.iter().map(|_| AtomicU32::new(0)).collect();
        let refused = Mutex::new(Vec::new());
        let outcome = std::thread::scope(|scope| {
            for (thread, looks) in promises.iter_mut().zip(&looks) {
                let (fs, goes_on, refused) = (&fs, &goes_on, &refused);
                let next = move || {
                    looks.fetch_add(1, Ordering::Relaxed);
                    goes_on.load(Ordering::Relaxed)
                };
                scope.spawn(move || {
                    let error = thread.load(fs, &next);
                    refused.lock().unwrap().extend(error.map(|e| e.to_string()));
                });
            }
            // A thread looks whether to go on before its first change, and again when that is answered.
            let all_began = || looks.iter().all(|looks| looks.load(Ordering::Relaxed) > 1);
            let is_refused = || !refused.lock().unwrap().is_empty();
            let outcome =
                wait::until("answers for all threads", LIMIT, || Ok(all_began() || is_refused()));
            let outcome = match outcome {
                Ok(()) if all_began() => during(&mut self.process),
                Ok(()) => Err(format!("a first change failed: {:?}", refused.lock().unwrap())),
                Err(late) => Err(late),
            };
            goes_on.store(false, Ordering::Relaxed);
            outcome
        });
        self.promises = promises;
        outcome?;
        Ok(self.promises.iter().map(Promises::count).sum::<u64>() - before)
    }

    /// Loads for some time, then kills the NameNode in the midst of it.
    fn load_and_kill(&mut self, time: Duration) -> Outcome<u64> {
        self.load(|process| {
            pass(time)?;
            *process = None;
            Ok(())
        })
    }

    /// Makes the disk of [`start_small`] larger.
    fn enlarge(&self) -> Outcome {
        let holder = self.disks.as_ref().ok_or("no disks")?;
        holder.shell("mount -o remount,size=64m \"$0\"", &self.directory.join("small"))
    }

    fn check(&mut self) -> Outcome {
        let fs = self.client()?;
        self.promises.iter_mut().try_for_each(|p| p.check(&fs))
    }

    /// The segment in progress in a directory.
    fn in_progress(&self, current: &Path) -> Outcome<PathBuf> {
        let files = segment::list(current).at("segments")?;
        let open = files.into_iter().find(|f| f.kind == segment::SegmentKind::InProgress);
        open.map(|f| f.path).ok_or_else(|| format!("{}: no open segment", current.display()))
    }
}

fn pass(time: Duration) -> Outcome {
    let end = Instant::now() + time;
    wait::until("some time", LIMIT, || Ok(Instant::now() >= end))
}

fn run(alone: Outcome<Alone>, test: impl FnOnce(&mut Alone) -> Outcome) {
    let outcome = alone.and_then(|mut alone| {
        test(&mut alone).map_err(|e| format!("{e}\n{}", tail(&alone.log(), 25)))?;
        alone.process = None;
        let _ = std::fs::remove_dir_all(&alone.directory);
        Ok(())
    });
    outcome.unwrap_or_else(|e| panic!("{e}"));
}

#[test]
fn killed_again_and_again() {
    run(Alone::new("crash-kill", &|_| Vec::new()), |alone| {
        alone.format()?;
        for round in 0..6 {
            alone.start()?;
            alone.check_unless_first(round)?;
            let time = Duration::from_millis(fastrand::u64(200..900));
            let count = alone.load_and_kill(time)?;
            println!("round {round}: {count} changes answered in {time:?}");
            if count == 0 {
                return Err("the load did nothing".to_owned());
            }
        }
        alone.start()?;
        alone.check()
    });
}

impl Alone {
    fn check_unless_first(&mut self, round: u32) -> Outcome {
        if round == 0 { Ok(()) } else { self.check() }
    }
}

/// A record that was cut in the middle is cut off, with a line in the log; what was answered is
/// there.
#[test]
fn a_torn_tail_is_cut() {
    run(Alone::new("crash-torn", &|_| Vec::new()), |alone| {
        alone.format()?;
        alone.start()?;
        alone.load_and_kill(Duration::from_millis(300))?;
        let path = alone.in_progress(&alone.directory.join("nn/current"))?;
        let scan = segment::scan(&path, OP_SIZE_MAX).at("scan")?;
        let last = scan.last.ok_or("an empty segment")?.0;
        let file = std::fs::File::options().write(true).open(&path).at("the segment")?;
        // OP_MKDIR, a length, the next transaction: then the power went.
        let mut torn = vec![3, 0, 0, 0, 90];
        torn.extend((last + 1).to_be_bytes());
        torn.extend([0, 0, 0, 9]);
        file.write_all_at(&torn, scan.valid_len).at("tearing")?;
        alone.start()?;
        let line = format!("cutting a torn record at offset {}", scan.valid_len);
        if !alone.logged().contains(&line) {
            return Err(format!("no line says: {line}"));
        }
        alone.check()
    });
}

/// A bit of an answered change turned round: the NameNode must not start, and says where. With the
/// bit turned back all is there.
#[test]
fn a_flipped_bit_in_the_middle_refuses_to_start() {
    run(Alone::new("crash-flip", &|_| Vec::new()), |alone| {
        alone.format()?;
        alone.start()?;
        alone.load_and_kill(Duration::from_millis(300))?;
        let path = alone.in_progress(&alone.directory.join("nn/current"))?;
        let scan = segment::scan(&path, OP_SIZE_MAX).at("scan")?;
        for part in [4, 2] {
            let offset = scan.valid_len / part;
            flip(&path, offset)?;
            alone.launch()?;
            let status = alone.end()?;
            let log = alone.logged();
            let says = log.lines().rev().take(5).any(|line| {
                line.contains("edits_inprogress") && line.to_lowercase().contains("offset")
            });
            if status.success() || !says {
                return Err(format!(
                    "a flip at {offset}: {status}, and the log does not say where"
                ));
            }
            flip(&path, offset)?;
        }
        alone.start()?;
        alone.check()
    });
}

/// Formats and starts it with a disk of 3 MiB at `small`; false where nothing can be mounted.
fn start_small(alone: &mut Alone) -> Outcome<bool> {
    let directory = alone.directory.join("small");
    alone.disks = SmallDisks::mount(&[(&directory, "3m")], &alone.site.log("disks"))?;
    if alone.disks.is_none() {
        return Ok(false);
    }
    alone.format()?;
    alone.start()?;
    Ok(true)
}

/// The only directory is full in the middle of the load: the NameNode ends with a line that names the
/// directory and the reason. With more room it starts, and all answered changes are there.
#[test]
fn a_full_disk_stops_it() {
    let with_directory = |directory: &Path| {
        let url = format!("file://{}/small/nn", directory.display());
        settings(&[("dfs.namenode.name.dir", &url), ("dfs.namenode.resource.du.reserved", "0")])
    };
    run(Alone::new("crash-full", &with_directory), |alone| {
        if !start_small(alone)? {
            return Ok(());
        }
        let count = alone.load(|process| {
            let process = process.as_mut().ok_or("no NameNode")?;
            wait::until("the disk is full", LIMIT * 8, || Ok(process.ended().is_some()))
        })?;
        let status = alone.end()?;
        println!("{count} changes answered before the disk was full");
        let log = alone.logged();
        let line = log.lines().find(|l| l.contains("ERROR") && l.contains("No space left"));
        if status.success() || line.is_none_or(|l| !l.contains("small/nn")) {
            return Err(format!("ended with {status}, and no line says why: {line:?}"));
        }
        alone.enlarge()?;
        alone.start()?;
        alone.check()
    });
}

/// One of two directories is full: the NameNode goes on with the other, says so, and after a crash all
/// is there although one directory is behind.
#[test]
fn one_directory_of_two_is_enough() {
    let with_directories = |directory: &Path| {
        let at = |name: &str| format!("file://{}/{name}", directory.display());
        let both = format!("{},{}", at("small/nn"), at("large"));
        settings(&[("dfs.namenode.name.dir", &both), ("dfs.namenode.resource.du.reserved", "0")])
    };
    run(Alone::new("crash-one-of-two", &with_directories), |alone| {
        if !start_small(alone)? {
            return Ok(());
        }
        let log = alone.log();
        let count = alone.load(|process| {
            let failed =
                || std::fs::read_to_string(&log).is_ok_and(|l| l.contains("No space left"));
            wait::until("the small directory fails", LIMIT * 8, || Ok(failed()))?;
            pass(Duration::from_millis(500))?;
            process.as_mut().ok_or("no NameNode")?.alive()?;
            *process = None;
            Ok(())
        })?;
        println!("{count} changes answered");
        alone.start()?;
        alone.check()?;
        // With room again the directory that fell behind is filled up by the next image.
        alone.process = None;
        alone.enlarge()?;
        alone.start()?;
        alone.load_and_kill(Duration::from_millis(300))?;
        alone.start()?;
        alone.check()
    });
}
