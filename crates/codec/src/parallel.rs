//! Compression on several threads: pieces are compressed side by side and written in order.

use std::collections::VecDeque;
use std::io::{self, Read, Write};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Mutex, PoisonError};
use std::thread;

use crate::codec::Codec;
use crate::compressor::{Compressor, Piece, Sums};
use crate::raw::Scratch;

/// Plain and compressed bytes that went through.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Totals {
    /// Bytes read.
    pub read: u64,
    /// Bytes written.
    pub written: u64,
}

/// A piece, a buffer for what becomes of it, and where both go.
struct Job {
    plain: Vec<u8>,
    packed: Vec<u8>,
    done: SyncSender<io::Result<Done>>,
}

/// What became of a piece, and the buffer in which it was.
struct Done {
    piece: Piece,
    plain: Vec<u8>,
}

/// Compresses everything that `input` has. Two pieces for each thread are in memory at most. `through` is told of
/// the bytes read and written so far.
pub fn compress(
    compressor: Compressor,
    threads: usize,
    input: &mut dyn Read,
    output: &mut dyn Write,
    through: &mut dyn FnMut(Totals),
) -> io::Result<Totals> {
    let threads = threads.max(1);
    let (jobs, waiting) = sync_channel::<Job>(threads);
    let waiting = Mutex::new(waiting);
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| work(compressor, &waiting));
        }
        // The workers end when this end of the channel goes.
        let jobs = jobs;
        let mut writer = OrderedWriter::new(compressor, output, through)?;
        loop {
            let (plain, packed) = writer.empty.pop().unwrap_or_default();
            let plain = read_piece(input, compressor.piece_length(), plain)?;
            if plain.is_empty() {
                return writer.finish();
            }
            let is_last = plain.len() < compressor.piece_length();
            writer.totals.read += plain.len() as u64;
            let (done, result) = sync_channel(1);
            jobs.send(Job { plain, packed, done }).map_err(|_| ended())?;
            writer.results.push_back(result);
            if writer.results.len() >= 2 * threads {
                writer.write_one()?;
            }
            if is_last {
                return writer.finish();
            }
        }
    })
}

fn ended() -> io::Error {
    io::Error::other("a thread that compresses has ended")
}

fn work(compressor: Compressor, waiting: &Mutex<Receiver<Job>>) {
    let mut scratch = Scratch::default();
    loop {
        let job = waiting.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok(job) = job else { return };
        let Job { plain, packed, done } = job;
        let piece = compressor.piece_in(packed, &plain, &mut scratch);
        // Where nobody waits for the result, writing has failed.
        let _ = done.send(piece.map(|piece| Done { piece, plain }));
    }
}

/// A piece, or what is left of the input, in a buffer that was used before.
fn read_piece(input: &mut dyn Read, length: usize, mut plain: Vec<u8>) -> io::Result<Vec<u8>> {
    plain.clear();
    plain.reserve_exact(length);
    input.take(length as u64).read_to_end(&mut plain)?;
    Ok(plain)
}

struct OrderedWriter<'a> {
    compressor: Compressor,
    output: &'a mut dyn Write,
    through: &'a mut dyn FnMut(Totals),
    /// The results of pieces, in the order of the pieces.
    results: VecDeque<Receiver<io::Result<Done>>>,
    /// Buffers of pieces that are written, for plain and compressed bytes.
    empty: Vec<(Vec<u8>, Vec<u8>)>,
    sums: Sums,
    totals: Totals,
}

impl<'a> OrderedWriter<'a> {
    fn new(
        compressor: Compressor,
        output: &'a mut dyn Write,
        through: &'a mut dyn FnMut(Totals),
    ) -> io::Result<Self> {
        let (results, empty, sums, totals) = Default::default();
        let mut writer =
            OrderedWriter { compressor, output, through, results, empty, sums, totals };
        writer.write(&compressor.start())?;
        Ok(writer)
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.output.write_all(bytes)?;
        self.totals.written += bytes.len() as u64;
        (self.through)(self.totals);
        Ok(())
    }

    /// Writes the oldest piece that waits.
    fn write_one(&mut self) -> io::Result<()> {
        let Some(result) = self.results.pop_front() else { return Ok(()) };
        let Done { piece, plain } = result.recv().map_err(|_| ended())??;
        self.sums.add(&piece);
        self.write(&piece.bytes)?;
        self.empty.push((plain, piece.bytes));
        Ok(())
    }

