//! The namespace as what images and edits are loaded into.

use crate::retry::{CachedAnswer, CallKey, Remember, RetryCache};
use crate::storage::{Replay, ReplayError, StorageInfo};
use std::sync::Arc;
use zerohop_journal::EditOp;
use zerohop_journal::image::ImageReader;
use zerohop_journal::op::Record;
use zerohop_namespace::blocks::Now;
use zerohop_namespace::{ImageInfo, Namespace, OpContext};
use zerohop_wire::TxId;

/// Takes image and edits into the namespace; what edits tell of calls goes into the retry cache, so
/// that a call sent again after the restart gets its answer and happens once.
pub(crate) struct Loader<'a> {
    pub(crate) namespace: &'a mut Namespace,
    pub(crate) retries: &'a mut RetryCache,
    pub(crate) now: Now,
    /// Without one, a rolling upgrade recorded in the image cannot be rolled back and counts as not under way.
    pub(crate) has_rollback_image: bool,
}

impl Loader<'_> {
    /// The answer to the call that an edit came from: for each operation that is logged with the call's
    /// ids and can be carried out here.
    fn answer(&self, op: EditOp) -> Option<CachedAnswer> {
        Some(match op {
            EditOp::Append(op) => CachedAnswer::AppendEdit(Arc::new(op)),
            EditOp::Add(op) => self.created(&op.path)?,
            EditOp::RenameOld(_) | EditOp::Delete(_) => true.to_cached()?,
            EditOp::AddCacheDirective(op) => op.directive.id.to_cached()?,
            EditOp::ModifyCacheDirective(_)
            | EditOp::RemoveCacheDirective(_)
            | EditOp::AddCachePool(_)
            | EditOp::ModifyCachePool(_)
            | EditOp::RemoveCachePool(_)
            | EditOp::Rename(_)
            | EditOp::ConcatDelete(_)
            | EditOp::UpdateBlocks(_)
            | EditOp::SetXAttr(_)
            | EditOp::RemoveXAttr(_)
            | EditOp::Symlink(_) => ().to_cached()?,
            _ => return None,
        })
    }

    fn created(&self, path: &str) -> Option<CachedAnswer> {
        let status = self.namespace.file_info(&OpContext::internal(self.now), path).ok()??;
        status.to_cached()
    }
}

impl Replay for Loader<'_> {
    fn image(&mut self, image: &ImageReader) -> Result<(), ReplayError> {
        load_image(self.namespace, image, self.now, self.has_rollback_image)
    }

    fn edit(&mut self, record: Record) -> Result<(), ReplayError> {
        self.namespace.apply(record.txid, &record.op)?;
        let key = record.rpc.client_id.and_then(|id| CallKey::new(&id, record.rpc.call_id));
        if let Some(key) = key
            && let Some(answer) = self.answer(record.op)
        {
            self.retries.put(key, answer, self.now.mono_ms);
        }
        Ok(())
    }
}

/// Takes image and edits into a namespace that serves nobody.
pub(crate) struct CheckpointLoader<'a> {
    pub(crate) namespace: &'a mut Namespace,
    pub(crate) now: Now,
    /// As [`Loader::has_rollback_image`].
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

fn load_image(
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
