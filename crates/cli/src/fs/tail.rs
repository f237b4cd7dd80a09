//! `-tail`

use std::io::Read;
use std::time::Duration;
use zerohop_system::clock;

use super::item::Item;
use super::options::{Options, ParsedOptions};
use super::shell::Shell;
use super::store::OpenHow;
use super::stream::to_stdout;
use crate::failure::Outcome;

const TAIL_BYTES: i64 = 1024;
/// Between two looks at a growing file.
const DELAY: Duration = Duration::from_secs(5);

pub fn run(shell: &mut Shell, args: Vec<String>) -> Outcome {
    let given = Options::new(1, 1, &["f"]).valued(&["s"]).parse(args)?;
    let mut delay = DELAY;
    if let Some(text) = given.value("s").filter(|text| given.has("f") && !text.is_empty()) {
        let millis = ParsedOptions::number(text)?;
        if millis > 0 {
            delay = Duration::from_millis(millis.unsigned_abs());
        }
    }
    shell.each_named(&given.rest, |shell, mut item| {
        let start = (item.found()?.length - TAIL_BYTES).max(0);
        let mut offset = print_from(shell, &item, start)?;
        while given.has("f") {
            clock::sleep_thread(delay);
            item.refresh()?;
            offset = print_from(shell, &item, offset)?;
        }
        Ok(())
    })
}

/// Prints what follows the offset; the new offset. A file that shrank goes on at its end.
fn print_from(shell: &mut Shell, item: &Item, offset: i64) -> Outcome<i64> {
    let length = item.found()?.length;
    if offset > length {
        return Ok(length);
    }
    let mut input = item.store.open(&item.path, OpenHow::default())?;
    input.seek_to(offset.unsigned_abs())?;
    let mut counted = Counted { input: &mut *input, count: 0 };
    to_stdout(shell, &mut counted)?;
    Ok(offset + counted.count)
}

struct Counted<'a> {
    input: &'a mut dyn super::store::Input,
    count: i64,
}

impl Read for Counted<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let count = self.input.read(buffer)?;
        self.count += i64::try_from(count).unwrap_or(i64::MAX);
        Ok(count)
    }
}
