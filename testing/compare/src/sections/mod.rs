//! The workloads, each on both clusters in turn.

mod copy;
mod data;
mod local;
mod metadata;
mod nnbench;
mod rest;
mod shell;
mod star;

use zerohop_interop::Outcome;

use crate::both::Both;
use crate::section::Section;
use crate::table::Pair;

/// Runs a part of the comparison.
pub fn run(section: Section, both: &Both, add: &mut dyn FnMut(Pair)) -> Outcome {
    match section {
        Section::Io => data::io(both, add),
        Section::Local => local::run(both, add),
        Section::Flush => data::flush(both, add),
        Section::Small => data::small(both, add),
        Section::Metadata => metadata::run(both, add),
        Section::Nnbench => nnbench::run(both, add),
        Section::Shell => shell::run(both, add),
        Section::Copy => copy::run(both, add),
        Section::Rest => rest::run(both, add),
        Section::RestLocal => rest::local(both, add),
        Section::Star => star::run(both, add),
    }
}
