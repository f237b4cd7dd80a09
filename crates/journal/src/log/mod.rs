//! Where edits are written to and read from.
//!
//! A [`Journal`] keeps a copy of the edit log: a local directory ([`DirectoryJournal`]), later a quorum of JournalNodes. The
//! NameNode writes the same records to each of its journals. Every journal is also an [`EditSource`]: it gives the edits
//! back, at the NameNode's start, for a checkpoint, or to a standby that follows another NameNode.
//!
//! ```text
//! recover_unfinalized_segments -> start_segment -> append, append, ... -> finalize
//!                                                                     \-> dropped: stays in progress, to be recovered
//! ```

mod completion;
mod cursor;
mod directory;
mod purge;
mod recover;
mod source;
mod stream;
mod writer;

pub use completion::{Completer, Completion};
pub use cursor::EditCursor;
pub use directory::DirectoryJournal;
pub use source::{EditSource, EditStream, Selection};
pub use writer::{Batch, Journal, OpenSegment, Recovery};
