//! `bench`: measurements of our own stack, on the configured cluster or on one of its own.

mod cluster;
mod codec;
mod dfsio;
mod matrix;
mod output;
mod profile_cost;
mod rest;
mod star;

use zerohop_bench::args::Args;
pub use zerohop_bench::args::USAGE;
use zerohop_bench::suite::Suite;
use zerohop_bench::{Row, directories};
use zerohop_conf::Conf;

use crate::failure::{EXIT_USAGE, Failure, Outcome, complain};
use crate::fs::connect_client;
use crate::namenodes;
use crate::settings::Settings;
use output::{print, progress};

const OTHERS: &str = "
  zerohop bench codec [OPTIONS]  measures codecs; zerohop bench codec --help explains it
  zerohop bench dfsio [OPTIONS]  runs TestDFSIO's tests; zerohop bench dfsio --help explains them
  zerohop bench rest [OPTIONS]   measures REST; zerohop bench rest --help explains it
  zerohop bench star [OPTIONS]   asks SQL queries of a star schema; zerohop bench star --help explains it
  zerohop bench profile-cost     measures what a running profile costs; --help explains it";

pub fn run(settings: Settings, mut words: Vec<String>) -> i32 {
    if words.first().is_some_and(|word| word == "codec") {
        words.remove(0);
        return codec::run(settings, words);
    }
    if words.first().is_some_and(|word| word == "dfsio") {
        words.remove(0);
        return dfsio::run(settings, words);
    }
    if words.first().is_some_and(|word| word == "profile-cost") {
        return profile_cost::run(&settings, words.get(1..).unwrap_or_default());
    }
    if words.first().is_some_and(|word| word == "rest") {
        words.remove(0);
        return rest::run(settings, words);
    }
    if words.first().is_some_and(|word| word == "star") {
        words.remove(0);
        return star::run(settings, words);
    }
    if words.iter().any(|word| matches!(word.as_str(), "-h" | "--help" | "-help")) {
        sayln!("{USAGE}\n{OTHERS}");
        return 0;
    }
    let args = match Args::parse(&words) {
        Ok(args) => args,
        Err(problem) => {
            noteln!("bench: {problem}\n{USAGE}");
            return EXIT_USAGE;
        }
    };
    measure(&settings, &args, &words).unwrap_or_else(|failure| complain("bench", &failure))
}

fn measure(settings: &Settings, args: &Args, words: &[String]) -> Outcome<i32> {
    let Some(conf) = cluster::find(settings)? else {
        return cluster::run_on_own(settings, 3, "bench", words);
    };
    let mut suite = suite(&conf)?;
    args.apply(&mut suite);
    let report = suite.run(&mut |row: &Row| noteln!("{}", progress(row)));
    print(&report.map_err(|error| Failure::io(error.to_string()))?, args.json)
}

fn suite(conf: &Conf) -> Outcome<Suite> {
    let address = namenodes::rpc_address(conf)?;
    let home = directories::own_home();
    let local = home.clone().unwrap_or_else(std::env::temp_dir);
    let mut suite = Suite::new(conf.clone(), connect_client(conf)?, address, local);
    suite.data_directories = directories::data_directories(conf, home.as_deref());
    Ok(suite)
}
