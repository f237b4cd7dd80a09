//! Where new replicas go: the writer's node, a remote rack, that rack's second node, then anywhere.

use super::nodes::Nodes;
use super::params::BlockParams;
use super::policy::{self, StoragePolicy};
use super::random::SplitMix64;
use super::refusal::Refusal;
use super::slow::SlowReports;
use super::types::{AdminState, NodeIdx, PlacementRequest, StorageIdx, StorageType, Storages};
use crate::error::{BlockError, Error, refuse};
use hashbrown::HashSet;

/// One search for targets: what was asked, what was found so far.
pub(super) struct Search<'a> {
    placement: &'a Placement<'a>,
    request: &'a PlacementRequest<'a>,
    /// Those the client names: as many as a message holds.
    excluded: HashSet<NodeIdx>,
    /// Types the replicas to be placed shall lie on, those found taken out.
    wanted: policy::Types,
    /// Other types that will do; none before no place of a wanted one is left.
    fallbacks: &'static [StorageType],
    found: Storages,
    chosen: Storages,
    /// No more than this many replicas in a rack.
    rack_max: usize,
    consider_load: bool,
    /// Data threads beyond which a DataNode is too busy.
    load_max: f64,
}

/// What placement of replicas depends on.
#[derive(Clone, Copy)]
pub(super) struct Placement<'a> {
    pub(super) params: &'a BlockParams,
    pub(super) nodes: &'a Nodes,
    pub(super) slow: &'a SlowReports,
    pub(super) random: &'a SplitMix64,
    pub(super) now_ms: u64,
}

impl Placement<'_> {
    /// As [`super::BlockManager::choose_targets`].
    pub(super) fn choose_targets(&self, request: &PlacementRequest<'_>) -> Result<Storages, Error> {
        let found = self.place(request, true);
        if found.len() < usize::from(self.params.replication_min) {
            return refuse(self.cannot_place(request, found.len()));
        }
        Ok(found)
    }

    /// As [`super::BlockManager::choose_more_targets`].
    pub(super) fn choose_more_targets(&self, request: &PlacementRequest<'_>) -> Storages {
        let replicas = request.replicas.min(self.nodes.all().len());
        self.place(&PlacementRequest { replicas, ..request.clone() }, true)
    }

    fn cannot_place(&self, request: &PlacementRequest<'_>, found: usize) -> BlockError {
        BlockError::NoTargets {
            path: request.path.to_owned(),
            found,
            minimum: self.params.replication_min,
            live: self.nodes.all().iter().filter(|node| node.alive).count(),
            excluded: request.excluded.len(),
        }
    }

    /// As many as can be found; further tries take other types of storage and forget about load and racks.
    pub(super) fn place(&self, request: &PlacementRequest<'_>, creating: bool) -> Storages {
        let policy = StoragePolicy::by_id(request.storage_policy).unwrap_or(policy::DEFAULT);
        let mut search = Search::new(self, request, policy);
        search.run();
        let fallbacks = policy.fallbacks(creating);
        if search.found.len() < request.replicas && !fallbacks.is_empty() {
            search.fallbacks = fallbacks;
            search.run();
        }
        if search.found.len() < request.replicas && search.consider_load {
            search.consider_load = false;
            search.run();
        }
        if search.found.len() < request.replicas {
            search.rack_max = usize::MAX;
            search.run();
        }
        self.order_pipeline(search.found, request.client_host)
    }

    /// The writer's node first, then so that each hop is short.
    fn order_pipeline(&self, mut found: Storages, client_host: &str) -> Storages {
        let mut place = 0;
        let mut from: Option<(Option<NodeIdx>, std::sync::Arc<str>)> = self
            .nodes
            .by_host(client_host)
            .first()
            .and_then(|node| Some((Some(*node), self.nodes.node(*node)?.rack.clone())));
        while place + 1 < found.len() {
            let nearest = (place..found.len())
                .min_by_key(|index| self.hops(from.as_ref(), found.get(*index).copied()));
            found.swap(place, nearest.unwrap_or(place));
            let node = found.get(place).and_then(|storage| self.nodes.node_of(*storage));
            from = node.and_then(|node| Some((Some(node), self.nodes.node(node)?.rack.clone())));
            place += 1;
        }
        found
    }

    fn hops(
        &self,
        from: Option<&(Option<NodeIdx>, std::sync::Arc<str>)>,
        to: Option<StorageIdx>,
    ) -> u32 {
        let Some((from, rack)) = from else { return 0 };
        let Some(node) = to.and_then(|storage| self.nodes.node_of(storage)) else {
            return u32::MAX;
        };
        if *from == Some(node) {
            return 0;
        }
        self.nodes.node(node).map_or(u32::MAX, |known| super::topology::distance(rack, &known.rack))
    }
}

