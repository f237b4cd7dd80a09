//! The public Rust API: file system, reader, writer
