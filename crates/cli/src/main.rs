//! The `zerohop` binary: a verb a file.
fn main() {}
