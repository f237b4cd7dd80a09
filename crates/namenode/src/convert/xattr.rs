//! Extended attributes.

use zerohop_namespace::XAttr;
use zerohop_proto::hdfs::XAttrProto;

pub(crate) fn xattr(attr: XAttrProto) -> XAttr {
    XAttr { namespace: attr.namespace().into(), name: attr.name.into(), value: attr.value }
}

pub(crate) fn xattrs(attrs: Vec<XAttrProto>) -> Vec<XAttr> {
    attrs.into_iter().map(xattr).collect()
}

pub(crate) fn xattr_proto(attr: XAttr) -> XAttrProto {
    XAttrProto { namespace: attr.namespace as i32, name: attr.name.to_string(), value: attr.value }
}
