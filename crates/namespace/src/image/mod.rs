//! Saves the namespace as sections of an fsimage, and loads it.
//!
//! Sections of unsupported features (snapshots, tokens) are written empty or left out, as Apache's readers allow;
//! images that use them are refused.

mod cache;
mod decode;
mod load;
mod names;
mod pipeline;
mod save;
mod slices;

pub(crate) use load::ImageLoader;
pub(crate) use save::ImageSaver;

use zerohop_wire::TxId;

/// What an image contains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ImageInfo {
    /// The namespace's id, as in VERSION.
    pub namespace_id: u32,
    /// The last transaction in it.
    pub txid: TxId,
}
