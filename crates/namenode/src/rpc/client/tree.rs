//! Folders, renames, deletions, links.

use crate::audit::Line;
use crate::convert;
use crate::rpc::answer::Call;
use zerohop_namespace::RenameOptions;
use zerohop_proto::hdfs::{
    CreateSymlinkRequestProto, CreateSymlinkResponseProto, DeleteRequestProto, DeleteResponseProto,
    GetLinkTargetRequestProto, GetLinkTargetResponseProto, MkdirsRequestProto, MkdirsResponseProto,
    Rename2RequestProto, Rename2ResponseProto, RenameRequestProto, RenameResponseProto,
};
use zerohop_transport::rpc::server::Reply;

pub(super) fn mkdirs(call: Call<'_>) -> Reply {
    call.write(
        |q: &MkdirsRequestProto| Line::path("mkdirs", &q.src),
        |namespace, op, q| {
            let unmasked = q.unmasked.as_ref().map(convert::mode);
            let result = namespace.mkdirs(
                op,
                &q.src,
                convert::mode(&q.masked),
                unmasked,
                q.create_parent,
            )?;
            Ok(MkdirsResponseProto { result })
        },
    )
}

pub(super) fn rename(call: Call<'_>) -> Reply {
    call.write_once(
        |q: &RenameRequestProto| Line::paths("rename", &q.src, &q.dst),
        |namespace, op, q| {
            Ok(RenameResponseProto { result: namespace.rename(op, &q.src, &q.dst)? })
        },
    )
}

pub(super) fn rename2(call: Call<'_>) -> Reply {
    call.write_once(
        |q: &Rename2RequestProto| Line::paths("rename", &q.src, &q.dst),
        |namespace, op, q| {
            let options = RenameOptions {
                overwrite: q.overwrite_dest,
                to_trash: q.move_to_trash.unwrap_or(false),
            };
            namespace.rename2(op, &q.src, &q.dst, options)?;
            Ok(Rename2ResponseProto {})
        },
    )
}

pub(super) fn delete(call: Call<'_>) -> Reply {
    call.write_once(
        |q: &DeleteRequestProto| Line::path("delete", &q.src),
        |namespace, op, q| {
            Ok(DeleteResponseProto { result: namespace.delete(op, &q.src, q.recursive)? })
        },
    )
}

pub(super) fn create_symlink(call: Call<'_>) -> Reply {
    call.write_once(
        |q: &CreateSymlinkRequestProto| Line::paths("createSymlink", &q.link, &q.target),
        |namespace, op, q| {
            namespace.create_symlink(op, &q.target, &q.link)?;
            Ok(CreateSymlinkResponseProto {})
        },
    )
}

pub(super) fn link_target(call: Call<'_>) -> Reply {
    call.read(
        |q: &GetLinkTargetRequestProto| Line::path("getLinkTarget", &q.path),
        |namespace, op, q| {
            Ok(GetLinkTargetResponseProto {
                target_path: Some(namespace.link_target(op, &q.path)?),
            })
        },
    )
}
