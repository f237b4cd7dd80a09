//! `profile`: a flame graph of a running process, or the difference of two recordings.

use super::output;
use super::target::{Target, fetch};
use crate::failure::{Failure, Outcome, complain};
use clap::{Args, ValueEnum};
use std::path::{Path, PathBuf};
use std::time::Duration;
use zerohop_profile::SAMPLES_HEADER;

/// After the recording, names are looked up; those of a debug build take longest.
const NAMES_MAX: Duration = Duration::from_secs(120);

/// Options of `profile`.
#[derive(Args)]
pub struct Profile {
    #[command(flatten)]
    target: Target,
    /// Length of the recording
    #[arg(long, value_name = "S", default_value = "10")]
    seconds: String,
    /// Samples a second of each thread
    #[arg(long, value_name = "N", default_value = "99")]
    hz: String,
    /// Look at all threads by the wall clock: what they wait for
    #[arg(long)]
    wait: bool,
    /// File; its ending chooses the format (.svg, .txt, .pb.gz). Without it the text of collapsed stacks is printed
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// The format, whatever the file is called
    #[arg(long)]
    format: Option<Format>,
    /// Draw what the second recording has more of than the first; both are files of collapsed stacks (-o x.txt)
    #[arg(long, value_names = ["BEFORE", "AFTER"], num_args = 2, conflicts_with_all = ["address", "pid", "wait"])]
    diff: Option<Vec<PathBuf>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    Svg,
    Collapsed,
    Pprof,
}

pub fn run(options: &Profile) -> i32 {
    let done = match options.diff.as_deref() {
        Some([before, after]) => difference(before, after, options.output.as_deref()),
        _ => profile(options),
    };
    done.map_or_else(|failure| complain("profile", &failure), |()| 0)
}

fn profile(options: &Profile) -> Outcome {
    let format = options.format.unwrap_or_else(|| format_of(options.output.as_deref()));
    let Ok(parsed) = options.seconds.parse::<f64>() else {
        return Err(Failure::usage(format!("--seconds {} is no number", options.seconds)));
    };
    let word = match format {
        Format::Svg => "svg",
        Format::Collapsed => "collapsed",
        Format::Pprof => "pprof",
    };
    let escape = crate::http::escape;
    let path = format!(
        "/profile?seconds={}&hz={}&format={word}{}&{}",
        escape(&options.seconds),
        escape(&options.hz),
        if options.wait { "&wait" } else { "" },
        options.target.user_query()
    );
    let address = options.target.address("/profile")?;
    let recording = Duration::from_secs_f64(parsed.clamp(0.0, 3600.0));
    let mut answer = fetch(&address, &path, recording + NAMES_MAX)?;
    if answer.header(SAMPLES_HEADER) == Some("0") {
        return Err(Failure::io(format!(
            "no thread of {address} used the processor for {parsed} s, so there is nothing to show; give it work, record \
             with more --seconds, or see by --wait what its threads wait for"
        )));
    }
    output::write(&mut answer, options.output.as_deref())
}

fn format_of(file: Option<&Path>) -> Format {
    let ending = file.and_then(|file| file.extension()?.to_str());
    match ending {
        Some("pb" | "gz" | "pprof") => Format::Pprof,
        Some("svg" | "html") => Format::Svg,
        _ => Format::Collapsed,
    }
}

fn difference(before: &Path, after: &Path, file: Option<&Path>) -> Outcome {
    let read = |file: &Path| {
        std::fs::read_to_string(file)
            .map_err(|error| Failure::io(format!("cannot read {}: {error}", file.display())))
    };
    let picture =
        zerohop_profile::difference(&read(before)?, &read(after)?).map_err(Failure::of)?;
    output::write(&mut picture.as_slice(), file)
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;
    use std::io::{BufRead, BufReader, Write};
    use std::net::TcpListener;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        options: Profile,
    }

    /// A process that did nothing got an empty file and exit code 0.
    #[test]
    fn a_recording_without_samples_is_no_file() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let answer = std::thread::spawn(move || {
            for samples in ["0", "1"] {
                let (mut stream, _) = listener.accept().unwrap();
                let head = BufReader::new(stream.try_clone().unwrap());
                assert!(head.lines().any(|line| line.unwrap().is_empty()));
                write!(stream, "HTTP/1.0 200 OK\r\n{SAMPLES_HEADER}: {samples}\r\n\r\nmain 1\n")
                    .unwrap();
            }
        });
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("x.txt");
        let words = ["profile", &address, "--seconds", "2", "-o", file.to_str().unwrap()];
        let options = Line::try_parse_from(words).unwrap().options;
        let text = profile(&options).unwrap_err().text;
        assert!(text.contains("used the processor for 2 s") && text.contains("--wait"), "{text}");
        assert!(!file.exists());
        profile(&options).unwrap();
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "main 1\n");
        answer.join().unwrap();
    }

    #[test]
    fn the_ending_of_a_file_chooses_its_format() {
        for (name, format) in [
            ("a.svg", Format::Svg),
            ("a.txt", Format::Collapsed),
            ("a", Format::Collapsed),
            ("a.pb.gz", Format::Pprof),
        ] {
            assert_eq!(format_of(Some(Path::new(name))), format, "{name}");
        }
        assert_eq!(format_of(None), Format::Collapsed);
    }
}
