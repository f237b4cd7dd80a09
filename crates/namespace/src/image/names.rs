//! Names in an image: numbers of a table, with the kind of name in the three highest bits (`SerialNumberManager`).

use crate::views::{AclEntry, AclScope, AclType, XAttr, XAttrNamespace};
use hashbrown::HashMap;
use std::sync::Arc;
use zerohop_proto::hdfs::fsimage::i_node_section::XAttrCompactProto;

/// What a name names; the numbers are the ordinals of Hadoop's managers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NameKind {
    User = 1,
    Group = 2,
    XAttr = 3,
}

/// Bits of a number that say the kind.
pub(super) const MASK_BITS: u32 = 3;

/// Names on their way into an image, numbered from 1 (0 is no name).
#[derive(Default)]
pub(super) struct NameWriter {
    ids: HashMap<(u32, Arc<str>), u32>,
    counts: [u32; 4],
}

impl NameWriter {
    pub(super) fn id(&mut self, kind: NameKind, name: &Arc<str>) -> u32 {
        let next = &mut self.counts[kind as usize];
        *self.ids.entry((kind as u32, name.clone())).or_insert_with(|| {
            *next += 1;
            *next
        })
    }

    /// All numbers with their kind's bits, and the names.
    pub(super) fn entries(&self) -> impl Iterator<Item = (u32, &str)> {
        self.ids.iter().map(|((kind, name), id)| (kind << (32 - MASK_BITS) | id, &**name))
    }

    pub(super) fn len(&self) -> usize {
        self.ids.len()
    }

    pub(super) fn permission(&mut self, user: &Arc<str>, group: &Arc<str>, mode: u16) -> u64 {
        let user = self.id(NameKind::User, user);
        let group = self.id(NameKind::Group, group);
        u64::from(user) << 40 | u64::from(group) << 16 | u64::from(mode)
    }

    /// `name 24 | scope 1 | type 2 | permission 3`
    pub(super) fn acl_entry(&mut self, entry: &AclEntry) -> u32 {
        let name = match (&entry.name, entry.kind) {
            (Some(name), AclType::User) => self.id(NameKind::User, name),
            (Some(name), AclType::Group) => self.id(NameKind::Group, name),
            _ => 0,
        };
        name << 6 | (entry.scope as u32) << 5 | (entry.kind as u32) << 3 | u32::from(entry.perm & 7)
    }

    /// `namespace 2 | name 24 | namespace's third bit 1 | reserved 5`
    pub(super) fn xattr(&mut self, xattr: &XAttr) -> XAttrCompactProto {
        let (name, namespace) = (self.id(NameKind::XAttr, &xattr.name), xattr.namespace as u32);
        let name = (namespace & 3) << 30 | (name & 0xff_ffff) << 6 | (namespace >> 2) << 5;
        XAttrCompactProto { name, value: xattr.value.clone() }
    }
}

/// Names from an image.
#[derive(Default)]
pub(super) struct NameReader {
    pub mask_bits: u32,
    pub names: HashMap<u32, Arc<str>>,
}

impl NameReader {
    /// The name of a number; none for 0 and for numbers the table lacks.
    fn get(&self, kind: NameKind, id: u32) -> Option<Arc<str>> {
        // Images from before layout -65 have one number space for all kinds.
        let mask =
            if self.mask_bits == 0 { 0 } else { (kind as u32).checked_shl(32 - self.mask_bits)? };
        self.names.get(&(id | mask)).cloned()
    }

    pub(super) fn owner(&self, permission: u64) -> (Option<Arc<str>>, Option<Arc<str>>, u16) {
        let user = self.get(NameKind::User, (permission >> 40) as u32);
        let group = self.get(NameKind::Group, (permission >> 16 & 0xff_ffff) as u32);
        (user, group, permission as u16)
    }

    pub(super) fn acl_entry(&self, bits: u32) -> AclEntry {
        let kind = match bits >> 3 & 3 {
            0 => AclType::User,
            1 => AclType::Group,
            2 => AclType::Mask,
            _ => AclType::Other,
        };
        let id = bits >> 6 & 0xff_ffff;
        let name = match kind {
            AclType::User if id != 0 => self.get(NameKind::User, id),
            AclType::Group if id != 0 => self.get(NameKind::Group, id),
            _ => None,
        };
        let scope = if bits >> 5 & 1 == 1 { AclScope::Default } else { AclScope::Access };
        AclEntry { scope, kind, name, perm: (bits & 7) as u8 }
    }

    pub(super) fn xattr(&self, proto: XAttrCompactProto) -> Option<XAttr> {
        let number = proto.name >> 30 | (proto.name >> 5 & 1) << 2;
        let name = self.get(NameKind::XAttr, proto.name >> 6 & 0xff_ffff)?;
        Some(XAttr {
            namespace: XAttrNamespace::from_number(number as i32),
            name,
            value: proto.value,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_come_back_from_their_numbers() {
        let mut writer = NameWriter::default();
        let entry = AclEntry {
            scope: AclScope::Default,
            kind: AclType::Group,
            name: Some("staff".into()),
            perm: 5,
        };
        let xattr = XAttr { namespace: XAttrNamespace::Raw, name: "n".into(), value: None };
        let permission = writer.permission(&"u".into(), &"staff".into(), 0o1755);
        let (acl, compact) = (writer.acl_entry(&entry), writer.xattr(&xattr));
        let names = writer.entries().map(|(id, name)| (id, name.into())).collect();
        let reader = NameReader { mask_bits: MASK_BITS, names };
        assert_eq!(reader.acl_entry(acl), entry);
        assert_eq!(reader.xattr(compact), Some(xattr));
        assert_eq!(reader.owner(permission), (Some("u".into()), Some("staff".into()), 0o1755));
    }
}
