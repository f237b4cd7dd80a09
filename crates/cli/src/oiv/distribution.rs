//! How many files there are of each size (`FileDistributionCalculator`).

use std::io::Write;

use zerohop_journal::image::{ImageReader, SectionName};
use zerohop_proto::hdfs::fsimage::INodeSection;
use zerohop_proto::hdfs::fsimage::i_node_section::{INode, i_node::Type};

use crate::failure::{Failure, Outcome};
use crate::units::human;

const MAX_SIZE: u64 = 1 << 37;
const STEP: u64 = 1 << 21;
/// More would take too much memory.
const INTERVALS_MAX: u64 = 1 << 27;

/// Counts files by size and prints the counts; 0 stands for the default of each number.
///
/// `with_units`: shows ranges of sizes for people.
pub fn write(
    image: &ImageReader,
    max_size: u64,
    step: u64,
    with_units: bool,
    out: &mut dyn Write,
) -> Outcome {
    let max_size = if max_size == 0 { MAX_SIZE } else { max_size };
    let step = if step == 0 { STEP } else { step };
    let intervals = max_size / step;
    if intervals > INTERVALS_MAX {
        return Err(Failure::usage(format!(
            "Too many distribution intervals (maxSize/step): {intervals}, should be less than {}.",
            INTERVALS_MAX + 1
        )));
    }
    let mut counts = vec![0_u64; 1 + usize::try_from(intervals).unwrap_or(0)];
    let (mut files, mut directories, mut blocks) = (0_u64, 0_u64, 0_usize);
    let (mut space, mut largest) = (0_u64, 0_u64);
    let Some(mut section) = image.section(SectionName::Inode).map_err(Failure::of)? else {
        return Err(Failure::io("the image has no inodes"));
    };
    let head: INodeSection = section.expect().map_err(Failure::of)?;
    for number in 0..head.num_inodes() {
        let inode: INode = section.expect().map_err(Failure::of)?;
        match inode.r#type() {
            Type::File => {
                let file = inode.file.unwrap_or_default();
                files += 1;
                blocks += file.blocks.len();
                let size: u64 = file.blocks.iter().map(|block| block.num_bytes()).sum();
                largest = largest.max(size);
                space = space.wrapping_add(size.wrapping_mul(u64::from(file.replication())));
                let last = counts.len() - 1;
                let bucket = if size > max_size { u64::MAX } else { size.div_ceil(step) };
                let bucket = usize::try_from(bucket).unwrap_or(last).min(last);
                if let Some(count) = counts.get_mut(bucket) {
                    *count += 1;
                }
            }
            Type::Directory => directories += 1,
            Type::Symlink => {}
        }
        if number % (1 << 20) == 0 {
            writeln!(out, "Processed {number} inodes.")?;
        }
    }
    writeln!(out, "{}\tNumFiles", if with_units { "Size Range" } else { "Size" })?;
    let last = counts.len() as u64 - 1;
    for (number, count) in (0_u64..).zip(&counts).filter(|(_, count)| **count != 0) {
        let bytes = |size: u64| human(i64::try_from(size).unwrap_or(i64::MAX), "B", 2);
        let end = number * step;
        match (with_units, number) {
            (false, _) => writeln!(out, "{end}\t{count}")?,
            (true, number) => {
                let open = if number == 0 { '[' } else { '(' };
                let (from, to) =
                    (number.saturating_sub(1) * step, if number == last { largest } else { end });
                writeln!(out, "{open}{}, {}]\t{count}", bytes(from), bytes(to))?;
            }
        }
    }
    writeln!(out, "totalFiles = {files}\ntotalDirectories = {directories}")?;
    writeln!(out, "totalBlocks = {blocks}\ntotalSpace = {space}\nmaxFileSize = {largest}")?;
    Ok(())
}
