//! Calls of readers and writers. Their paths were checked when the file was opened.

use super::proxy::NameNode;
use crate::error::{Error, Result};
use crate::types::{
    AppendOptions, CreateOptions, DatanodeInfo, FileStatus, LocatedBlock, LocatedBlocks, Replica,
};
use bytes::Bytes;
use zerohop_proto::hdfs::*;
use zerohop_wire::ExtendedBlock;

/// What a created file has that the options left open.
pub(crate) struct NewFile<'a> {
    pub(crate) src: &'a str,
    pub(crate) client_name: &'a str,
    pub(crate) umask: u16,
    pub(crate) replication: u16,
    pub(crate) block_size: u64,
}

/// A file, and the client that writes it.
#[derive(Clone, Copy)]
pub(crate) struct Writing<'a> {
    pub(crate) src: &'a str,
    pub(crate) file_id: u64,
    pub(crate) client_name: &'a str,
}

/// A page of a listing.
pub(crate) struct Listing {
    pub(crate) entries: Vec<FileStatus>,
    /// The next page begins after this name; `None` where there is none.
    pub(crate) next: Option<Bytes>,
    /// Number of entries after this page.
    pub(crate) remaining: u32,
}

impl NameNode {
    pub(crate) async fn create(
        &self,
        file: NewFile<'_>,
        options: &CreateOptions,
    ) -> Result<FileStatus> {
        let mut flags = CreateFlagProto::Create as u32;
        let mut add = |wanted: bool, flag: CreateFlagProto| {
            if wanted {
                flags |= flag as u32;
            }
        };
        add(options.overwrite, CreateFlagProto::Overwrite);
        add(options.lazy_persist, CreateFlagProto::LazyPersist);
        add(options.should_replicate, CreateFlagProto::ShouldReplicate);
        let (masked, unmasked) = match options.unmasked_permission {
            None => (options.permission & !file.umask, options.permission),
            Some(unmasked) => (options.permission, unmasked),
        };
        let request = CreateRequestProto {
            src: file.src.to_owned(),
            masked: FsPermissionProto { perm: u32::from(masked) },
            client_name: file.client_name.to_owned(),
            create_flag: flags,
            create_parent: options.create_parent,
            replication: u32::from(file.replication),
            block_size: file.block_size,
            crypto_protocol_version: Vec::new(),
            unmasked: Some(FsPermissionProto { perm: u32::from(unmasked) }),
            ec_policy_name: options.erasure_policy.clone(),
            storage_policy: options.storage_policy.clone(),
        };
        let response: CreateResponseProto = self.call("create", &request).await?;
        let status = response.fs.ok_or_else(|| Error::plain("the NameNode made no file"))?;
        Ok(FileStatus::from_proto(status, file.src))
    }

    /// The status, and the last block if it is not full.
    pub(crate) async fn append(
        &self,
        src: &str,
        client_name: &str,
        options: &AppendOptions,
    ) -> Result<(Option<LocatedBlock>, FileStatus)> {
        let new_block = if options.new_block { CreateFlagProto::NewBlock as u32 } else { 0 };
        let request = AppendRequestProto {
            src: src.to_owned(),
            client_name: client_name.to_owned(),
            flag: Some(CreateFlagProto::Append as u32 | new_block),
        };
        let response: AppendResponseProto = self.call("append", &request).await?;
        let status = match response.stat {
            Some(status) => FileStatus::from_proto(status, src),
            None => self
                .status(src)
                .await?
                .ok_or_else(|| Error::plain(format!("File does not exist: {src}")))?,
        };
        Ok((response.block.map(Into::into), status))
    }

    pub(crate) async fn add_block(
        &self,
        file: Writing<'_>,
        previous: Option<&ExtendedBlock>,
        excluded: &[DatanodeInfo],
        favored: &[String],
        flags: &[AddBlockFlagProto],
    ) -> Result<LocatedBlock> {
        let request = AddBlockRequestProto {
            src: file.src.to_owned(),
            client_name: file.client_name.to_owned(),
            previous: previous.map(Into::into),
            exclude_nodes: excluded.iter().map(|node| node.proto().clone()).collect(),
            file_id: Some(file.file_id),
            favored_nodes: favored.to_vec(),
            flags: flags.iter().map(|flag| i32::from(*flag)).collect(),
        };
        let response: AddBlockResponseProto = self.call("addBlock", &request).await?;
        Ok(response.block.into())
    }

    pub(crate) async fn abandon_block(
        &self,
        file: Writing<'_>,
        block: &ExtendedBlock,
    ) -> Result<()> {
        let request = AbandonBlockRequestProto {
            b: block.into(),
            src: file.src.to_owned(),
            holder: file.client_name.to_owned(),
            file_id: Some(file.file_id),
        };
        let _: AbandonBlockResponseProto = self.call("abandonBlock", &request).await?;
        Ok(())
    }

