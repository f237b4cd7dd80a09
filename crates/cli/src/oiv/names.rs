//! Names of users, groups and attributes, which an image has once each.

use std::collections::HashMap;

use zerohop_journal::error::JournalError;
use zerohop_journal::image::{ImageReader, SectionName};
use zerohop_proto::hdfs::fsimage::{StringTableSection, string_table_section};
use zerohop_wire::{AclEntry, AclKind, AclScope};

/// Which of the tables in the table (`SerialNumberManager`).
#[derive(Clone, Copy)]
pub enum Kind {
    User = 1,
    Group = 2,
    XAttr = 3,
}

/// The string table of an image.
#[derive(Default)]
pub struct Names {
    mask_bits: u32,
    names: HashMap<u32, String>,
}

impl Names {
    /// Reads the table; an image without one has no names.
    pub fn read(image: &ImageReader) -> Result<Names, JournalError> {
        let Some(mut section) = image.section(SectionName::StringTable)? else {
            return Ok(Names::default());
        };
        let head: StringTableSection = section.expect()?;
        let mut table = Names { mask_bits: head.mask_bits(), names: HashMap::new() };
        for _ in 0..head.num_entry() {
            let entry: string_table_section::Entry = section.expect()?;
            table.names.insert(entry.id(), entry.str().to_owned());
        }
        Ok(table)
    }

    /// The name of a number; images from before layout -65 have one number space for all kinds.
    pub fn get(&self, kind: Kind, id: u32) -> Option<&str> {
        let mask = match self.mask_bits {
            0 => 0,
            bits => (kind as u32).checked_shl(32_u32.checked_sub(bits)?)?,
        };
        self.names.get(&(id | mask)).map(String::as_str)
    }

    /// Returns the name of an extended attribute in the namespace `system`; `bits` are those of the inode.
    pub fn system_attribute(&self, bits: u32) -> Option<&str> {
        let is_system = bits >> 30 == 3 && bits >> 5 & 1 == 0;
        self.get(Kind::XAttr, bits >> 6 & 0xff_ffff).filter(|_| is_system)
    }

    /// User, group and mode of the bits that an inode has.
    pub fn owner(&self, bits: u64) -> (&str, &str, u32) {
        let user = self.get(Kind::User, (bits >> 40) as u32).unwrap_or_default();
        let group = self.get(Kind::Group, (bits >> 16 & 0xff_ffff) as u32).unwrap_or_default();
        (user, group, u32::from(bits as u16))
    }

    /// An entry of an access-control list, as `AclEntry.toString`.
    pub fn acl_entry(&self, bits: u32) -> String {
        let kind = AclKind::from_bits((bits >> 3) as u8);
        let named = match kind {
            AclKind::User => Some(Kind::User),
            AclKind::Group => Some(Kind::Group),
            AclKind::Mask | AclKind::Other => None,
        };
        let id = Some(bits >> 6 & 0xff_ffff).filter(|id| *id != 0);
        let name = named.zip(id).and_then(|(kind, id)| self.get(kind, id));
        let scope = if bits >> 5 & 1 == 1 { AclScope::Default } else { AclScope::Access };
        AclEntry { scope, kind, name: name.map(Into::into), permission: bits as u8 & 7 }.to_string()
    }
}
