//! What `zerohop top` shows: the beans of `/jmx` as samples, the figures and rates that follow from several samples, and
//! their view in a terminal. It opens no connection and reads no clock: pages and times come from the caller.
//!
//! A [`Sample`] is what the NameNodes and DataNodes answered at one moment. A [`History`] takes samples and gives the
//! [`Figures`] of the newest, which are printed as text ([`text::screen`]), as JSON (they are `Serialize`), or drawn
//! ([`View`], [`terminal::show`]).

mod beans;
mod calls;
mod cluster;
mod datanode;
mod figures;
mod history;
mod pane;
mod panes;
mod rate;
mod sample;
pub mod terminal;
pub mod text;
mod units;
mod users;
mod view;

pub use beans::{Beans, NotJmx};
pub use figures::Figures;
pub use history::History;
pub use sample::{DataNodeAnswer, NameNodeAnswer, Sample};
pub use view::{Action, Key, View};

#[cfg(test)]
mod recorded_test;
#[cfg(test)]
mod view_test;
