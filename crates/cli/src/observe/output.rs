//! Where a picture goes.

use crate::failure::{Failure, Outcome};
use std::io::{BufRead, Write};
use std::path::Path;

/// Writes all of `page` to a file, or to standard output.
pub fn write(page: &mut impl BufRead, file: Option<&Path>) -> Outcome {
    let mut bytes = Vec::new();
    page.read_to_end(&mut bytes)?;
    match file {
        None => Ok(std::io::stdout().lock().write_all(&bytes)?),
        Some(file) => zerohop_system::files::write(file, bytes)
            .map_err(|error| Failure::io(format!("cannot write {}: {error}", file.display()))),
    }
}
