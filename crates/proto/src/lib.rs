//! The protobuf messages of the Hadoop protocols; no logic beyond decoding them safely.
//!
//! Messages keep the names of Apache Hadoop 3.4, their field numbers are facts of that protocol.
//! Decode what comes from outside with [`decode`]: it enforces `required`, which prost does not.

mod shape;

pub use shape::{
    Checked, Element, InvalidMessage, Measured, Shape, decode, decode_delimited, measure,
};

#[allow(missing_docs, clippy::all)]
mod generated {
    include!(concat!(env!("OUT_DIR"), "/modules.rs"));
}

pub use generated::hadoop::{common, fs, hdfs};

#[allow(clippy::all)]
mod shapes {
    use crate::generated::hadoop;
    use crate::shape::{Checked, Element, Shape};
    include!(concat!(env!("OUT_DIR"), "/shapes.rs"));
}
