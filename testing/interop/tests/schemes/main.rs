//! The file systems of the shell beside HDFS and the local one: `webhdfs`, `swebhdfs`, `viewfs`, `har`. Apache's FsShell
//! runs the same commands on the same URIs, and its output and exit codes are compared.

mod archives;
mod federation;
mod side_by_side;
mod views;
mod web;
