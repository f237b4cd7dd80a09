//! Bytes of files: each side's client on its own servers; small files by Apache's client on both.

use zerohop_bench::files::{self, FlushKind, Sequential};
use zerohop_bench::{GB, Row};
use zerohop_interop::Outcome;

use crate::both::Both;
use crate::table::{Better, Figure, Pair};

/// Bytes of each flush.
const FLUSH_LEN: usize = 4096;

fn text(error: files::Failure) -> String {
    error.to_string()
}

fn pair(name: String, unit: &'static str, better: Better, sides: (Figure, Figure)) -> Pair {
    let (apache, ours) = sides;
    let cpu_unit = if unit == "MB/s" { "s/GB" } else { "us/op" };
    Pair { name, unit, cpu_unit, better, apache, ours, goal: None }
}

/// Long files, written and read.
pub fn io(both: &Both, add: &mut dyn FnMut(Pair)) -> Outcome {
    for (replication, goal) in [(1, 3.0), (3, 2.5)] {
        let apache =
            both.load.run(&both.apache, "write", &options(both, "dfs.replication", replication))?;
        let work = work(both, 1, replication);
        let warm = Sequential { runs: 1, ..work.clone() };
        files::write(&warm, &[]).map_err(text)?;
        let ours = files::write(&work, &both.ours.datanodes()).map_err(text)?;
        clean(both)?;
        let name = format!("write {}, replication {replication}", size(both.args.size));
        let one = pair(name, "MB/s", Better::More, (apache, Figure::of_row(&ours)));
        add(Pair { goal: Some(goal), ..one });
    }
    for (readers, goal) in [(1, Some(1.0)), (2, None)] {
        let apache = both.load.run(&both.apache, "read", &options(both, "readers", readers))?;
        settle();
        let work = work(both, usize::from(readers), 1);
        files::write(&Sequential { runs: 1, ..work.clone() }, &[]).map_err(text)?;
        files::read(&Sequential { runs: 2, ..work.clone() }, &[]).map_err(text)?;
        let ours = files::read(&work, &both.ours.datanodes()).map_err(text)?;
        clean(both)?;
        let plural = if readers == 1 { "" } else { "s, sum" };
        let name = format!("read {} verified, {readers} reader{plural}", size(both.args.size));
        let one = pair(name, "MB/s", Better::More, (apache, Figure::of_row(&ours)));
        add(Pair { goal, ..one });
    }
    Ok(())
}

/// What was written by one side must not be written back to disk in the other side's time.
pub fn settle() {
    // SAFETY: takes nothing and cannot fail.
    unsafe { libc::sync() };
}

fn clean(both: &Both) -> Outcome {
    both.ours.fs.delete("/load", true).map_err(|e| e.to_string())?;
    settle();
    Ok(())
}

fn size(bytes: u64) -> String {
    match bytes {
        bytes if bytes % (1 << 30) == 0 => format!("{} GiB", bytes >> 30),
        bytes => format!("{:.2} GB", bytes as f64 / GB),
    }
}

fn options<'a>(both: &Both, key: &'a str, value: u16) -> Vec<(&'a str, String)> {
    let (size, runs) = (both.args.size.to_string(), both.args.runs.to_string());
    vec![("size", size), ("runs", runs), (key, value.to_string())]
}

fn work(both: &Both, files: usize, replication: u16) -> Sequential {
    Sequential {
        fs: both.ours.fs.clone(),
        directory: "/load".to_owned(),
        file_len: both.args.size,
        files,
        buffer_len: 1 << 20,
        replication,
        runs: both.args.runs,
    }
}

/// The wait of a writer for its flush.
pub fn flush(both: &Both, add: &mut dyn FnMut(Pair)) -> Outcome {
    for replication in [1, 3] {
        for (step, kind, count) in
            [("hflush", FlushKind::Hflush, 3000), ("hsync", FlushKind::Hsync, 500)]
        {
            let apache = both.load.run(
                &both.apache,
                step,
                &options(both, "dfs.replication", replication),
            )?;
            let measure = || {
                let load = (FLUSH_LEN, count);
                let row = files::flush(&both.ours.fs, "/load/flushed", kind, load, replication);
                row.map(|row: Row| row.value).map_err(text)
            };
            measure()?;
            let runs = (0..both.args.runs).map(|_| measure()).collect::<Outcome<Vec<f64>>>()?;
            let name = format!("{step} of 4 KiB, replication {replication}, p50");
            let apache = Figure { cpu: None, ..apache };
            add(pair(name, "us", Better::Less, (apache, Figure::new(runs))));
        }
    }
    clean(both)
}

/// Small files by Apache's client with its own settings, then without its sleep on Apache's side.
pub fn small(both: &Both, add: &mut dyn FnMut(Pair)) -> Outcome {
    let options =
        |files: usize| vec![("files", files.to_string()), ("runs", both.args.runs.to_string())];
    let apache = both.load.run(&both.apache, "small", &options(both.args.files))?;
    let ours = both.load.run(&both.ours, "small", &options(both.args.files * 4))?;
    let mut tuned = options(both.args.files * 2);
    let key = "dfs.client.block.write.locateFollowingBlock";
    let (delay, retries) = (format!("{key}.initial.delay.ms"), format!("{key}.retries"));
    tuned.extend([(delay.as_str(), "1".to_owned()), (retries.as_str(), "11".to_owned())]);
    let without_sleep = both.load.run(&both.apache, "small", &tuned)?;
    let name = "1 KB files by Apache's client, 8 threads";
    let one = |name: &str, apache: Figure, goal: f64| {
        let sides = (apache, ours.clone());
        Pair { goal: Some(goal), ..pair(name.to_owned(), "files/s", Better::More, sides) }
    };
    add(one(name, apache, 25.0));
    add(one(&format!("{name}, Apache's with 1 ms for its 400 ms"), without_sleep, 2.5));
    Ok(())
}
