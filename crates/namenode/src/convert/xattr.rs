//! Extended attributes.

use zerohop_namespace::{XAttr, XAttrNamespace};
use zerohop_proto::hdfs::XAttrProto;
use zerohop_proto::hdfs::x_attr_proto::XAttrNamespaceProto;

pub(crate) fn xattr(attr: XAttrProto) -> XAttr {
    XAttr {
        namespace: match attr.namespace() {
            XAttrNamespaceProto::User => XAttrNamespace::User,
            XAttrNamespaceProto::Trusted => XAttrNamespace::Trusted,
            XAttrNamespaceProto::Security => XAttrNamespace::Security,
            XAttrNamespaceProto::System => XAttrNamespace::System,
            XAttrNamespaceProto::Raw => XAttrNamespace::Raw,
        },
        name: attr.name.into(),
        value: attr.value,
    }
}

pub(crate) fn xattrs(attrs: Vec<XAttrProto>) -> Vec<XAttr> {
    attrs.into_iter().map(xattr).collect()
}

pub(crate) fn xattr_proto(attr: XAttr) -> XAttrProto {
    XAttrProto { namespace: attr.namespace as i32, name: attr.name.to_string(), value: attr.value }
}
