//! `codec`: compresses and decompresses local files, or a stream, as Hadoop's codecs do.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::UNIX_EPOCH;

use zerohop_codec::parallel::{self, Totals};
use zerohop_codec::{Codec, Compressor, Options};
use zerohop_conf::Conf;
use zerohop_system::files;

use crate::codecs;
use crate::failure::{EXIT_USAGE, Failure, Kind, Outcome, complain};
use crate::fs::{Progress, pop_flag, pop_valued};
use crate::settings::Settings;

pub const USAGE: &str =
    "Usage: codec compress|decompress [--codec CODEC] [--threads N] [--level N] [-o OUTPUT] [-f] FILE|-
\tCompresses a local file, or decompresses it, as Hadoop's codecs do. FILE stays. The result is beside it, with the
\textension of the codec added or taken away; that of standard input (-) goes to standard output.
\t--codec: gzip, deflate, bzip2, zstd, lz4, snappy, lzo, lzop or the class of one; else the extension of FILE
\t         (decompress) or of OUTPUT (compress) tells it, and gzip is taken where it does not
\t--threads: so many threads compress; as many as the machine has processors by default
\t--level: in the codec's own numbers; lz4, snappy, lzo and lzop have none
\t-o: writes here; - is standard output
\t-f: overwrites a file that exists";

/// What the command line asks for.
struct Task {
    compress: bool,
    codec: Option<Codec>,
    threads: usize,
    level: Option<i32>,
    output: Option<String>,
    overwrite: bool,
    input: String,
}

pub fn run(mut settings: Settings, mut words: Vec<String>) -> i32 {
    let mut work = || {
        settings.take_all(&mut words)?;
        if words.iter().any(|word| matches!(word.as_str(), "-h" | "-help" | "--help")) {
            sayln!("{USAGE}");
            return Ok(());
        }
        let task = Task::parse(&mut words)?;
        task.run(&settings.load()?)
    };
    match work() {
        Ok(()) => 0,
        Err(failure) if failure.kind == Kind::Pipe => 141,
        Err(failure) if failure.kind == Kind::Usage => {
            noteln!("codec: {failure}\n{USAGE}");
            EXIT_USAGE
        }
        Err(failure) => complain("codec", &failure),
    }
}

fn number<T: std::str::FromStr>(name: &str, words: &mut Vec<String>) -> Outcome<Option<T>> {
    let value = pop_valued(name, words)?;
    let parse = |text: String| {
        text.parse().map_err(|_| Failure::usage(format!("{name} {text}: a number is needed")))
    };
    value.map(parse).transpose()
}

impl Task {
    fn parse(words: &mut Vec<String>) -> Outcome<Task> {
        let codec = pop_valued("--codec", words)?;
        let codec = codec.map(|name| codecs::named(&name)).transpose()?;
        let threads: Option<usize> = number("--threads", words)?;
        if threads.is_some_and(|count| !(1..=1024).contains(&count)) {
            return Err(Failure::usage("--threads: 1 to 1024"));
        }
        let level = number("--level", words)?;
        let output = pop_valued("-o", words)?;
        let overwrite = pop_flag("-f", words);
        let (compress, input) = match words.as_slice() {
            [verb, input] if verb == "compress" => (true, input.clone()),
            [verb, input] if verb == "decompress" => (false, input.clone()),
            _ => return Err(Failure::usage("compress or decompress, and one file, are needed")),
        };
        if input.len() > 1 && input.starts_with('-') {
            return Err(Failure::usage(format!("Illegal option {input}")));
        }
        let processors = || thread::available_parallelism().map_or(1, usize::from);
        let threads = threads.unwrap_or_else(processors);
        Ok(Task { compress, codec, threads, level, output, overwrite, input })
    }

