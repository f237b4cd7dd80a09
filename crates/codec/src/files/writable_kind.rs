//! The Writable types that can be shown, by class and by number.

use std::io;

use super::unsupported;

/// The package of Hadoop's own Writables.
const PACKAGE: &str = "org.apache.hadoop.io.";

/// The Writable types that can be shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Writable {
    Text,
    Utf8,
    Int,
    Long,
    VInt,
    Short,
    Byte,
    Boolean,
    Float,
    Double,
    Bytes,
    Null,
    Md5,
    Map,
    SortedMap,
    Object,
    PrimitiveArray,
    EnumSet,
}

impl Writable {
    pub(super) fn of_class(class: &str) -> io::Result<Writable> {
        let name = class.strip_prefix(PACKAGE).unwrap_or(class);
        Ok(match name {
            "Text" => Writable::Text,
            "UTF8" => Writable::Utf8,
            "IntWritable" => Writable::Int,
            // The short names are Hadoop's own (WritableName).
            "LongWritable" | "long" => Writable::Long,
            "VIntWritable" | "VLongWritable" => Writable::VInt,
            "ShortWritable" => Writable::Short,
            "ByteWritable" => Writable::Byte,
            "BooleanWritable" => Writable::Boolean,
            "FloatWritable" => Writable::Float,
            "DoubleWritable" => Writable::Double,
            "BytesWritable" => Writable::Bytes,
            "NullWritable" | "null" => Writable::Null,
            "MD5Hash" => Writable::Md5,
            "MapWritable" => Writable::Map,
            "SortedMapWritable" => Writable::SortedMap,
            "ObjectWritable" => Writable::Object,
            "ArrayPrimitiveWritable" => Writable::PrimitiveArray,
            "EnumSetWritable" => Writable::EnumSet,
            _ => {
                return Err(unsupported(format!(
                    "records of {class} cannot be shown; only the types of org.apache.hadoop.io can"
                )));
            }
        })
    }

    /// Returns the type with a number that every map knows (AbstractMapWritable).
    pub(super) fn of_id(id: i8) -> Option<Writable> {
        Some(match id {
            -126 => Writable::Boolean,
            -125 => Writable::Bytes,
            -124 => Writable::Float,
            -123 => Writable::Int,
            -122 => Writable::Long,
            -121 => Writable::Map,
            -120 => Writable::Md5,
            -119 => Writable::Null,
            -118 => Writable::Object,
            -117 => Writable::SortedMap,
            -116 => Writable::Text,
            -114 | -113 => Writable::VInt,
            _ => return None,
        })
    }
}

impl Writable {
    /// Returns `true` if values of the type hold no others and have a known `hashCode`.
    pub(super) fn has_hash(self) -> bool {
        !matches!(
            self,
            Writable::Map
                | Writable::SortedMap
                | Writable::Object
                | Writable::PrimitiveArray
                | Writable::EnumSet
        )
    }
}
