//! Writes docs/configuration.md anew from the tables of keys.

use zerohop_tidy::{configuration, root};

fn main() -> std::io::Result<()> {
    std::fs::write(root().join(configuration::PAGE), configuration::page())
}
