//! Extended attributes.

use crate::call_error::CallError;
use crate::rpc::answer::{Call, RpcResult};
use crate::rpc::service::Method;
use crate::service::Answer;
use zerohop_namespace::XAttr;
use zerohop_proto::hdfs::{
    GetXAttrsRequestProto, GetXAttrsResponseProto, ListXAttrsRequestProto, ListXAttrsResponseProto,
    RemoveXAttrRequestProto, RemoveXAttrResponseProto, SetXAttrRequestProto, SetXAttrResponseProto,
    XAttrProto, XAttrSetFlagProto,
};
use zerohop_transport::rpc::server::Reply;
use zerohop_wire::JavaException;

pub(super) const METHODS: &[Method] =
    &[("setXAttr", set), ("getXAttrs", get), ("listXAttrs", list), ("removeXAttr", remove)];

fn required(xattr: Option<XAttrProto>) -> RpcResult<XAttr> {
    let missing = || JavaException::HadoopIllegalArgument.with("an extended attribute is required");
    xattr.map(XAttr::from).ok_or_else(missing)
}

fn set(call: Call<'_>) -> Reply {
    call.serve(|service, q: SetXAttrRequestProto| {
        let has = |flag: XAttrSetFlagProto| q.flag.unwrap_or(0) & flag as u32 != 0;
        let (create, replace) =
            (has(XAttrSetFlagProto::XattrCreate), has(XAttrSetFlagProto::XattrReplace));
        match required(q.x_attr) {
            Err(error) => Answer::Ready(Err(CallError::Request(error))),
            Ok(xattr) => service
                .xattrs()
                .set_xattr(&q.src, xattr, create, replace)
                .map(|()| SetXAttrResponseProto {}),
        }
    })
}

fn get(call: Call<'_>) -> Reply {
    call.serve(|service, q: GetXAttrsRequestProto| {
        let names: Vec<XAttr> = q.x_attrs.into_iter().map(XAttr::from).collect();
        service.xattrs().get_xattrs(&q.src, &names).map(|found| GetXAttrsResponseProto {
            x_attrs: found.iter().map(XAttrProto::from).collect(),
        })
    })
}

fn list(call: Call<'_>) -> Reply {
    call.serve(|service, q: ListXAttrsRequestProto| {
        service.xattrs().list_xattrs(&q.src).map(|found| ListXAttrsResponseProto {
            x_attrs: found.iter().map(XAttrProto::from).collect(),
        })
    })
}

fn remove(call: Call<'_>) -> Reply {
    call.serve(|service, q: RemoveXAttrRequestProto| match required(q.x_attr) {
        Err(error) => Answer::Ready(Err(CallError::Request(error))),
        Ok(xattr) => {
            service.xattrs().remove_xattr(&q.src, &xattr).map(|()| RemoveXAttrResponseProto {})
        }
    })
}
