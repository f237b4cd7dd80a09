//! The suite against a running cluster: `cargo run --release --example against hdfs://HOST:PORT
//! [OPTIONS] [SECTION...]`, with the options of `zerohop bench`.

use zerohop_bench::args::{Args, USAGE};
use zerohop_bench::files::Failure;
use zerohop_bench::{Row, Suite};
use zerohop_client::blocking::FileSystem;
use zerohop_conf::Conf;

fn main() -> Result<(), Failure> {
    let mut words = std::env::args().skip(1);
    let uri = words.next().ok_or(USAGE)?;
    let args = Args::parse(words)?;
    let conf = Conf::from_env()?;
    let fs = FileSystem::connect(&conf, Some(&uri))?;
    let namenode = uri.trim_start_matches("hdfs://").trim_end_matches('/').to_owned();
    let mut suite = Suite::new(fs, namenode, std::env::temp_dir());
    args.apply(&mut suite);
    let mut progress = |row: &Row| eprintln!("{}: {:.1} {}", row.name, row.value, row.unit);
    let report = suite.run(&mut progress)?;
    if args.json {
        println!("{}", report.to_json()?);
    } else {
        print!("{}", report.to_table());
    }
    Ok(())
}
