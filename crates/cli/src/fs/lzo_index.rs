//! `-lzoindex`: index files of lzop files, by which jobs split them.

use zerohop_codec::lzo::LzoIndex;

use super::item::Item;
use super::options::Options;
use super::seekable::Seekable;
use super::shell::Shell;
use super::store::{CreateHow, OpenHow};
use crate::failure::{Failure, Outcome};

const EXTENSION: &str = ".lzo";

pub fn run(shell: &mut Shell, args: Vec<String>) -> Outcome {
    let given = Options::new(1, usize::MAX, &["f"]).parse(args)?;
    let overwrite = given.has("f");
    shell.walk_args(&given.rest, true, &mut |shell, item, depth| {
        match item.is_dir() {
            true => Ok(()),
            false if item.path.ends_with(EXTENSION) => index(shell, item, overwrite),
            // What a directory holds besides is no error; what was named is.
            false if depth > 0 => Ok(()),
            false => Err(Failure::path(&item.text, "the name does not end with .lzo")),
        }
    })
}

fn index(shell: &mut Shell, item: &Item, overwrite: bool) -> Outcome {
    let name = LzoIndex::name_of(&item.path);
    let store = &item.store;
    if !overwrite && store.exists(&name)? {
        return shell.line(format!("{}: has an index", item.text));
    }
    let index = LzoIndex::build(Seekable::open(item, OpenHow::default())?);
    let index = index.map_err(|error| Failure::path(&item.text, &error.to_string()))?;
    let mut bytes = Vec::new();
    index.write(&mut bytes)?;
    // Nobody may see half an index: a job would take it for all of the file.
    let unfinished = format!("{name}.tmp");
    let written = store
        .create(&unfinished, CreateHow { overwrite: true, ..CreateHow::default() })
        .and_then(|mut output| {
            output.write_all(&bytes)?;
            output.finish()
        })
        .and_then(|()| store.replace(&unfinished, &name));
    if written.is_err() {
        let _ = store.delete(&unfinished, false);
    }
    written?;
    shell.line(format!("{}: {} blocks", item.text, index.offsets().len()))
}
