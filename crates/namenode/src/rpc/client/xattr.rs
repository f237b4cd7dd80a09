//! Extended attributes.

use crate::audit::Line;
use crate::convert;
use crate::rpc::answer::Call;
use zerohop_proto::hdfs::{
    GetXAttrsRequestProto, GetXAttrsResponseProto, ListXAttrsRequestProto, ListXAttrsResponseProto,
    RemoveXAttrRequestProto, RemoveXAttrResponseProto, SetXAttrRequestProto, SetXAttrResponseProto,
    XAttrProto, XAttrSetFlagProto,
};
use zerohop_transport::rpc::server::Reply;
use zerohop_wire::{JavaException, RemoteException};

fn named(attr: &Option<XAttrProto>) -> Result<zerohop_namespace::XAttr, RemoteException> {
    let missing = || JavaException::HadoopIllegalArgument.with("an extended attribute is required");
    attr.clone().map(convert::xattr).ok_or_else(missing)
}

pub(super) fn set(call: Call<'_>) -> Reply {
    call.write_once(
        |q: &SetXAttrRequestProto| Line::path("setXAttr", &q.src),
        |namespace, op, q| {
            let has = |flag: XAttrSetFlagProto| q.flag.unwrap_or(0) & flag as u32 != 0;
            let (create, replace) =
                (has(XAttrSetFlagProto::XattrCreate), has(XAttrSetFlagProto::XattrReplace));
            namespace.set_xattr(op, &q.src, named(&q.x_attr)?, create, replace)?;
            Ok(SetXAttrResponseProto {})
        },
    )
}

pub(super) fn get(call: Call<'_>) -> Reply {
    call.read(
        |q: &GetXAttrsRequestProto| Line::path("getXAttrs", &q.src),
        |namespace, op, q| {
            let found = namespace.get_xattrs(op, &q.src, &convert::xattrs(q.x_attrs.clone()))?;
            Ok(GetXAttrsResponseProto {
                x_attrs: found.into_iter().map(convert::xattr_proto).collect(),
            })
        },
    )
}

pub(super) fn list(call: Call<'_>) -> Reply {
    call.read(
        |q: &ListXAttrsRequestProto| Line::path("listXAttrs", &q.src),
        |namespace, op, q| {
            let found = namespace.list_xattrs(op, &q.src)?;
            Ok(ListXAttrsResponseProto {
                x_attrs: found.into_iter().map(convert::xattr_proto).collect(),
            })
        },
    )
}

pub(super) fn remove(call: Call<'_>) -> Reply {
    call.write_once(
        |q: &RemoveXAttrRequestProto| Line::path("removeXAttr", &q.src),
        |namespace, op, q| {
            namespace.remove_xattr(op, &q.src, &named(&q.x_attr)?)?;
            Ok(RemoveXAttrResponseProto {})
        },
    )
}
