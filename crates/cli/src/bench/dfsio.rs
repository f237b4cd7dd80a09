//! `bench dfsio`: TestDFSIO's tests through our client.

use zerohop_bench::dfsio::matrix::USAGE as MATRIX_USAGE;
use zerohop_bench::dfsio::{
    Args, BASE_DIRECTORY, BASE_DIRECTORY_KEY, Test, USAGE, Work, clean, run_test,
};
use zerohop_client::{ReadPath, ReadStatistics};

use super::{cluster, matrix};
use crate::failure::{EXIT_USAGE, Failure, Outcome, complain};
use crate::fs::connect_client;
use crate::settings::Settings;

/// Runs it; generic options may stand in front of its own, as for Hadoop's program.
pub fn run(mut settings: Settings, mut words: Vec<String>) -> i32 {
    if let Err(failure) = settings.take(&mut words) {
        return complain("dfsio", &failure);
    }
    if words.iter().any(|word| matches!(word.as_str(), "-h" | "--help" | "-help")) {
        sayln!("{USAGE}{MATRIX_USAGE}");
        return 0;
    }
    let args = match Args::parse(&words) {
        Ok(args) => args,
        Err(problem) => {
            noteln!("dfsio: {problem}\n{USAGE}{MATRIX_USAGE}");
            return EXIT_USAGE;
        }
    };
    measure(&settings, &args, &words).unwrap_or_else(|failure| complain("dfsio", &failure))
}

fn measure(settings: &Settings, args: &Args, words: &[String]) -> Outcome<i32> {
    let Some(conf) = cluster::find(settings)? else {
        let mut words = words.to_vec();
        words.push("--own-cluster".to_owned());
        return cluster::run_on_own(settings, 1, "bench dfsio", &words);
    };
    let base = conf.get_raw(BASE_DIRECTORY_KEY).unwrap_or_else(|| BASE_DIRECTORY.to_owned());
    if args.matrix.is_asked {
        return matrix::measure(args, conf, base);
    }
    let fs = connect_client(&conf)?;
    match args.test {
        None => clean(&fs, &base).map_err(Failure::of)?,
        Some(test) => one_test(test, args, &args.work(fs, base))?,
    }
    Ok(0)
}

fn one_test(test: Test, args: &Args, work: &Work) -> Outcome {
    if args.is_own_cluster && test != Test::Write {
        prepare(test, work)?;
    }
    let (result, statistics) = run_test(test, work).map_err(Failure::of)?;
    if args.in_turn {
        sayln!("Seq Test exec time sec: {}", result.seconds);
    } else {
        let text = result.append_to(&args.result_file).map_err(|error| {
            let file = args.result_file.display();
            Failure::io(format!("{file}: {error}; name another file by -resFile"))
        })?;
        say!("{text}");
    }
    say_paths(&statistics);
    Ok(())
}

/// A cluster that was started for this test has no files yet; those a truncate cuts are longer.
fn prepare(test: Test, work: &Work) -> Outcome {
    let size = if test == Test::Truncate { work.size.saturating_mul(2) } else { work.size };
    noteln!("writing {} files of {size} bytes first: the cluster is new", work.files);
    run_test(Test::Write, &Work { size, ..work.clone() }).map_err(Failure::of)?;
    Ok(())
}

/// Which way the bytes went; not on standard output, which is TestDFSIO's.
fn say_paths(statistics: &ReadStatistics) {
    for path in ReadPath::ALL {
        let bytes = statistics.bytes_by(path);
        if bytes > 0 {
            let reason = statistics.last.filter(|(last, _)| *last == path);
            let reason = reason.map_or(String::new(), |(_, why)| format!(" ({})", why.name()));
            noteln!("read {bytes} bytes by {}{reason}", path.name());
        }
    }
}