    pub(crate) async fn additional_datanode(
        &self,
        file: Writing<'_>,
        block: &ExtendedBlock,
        existing: &[Replica],
        excluded: &[DatanodeInfo],
    ) -> Result<LocatedBlock> {
        let request = GetAdditionalDatanodeRequestProto {
            src: file.src.to_owned(),
            blk: block.into(),
            existings: existing.iter().map(|r| r.node.proto().clone()).collect(),
            excludes: excluded.iter().map(|node| node.proto().clone()).collect(),
            num_additional_nodes: 1,
            client_name: file.client_name.to_owned(),
            existing_storage_uuids: existing.iter().map(|r| r.storage_id.clone()).collect(),
            file_id: Some(file.file_id),
        };
        let response: GetAdditionalDatanodeResponseProto =
            self.call("getAdditionalDatanode", &request).await?;
        Ok(response.block.into())
    }

    pub(crate) async fn complete(
        &self,
        file: Writing<'_>,
        last: Option<&ExtendedBlock>,
    ) -> Result<bool> {
        let request = CompleteRequestProto {
            src: file.src.to_owned(),
            client_name: file.client_name.to_owned(),
            last: last.map(Into::into),
            file_id: Some(file.file_id),
        };
        let response: CompleteResponseProto = self.call("complete", &request).await?;
        Ok(response.result)
    }

    /// `last_block_len` is the length to make known; `None` only makes the block list durable.
    pub(crate) async fn fsync(&self, file: Writing<'_>, last_block_len: Option<u64>) -> Result<()> {
        let request = FsyncRequestProto {
            src: file.src.to_owned(),
            client: file.client_name.to_owned(),
            last_block_length: Some(last_block_len.map_or(-1, |len| len as i64)),
            file_id: Some(file.file_id),
        };
        let _: FsyncResponseProto = self.call("fsync", &request).await?;
        Ok(())
    }

    /// The block with a new generation stamp.
    pub(crate) async fn update_block_for_pipeline(
        &self,
        block: &ExtendedBlock,
        client_name: &str,
    ) -> Result<LocatedBlock> {
        let request = UpdateBlockForPipelineRequestProto {
            block: block.into(),
            client_name: client_name.to_owned(),
        };
        let response: UpdateBlockForPipelineResponseProto =
            self.call("updateBlockForPipeline", &request).await?;
        Ok(response.block.into())
    }

    pub(crate) async fn update_pipeline(
        &self,
        client_name: &str,
        old: &ExtendedBlock,
        new: &ExtendedBlock,
        nodes: &[Replica],
    ) -> Result<()> {
        let request = UpdatePipelineRequestProto {
            client_name: client_name.to_owned(),
            old_block: old.into(),
            new_block: new.into(),
            new_nodes: nodes.iter().map(|r| r.node.proto().id.clone()).collect(),
            storage_i_ds: nodes.iter().map(|r| r.storage_id.clone()).collect(),
        };
        let _: UpdatePipelineResponseProto = self.call("updatePipeline", &request).await?;
        Ok(())
    }

    pub(crate) async fn renew_lease(&self, client_name: &str) -> Result<()> {
        let request =
            RenewLeaseRequestProto { client_name: client_name.to_owned(), namespaces: Vec::new() };
        let _: RenewLeaseResponseProto = self.call("renewLease", &request).await?;
        Ok(())
    }

    pub(crate) async fn recover_lease(&self, src: &str, client_name: &str) -> Result<bool> {
        let request =
            RecoverLeaseRequestProto { src: src.to_owned(), client_name: client_name.to_owned() };
        let response: RecoverLeaseResponseProto = self.call("recoverLease", &request).await?;
        Ok(response.result)
    }

    pub(crate) async fn report_bad_blocks(&self, blocks: Vec<LocatedBlock>) -> Result<()> {
        let request = ReportBadBlocksRequestProto {
            blocks: blocks.iter().map(LocatedBlock::to_proto).collect(),
        };
        let _: ReportBadBlocksResponseProto = self.call("reportBadBlocks", &request).await?;
        Ok(())
    }

    pub(crate) async fn status(&self, src: &str) -> Result<Option<FileStatus>> {
        let request = GetFileInfoRequestProto { src: src.to_owned() };
        let response: GetFileInfoResponseProto = self.call("getFileInfo", &request).await?;
        Ok(response.fs.map(|fs| FileStatus::from_proto(fs, src)))
    }

    /// A page of at most `dfs.ls.limit` names; `None` where the path does not exist.
    pub(crate) async fn listing(
        &self,
        src: &str,
        start_after: Bytes,
        need_location: bool,
    ) -> Result<Option<Listing>> {
        let request = GetListingRequestProto { src: src.to_owned(), start_after, need_location };
        let response: GetListingResponseProto = self.call("getListing", &request).await?;
        Ok(response.dir_list.map(|list| {
            let last = list.partial_listing.last().map(|entry| entry.path.clone());
            let entries = list.partial_listing.into_iter();
            Listing {
                entries: entries.map(|entry| FileStatus::from_proto(entry, src)).collect(),
                next: last.filter(|_| list.remaining_entries > 0),
                remaining: list.remaining_entries,
            }
        }))
    }

    pub(crate) async fn block_locations(
        &self,
        src: &str,
        offset: u64,
        length: u64,
    ) -> Result<Option<LocatedBlocks>> {
        let request = GetBlockLocationsRequestProto { src: src.to_owned(), offset, length };
        let response: GetBlockLocationsResponseProto =
            self.call("getBlockLocations", &request).await?;
        Ok(response.locations.map(Into::into))
    }
}
