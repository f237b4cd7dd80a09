//! Images and edits loaded into a namespace that serves no client, for a checkpoint.

use crate::storage::{Replay, ReplayError, StorageInfo};
use zerohop_journal::image::ImageReader;
use zerohop_journal::op::Record;
use zerohop_namespace::blocks::Now;
use zerohop_namespace::{ImageInfo, Namespace};
use zerohop_wire::TxId;

/// Takes image and edits into a namespace that is not served.
pub(crate) struct CheckpointLoader<'a> {
    pub(crate) namespace: &'a mut Namespace,
    pub(crate) now: Now,
    /// Without one, a rolling upgrade recorded in the image counts as not under way.
    pub(crate) has_rollback_image: bool,
}

impl Replay for CheckpointLoader<'_> {
    fn image(&mut self, image: &ImageReader) -> Result<(), ReplayError> {
        load_image(self.namespace, image, self.now, self.has_rollback_image)
    }

    fn edit(&mut self, record: Record) -> Result<(), ReplayError> {
        self.namespace.apply(record.txid, &record.op)?;
        Ok(())
    }
}

pub(crate) fn load_image(
    namespace: &mut Namespace,
    image: &ImageReader,
    now: Now,
    has_rollback_image: bool,
) -> Result<(), ReplayError> {
    namespace.load_image(image, now.wall_ms)?;
    if !has_rollback_image {
        namespace.forget_rolling_upgrade();
    }
    Ok(())
}

/// What an image taken after `txid` says of itself.
pub(crate) fn image_info(info: &StorageInfo, txid: TxId) -> ImageInfo {
    ImageInfo { namespace_id: info.namespace_id as u32, txid }
}
