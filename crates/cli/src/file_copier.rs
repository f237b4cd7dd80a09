//! What `fsck -move` at our NameNode copies files with: our client.

use std::io::Write;
use std::ops::Range;
use std::sync::Arc;

use zerohop_client::blocking::{FileReader, FileSystem, FileWriter};
use zerohop_client::{CreateOptions, User};
use zerohop_conf::Conf;
use zerohop_namenode::{CopyError, FileCopier, NameNode};

/// Bytes copied in one go.
const PIECE: usize = 1 << 20;

struct ByClient {
    conf: Conf,
    uri: String,
}

/// Lets a NameNode of this process copy files through its own front door.
pub fn offer(node: &NameNode, conf: &Conf) {
    let uri = format!("hdfs://{}", node.rpc_addr());
    node.copy_files_with(Arc::new(ByClient { conf: conf.clone(), uri }));
}

impl FileCopier for ByClient {
    fn copy(
        &self,
        user: &str,
        from: &str,
        to: &str,
        pieces: &[Range<u64>],
    ) -> Result<(), CopyError> {
        let mut copied = 0;
        let done = self.open(user, from, to).and_then(|(reader, mut writer)| {
            let result = pieces.iter().try_for_each(|piece| {
                copy(&reader, &mut writer, piece.clone())?;
                copied += 1;
                Ok(())
            });
            // What was copied stays, so the file is closed in any case.
            let closed = writer.close().map_err(std::io::Error::other);
            result.and(closed)
        });
        done.map_err(|error| CopyError { copied, reason: error.to_string() })
    }
}

impl ByClient {
    fn open(&self, user: &str, from: &str, to: &str) -> std::io::Result<(FileReader, FileWriter)> {
        let open = || {
            let fs = FileSystem::connect_as(&self.conf, Some(&self.uri), User::new(user))?;
            Ok((fs.open(from)?, fs.create(to, CreateOptions::overwriting())?))
        };
        open().map_err(|error: zerohop_client::Error| std::io::Error::other(error))
    }
}

fn copy(
    reader: &FileReader,
    writer: &mut FileWriter,
    mut piece: Range<u64>,
) -> std::io::Result<()> {
    let mut buffer = vec![0; PIECE];
    while !piece.is_empty() {
        let len = usize::try_from(piece.end - piece.start).unwrap_or(PIECE).min(PIECE);
        let part = buffer.get_mut(..len).unwrap_or_default();
        reader.read_exact_at(piece.start, part).map_err(std::io::Error::other)?;
        writer.write_all(part)?;
        piece.start += len as u64;
    }
    Ok(())
}
