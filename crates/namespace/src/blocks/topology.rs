//! The network: distances, and which live DataNodes are in which rack, for each storage type
//! (`DFSNetworkTopology`).

use super::types::{NodeIdx, StorageType};
use std::ops::Range;
use std::sync::Arc;

/// The rack of a DataNode that no script or table maps.
pub const DEFAULT_RACK: &str = "/default-rack";

/// Hops between two leaves of the tree of racks: 0 the same node, 2 the same rack, 4 and more beyond.
pub(super) fn distance(rack: &str, other: &str) -> u32 {
    if rack == other {
        return 2;
    }
    let split = |path: &str| {
        path.split('/').filter(|part| !part.is_empty()).map(String::from).collect::<Vec<_>>()
    };
    let (left, right) = (split(rack), split(other));
    let common = left.iter().zip(&right).take_while(|(a, b)| a == b).count();
    2 + (left.len() + right.len() - 2 * common) as u32
}

/// A part of the network.
#[derive(Clone, Copy, Debug)]
pub(super) enum Scope<'a> {
    Everywhere,
    /// The rack of this name.
    Rack(&'a str),
    /// All racks but this one.
    OtherRacks(&'a str),
}

/// The facts about a DataNode that placement depends on. The default is a dead DataNode.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Place {
    /// The rack, or `None` if the DataNode is dead.
    pub(super) rack: Option<Arc<str>>,
    /// The types of its usable storages.
    pub(super) kinds: StorageTypes,
    /// Number of data threads, or `None` if the DataNode is not in service.
    pub(super) load: Option<u32>,
}

/// A set of storage types.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct StorageTypes(u8);

impl StorageTypes {
    fn has(self, kind: StorageType) -> bool {
        self.0 & 1 << kind as u8 != 0
    }
}

impl FromIterator<StorageType> for StorageTypes {
    fn from_iter<I: IntoIterator<Item = StorageType>>(kinds: I) -> Self {
        Self(kinds.into_iter().fold(0, |set, kind| set | 1 << kind as u8))
    }
}

/// The live DataNodes by rack and storage type. A change costs a search in one list. Choices cost no walk over DataNodes.
#[derive(Default)]
pub(super) struct Topology {
    live: RackIndex,
    by_kind: [RackIndex; StorageType::ALL.len()],
    /// The places by which the lists are sorted, in the order of [`NodeIdx`].
    places: Vec<Place>,
    /// Data threads of all DataNodes in service.
    load: u64,
    /// DataNodes in service.
    in_service: usize,
}

impl Topology {
    /// Moves a DataNode to another place in the lists.
    pub(super) fn set(&mut self, node: NodeIdx, place: Place) {
        let at = node.0 as usize;
        if self.places.len() <= at {
            self.places.resize(at + 1, Place::default());
        }
        let Some(known) = self.places.get_mut(at) else { return };
        if *known == place {
            return;
        }
        let old = std::mem::replace(known, place.clone());
        if let Some(load) = old.load {
            self.load -= u64::from(load);
            self.in_service -= 1;
        }
        if let Some(load) = place.load {
            self.load += u64::from(load);
            self.in_service += 1;
        }
        if (&old.rack, old.kinds) == (&place.rack, place.kinds) {
            return;
        }
        if let Some(rack) = &old.rack {
            self.lists_of(old.kinds).for_each(|list| list.remove(rack, node));
        }
        if let Some(rack) = &place.rack {
            self.lists_of(place.kinds).for_each(|list| list.insert(rack, node));
        }
    }

    fn lists_of(&mut self, kinds: StorageTypes) -> impl Iterator<Item = &mut RackIndex> {
        let lists = StorageType::ALL.into_iter().zip(&mut self.by_kind);
        let of_kinds = lists.filter(move |(kind, _)| kinds.has(*kind)).map(|(_, list)| list);
        std::iter::once(&mut self.live).chain(of_kinds)
    }

    /// Returns the number of live DataNodes.
    pub(super) fn live_count(&self) -> usize {
        self.live.nodes.len()
    }

    /// Returns the number of racks with a live DataNode.
    pub(super) fn rack_count(&self) -> usize {
        self.live.racks.len()
    }

    /// Returns the mean number of data threads of the DataNodes in service, or 0 if there are none.
    pub(super) fn average_load(&self) -> f64 {
        if self.in_service == 0 { 0.0 } else { self.load as f64 / self.in_service as f64 }
    }

