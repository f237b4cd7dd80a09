//! What a volume is made of.

use zerohop_proto::hdfs::StorageTypeProto;

/// What a volume is made of, in the order of Hadoop's `StorageType`: edit logs hold the place in this order, while
/// messages and images have numbers of their own (`StorageTypeProto`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum StorageType {
    /// Memory; what is there is lost when the DataNode stops.
    RamDisk = 0,
    /// Solid state disk.
    Ssd = 1,
    /// Disk, which is assumed where nothing else is said.
    #[default]
    Disk = 2,
    /// Dense storage for data that is seldom read.
    Archive = 3,
    /// Storage outside HDFS.
    Provided = 4,
    /// Persistent memory.
    Nvdimm = 5,
}

impl StorageType {
    /// All of them, each at its place in Hadoop's order.
    pub const ALL: [Self; 6] =
        [Self::RamDisk, Self::Ssd, Self::Disk, Self::Archive, Self::Provided, Self::Nvdimm];

    /// From its place in [`Self::ALL`], as edit logs have it.
    pub fn from_ordinal(ordinal: i32) -> Option<Self> {
        Self::ALL.get(usize::try_from(ordinal).ok()?).copied()
    }

    /// From its number in messages and images.
    pub fn from_number(number: i32) -> Option<Self> {
        StorageTypeProto::try_from(number).ok().map(Self::from)
    }

    /// Its number in messages and images.
    pub fn number(self) -> i32 {
        StorageTypeProto::from(self).into()
    }

    /// Its name in Hadoop: `RAM_DISK`, `DISK`.
    pub fn as_str_name(&self) -> &'static str {
        StorageTypeProto::from(*self).as_str_name()
    }

    /// The one with this name, in capitals.
    pub fn from_str_name(name: &str) -> Option<Self> {
        StorageTypeProto::from_str_name(name).map(Self::from)
    }
}

impl From<StorageTypeProto> for StorageType {
    fn from(proto: StorageTypeProto) -> Self {
        match proto {
            StorageTypeProto::RamDisk => Self::RamDisk,
            StorageTypeProto::Ssd => Self::Ssd,
            StorageTypeProto::Disk => Self::Disk,
            StorageTypeProto::Archive => Self::Archive,
            StorageTypeProto::Provided => Self::Provided,
            StorageTypeProto::Nvdimm => Self::Nvdimm,
        }
    }
}

impl From<StorageType> for StorageTypeProto {
    fn from(kind: StorageType) -> Self {
        match kind {
            StorageType::RamDisk => Self::RamDisk,
            StorageType::Ssd => Self::Ssd,
            StorageType::Disk => Self::Disk,
            StorageType::Archive => Self::Archive,
            StorageType::Provided => Self::Provided,
            StorageType::Nvdimm => Self::Nvdimm,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edit_logs_and_messages_number_the_types_each_in_their_own_way() {
        for (ordinal, kind) in StorageType::ALL.into_iter().enumerate() {
            assert_eq!(kind as usize, ordinal);
            assert_eq!(StorageType::from_ordinal(ordinal as i32), Some(kind));
            assert_eq!(StorageType::from_number(kind.number()), Some(kind));
            assert_eq!(StorageType::from_str_name(kind.as_str_name()), Some(kind));
        }
        assert_eq!((StorageType::Disk.number(), StorageType::RamDisk.number()), (1, 4));
        assert_eq!((StorageType::from_ordinal(6), StorageType::from_ordinal(-1)), (None, None));
        assert_eq!((StorageType::from_number(0), StorageType::from_number(7)), (None, None));
    }
}