impl<'a> Search<'a> {
    fn new(
        placement: &'a Placement<'a>,
        request: &'a PlacementRequest<'a>,
        policy: &StoragePolicy,
    ) -> Self {
        let nodes = &placement.nodes;
        let present = request.chosen.iter().filter_map(|storage| nodes.storage(*storage));
        let total = request.replicas + request.chosen.len();
        let racks = nodes.rack_count();
        let rack_max = if racks <= 1 {
            usize::MAX
        } else {
            ((total.saturating_sub(1)) / racks + 2).min(total.max(2) - 1).max(1)
        };
        Self {
            placement,
            request,
            excluded: request.excluded.iter().filter_map(|uuid| nodes.by_uuid(uuid)).collect(),
            wanted: policy.missing_types(total, present.map(|storage| storage.kind)),
            fallbacks: &[],
            found: Storages::new(),
            chosen: Storages::from_slice(request.chosen),
            rack_max,
            consider_load: placement.params.consider_load,
            load_max: placement.params.consider_load_factor * nodes.average_load(),
        }
    }

    /// The last try of [`Placement::place`]: any storage type, load and rack.
    pub(super) fn widest(
        placement: &'a Placement<'a>,
        request: &'a PlacementRequest<'a>,
        creating: bool,
    ) -> Self {
        let policy = StoragePolicy::by_id(request.storage_policy).unwrap_or(policy::DEFAULT);
        Self {
            fallbacks: policy.fallbacks(creating),
            consider_load: false,
            rack_max: usize::MAX,
            ..Self::new(placement, request, policy)
        }
    }

    fn run(&mut self) {
        self.favored();
        while self.found.len() < self.request.replicas {
            let next = match self.chosen.len() {
                0 => self.local().or_else(|| self.anywhere()),
                1 => self.remote_rack().or_else(|| self.anywhere()),
                2 if self.first_two_share_rack() => self.remote_rack().or_else(|| self.anywhere()),
                2 => self.same_rack_as(1).or_else(|| self.anywhere()),
                _ => self.anywhere(),
            };
            let Some(storage) = next else { return };
            self.take(storage);
        }
    }

    fn take(&mut self, storage: StorageIdx) {
        let kind = self.placement.nodes.storage(storage).map(|known| known.kind);
        match self.wanted.iter().position(|wanted| Some(*wanted) == kind) {
            Some(at) => _ = self.wanted.remove(at),
            None => _ = self.wanted.pop(),
        }
        self.found.push(storage);
        self.chosen.push(storage);
    }

    fn favored(&mut self) {
        for host in self.request.favored {
            if self.found.len() == self.request.replicas {
                return;
            }
            let (name, port) = host.rsplit_once(':').unwrap_or((host, ""));
            let nodes = self.placement.nodes.by_host(name).iter().copied();
            let wanted = |node: &NodeIdx| {
                let known = self.placement.nodes.node(*node);
                port.is_empty() || known.is_some_and(|node| node.id.xfer_port.to_string() == port)
            };
            let storage = nodes.filter(wanted).find_map(|node| self.good(node));
            if let Some(storage) = storage {
                self.take(storage);
            }
        }
    }

    /// A DataNode on the writer's host.
    fn local(&self) -> Option<StorageIdx> {
        if self.request.avoid_local || self.request.ignore_locality {
            return None;
        }
        let nodes = self.placement.nodes.by_host(self.request.client_host);
        let start = self.placement.random.below(nodes.len());
        let (after, before) =
            (nodes.get(start..).unwrap_or(&[]), nodes.get(..start).unwrap_or(&[]));
        after.iter().chain(before).find_map(|node| self.good(*node))
    }

    fn rack_of(&self, storage: StorageIdx) -> Option<&str> {
        let node = self.placement.nodes.node_of(storage)?;
        self.placement.nodes.node(node).map(|node| &*node.rack)
    }

    fn first_two_share_rack(&self) -> bool {
        let racks: Vec<_> =
            self.chosen.iter().take(2).map(|storage| self.rack_of(*storage)).collect();
        racks.first() == racks.get(1)
    }

