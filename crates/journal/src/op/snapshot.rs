//! Operations on snapshots.

use super::field::{Body, Result, plain_ops};
use crate::codec::{Reader, Writer};

plain_ops! {
    /// A directory may have snapshots.
    AllowSnapshot {
        /// The directory.
        root: String,
    }

    /// A directory may not have snapshots any more.
    DisallowSnapshot {
        /// The directory.
        root: String,
    }
}

/// Snapshot operations end with a time since layout -66; before, it is 0.
fn put_mtime(mtime_ms: i64, out: &mut Writer<'_>) {
    if out.layout().has_snapshot_mtime() {
        out.i64(mtime_ms);
    }
}

fn get_mtime(from: &mut Reader<'_>) -> Result<i64> {
    if from.layout().has_snapshot_mtime() { from.i64() } else { Ok(0) }
}

macro_rules! snapshot_ops {
    ($($(#[$doc:meta])* $name:ident { $($(#[$field_doc:meta])* $field:ident,)* })*) => {
        $($(#[$doc])*
        #[derive(Clone, Debug, PartialEq)]
        pub struct $name {
            $($(#[$field_doc])* pub $field: String,)*
            /// When, ms since the epoch; 0 in logs older than layout -66.
            pub mtime_ms: i64,
        }

        impl Body for $name {
            const RPC_IDS: bool = true;

            fn put(&self, out: &mut Writer<'_>) {
                $(out.utf8(&self.$field);)*
                put_mtime(self.mtime_ms, out);
            }

            fn get(from: &mut Reader<'_>) -> Result<Self> {
                Ok(Self { $($field: from.utf8()?,)* mtime_ms: get_mtime(from)? })
            }
        })*
    };
}

snapshot_ops! {
    /// A snapshot was taken.
    CreateSnapshot {
        /// The directory.
        root,
        /// The snapshot's name.
        name,
    }

    /// A snapshot was deleted.
    DeleteSnapshot {
        /// The directory.
        root,
        /// The snapshot's name.
        name,
    }

    /// A snapshot got another name.
    RenameSnapshot {
        /// The directory.
        root,
        /// The name before.
        old_name,
        /// The name after.
        new_name,
    }
}