    /// Returns the live DataNodes of a part of the network.
    pub(super) fn live_in(&self, scope: Scope<'_>) -> Candidates<'_> {
        self.live.candidates(scope)
    }

    /// Returns the live DataNodes of a part of the network that have a usable storage of a type.
    pub(super) fn with_kind(&self, kind: StorageType, scope: Scope<'_>) -> Candidates<'_> {
        static NONE: RackIndex = RackIndex { nodes: Vec::new(), racks: Vec::new() };
        self.by_kind.get(kind as usize).unwrap_or(&NONE).candidates(scope)
    }
}

/// A list of DataNodes, sorted by rack. Invariant: each rack of `racks` has a DataNode.
#[derive(Default)]
struct RackIndex {
    nodes: Vec<NodeIdx>,
    /// The racks by name.
    racks: Vec<Rack>,
}

struct Rack {
    name: Arc<str>,
    /// The place of its first DataNode in the list.
    start: usize,
}

impl RackIndex {
    fn place_of(&self, rack: &str) -> Result<usize, usize> {
        self.racks.binary_search_by(|known| (*known.name).cmp(rack))
    }

    /// Returns the places of a rack's DataNodes in the list.
    fn range(&self, at: usize) -> Range<usize> {
        let start_of = |at: usize| self.racks.get(at).map_or(self.nodes.len(), |rack| rack.start);
        start_of(at)..start_of(at + 1)
    }

    fn insert(&mut self, rack: &Arc<str>, node: NodeIdx) {
        let at = self.place_of(rack).unwrap_or_else(|at| {
            let start = self.range(at).start;
            self.racks.insert(at, Rack { name: Arc::clone(rack), start });
            at
        });
        self.nodes.insert(self.range(at).end, node);
        self.racks.iter_mut().skip(at + 1).for_each(|rack| rack.start += 1);
    }

    fn remove(&mut self, rack: &str, node: NodeIdx) {
        let Ok(at) = self.place_of(rack) else { return };
        let range = self.range(at);
        let members = self.nodes.get(range.clone()).unwrap_or_default();
        let Some(offset) = members.iter().position(|member| *member == node) else { return };
        let is_last = members.len() == 1;
        self.nodes.remove(range.start + offset);
        self.racks.iter_mut().skip(at + 1).for_each(|rack| rack.start -= 1);
        if is_last {
            self.racks.remove(at);
        }
    }

    fn candidates(&self, scope: Scope<'_>) -> Candidates<'_> {
        let range_of = |rack: &str| self.place_of(rack).map_or(0..0, |at| self.range(at));
        let (before, after) = match scope {
            Scope::Everywhere => (0..self.nodes.len(), 0..0),
            Scope::Rack(rack) => (range_of(rack), 0..0),
            Scope::OtherRacks(rack) => {
                let rack = range_of(rack);
                (0..rack.start, rack.end..self.nodes.len())
            }
        };
        let part = |range: Range<usize>| self.nodes.get(range).unwrap_or_default();
        Candidates { before: part(before), after: part(after) }
    }
}

/// The DataNodes of a [`Scope`].
#[derive(Clone, Copy, Debug)]
pub(super) struct Candidates<'a> {
    before: &'a [NodeIdx],
    after: &'a [NodeIdx],
}

impl Candidates<'_> {
    /// Returns the number of DataNodes.
    pub(super) fn len(self) -> usize {
        self.before.len() + self.after.len()
    }

    /// Returns the DataNode at a place below [`Self::len`].
    pub(super) fn get(self, at: usize) -> Option<NodeIdx> {
        let behind = || self.after.get(at - self.before.len());
        self.before.get(at).or_else(behind).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(rack: &str, kinds: &[StorageType], load: u32) -> Place {
        Place { rack: Some(rack.into()), kinds: kinds.iter().copied().collect(), load: Some(load) }
    }

    fn listed(candidates: Candidates<'_>) -> Vec<u32> {
        let mut found: Vec<u32> =
            (0..candidates.len()).map(|at| candidates.get(at).unwrap().0).collect();
        assert!(candidates.get(found.len()).is_none());
        found.sort_unstable();
        found
    }

    #[test]
    fn datanodes_are_listed_by_rack_and_storage_type_as_they_come_and_go() {
        use StorageType::{Archive, Disk, Ssd};
        let mut topology = Topology::default();
        topology.set(NodeIdx(0), place("/b", &[Disk], 3));
        topology.set(NodeIdx(1), place("/a", &[Disk, Ssd], 5));
        topology.set(NodeIdx(2), place("/b", &[Disk], 1));
        topology.set(NodeIdx(3), place("/c", &[Ssd], 7));
        assert_eq!((topology.live_count(), topology.rack_count()), (4, 3));
        assert_eq!(topology.average_load(), 4.0);
        let disks = |topology: &Topology, scope| listed(topology.with_kind(Disk, scope));
        assert_eq!(disks(&topology, Scope::Everywhere), [0, 1, 2]);
        assert_eq!(disks(&topology, Scope::Rack("/b")), [0, 2]);
        assert_eq!(disks(&topology, Scope::Rack("/nowhere")), []);
        assert_eq!(disks(&topology, Scope::OtherRacks("/b")), [1]);
        assert_eq!(disks(&topology, Scope::OtherRacks("/nowhere")), [0, 1, 2]);
        assert_eq!(listed(topology.with_kind(Archive, Scope::Everywhere)), []);
        assert_eq!(listed(topology.live_in(Scope::OtherRacks("/a"))), [0, 2, 3]);

        topology.set(NodeIdx(1), place("/c", &[Ssd], 5));
        assert_eq!(disks(&topology, Scope::Everywhere), [0, 2]);
        assert_eq!(listed(topology.with_kind(Ssd, Scope::Rack("/c"))), [1, 3]);
        assert_eq!(topology.rack_count(), 2, "the last one left /a");
        topology.set(NodeIdx(0), Place::default());
        topology.set(NodeIdx(9), Place::default());
        assert_eq!(listed(topology.live_in(Scope::Everywhere)), [1, 2, 3]);
        topology.set(NodeIdx(2), Place { load: None, ..place("/b", &[Disk], 0) });
        assert_eq!(topology.average_load(), 6.0, "only those in service count");
    }

    #[test]
    fn distance_counts_hops_to_the_common_switch() {
        assert_eq!(distance("/a", "/a"), 2);
        assert_eq!(distance("/a", "/b"), 4);
        assert_eq!(distance("/d1/a", "/d1/b"), 4);
        assert_eq!(distance("/d1/a", "/d2/a"), 6);
    }
}
