//! Names in an image: numbers of a table, with the kind of name in the three highest bits (`SerialNumberManager`).

use crate::answers::{AclEntry, AclKind, AclScope, XAttr, XAttrNamespace};
use crate::tree::{Permission, StringId};
use bytes::Bytes;
use hashbrown::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use zerohop_proto::hdfs::fsimage::i_node_section::XAttrCompactProto;

/// The error says what is wrong with the inode or the table that has a number.
type Result<T> = std::result::Result<T, String>;

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
    /// The tree's number for a user or group without a name.
    unnamed: StringId,
}

impl NameReader {
    pub(super) fn new(mask_bits: u32) -> Self {
        Self { mask_bits, ..Self::default() }
    }

    /// Adds an entry of the table.
    ///
    /// # Errors
    /// Fails if the number has another name already.
    pub(super) fn add(&mut self, id: u32, name: Arc<str>) -> Result<()> {
        match self.names.insert(id, name.clone()) {
            Some(other) if other != name => {
                Err(format!("its string table has two names with number {id}: {other}, {name}"))
            }
            _ => Ok(()),
        }
    }

    /// Returns the name of a number.
    ///
    /// # Errors
    /// Fails if the table lacks it: what has the name would be lost.
    fn get(&self, kind: NameKind, id: u32) -> Result<Arc<str>> {
        let found = self.mask(kind).and_then(|mask| self.names.get(&(id | mask)));
        found.cloned().ok_or_else(|| unknown(kind, id))
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

    pub(super) fn permission(&self, bits: u64) -> Result<Permission> {
        let id = |kind, number: u32| {
            // Apache's NameNode writes 0 for an owner that is null.
            if number == 0 {
                return Ok(self.unnamed);
            }
            let known = self.mask(kind).and_then(|mask| self.interned.get(&(number | mask)));
            known.copied().ok_or_else(|| unknown(kind, number))
        };
        let user = id(NameKind::User, (bits >> 40) as u32)?;
        let group = id(NameKind::Group, (bits >> 16 & 0xff_ffff) as u32)?;
        Ok(Permission::new(user, group, bits as u16))
    }

    pub(super) fn acl_entry(&self, bits: u32) -> Result<AclEntry> {
        let kind = match bits >> 3 & 3 {
            0 => AclKind::User,
            1 => AclKind::Group,
            2 => AclKind::Mask,
            _ => AclKind::Other,
        };
        let id = bits >> 6 & 0xff_ffff;
        let name = match kind {
            AclKind::User if id != 0 => Some(self.get(NameKind::User, id)?),
            AclKind::Group if id != 0 => Some(self.get(NameKind::Group, id)?),
            _ => None,
        };
        let scope = if bits >> 5 & 1 == 1 { AclScope::Default } else { AclScope::Access };
        Ok(AclEntry { scope, kind, name, permission: (bits & 7) as u8 })
    }

    pub(super) fn xattr(&self, proto: XAttrCompactProto) -> Result<XAttr> {
        let number = (proto.name >> 30 | (proto.name >> 5 & 1) << 2) as i32;
        let namespace = XAttrNamespace::known(number).ok_or_else(|| {
            format!("has an extended attribute of the unknown namespace {number}")
        })?;
        let name = self.get(NameKind::XAttr, proto.name >> 6 & 0xff_ffff)?;
        // A copy: the message's memory is shared with many others, and would stay allocated.
        let value = proto.value.as_deref().map(Bytes::copy_from_slice);
        Ok(XAttr { namespace, name, value })
    }
}

fn unknown(kind: NameKind, id: u32) -> String {
    let kind = match kind {
        NameKind::User => "user",
        NameKind::Group => "group",
        NameKind::XAttr => "extended attribute",
    };
    format!("has a name that the string table lacks: {kind} {id}")
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
        assert_eq!(reader.acl_entry(acl), Ok(entry));
        assert_eq!(reader.xattr(compact), Ok(xattr));
        let owner = reader.permission(permission).unwrap();
        let name = |id: StringId| strings[id as usize].as_str();
        assert_eq!((name(owner.user()), name(owner.group())), ("u", "staff"));
        assert_eq!(owner.mode(), 0o1755);
    }

    /// An unknown user became the owner "", an unknown attribute was lost, and the next image was saved without them.
    #[test]
    fn numbers_that_the_table_lacks_were_names_without_letters() {
        let mut reader = NameReader::new(MASK_BITS);
        let of = |kind: NameKind, id: u32| (kind as u32) << (32 - MASK_BITS) | id;
        for kind in [NameKind::User, NameKind::Group, NameKind::XAttr] {
            reader.add(of(kind, 1), "n".into()).unwrap();
        }
        reader.intern(|name| name.len() as StringId);
        let permission = |user: u64, group: u64| reader.permission(user << 40 | group << 16);
        assert!(permission(1, 1).is_ok());
        assert_eq!(permission(0, 1).unwrap().user(), 0, "Apache's null");
        assert!(permission(2, 1).unwrap_err().contains("lacks: user 2"));
        assert!(permission(1, 2).unwrap_err().contains("lacks: group 2"));
        // USER, GROUP and MASK with name 2.
        assert!(reader.acl_entry(2 << 6).unwrap_err().contains("lacks: user 2"));
        assert!(reader.acl_entry(2 << 6 | 1 << 3).unwrap_err().contains("lacks: group 2"));
        assert_eq!(reader.acl_entry(2 << 3).unwrap().name, None);
        let xattr = |name: u32| reader.xattr(XAttrCompactProto { name, value: None });
        assert_eq!(&*xattr(1 << 6).unwrap().name, "n");
        assert!(xattr(2 << 6).unwrap_err().contains("lacks: extended attribute 2"));
        assert!(xattr(0).unwrap_err().contains("lacks: extended attribute 0"));
        assert!(xattr(1 << 6 | 1 << 5 | 1 << 30).unwrap_err().contains("unknown namespace 5"));
        assert!(reader.add(of(NameKind::User, 1), "n".into()).is_ok());
        assert!(reader.add(of(NameKind::User, 1), "m".into()).unwrap_err().contains("two names"));
    }
}
