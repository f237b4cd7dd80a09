//! Writing a file. In the order of one write:
//! [`create`] makes the file, [`file`] cuts what the caller gives into [`packet`]s, [`stream`] sends them down the pipeline
//! and takes the acknowledgements, [`pipeline`] is one connection to the first DataNode,
//! [`allocate`] gets a block and its pipeline, [`recovery`] goes on when a DataNode fails,
//! [`replace`] decides whether a failed one is replaced.
//!
//! There is no thread behind a writer: the caller's own sends a packet and takes the
//! acknowledgements that have arrived. A packet is kept until it is acknowledged.

mod allocate;
mod create;
mod file;
mod packet;
mod pipeline;
mod recovery;
mod replace;
mod stream;

pub(crate) use file::Writer;
