//! The output of the offline viewers.

use std::fs::File;
use std::io::{self, BufWriter, Stdout, Write};

use zerohop_system::files;

use crate::failure::{Failure, Outcome};

/// Standard output or a file, which reports an error of closing.
pub enum ViewerOutput {
    Stdout(Stdout),
    File { file: File, path: String },
}

impl ViewerOutput {
    /// Opens the output; `-` is standard output.
    pub fn open(path: &str) -> Outcome<BufWriter<ViewerOutput>> {
        let out = match path {
            "-" => ViewerOutput::Stdout(io::stdout()),
            path => {
                let file = File::create(path).map_err(|error| failure(path, &error))?;
                ViewerOutput::File { file, path: path.to_owned() }
            }
        };
        Ok(BufWriter::new(out))
    }

    /// Writes what is buffered and closes the file.
    pub fn finish(out: BufWriter<ViewerOutput>) -> Outcome {
        match out.into_inner().map_err(io::IntoInnerError::into_error)? {
            ViewerOutput::Stdout(mut out) => Ok(out.flush()?),
            ViewerOutput::File { file, path } => {
                files::close(file).map_err(|error| failure(&path, &error))
            }
        }
    }
}

fn failure(path: &str, error: &io::Error) -> Failure {
    Failure::io(format!("{path}: {error}"))
}

impl Write for ViewerOutput {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            ViewerOutput::Stdout(out) => out.write(bytes),
            ViewerOutput::File { file, .. } => file.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            ViewerOutput::Stdout(out) => out.flush(),
            ViewerOutput::File { file, .. } => file.flush(),
        }
    }
}
