//! Files of records as text: SequenceFiles, Avro's object container files, and what the footers of ORC and
//! Parquet files say.

pub mod avro;
mod avro_schema;
mod avro_value;
mod fields;
mod hash_order;
mod inflate;
mod java;
pub mod orc;
mod orc_footer;
pub mod parquet;
pub mod sequence;
mod tail;
mod text;
mod thrift;
mod writable;
mod writable_kind;

use std::io;

/// An error of kind `Unsupported`: the file may be good, and cannot be shown.
fn unsupported(text: impl Into<String>) -> io::Error {
    io::Error::new(io::ErrorKind::Unsupported, text.into())
}
