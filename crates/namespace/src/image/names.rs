//! Names in an image: numbers of a table, with the kind of name in the three highest bits (`SerialNumberManager`).

use crate::answers::{AclEntry, AclKind, AclScope, XAttr, XAttrNamespace};
use crate::tree::{Permission, StringId};
use bytes::Bytes;
use hashbrown::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
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

/// The names of an image that is written, numbered from 1 (0 is no name); shared by the threads that encode it.
#[derive(Default)]
pub(super) struct NameTable(Mutex<Numbers>);

#[derive(Default)]
struct Numbers {
    ids: HashMap<(u32, Arc<str>), u32>,
    counts: [u32; 4],
}

/// One thread's access to the table, with a cache of the names it has asked for.
pub(super) struct NameWriter<'t> {
    table: &'t NameTable,
    known: HashMap<(u32, Arc<str>), u32>,
}

impl NameTable {
    fn id(&self, kind: NameKind, name: &Arc<str>) -> u32 {
        // A thread that panicked has left the table consistent.
        let mut numbers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Numbers { ids, counts } = &mut *numbers;
        let next = &mut counts[kind as usize];
        *ids.entry((kind as u32, name.clone())).or_insert_with(|| {
            *next += 1;
            *next
        })
    }

    /// All numbers with their kind's bits, and the names.
    pub(super) fn into_entries(self) -> Vec<(u32, Arc<str>)> {
        let numbers = self.0.into_inner().unwrap_or_else(PoisonError::into_inner);
        let entries = numbers.ids.into_iter();
        entries.map(|((kind, name), id)| (kind << (32 - MASK_BITS) | id, name)).collect()
    }
}

impl<'t> NameWriter<'t> {
    pub(super) fn new(table: &'t NameTable) -> Self {
        Self { table, known: HashMap::new() }
    }

    pub(super) fn id(&mut self, kind: NameKind, name: &Arc<str>) -> u32 {
        let table = self.table;
        let key = (kind as u32, name.clone());
        *self.known.entry(key).or_insert_with(|| table.id(kind, name))
    }

    pub(super) fn permission(&mut self, user: &Arc<str>, group: &Arc<str>, mode: u16) -> u64 {
        let user = self.id(NameKind::User, user);
        let group = self.id(NameKind::Group, group);
        u64::from(user) << 40 | u64::from(group) << 16 | u64::from(mode)
    }

    /// `name 24 | scope 1 | type 2 | permission 3`
    pub(super) fn acl_entry(&mut self, entry: &AclEntry) -> u32 {
        let name = match (&entry.name, entry.kind) {
            (Some(name), AclKind::User) => self.id(NameKind::User, name),
            (Some(name), AclKind::Group) => self.id(NameKind::Group, name),
            _ => 0,
        };
        name << 6
            | (entry.scope as u32) << 5
            | (entry.kind as u32) << 3
            | u32::from(entry.permission & 7)
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
    mask_bits: u32,
    pub names: HashMap<u32, Arc<str>>,
    /// Numbers of the tree's table for users and groups, by those of the image.
    interned: HashMap<u32, StringId>,
    /// That of a user or group that the image does not name.
    unnamed: StringId,
}

impl NameReader {
    pub(super) fn new(mask_bits: u32) -> Self {
        Self { mask_bits, ..Self::default() }
    }

    /// The name of a number; none for 0 and for numbers the table lacks.
    fn get(&self, kind: NameKind, id: u32) -> Option<Arc<str>> {
        self.names.get(&(id | self.mask(kind)?)).cloned()
    }

    /// The bits of a kind. Images from before layout -65 have one number space for all kinds.
    fn mask(&self, kind: NameKind) -> Option<u32> {
        match self.mask_bits {
            0 => Some(0),
            bits => (kind as u32).checked_shl(32_u32.checked_sub(bits)?),
        }
    }

    /// The bits of a number that do not say the kind.
    fn low_bits(&self) -> u32 {
        u32::MAX.checked_shr(self.mask_bits).unwrap_or(0)
    }

    /// Puts users and groups into the tree's table.
    pub(super) fn intern(&mut self, mut intern: impl FnMut(&str) -> StringId) {
        self.unnamed = intern("");
        let owners = [self.mask(NameKind::User), self.mask(NameKind::Group)];
        let of_owner =
            |id: u32| self.mask_bits == 0 || owners.contains(&Some(id & !self.low_bits()));
        let named = self.names.iter().filter(|(id, _)| of_owner(**id));
        self.interned = named.map(|(id, name)| (*id, intern(name))).collect();
    }

    pub(super) fn permission(&self, bits: u64) -> Permission {
        let id = |kind, number: u32| {
            let known = self.mask(kind).and_then(|mask| self.interned.get(&(number | mask)));
            known.copied().unwrap_or(self.unnamed)
        };
        let user = id(NameKind::User, (bits >> 40) as u32);
        let group = id(NameKind::Group, (bits >> 16 & 0xff_ffff) as u32);
        Permission::new(user, group, bits as u16)
    }

    pub(super) fn acl_entry(&self, bits: u32) -> AclEntry {
        let kind = match bits >> 3 & 3 {
            0 => AclKind::User,
            1 => AclKind::Group,
            2 => AclKind::Mask,
            _ => AclKind::Other,
        };
        let id = bits >> 6 & 0xff_ffff;
        let name = match kind {
            AclKind::User if id != 0 => self.get(NameKind::User, id),
            AclKind::Group if id != 0 => self.get(NameKind::Group, id),
            _ => None,
        };
        let scope = if bits >> 5 & 1 == 1 { AclScope::Default } else { AclScope::Access };
        AclEntry { scope, kind, name, permission: (bits & 7) as u8 }
    }

    pub(super) fn xattr(&self, proto: XAttrCompactProto) -> Option<XAttr> {
        let number = proto.name >> 30 | (proto.name >> 5 & 1) << 2;
        let name = self.get(NameKind::XAttr, proto.name >> 6 & 0xff_ffff)?;
        // A copy: the message's memory is shared with many others, and would stay allocated.
        let value = proto.value.as_deref().map(Bytes::copy_from_slice);
        Some(XAttr { namespace: XAttrNamespace::from_number(number as i32), name, value })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_come_back_from_their_numbers() {
        let table = NameTable::default();
        let mut writer = NameWriter::new(&table);
        let entry = AclEntry {
            scope: AclScope::Default,
            kind: AclKind::Group,
            name: Some("staff".into()),
            permission: 5,
        };
        let xattr = XAttr { namespace: XAttrNamespace::Raw, name: "n".into(), value: None };
        let permission = writer.permission(&"u".into(), &"staff".into(), 0o1755);
        let (acl, compact) = (writer.acl_entry(&entry), writer.xattr(&xattr));
        let names = table.into_entries().into_iter().collect();
        let mut reader = NameReader { mask_bits: MASK_BITS, names, ..NameReader::default() };
        let mut strings = Vec::new();
        reader.intern(|name| {
            strings.push(name.to_owned());
            strings.len() as StringId - 1
        });
        assert_eq!(reader.acl_entry(acl), entry);
        assert_eq!(reader.xattr(compact), Some(xattr));
        let owner = reader.permission(permission);
        let name = |id: StringId| strings[id as usize].as_str();
        assert_eq!((name(owner.user()), name(owner.group())), ("u", "staff"));
        assert_eq!(owner.mode(), 0o1755);
    }
}