    fn finish(mut self) -> io::Result<Totals> {
        while !self.results.is_empty() {
            self.write_one()?;
        }
        let end = self.compressor.end(&self.sums)?;
        self.write(&end)?;
        self.output.flush()?;
        Ok(self.totals)
    }
}

/// Plain bytes that go from the thread that unpacks to the one that writes, at a time.
const UNPACKED: usize = 1 << 20;

/// Unpacks a stream on a thread of its own while this one writes, so that reading, unpacking and writing wait for
/// each other no more than they must. A stream has no places by which several threads could unpack it: streams of
/// most codecs do not say where the next member begins.
pub fn decompress(
    codec: Codec,
    input: &mut (dyn Read + Send),
    output: &mut dyn Write,
    through: &mut dyn FnMut(u64),
) -> io::Result<u64> {
    let (filled, results) = sync_channel::<io::Result<Vec<u8>>>(2);
    let (empty, buffers) = sync_channel::<Vec<u8>>(4);
    thread::scope(|scope| {
        scope.spawn(move || unpack(codec, input, &filled, &buffers));
        // The other end sees that this one is gone, and stops, where writing fails.
        let results = results;
        let mut written = 0;
        while let Ok(result) = results.recv() {
            let plain = result?;
            output.write_all(&plain)?;
            written += plain.len() as u64;
            through(written);
            let _ = empty.try_send(plain);
        }
        output.flush()?;
        Ok(written)
    })
}

fn unpack(
    codec: Codec,
    input: &mut (dyn Read + Send),
    filled: &SyncSender<io::Result<Vec<u8>>>,
    buffers: &Receiver<Vec<u8>>,
) {
    let next = |decoder: &mut dyn Read| {
        // A buffer that was full before is not filled with zeros again.
        let mut plain = buffers.try_recv().unwrap_or_default();
        plain.resize(UNPACKED, 0);
        let (count, error) = fill(decoder, &mut plain);
        plain.truncate(count);
        // What came before the damage is written first.
        (plain, error)
    };
    let mut decoder = match codec.decoder(input) {
        Ok(decoder) => decoder,
        Err(error) => return drop(filled.send(Err(error))),
    };
    loop {
        let (plain, error) = next(&mut *decoder);
        let is_end = plain.is_empty();
        if !is_end && filled.send(Ok(plain)).is_err() {
            return;
        }
        match error {
            Some(error) => return drop(filled.send(Err(error))),
            None if is_end => return,
            None => {}
        }
    }
}

/// Reads until the buffer is full or the stream ends: so many bytes, and the error that ended it.
fn fill(decoder: &mut dyn Read, buffer: &mut [u8]) -> (usize, Option<io::Error>) {
    let mut count = 0;
    while count < buffer.len() {
        match decoder.read(&mut buffer[count..]) {
            Ok(0) => break,
            Ok(more) => count += more,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return (count, Some(error)),
        }
    }
    (count, None)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compressor::Options;

    #[test]
    fn a_piece_is_read_into_a_buffer_that_was_used_before() {
        let input = vec![7; 3000];
        let plain = read_piece(&mut input.as_slice(), 1000, Vec::new()).unwrap();
        let (at, capacity) = (plain.as_ptr(), plain.capacity());
        assert_eq!((plain.len(), capacity), (1000, 1000), "it does not grow step by step");
        let again = read_piece(&mut &input[..10], 1000, plain).unwrap();
        assert_eq!((again.as_ptr(), again.capacity(), again.len()), (at, capacity, 10));
    }

    #[test]
    fn buffers_come_back_when_their_piece_is_written() {
        let compressor = Compressor::new(Codec::Passthrough, Options::default()).unwrap();
        let (mut output, mut through) = (Vec::new(), |_| {});
        let mut writer = OrderedWriter::new(compressor, &mut output, &mut through).unwrap();
        let packed = Vec::with_capacity(5000);
        let at = packed.as_ptr();
        let piece = compressor.piece_in(packed, &[3; 4000], &mut Scratch::default()).unwrap();
        let (done, result) = sync_channel(1);
        done.send(Ok(Done { piece, plain: vec![3; 4000] })).unwrap();
        writer.results.push_back(result);
        writer.write_one().unwrap();
        let (plain, packed) = writer.empty.pop().unwrap();
        assert_eq!((plain.len(), packed.as_ptr()), (4000, at));
        assert_eq!(output, [3; 4000]);
    }
}
