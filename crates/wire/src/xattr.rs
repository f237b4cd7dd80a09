//! Extended attributes.

use crate::file_types::XAttrNamespace;
use bytes::Bytes;
use std::sync::Arc;
use zerohop_proto::hdfs::XAttrProto;

/// An extended attribute.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct XAttr {
    /// The namespace.
    pub namespace: XAttrNamespace,
    /// The name without its namespace.
    pub name: Arc<str>,
    /// The value, where it has one; a request for an attribute or its removal brings none.
    pub value: Option<Bytes>,
}

impl XAttr {
    /// The name with its namespace: `user.color`.
    pub fn full_name(&self) -> String {
        format!("{}.{}", self.namespace.prefix(), self.name)
    }

    /// An attribute without a value, by its full name; none if that has no known namespace or nothing behind it.
    pub fn named(full_name: &str) -> Option<Self> {
        let (prefix, name) = full_name.split_once('.').filter(|(_, name)| !name.is_empty())?;
        let namespace = XAttrNamespace::from_prefix(prefix)?;
        Some(Self { namespace, name: name.into(), value: None })
    }
}

impl From<&XAttr> for XAttrProto {
    fn from(xattr: &XAttr) -> Self {
        Self {
            namespace: xattr.namespace as i32,
            name: xattr.name.to_string(),
            value: xattr.value.clone(),
        }
    }
}

impl From<XAttrProto> for XAttr {
    fn from(proto: XAttrProto) -> Self {
        Self {
            namespace: XAttrNamespace::from_number(proto.namespace),
            name: proto.name.into(),
            value: proto.value,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_attribute_has_the_same_name_in_text_and_in_a_message() {
        for name in ["user.color", "trusted.a.b", "system.x", "security.y", "raw.z"] {
            let mut xattr = XAttr::named(name).unwrap();
            for value in [None, Some(Bytes::new()), Some(Bytes::from_static(b"red"))] {
                xattr.value = value;
                assert_eq!(XAttr::from(XAttrProto::from(&xattr)), xattr);
            }
            assert_eq!(xattr.full_name(), name);
        }
        assert_eq!(XAttr::named("USER.a").unwrap().full_name(), "user.a");
        for bad in ["color", "user.", "other.color", ""] {
            assert_eq!(XAttr::named(bad), None, "{bad}");
        }
    }
}