    fn remote_rack(&self) -> Option<StorageIdx> {
        let rack = self.rack_of(*self.chosen.first()?)?;
        self.pick(|other| other != rack)
    }

    fn same_rack_as(&self, index: usize) -> Option<StorageIdx> {
        let rack = self.rack_of(*self.chosen.get(index)?)?;
        self.pick(|other| other == rack)
    }

    fn anywhere(&self) -> Option<StorageIdx> {
        self.pick(|_| true)
    }

    /// A good storage of a node in a wanted rack: random probes first, then a walk over all from a random start.
    fn pick(&self, wanted: impl Fn(&str) -> bool) -> Option<StorageIdx> {
        let nodes = self.placement.nodes.all();
        let start = self.placement.random.below(nodes.len());
        (0..nodes.len())
            .map(|step| (start + step) % nodes.len())
            .filter(|index| nodes.get(*index).is_some_and(|node| wanted(&node.rack)))
            .find_map(|index| self.good(NodeIdx(index as u32)))
    }

    /// A storage of this node that can take the replica, if any.
    fn good(&self, node: NodeIdx) -> Option<StorageIdx> {
        self.judge(node).ok()
    }

    /// A storage of this node that can take the replica, or why there is none.
    pub(super) fn judge(&self, node: NodeIdx) -> Result<StorageIdx, Refusal> {
        let known = self.placement.nodes.node(node).ok_or(Refusal::NotInService)?;
        if !known.alive || known.admin != AdminState::Normal {
            return Err(Refusal::NotInService);
        }
        if self.is_taken(node) {
            return Err(Refusal::Excluded);
        }
        if self.is_loaded(known.xceivers) {
            return Err(Refusal::Busy);
        }
        if self.is_stale(known.last_update.mono_ms) {
            return Err(Refusal::Stale);
        }
        if self.placement.params.avoid_slow_for_write && self.placement.slow.is_slow(node) {
            return Err(Refusal::Slow);
        }
        let in_rack = self
            .chosen
            .iter()
            .filter(|storage| self.rack_of(**storage) == Some(&*known.rack))
            .count();
        if in_rack >= self.rack_max {
            return Err(Refusal::RackFull);
        }
        self.kinds().find_map(|kind| self.storage_of(node, kind)).ok_or(Refusal::NoStorage)
    }

    /// The types that the next replica may be on.
    pub(super) fn kinds(&self) -> impl Iterator<Item = StorageType> + use<'_> {
        let mut last = None;
        let wanted = self.wanted.iter().copied();
        wanted
            .chain(self.fallbacks.iter().copied())
            // A run of one type is tried once.
            .filter(move |kind| last.replace(*kind) != Some(*kind))
    }

    fn is_taken(&self, node: NodeIdx) -> bool {
        let nodes = &self.placement.nodes;
        let mut holders = self.chosen.iter().chain(self.request.unusable);
        self.excluded.contains(&node)
            || holders.any(|storage| nodes.node_of(*storage) == Some(node))
            || self.request.avoid_local
                && nodes.by_host(self.request.client_host).contains(&node)
                && nodes.all().len() > 1
    }

    fn is_loaded(&self, xceivers: u32) -> bool {
        self.consider_load && f64::from(xceivers) > self.load_max && xceivers > 1
    }

    fn is_stale(&self, heard_ms: u64) -> bool {
        let params = &self.placement.params;
        params.avoid_stale_for_write
            && self.placement.now_ms.saturating_sub(heard_ms) > params.stale_interval_ms
    }

    /// A storage of the type with room for one more block, if the others have room for those on their way.
    fn storage_of(&self, node: NodeIdx, kind: StorageType) -> Option<StorageIdx> {
        let nodes = &self.placement.nodes;
        let node = nodes.node(node)?;
        let (storages, size) = (&node.storages, self.request.block_size);
        let usable = storages.iter().filter_map(|storage| nodes.storage(*storage));
        let room: u64 = usable
            .filter(|known| known.takes(kind, size))
            .map(|known| known.remaining)
            .fold(0, u64::saturating_add);
        if room < (node.scheduled.count(kind).saturating_add(1)).saturating_mul(size) {
            return None;
        }
        let start = self.placement.random.below(storages.len());
        let fits = |storage: &StorageIdx| {
            nodes.storage(*storage).is_some_and(|known| known.takes(kind, size))
        };
        let rotated = (0..storages.len())
            .filter_map(|step| storages.get((start + step) % storages.len()).copied());
        rotated.into_iter().find(fits)
    }
}
