//! `bench codec`: needs no cluster.

use std::io::Read;

use zerohop_bench::codec::{CodecArgs, USAGE, library_rows, parallel_rows, program_rows, sample};
use zerohop_bench::{Report, Row};

use super::output::{print, progress};
use crate::failure::{EXIT_USAGE, Outcome, complain};
use crate::settings::Settings;

pub fn run(_: Settings, words: Vec<String>) -> i32 {
    if words.iter().any(|word| matches!(word.as_str(), "-h" | "--help" | "-help")) {
        sayln!("{USAGE}");
        return 0;
    }
    match CodecArgs::parse(&words) {
        Ok(args) => measure(&args).unwrap_or_else(|failure| complain("bench codec", &failure)),
        Err(problem) => {
            noteln!("bench codec: {problem}\n{USAGE}");
            EXIT_USAGE
        }
    }
}

fn measure(args: &CodecArgs) -> Outcome<i32> {
    let plain = match &args.file {
        Some(file) => {
            let mut plain = Vec::new();
            std::fs::File::open(file)?.take(args.length as u64).read_to_end(&mut plain)?;
            plain
        }
        None => sample(args.length),
    };
    let mut done = |row: &Row| noteln!("{}", progress(row));
    let mut missing = |text: &str| noteln!("bench codec: {text}");
    let mut report = Report::new();
    report.rows.extend(library_rows(&plain, args.runs, &mut done, &mut missing)?);
    let directory = tempfile::tempdir()?;
    let zerohop = std::env::current_exe()?;
    let at = directory.path();
    report.rows.extend(program_rows(&plain, args.runs, &zerohop, at, &mut done, &mut missing)?);
    report.rows.extend(parallel_rows(&plain, args.runs, args.threads, &mut done)?);
    print(&report, args.json)
}
