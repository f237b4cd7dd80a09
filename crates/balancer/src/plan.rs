//! Which DataNodes give how many bytes to which.
//!
//! Storages of one type are compared with the average of that type:
//! ```text
//!      below          average          above
//!  under | below average | above average | over
//!        threshold               threshold
//! ```
//! Over-utilized storages give to under-utilized ones, then to those below the average; what under-utilized
//! storages still lack comes from those above the average. DataNodes of the same rack are paired first.

pub use crate::nodes::Group;
pub use crate::policy::Usage;
use crate::topology::Matcher;
use std::collections::BTreeMap;
use zerohop_client::StorageType;

/// How far to go.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Points of a hundred by which a DataNode may differ from the average.
    pub threshold: f64,
    /// Bytes that storages of one type of a DataNode give or take in one iteration.
    pub size_to_move_max: u64,
    /// Whether the fullest give first.
    pub fullest_first: bool,
}

/// Bytes that go from one DataNode to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transfer {
    /// From where.
    pub source: Group,
    /// To where.
    pub target: Group,
    /// How many.
    pub bytes: u64,
}

/// What is to be done in one iteration.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    /// Bytes beyond the threshold, on the side that has more of them.
    pub bytes_left: u64,
    /// In the order in which they were found.
    pub transfers: Vec<Transfer>,
}

impl Plan {
    /// Bytes of all transfers.
    pub fn bytes(&self) -> u64 {
        self.transfers.iter().map(|transfer| transfer.bytes).sum()
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Class {
    Over,
    AboveAverage,
    BelowAverage,
    Under,
}

impl Class {
    const fn gives(self) -> bool {
        matches!(self, Self::Over | Self::AboveAverage)
    }
}

struct Candidate<'a> {
    usage: &'a Usage,
    class: Class,
    /// Bytes that it may still give or take.
    open: u64,
}

/// Decides what to do about these storages; among equals, the order of the list counts.
pub fn plan(usages: &[Usage], limits: &Limits) -> Plan {
    let averages = averages(usages);
    let (mut over, mut under) = (0, 0);
    let mut candidates = Vec::new();
    for usage in usages {
        let difference = usage.percent() - averages.get(&usage.group.kind).copied().unwrap_or(0.0);
        if difference >= 0.0 && !usage.is_source {
            continue;
        }
        let beyond = difference.abs() - limits.threshold;
        let beyond_bytes = bytes_of(beyond.max(0.0), usage.capacity);
        let class = match (difference > 0.0, beyond > 0.0) {
            (true, true) => Class::Over,
            (true, false) => Class::AboveAverage,
            (false, true) => Class::Under,
            (false, false) => Class::BelowAverage,
        };
        *if class.gives() { &mut over } else { &mut under } += beyond_bytes;
        let room = if class.gives() { u64::MAX } else { usage.room };
        let open = bytes_of(difference.abs(), usage.capacity).min(room);
        candidates.push(Candidate { usage, class, open: open.min(limits.size_to_move_max) });
    }
    if limits.fullest_first {
        let emptiness = |candidate: &Candidate<'_>| match candidate.class {
            Class::Over => -candidate.usage.percent(),
            _ => 0.0,
        };
        candidates.sort_by(|a, b| emptiness(a).total_cmp(&emptiness(b)));
    }
    let mut plan = Plan { bytes_left: over.max(under), transfers: Vec::new() };
    for matcher in Matcher::ALL {
        plan.pair(&mut candidates, Class::Over, Class::Under, matcher);
        plan.pair(&mut candidates, Class::Over, Class::BelowAverage, matcher);
        plan.pair(&mut candidates, Class::Under, Class::AboveAverage, matcher);
    }
    plan
}

fn averages(usages: &[Usage]) -> BTreeMap<StorageType, f64> {
    let mut sums: BTreeMap<StorageType, (u64, u64)> = BTreeMap::new();
    for usage in usages {
        let (used, total) = sums.entry(usage.group.kind).or_default();
        *used += usage.used;
        *total += usage.total;
    }
    let percent = |(used, total): (u64, u64)| used as f64 * 100.0 / total.max(1) as f64;
    sums.into_iter().map(|(kind, sums)| (kind, percent(sums))).collect()
}

fn bytes_of(percent: f64, capacity: u64) -> u64 {
    (percent * capacity as f64 / 100.0) as u64
}

impl Plan {
    /// Lets each of `first` exchange as much as it can with those of `second`.
    fn pair(&mut self, all: &mut [Candidate<'_>], first: Class, second: Class, matcher: Matcher) {
        for one in 0..all.len() {
            for other in 0..all.len() {
                let Ok([one, other]) = all.get_disjoint_mut([one, other]) else { continue };
                let is_pair = one.class == first
                    && other.class == second
                    && one.usage.group.kind == other.usage.group.kind
                    && matcher.matches(&one.usage.location, &other.usage.location);
                let bytes = one.open.min(other.open);
                if !is_pair || bytes == 0 {
                    continue;
                }
                one.open -= bytes;
                other.open -= bytes;
                let (source, target) = if first.gives() { (one, other) } else { (other, one) };
                let (source, target) = (source.usage.group, target.usage.group);
                self.transfers.push(Transfer { source, target, bytes });
            }
        }
    }
}

#[cfg(test)]
#[path = "plan_test.rs"]
mod tests;
