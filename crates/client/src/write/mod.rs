//! Writing a file. In the order of one write:
//! [`create`] makes the file, [`file`] is what threads and tasks call, [`packet_writer`] puts what they give into
//! [`packet`]s, [`advance`] decides what comes next: [`stream`] sends packets down the pipeline
//! and takes the acknowledgements, [`pipeline`] is one connection to the first DataNode,
//! [`allocate`] gets a block and its pipeline, [`recovery`] continues when a DataNode fails,
//! [`replace`] decides whether a failed one is replaced. [`call`] asks the NameNode. [`turns`] keeps a call and a repair apart.
//!
//! There is no thread behind a writer: the caller's own sends a packet and takes the
//! acknowledgements that have arrived; a task has that done on a thread for blocking calls. A packet is kept until it is
//! acknowledged. Between two calls [`lease`](crate::lease) reads the answers of the DataNodes and repairs the pipeline.

mod advance;
mod allocate;
mod call;
mod create;
mod file;
mod packet;
mod packet_buffers;
mod packet_writer;
mod pipeline;
mod recovery;
mod replace;
mod set_up;
mod stream;
mod turns;

pub(crate) use file::Writer;
pub(crate) use packet_writer::Work;
