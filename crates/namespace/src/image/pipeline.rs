//! Messages of a section, read by one thread, decoded by several, and passed on in their order.

use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use zerohop_journal::JournalError;
use zerohop_journal::image::{Batch, SectionReader};
use zerohop_proto::Checked;

/// Bytes of messages that a thread decodes at a time.
const BATCH_LEN: usize = 1 << 20;
/// Batches that may wait for each thread, and decoded batches of it that may wait.
const WAITING: usize = 1;

type Result<T> = std::result::Result<T, JournalError>;
/// Decodes a message, or says what is wrong with it.
type Decode<'d, M, T> = &'d (dyn Fn(M) -> std::result::Result<T, String> + Sync);

/// Passes the decoded messages of each batch to `take`, in the order of the section.
pub(super) fn decode_in_order<M: Checked, T: Send>(
    mut section: SectionReader,
    threads: usize,
    decode: Decode<'_, M, T>,
    mut take: impl FnMut(Vec<T>) -> std::result::Result<(), String>,
) -> Result<()> {
    let errors = section.errors();
    let decode_batch = |batch: Batch| -> Result<Vec<T>> {
        let decoded: std::result::Result<Vec<T>, String> =
            batch.messages().map(|message| message.and_then(decode)).collect();
        decoded.map_err(|reason| errors.bad(reason))
    };
    if threads <= 1 {
        while let Some(batch) = section.next_batch(BATCH_LEN)? {
            take(decode_batch(batch)?).map_err(|reason| errors.bad(reason))?;
        }
        return Ok(());
    }
    std::thread::scope(|scope| {
        let thread = || std::thread::Builder::new().name("image-load".to_owned());
        let (mut to_decode, mut decoded) = (Vec::new(), Vec::new());
        for _ in 0..threads {
            let (raw, batches) = sync_channel::<Result<Batch>>(WAITING);
            let (done, results) = sync_channel(WAITING);
            to_decode.push(raw);
            decoded.push(results);
            let decode_batch = &decode_batch;
            let work = move || decode_all(&batches, &done, decode_batch);
            thread().spawn_scoped(scope, work).map_err(|error| errors.bad(error))?;
        }
        let work = move || read_all(section, &to_decode);
        thread().spawn_scoped(scope, work).map_err(|error| errors.bad(error))?;
        // The first thread without a result in its turn got no batch: the section has ended.
        for results in decoded.iter().cycle() {
            let Ok(result) = results.recv() else { break };
            take(result?).map_err(|reason| errors.bad(reason))?;
        }
        Ok(())
    })
}

/// Sends the batches to the threads in turn; ends early when the receivers are gone.
fn read_all(mut section: SectionReader, to_decode: &[SyncSender<Result<Batch>>]) {
    for sender in to_decode.iter().cycle() {
        let batch = section.next_batch(BATCH_LEN).transpose();
        let Some(batch) = batch else { return };
        let failed = batch.is_err();
        if sender.send(batch).is_err() || failed {
            return;
        }
    }
}

fn decode_all<T>(
    batches: &Receiver<Result<Batch>>,
    done: &SyncSender<Result<Vec<T>>>,
    decode: &impl Fn(Batch) -> Result<Vec<T>>,
) {
    for batch in batches {
        if done.send(batch.and_then(decode)).is_err() {
            return;
        }
    }
}
