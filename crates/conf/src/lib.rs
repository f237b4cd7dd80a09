//! Configuration: core-site.xml and hdfs-site.xml as Hadoop reads them, and one typed table of keys.
//!
//! ```
//! use zerohop_conf::{Conf, keys};
//! let mut conf = Conf::new();
//! conf.set("dfs.blocksize", "64m");
//! assert_eq!(conf.get(&keys::DFS_BLOCKSIZE).unwrap(), 64 << 20);
//! ```
//!
//! A value comes from the first of: the command line or the program, hdfs-site.xml, core-site.xml,
//! the table. A property marked final in a file is not changed by later files.

mod check;
mod conf;
mod default_fs;
mod deprecated;
pub mod dump;
mod error;
mod key;
pub mod keys;
mod location;
mod namenode_id;
pub mod protection;
mod redact;
mod refusal;
mod role;
pub mod running;
mod site_file;
mod source;
mod spelling;
mod substitute;
pub mod umask;
mod value;
mod xml;

pub use check::{CROSS_ORIGIN_FILTER, check_protections, ineffective_keys, unknown_keys};
pub use conf::Conf;
pub use deprecated::replaced_by;
pub use error::ConfError;
pub use key::{Key, KeyInfo, Unit};
pub use location::{Authority, Location};
pub use namenode_id::NameNodeId;
pub use redact::ConfigRedactor;
pub use refusal::{Refusal, Refusals};
pub use role::Role;
pub use site_file::site_xml;
pub use source::Source;
pub use spelling::closest;
pub use value::{Value, parse_duration, parse_size};
