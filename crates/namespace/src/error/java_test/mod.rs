//! Apache's programs and ours tell refusals apart by their classes, and people read their texts: both are kept to the letter.

mod access;
mod attributes;
mod blocks;
mod limits;
mod paths;

use super::{Error, Result};
use zerohop_wire::{Block, BlockId, GenerationStamp, JavaException, RemoteException};

fn block(id: i64, len: u64, stamp: i64) -> Block {
    Block { id: BlockId(id), len, stamp: GenerationStamp(stamp) }
}

fn path() -> String {
    "/d/f".to_owned()
}

/// Checks refusals of one exception, each with its text.
fn check<const N: usize>(exception: JavaException, cases: [(Error, &str); N]) {
    for (error, text) in cases {
        let kind = format!("{error:?}");
        assert_eq!(RemoteException::from(error), exception.with(text), "{kind}");
    }
}

/// Every function passes results on, and errors are rare.
#[test]
fn an_error_is_small() {
    assert!(size_of::<Error>() <= 16, "{}", size_of::<Error>());
    assert!(size_of::<Result<()>>() <= 16);
}
