//! Several ranges at once, from DataNodes: neighbours are read together.

use super::file::File;
use crate::error::{Error, Result};
use std::io;

/// Ranges with a gap up to this are read together: less than a request costs.
const GAP_MAX: u64 = 16 << 10;
/// Ranges are read together up to this length.
const TOGETHER_MAX: u64 = 4 << 20;

impl File {
    /// Reads `ranges[at]` for each `at` of `order`, which is sorted by offset; each exactly.
    pub(super) fn read_merged(
        &self,
        ranges: &mut [(u64, &mut [u8])],
        order: &[usize],
    ) -> Result<()> {
        let extent = |at: usize, ranges: &[(u64, &mut [u8])]| {
            ranges.get(at).map_or((0, 0), |(start, buffer)| (*start, *start + buffer.len() as u64))
        };
        let mut rest = order;
        while let Some((first, others)) = rest.split_first() {
            let (start, mut end) = extent(*first, ranges);
            let mut count = 1;
            for at in others {
                let (next, next_end) = extent(*at, ranges);
                if next > end + GAP_MAX || next_end.max(end) - start > TOGETHER_MAX {
                    break;
                }
                end = end.max(next_end);
                count += 1;
            }
            let (together, later) = rest.split_at(count);
            self.read_together(ranges, together, start, end)?;
            rest = later;
        }
        Ok(())
    }

    fn read_together(
        &self,
        ranges: &mut [(u64, &mut [u8])],
        together: &[usize],
        start: u64,
        end: u64,
    ) -> Result<()> {
        if let [only] = together {
            let Some((offset, buffer)) = ranges.get_mut(*only) else { return Ok(()) };
            return self.read_exact_at(*offset, buffer);
        }
        let mut all = vec![0; (end - start) as usize];
        self.read_exact_at(start, &mut all)?;
        for at in together {
            let Some((offset, buffer)) = ranges.get_mut(*at) else { continue };
            let from = (*offset - start) as usize;
            if let Some(bytes) = all.get(from..from + buffer.len()) {
                buffer.copy_from_slice(bytes);
            }
        }
        Ok(())
    }

    /// Reads exactly `buffer` at `offset`.
    pub(crate) fn read_exact_at(&self, offset: u64, buffer: &mut [u8]) -> Result<()> {
        let read = self.read_at(offset, buffer)?;
        if read == buffer.len() {
            return Ok(());
        }
        Err(Error::io(
            format_args!("{}: {} bytes at {offset}", self.path(), buffer.len()),
            io::ErrorKind::UnexpectedEof.into(),
        ))
    }
}
