//! Features that an image or edit log may contain but this NameNode does not support. Ignoring them would lose them or
//! return wrong data, so they are refused by name.

use crate::Result;
use crate::answers::{XAttr, XAttrNamespace};
use crate::error::{Unsupported, refuse};

/// Prefix of the `raw` attributes of encryption zones: the zone's keys, and each file's.
const ENCRYPTION: &str = "hdfs.crypto.";

/// The `system` attribute with the erasure-coding policy of a directory.
const ERASURE_CODING: &str = "hdfs.erasurecoding.policy";

/// The policy with which files in the directory are replicated.
const REPLICATION: &[u8] = b"replication";

/// The unsupported feature that an attribute turns on for its file or directory.
pub(crate) fn feature_of(xattr: &XAttr) -> Option<&'static str> {
    match xattr.namespace {
        XAttrNamespace::Raw if xattr.name.starts_with(ENCRYPTION) => Some("encryption zones"),
        XAttrNamespace::System if &*xattr.name == ERASURE_CODING && !is_replication(xattr) => {
            Some("erasure coding")
        }
        _ => None,
    }
}

/// Whether the policy, its name behind four bytes of length, is the one of replication.
fn is_replication(xattr: &XAttr) -> bool {
    xattr.value.as_deref().and_then(|value| value.get(4..)) == Some(REPLICATION)
}

/// Refuses attributes that turn on unsupported features; `what` names the path or inode with them.
pub(crate) fn check_xattrs(xattrs: &[XAttr], what: &str) -> Result<()> {
    match xattrs.iter().find_map(feature_of) {
        Some(feature) => refuse(Unsupported::Edit { what: what.to_owned(), feature }),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_that_are_not_obeyed() {
        let feature = |namespace, name: &str, value: &'static [u8]| {
            feature_of(&XAttr { namespace, name: name.into(), value: Some(value.into()) })
        };
        let (raw, system) = (XAttrNamespace::Raw, XAttrNamespace::System);
        assert_eq!(feature(raw, "hdfs.crypto.encryption.zone", b""), Some("encryption zones"));
        assert_eq!(feature(raw, "hdfs.crypto.file.encryption.info", b""), Some("encryption zones"));
        assert_eq!(feature(raw, "mine", b""), None);
        assert_eq!(feature(XAttrNamespace::User, "hdfs.crypto.encryption.zone", b""), None);
        let policy = "hdfs.erasurecoding.policy";
        assert_eq!(feature(system, policy, b"\0\0\0\x0bRS-6-3-1024k"), Some("erasure coding"));
        assert_eq!(feature(system, policy, b"\0\0\0\x0breplication"), None);
        assert_eq!(feature(system, policy, b""), Some("erasure coding"));
    }
}
