//! What an image or a log may tell of and nothing here obeys. Going on without it would lose it, or give wrong data, so
//! it is refused by name.

use crate::Result;
use crate::answers::{XAttr, XAttrNamespace};
use crate::error::{Unsupported, refuse};

/// Names of the space `raw` that begin so belong to encryption zones: the zone's keys, and each file's.
const ENCRYPTION: &str = "hdfs.crypto.";

/// The policy of a directory, in the space `system`: new files in it are erasure-coded.
const ERASURE_CODING: &str = "hdfs.erasurecoding.policy";

/// The name that stands for no policy: files in the directory are replicated.
const REPLICATION: &[u8] = b"replication";

/// The feature that an attribute turns on for its file or directory, if nothing here obeys it.
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

/// Refuses attributes that turn on what is not supported; `what` has them.
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
