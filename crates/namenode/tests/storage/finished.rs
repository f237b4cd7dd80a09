//! Finished segments are loaded while the edit log goes on.

use super::*;
use zerohop_journal::log::EditCursor;

/// Loads finished segments, and has another one finished as soon as it has read all that there were.
struct LoadsWhileWritten {
    seen: Seen,
    log: EditLog,
}

impl Replay for LoadsWhileWritten {
    fn image(&mut self, image: &ImageReader) -> Result<(), ReplayError> {
        self.seen.image(image)
    }

    fn edit(&mut self, record: Record) -> Result<(), ReplayError> {
        self.seen.edit(record)
    }

    fn edits(&mut self, edits: &mut EditCursor<'_>, until: TxId) -> Result<(), StorageError> {
        self.seen.edits(edits, until)?;
        self.log.log(one(&edit("/later"))).wait().unwrap();
        self.log.roll().1.wait().unwrap();
        Ok(())
    }
}

/// A standby's checkpoint failed, "Gap in transactions", when the active NameNode ended its segment in this moment.
#[test]
fn a_segment_that_is_finished_while_the_others_are_loaded_is_no_gap() {
    let directories = Directories::formatted(1);
    let (storage, log) = directories.start();
    log.log(one(&edit("/a"))).wait().unwrap();
    log.roll().1.wait().unwrap();
    let mut loads = LoadsWhileWritten { seen: Seen::default(), log };
    let report = storage.load_finished(&mut loads).unwrap();
    assert_eq!((report.last_txid, loads.seen.paths()), (3, vec!["/a"]));
    let mut seen = Seen::default();
    assert_eq!(storage.load_finished(&mut seen).unwrap().last_txid, 6);
    assert_eq!(seen.paths(), ["/a", "/later"]);
}
