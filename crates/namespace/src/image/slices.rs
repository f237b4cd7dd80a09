//! A section's inodes in slices that several threads encode, written in their order.

use crate::tree::{Slot, Tree};
use std::io;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use zerohop_journal::image::{ImageFormat, ImageWriter, SectionName};

/// Inodes that a thread encodes at a time: some MB.
const SLICE_LEN: u64 = 16 * 1024;
/// Slices that a thread may be ahead of the one that writes.
const AHEAD: usize = 1;

/// All inodes below the root, directories before their children.
pub(super) fn all_slots(tree: &Tree) -> Vec<Slot> {
    let mut all = Vec::with_capacity(tree.len());
    all.push(tree.root());
    let mut at = 0;
    while let Some(slot) = all.get(at).copied() {
        if let Some(directory) = tree.get(slot).as_directory() {
            all.extend(directory.children.iter());
        }
        at += 1;
    }
    all
}

/// The inodes of an image, cut into slices.
pub(super) struct Slices<'s> {
    slots: &'s [Slot],
    slice_len: usize,
    /// After how many inodes a part of a section ends.
    part_len: Option<u64>,
    threads: usize,
}

/// The messages of a slice, and the slots among them that are to be returned.
type Encoded = (Vec<u8>, Vec<Slot>);

impl<'s> Slices<'s> {
    pub(super) fn of(slots: &'s [Slot], format: ImageFormat) -> Self {
        // A part of a compressed section cannot be read by itself.
        let part_len = match format.codec {
            None => format.inodes_per_part(slots.len() as u64),
            Some(_) => None,
        };
        let slice_len = part_len.unwrap_or(SLICE_LEN).min(SLICE_LEN) as usize;
        let count = slots.len().div_ceil(slice_len);
        Self { slots, slice_len, part_len, threads: format.threads.clamp(1, count.max(1)) }
    }

    /// Encodes and appends each slice, and ends the section. The slots that `encode` returns are added to `found`.
    pub(super) fn save(
        &self,
        out: &mut ImageWriter<'_>,
        (section, part): (SectionName, SectionName),
        encode: &(dyn Fn(&[Slot]) -> Encoded + Sync),
        found: &mut Vec<Slot>,
    ) -> io::Result<()> {
        let mut in_part = 0;
        self.encode_each(encode, |len, (bytes, slots)| {
            out.messages(&bytes)?;
            found.extend(slots);
            in_part += len as u64;
            match self.part_len {
                Some(part_len) if in_part >= part_len => {
                    in_part = 0;
                    out.end_part(part)
                }
                _ => Ok(()),
            }
        })?;
        if self.part_len.is_some() {
            out.end_part(part)?;
        }
        out.end(section)
    }

    /// Gives `take` each encoded slice with its length, in order.
    fn encode_each(
        &self,
        encode: &(dyn Fn(&[Slot]) -> Encoded + Sync),
        mut take: impl FnMut(usize, Encoded) -> io::Result<()>,
    ) -> io::Result<()> {
        let mut slices = self.slots.chunks(self.slice_len);
        if self.threads == 1 {
            return slices.try_for_each(|slice| take(slice.len(), encode(slice)));
        }
        std::thread::scope(|scope| {
            let mut encoded = Vec::new();
            for n in 0..self.threads {
                let (sender, receiver) = sync_channel(AHEAD);
                encoded.push(receiver);
                let mine = self.slots.chunks(self.slice_len).skip(n).step_by(self.threads);
                let work = move || encode_all(mine, encode, &sender);
                std::thread::Builder::new()
                    .name("image-save".to_owned())
                    .spawn_scoped(scope, work)?;
            }
            let turns = encoded.iter().cycle();
            slices.zip(turns).try_for_each(|(slice, encoded)| take(slice.len(), next(encoded)?))
        })
    }
}

/// Encodes one thread's slices; ends early when the receiver is gone.
fn encode_all<'s>(
    mut slices: impl Iterator<Item = &'s [Slot]>,
    encode: &(dyn Fn(&[Slot]) -> Encoded + Sync),
    sender: &SyncSender<Encoded>,
) {
    _ = slices.try_for_each(|slice| sender.send(encode(slice)));
}

fn next(encoded: &Receiver<Encoded>) -> io::Result<Encoded> {
    encoded.recv().map_err(|_| io::Error::other("a thread that encodes inodes has panicked"))
}
