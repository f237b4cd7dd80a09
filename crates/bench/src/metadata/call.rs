//! The calls of one connection.

use crate::measure::Latencies;
use std::time::Instant;
use zerohop_proto::hdfs::{
    CompleteRequestProto, CompleteResponseProto, CreateRequestProto, CreateResponseProto,
    DeleteRequestProto, DeleteResponseProto, FsPermissionProto, GetBlockLocationsRequestProto,
    GetBlockLocationsResponseProto, GetFileInfoRequestProto, GetFileInfoResponseProto,
    MkdirsRequestProto, MkdirsResponseProto, RenameRequestProto, RenameResponseProto,
};
use zerohop_transport::rpc::RpcError;
use zerohop_transport::rpc::client::SerialClient;

const CLIENT_NAME: &str = "DFSClient_zerohop-bench";
/// CREATE, of `CreateFlagProto`.
const CREATE: u32 = 1;
/// Names in one directory.
const DIRECTORY_LEN: usize = 100;

/// A kind of operation; each works on what the ones before it made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Makes a directory.
    Mkdirs,
    /// Makes an empty file: create, then complete; two calls.
    Create,
    /// Asks for a file's blocks, as opening it does.
    Open,
    /// Asks for a file's status.
    Status,
    /// Renames a file within its directory.
    Rename,
    /// Deletes a file.
    Delete,
}

impl Operation {
    /// All kinds, in the order they must run.
    pub const ALL: [Operation; 6] = [
        Operation::Mkdirs,
        Operation::Create,
        Operation::Open,
        Operation::Status,
        Operation::Rename,
        Operation::Delete,
    ];

    /// Its name in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Operation::Mkdirs => "mkdirs",
            Operation::Create => "create + complete",
            Operation::Open => "open",
            Operation::Status => "status",
            Operation::Rename => "rename",
            Operation::Delete => "delete",
        }
    }
}

/// One connection's share of the load, in a directory of its own.
pub(super) struct Worker {
    client: SerialClient,
    directory: String,
}

impl Worker {
    pub(super) fn new(client: SerialClient, directory: String) -> Self {
        Self { client, directory }
    }

    /// From now on in another directory.
    pub(super) fn move_to(&mut self, directory: String) {
        self.directory = directory;
    }

    /// Runs `count` operations, one after the other.
    pub(super) async fn run(
        &mut self,
        operation: Operation,
        count: usize,
    ) -> Result<Latencies, RpcError> {
        let mut latencies = Latencies::default();
        for number in 0..count {
            let start = Instant::now();
            self.one(operation, number).await?;
            latencies.add(start.elapsed());
        }
        Ok(latencies)
    }

    async fn one(&mut self, operation: Operation, number: usize) -> Result<(), RpcError> {
        let fresh = self.path("f", number);
        match operation {
            Operation::Mkdirs => self.mkdirs(self.path("d", number)).await,
            Operation::Create => self.create(fresh).await,
            Operation::Open => self.open(fresh).await,
            Operation::Status => self.status(fresh).await,
            Operation::Rename => self.rename(fresh, self.path("r", number)).await,
            Operation::Delete => self.delete(self.path("r", number), false).await,
        }
    }

    fn path(&self, kind: &str, number: usize) -> String {
        format!("{}/{}/{kind}{number}", self.directory, number / DIRECTORY_LEN)
    }

    pub(super) async fn remove_directory(&mut self) -> Result<(), RpcError> {
        self.delete(self.directory.clone(), true).await
    }

    /// A call that did nothing would make the figures lie.
    fn expect(&self, done: bool, method: &str) -> Result<(), RpcError> {
        if done {
            return Ok(());
        }
        let addr = self.client.addr().to_owned();
        Err(RpcError::Protocol {
            addr,
            reason: format!("{method} in {} did nothing", self.directory),
        })
    }

    async fn mkdirs(&mut self, src: String) -> Result<(), RpcError> {
        let masked = FsPermissionProto { perm: 0o755 };
        let request = MkdirsRequestProto { src, masked, create_parent: true, unmasked: None };
        let done: MkdirsResponseProto = self.client.call("mkdirs", &request).await?;
        self.expect(done.result, "mkdirs")
    }

    async fn create(&mut self, src: String) -> Result<(), RpcError> {
        let request = CreateRequestProto {
            src: src.clone(),
            masked: FsPermissionProto { perm: 0o644 },
            client_name: CLIENT_NAME.to_owned(),
            create_flag: CREATE,
            create_parent: true,
            replication: 1,
            block_size: 128 << 20,
            ..Default::default()
        };
        let made: CreateResponseProto = self.client.call("create", &request).await?;
        let file_id = made.fs.and_then(|status| status.file_id);
        let client_name = CLIENT_NAME.to_owned();
        let request = CompleteRequestProto { src, client_name, last: None, file_id };
        let done: CompleteResponseProto = self.client.call("complete", &request).await?;
        self.expect(done.result, "complete")
    }

    async fn open(&mut self, src: String) -> Result<(), RpcError> {
        let request = GetBlockLocationsRequestProto { src, offset: 0, length: u64::MAX >> 1 };
        let _: GetBlockLocationsResponseProto =
            self.client.call("getBlockLocations", &request).await?;
        Ok(())
    }

    async fn status(&mut self, src: String) -> Result<(), RpcError> {
        let request = GetFileInfoRequestProto { src };
        let _: GetFileInfoResponseProto = self.client.call("getFileInfo", &request).await?;
        Ok(())
    }

    async fn rename(&mut self, src: String, dst: String) -> Result<(), RpcError> {
        let request = RenameRequestProto { src, dst };
        let done: RenameResponseProto = self.client.call("rename", &request).await?;
        self.expect(done.result, "rename")
    }

    async fn delete(&mut self, src: String, recursive: bool) -> Result<(), RpcError> {
        let request = DeleteRequestProto { src, recursive };
        let done: DeleteResponseProto = self.client.call("delete", &request).await?;
        self.expect(done.result, "delete")
    }
}