    fn run(&self, conf: &Conf) -> Outcome {
        let codec = self.codec(conf)?;
        let from = (self.input != "-").then(|| Path::new(&self.input));
        let (mut input, length, modified): (Box<dyn Read + Send>, u64, u32) = match from {
            Some(path) => {
                let file = File::open(path).map_err(|error| at(path, &error))?;
                let status = file.metadata().map_err(|error| at(path, &error))?;
                if status.is_dir() {
                    return Err(Failure::is_directory(path.display()));
                }
                let modified =
                    status.modified().ok().and_then(|at| at.duration_since(UNIX_EPOCH).ok());
                let modified = modified.and_then(|since| u32::try_from(since.as_secs()).ok());
                (Box::new(file), status.len(), modified.unwrap_or(0))
            }
            None => (Box::new(io::stdin()), 0, 0),
        };
        let mut output = Output::open(self.target(codec)?, self.overwrite)?;
        let progress = Progress::new();
        progress.show(&self.input);
        progress.expect(length);
        let result = match self.compress {
            true => {
                let options = codecs::options(conf, codec, self.level)?;
                let options = Options { modified, ..options };
                let compressor = Compressor::new(codec, options);
                let compressor = compressor.map_err(|error| Failure::usage(error.to_string()))?;
                let mut told = 0;
                let mut through = |totals: Totals| {
                    progress.done(totals.read - told);
                    told = totals.read;
                };
                let input = &mut *input;
                parallel::compress(compressor, self.threads, input, &mut output, &mut through)
                    .map(|_| ())
            }
            false => {
                // The bar is of the packed bytes, whose number is known.
                let mut input = Told { input, progress: &progress };
                parallel::decompress(codec, &mut input, &mut output, &mut |_| {}).map(|_| ())
            }
        };
        progress.finish();
        result.map_err(|error| match from {
            Some(path) if error.kind() != io::ErrorKind::BrokenPipe => at(path, &error),
            _ => Failure::from(error),
        })?;
        output.keep()
    }

    fn codec(&self, conf: &Conf) -> Outcome<Codec> {
        if let Some(codec) = self.codec {
            return Ok(codec);
        }
        let codecs = codecs::configured(conf)?;
        match self.compress {
            true => {
                let named = self.output.as_deref().and_then(|output| codecs.of_file(output));
                Ok(named.unwrap_or(Codec::Gzip))
            }
            false => codecs.of_file(&self.input).ok_or_else(|| {
                let input = &self.input;
                Failure::usage(format!("{input}: no codec has this extension; give --codec"))
            }),
        }
    }

    /// The file to write; `None` for standard output.
    fn target(&self, codec: Codec) -> Outcome<Option<PathBuf>> {
        match self.output.as_deref() {
            Some("-") => return Ok(None),
            Some(output) => return Ok(Some(output.into())),
            None if self.input == "-" => return Ok(None),
            None => {}
        }
        if self.compress {
            return Ok(Some(format!("{}{}", self.input, codec.extension()).into()));
        }
        let plain = self.input.strip_suffix(codec.extension()).filter(|name| !name.is_empty());
        let plain = plain.filter(|name| !name.ends_with('/'));
        let missing = || {
            let (input, extension) = (&self.input, codec.extension());
            Failure::usage(format!("{input} does not end with {extension}; give -o"))
        };
        plain.map(|name| Some(name.into())).ok_or_else(missing)
    }
}

fn at(path: &Path, error: &io::Error) -> Failure {
    Failure::io(format!("{}: {error}", path.display()))
}

/// Tells the progress bar of what is read.
struct Told<'a> {
    input: Box<dyn Read + Send>,
    progress: &'a Progress,
}

impl Read for Told<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.input.read(buffer)?;
        self.progress.done(count as u64);
        Ok(count)
    }
}

/// Standard output, or a file that has its name only when it is whole.
struct Output {
    /// `None` once it is closed.
    file: Option<File>,
    names: Option<(PathBuf, PathBuf)>,
}

impl Output {
    fn open(target: Option<PathBuf>, overwrite: bool) -> Outcome<Output> {
        let Some(path) = target else {
            // Not through Rust's line buffer, which would copy and split what goes through it.
            let stdout = rustix::io::dup(rustix::stdio::stdout()).map_err(io::Error::from)?;
            return Ok(Output { file: Some(File::from(stdout)), names: None });
        };
        if !overwrite && path.exists() {
            return Err(Failure::exists(path.display()));
        }
        let mut name = path.clone().into_os_string();
        name.push("._COPYING_");
        let unfinished = PathBuf::from(name);
        let file = File::create(&unfinished).map_err(|error| at(&unfinished, &error))?;
        Ok(Output { file: Some(file), names: Some((unfinished, path)) })
    }

    fn keep(mut self) -> Outcome {
        let closed = self.file.take().map_or(Ok(()), files::close);
        closed.map_err(|error| match &self.names {
            Some((_, path)) => at(path, &error),
            None => Failure::from(error),
        })?;
        if let Some((unfinished, path)) = self.names.take() {
            fs::rename(&unfinished, &path).map_err(|error| at(&path, &error))?;
        }
        Ok(())
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.as_mut().map_or(Ok(0), |file| file.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for Output {
    fn drop(&mut self) {
        if let Some((unfinished, _)) = self.names.take() {
            let _ = fs::remove_file(unfinished);
        }
    }
}
