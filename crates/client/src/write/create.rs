//! Making a file, as the options and the configuration say.

use crate::client::Client;
use crate::error::{Error, ErrorKind, Result};
use crate::namenode::NewFile;
use crate::types::{CreateOptions, FileStatus};
use zerohop_proto::hdfs::AddBlockFlagProto;
use zerohop_wire::JavaException;

/// Times a create is repeated because the file's encryption zone changed (`CREATE_RETRY_COUNT`).
const CREATE_RETRIES: usize = 10;

/// Has the NameNode make the file.
pub(super) async fn create_file(
    client: &Client,
    src: &str,
    options: &CreateOptions,
    block_size: u64,
) -> Result<FileStatus> {
    let mut left = CREATE_RETRIES;
    loop {
        let file = NewFile {
            src,
            client_name: &client.name,
            umask: client.settings.umask,
            replication: options.replication.unwrap_or(client.settings.replication),
            block_size,
        };
        match client.namenode.create(file, options).await {
            Err(error)
                if error.remote_kind() == Some(JavaException::RetryStartFile) && left > 0 =>
            {
                left -= 1;
            }
            result => return result,
        }
    }
}

/// The flags of each request for a new block.
pub(super) fn block_flags(options: &CreateOptions) -> Vec<AddBlockFlagProto> {
    let mut flags = Vec::new();
    if options.no_local_write {
        flags.push(AddBlockFlagProto::NoLocalWrite);
    }
    if options.ignore_client_locality {
        flags.push(AddBlockFlagProto::IgnoreClientLocality);
    }
    flags
}

/// Refuses to write plain bytes where the file wants something else.
pub(super) fn reject_unsupported(src: &str, status: &FileStatus) -> Result<()> {
    let what = if status.erasure_policy.is_some() {
        "erasure coded"
    } else if status.is_encrypted {
        "encrypted"
    } else {
        return Ok(());
    };
    Err(Error::new(ErrorKind::Unsupported, format!("{src}: {what} files cannot be written yet")))
}
