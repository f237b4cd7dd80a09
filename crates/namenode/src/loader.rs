//! The namespace as what images and edits are loaded into.

use crate::storage::{Replay, ReplayError, StorageInfo};
use zerohop_journal::image::ImageReader;
use zerohop_journal::op::Record;
use zerohop_namespace::{ImageInfo, Namespace};
use zerohop_wire::TxId;

pub(crate) struct Loader<'a>(pub(crate) &'a mut Namespace);

impl Replay for Loader<'_> {
    fn image(&mut self, image: &ImageReader) -> Result<(), ReplayError> {
        self.0.load_image(image)?;
        Ok(())
    }

    fn edit(&mut self, record: Record) -> Result<(), ReplayError> {
        self.0.apply(record.txid, &record.op).map_err(Into::into)
    }
}

/// What an image taken after `txid` says of itself.
pub(crate) fn image_info(info: &StorageInfo, txid: TxId) -> ImageInfo {
    ImageInfo { namespace_id: info.namespace_id as u32, txid }
}
