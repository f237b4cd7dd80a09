//! `bench dfsio --matrix`: where its files and processes are, and where its reports go.

use std::path::Path;

use zerohop_bench::dfsio::Args;
use zerohop_bench::dfsio::matrix::{Matrix, Plan, Row, Rows, Sink, to_html};
use zerohop_bench::directories::{data_directories, own_home};
use zerohop_conf::Conf;

use crate::failure::{Failure, Outcome};

/// Measures and reports.
pub fn measure(args: &Args, conf: Conf, base: String) -> Outcome<i32> {
    let asked = &args.matrix;
    let own_home = own_home();
    let local = asked.local_directory.clone().or_else(|| own_home.clone());
    let plan = Plan {
        data_directories: data_directories(&conf, own_home.as_deref()),
        conf,
        base,
        local_directory: local.unwrap_or_else(std::env::temp_dir),
        watched: args.watched.clone(),
        files: args.files,
        size: args.size,
        buffer_len: args.buffer_len,
        runs: asked.runs,
        runs_dropped: asked.runs_dropped,
        time: asked.time,
        modes: asked.modes.clone(),
        ops: asked.ops.clone(),
    };
    noteln!("writing {} files of {} bytes, on the cluster and beside it", plan.files, plan.size);
    let matrix = Matrix::prepare(plan).map_err(Failure::of)?;
    let rows = matrix.run(&mut |row| noteln!("{}", progress(row))).map_err(Failure::of)?;
    report(args, &rows)?;
    Ok(0)
}

fn progress(row: &Row) -> String {
    let verified = if row.verified { "verified" } else { "not verified" };
    let what = format!(
        "{} {} {verified} {}, {} B, {} threads",
        row.op, row.path, row.cache, row.size, row.threads
    );
    match (&row.not_available, row.mb_s, row.ratio) {
        (Some(why), ..) => format!("{what}: not available: {why}"),
        (None, Some(mb_s), Some(ratio)) => format!("{what}: {mb_s:.0} MB/s, {ratio:.2} of limit"),
        _ => what,
    }
}

fn report(args: &Args, rows: &Rows) -> Outcome {
    let (json, csv) = (rows.to_json().map_err(Failure::of)?, rows.to_csv().map_err(Failure::of)?);
    for (sink, text) in [(&args.matrix.json, json), (&args.matrix.csv, csv)] {
        match sink {
            None => {}
            Some(Sink::Output) => say!("{}\n", text.trim_end()),
            Some(Sink::File(path)) => write(path, &text)?,
        }
    }
    if let Some(path) = &args.matrix.html {
        write(path, &to_html(rows))?;
    }
    if args.matrix.has_table() {
        say!("{}", rows.to_table());
    }
    Ok(())
}

fn write(path: &Path, text: &str) -> Outcome {
    zerohop_system::files::write(path, text)
        .map_err(|error| Failure::io(format!("cannot write {}: {error}", path.display())))?;
    noteln!("wrote {}", path.display());
    Ok(())
}
