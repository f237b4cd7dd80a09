//! The one loop of writing a block: sets pipelines up, sends packets, takes acknowledgements, and recovers.
//!
//! Nothing here asks the NameNode: a writer that needs it stops with a [`Need`], and continues when that was met
//! ([`call`](super::call)).

use super::call::Need;
use super::set_up::{NewBlock, NewBlockStep, SetUp};
use super::stream::{Stage, Stream};
use crate::error::Result;
use zerohop_wire::transfer::block_write::{Next, Until};

impl Stream {
    /// Sends packets and takes acknowledgements until `until` holds or the NameNode has to be asked; recovers the
    /// pipeline as often as it takes. Packets are in the socket then, not acknowledged. Blocks the thread on block
    /// data only.
    pub(super) fn advance(&mut self, until: Until) -> Result<Option<Need>> {
        loop {
            while let Some(set_up) = self.set_up.take() {
                let need = match set_up {
                    SetUp::Block(new) => self.allocate(new)?,
                    SetUp::Pipeline(rebuild) => self.rebuild(rebuild)?,
                };
                if need.is_some() {
                    return Ok(need);
                }
            }
            let step = match (self.packets.next(until), self.stage) {
                (Next::Done, _) => return Ok(None),
                (Next::EndBlock, _) => {
                    self.end_block();
                    Ok(())
                }
                (_, Stage::Create) => {
                    self.set_up = Some(SetUp::Block(NewBlock {
                        previous: self.block.clone(),
                        tries_left: self.file.client.settings.block_write_retries as usize,
                        step: NewBlockStep::Ask,
                    }));
                    Ok(())
                }
                (_, Stage::Append) => {
                    self.begin_append()?;
                    Ok(())
                }
                (next, _) => match self.fault.take() {
                    Some(fault) => Err(fault),
                    None if next == Next::Send => self.send_next(),
                    None => self.wait_for_acks(),
                },
            };
            if let Err(fault) = step {
                self.begin_recovery(fault)?;
            }
        }
    }
}

#[cfg(test)]
#[path = "advance_test.rs"]
pub(super) mod tests;
