//! The lines for Rust in docs/languages.md compile as they are written there.
#![doc = include_str!("../../../docs/languages.md")]
