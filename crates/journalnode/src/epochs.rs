//! What a formatted journal must not forget: whom it promised what, and what is committed.

use crate::calls::RequestInfo;
use crate::error::{Error, Result};
use crate::storage::{CommittedTxid, PersistentNumber};
use std::path::Path;

/// What a formatted journal must not forget.
#[derive(Debug)]
pub(crate) struct Epochs {
    /// No writer with a lower epoch is served.
    pub(crate) promised: PersistentNumber,
    /// The last writer that began a segment here: tells segments apart that begin alike, after a crash at the very beginning.
    pub(crate) writer: PersistentNumber,
    pub(crate) committed: CommittedTxid,
    /// The serial number of the promised writer's last call.
    serial: Option<u64>,
}

impl Epochs {
    /// Reads them from a directory `current`.
    pub(crate) fn open(current: &Path) -> Result<Self> {
        Ok(Self {
            promised: PersistentNumber::open(current.join("last-promised-epoch"))?,
            writer: PersistentNumber::open(current.join("last-writer-epoch"))?,
            committed: CommittedTxid::open(&current.join("committed-txid"))?,
            serial: None,
        })
    }

    /// The new writer counts its calls from the beginning.
    pub(crate) fn promise(&mut self, epoch: u64) -> Result<()> {
        self.promised.set(epoch)?;
        self.serial = None;
        Ok(())
    }

    /// That a call comes from the promised writer, or one after it, and in order.
    pub(crate) fn check(&mut self, request: RequestInfo, journal: &str) -> Result<()> {
        let promised = self.promised.get();
        if request.epoch < promised {
            let (epoch, journal) = (request.epoch, journal.to_owned());
            return Err(Error::Fenced { epoch, promised, journal });
        }
        if request.epoch > promised {
            // A majority has promised it that epoch, so the writer before is fenced here too.
            self.promise(request.epoch)?;
        }
        if let Some(serial) = self.serial.filter(|serial| request.serial <= *serial) {
            return Err(Error::OutOfSync(format!(
                "IPC serial {} was not higher than prior highest IPC serial {serial} ; journal id: {journal}",
                request.serial
            )));
        }
        self.serial = Some(request.serial);
        let Some(committed) = request.committed else { return Ok(()) };
        match self.committed.get() {
            Some(known) if committed < known => Err(Error::BadRequest(format!(
                "Client trying to move committed txid backward from {known} to {committed} ; journal id: {journal}"
            ))),
            Some(known) if committed == known => Ok(()),
            _ => self.committed.set(committed),
        }
    }
}
