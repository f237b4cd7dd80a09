//! Directories, renames, deletions, links.

use crate::convert;
use crate::rpc::answer::Call;
use crate::rpc::service::Method;
use zerohop_namespace::RenameOptions;
use zerohop_proto::hdfs::{
    CreateSymlinkRequestProto, CreateSymlinkResponseProto, DeleteRequestProto, DeleteResponseProto,
    GetLinkTargetRequestProto, GetLinkTargetResponseProto, MkdirsRequestProto, MkdirsResponseProto,
    Rename2RequestProto, Rename2ResponseProto, RenameRequestProto, RenameResponseProto,
};
use zerohop_transport::rpc::server::Reply;

pub(super) const METHODS: &[Method] = &[
    ("mkdirs", mkdirs),
    ("rename", rename),
    ("rename2", rename2),
    ("delete", delete),
    ("createSymlink", create_symlink),
    ("getLinkTarget", link_target),
];

fn mkdirs(call: Call<'_>) -> Reply {
    call.serve(|service, q: MkdirsRequestProto| {
        let unmasked = q.unmasked.as_ref().map(convert::mode);
        service
            .directories()
            .mkdirs(&q.src, convert::mode(&q.masked), unmasked, q.create_parent)
            .map(|result| MkdirsResponseProto { result })
    })
}

fn rename(call: Call<'_>) -> Reply {
    call.serve(|service, q: RenameRequestProto| {
        service.directories().rename(&q.src, &q.dst).map(|result| RenameResponseProto { result })
    })
}

fn rename2(call: Call<'_>) -> Reply {
    call.serve(|service, q: Rename2RequestProto| {
        let options = RenameOptions {
            overwrite: q.overwrite_dest,
            to_trash: q.move_to_trash.unwrap_or(false),
        };
        service.directories().rename2(&q.src, &q.dst, options).map(|()| Rename2ResponseProto {})
    })
}

fn delete(call: Call<'_>) -> Reply {
    call.serve(|service, q: DeleteRequestProto| {
        service
            .directories()
            .delete(&q.src, q.recursive)
            .map(|result| DeleteResponseProto { result })
    })
}

fn create_symlink(call: Call<'_>) -> Reply {
    call.serve(|service, q: CreateSymlinkRequestProto| {
        service
            .directories()
            .create_symlink(&q.target, &q.link)
            .map(|()| CreateSymlinkResponseProto {})
    })
}

fn link_target(call: Call<'_>) -> Reply {
    call.serve(|service, q: GetLinkTargetRequestProto| {
        service
            .directories()
            .link_target(&q.path)
            .map(|target| GetLinkTargetResponseProto { target_path: Some(target) })
    })
}
