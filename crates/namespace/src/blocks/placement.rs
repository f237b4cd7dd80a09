//! Where new replicas go: the writer's node, a remote rack, that rack's second node, then anywhere.

use super::nodes::Nodes;
use super::params::BlockParams;
use super::policy::{self, StoragePolicy};
use super::random::SplitMix64;
use super::refusal::Refusal;
use super::slow::SlowReports;
use super::topology::{Candidates, Scope};
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
    /// DataNodes that were not heard of lately are left out.
    avoid_stale: bool,
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
            live: self.nodes.live_count(),
            excluded: request.excluded.len(),
        }
    }

    /// Returns as many storages as can be found. Ignores the writer's wish to avoid its own DataNode if the others are too
    /// few.
    pub(super) fn place(&self, request: &PlacementRequest<'_>, creating: bool) -> Storages {
        let found = self.search(request, creating);
        if request.avoid_local && found.len() < request.replicas {
            return self
                .search(&PlacementRequest { avoid_local: false, ..request.clone() }, creating);
        }
        found
    }

    /// Returns as many storages as can be found. Further tries accept stale DataNodes, other types of storage, busy DataNodes
    /// and full racks, in this order.
    fn search(&self, request: &PlacementRequest<'_>, creating: bool) -> Storages {
        let policy = StoragePolicy::by_id(request.storage_policy).unwrap_or(policy::DEFAULT);
        let mut search = Search::new(self, request, policy);
        search.run();
        if search.lacks() && search.avoid_stale {
            search.avoid_stale = false;
            search.run();
        }
        let fallbacks = policy.fallbacks(creating);
        if search.lacks() && !fallbacks.is_empty() {
            search.fallbacks = fallbacks;
            search.run();
        }
        if search.lacks() && search.consider_load {
            search.consider_load = false;
            search.run();
        }
        if search.lacks() {
            search.rack_max = usize::MAX;
            search.run();
        }
        let writer = self.writer(request);
        self.order_pipeline(search.found, writer)
    }

    /// Returns `true` if writes avoid stale DataNodes: not where too many are stale
    /// (`DatanodeManager.shouldAvoidStaleDataNodesForWrite`).
    fn avoids_stale(&self) -> bool {
        let (stale, live) = (self.nodes.stale_count(), self.nodes.live_count());
        let stale_max = live as f32 * self.params.stale_for_write_ratio;
        self.params.avoid_stale_for_write && stale > 0 && stale as f32 <= stale_max
    }

    /// Returns the DataNode that sends the block: the source of a copy, or the one on the writer's host.
    fn writer(&self, request: &PlacementRequest<'_>) -> Option<NodeIdx> {
        if request.source.is_some() || request.ignore_locality {
            return request.source;
        }
        self.nodes.by_host(request.client_host).first().copied()
    }

    fn shuffled<'c>(&'c self, candidates: Candidates<'c>) -> impl Iterator<Item = NodeIdx> + 'c {
        self.random.shuffled(candidates.len()).filter_map(move |at| candidates.get(at))
    }

    /// The writer's node first, then so that each hop is short.
    fn order_pipeline(&self, mut found: Storages, writer: Option<NodeIdx>) -> Storages {
        let mut place = 0;
        let mut from: Option<(Option<NodeIdx>, std::sync::Arc<str>)> =
            writer.and_then(|node| Some((Some(node), self.nodes.node(node)?.rack.clone())));
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
            avoid_stale: placement.avoids_stale(),
            consider_load: placement.params.consider_load,
            load_max: placement.params.consider_load_factor * nodes.topology().average_load(),
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
            avoid_stale: false,
            consider_load: false,
            rack_max: usize::MAX,
            ..Self::new(placement, request, policy)
        }
    }

    fn lacks(&self) -> bool {
        self.found.len() < self.request.replicas
    }

    /// Adds targets in Hadoop's order (`chooseTargetInOrder`): the writer's node, another rack, the second replica's rack,
    /// anywhere.
    fn run(&mut self) {
        self.favored();
        while self.lacks() {
            let next = match *self.chosen.as_slice() {
                [] => self.local().or_else(|| self.in_writers_rack()),
                [first] => self.remote_from(first),
                [first, second] if self.rack_of(first) == self.rack_of(second) => {
                    self.remote_from(first)
                }
                [first, second] => self.third(first, second),
                _ => self.pick(Scope::Everywhere),
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
            let wanted = |node: &NodeIdx| {
                let known = self.placement.nodes.node(*node);
                port.is_empty() || known.is_some_and(|node| node.id.xfer_port.to_string() == port)
            };
            if let Some(storage) = self.on_host(name, wanted) {
                self.take(storage);
            }
        }
    }

    /// A DataNode on the writer's host.
    fn local(&self) -> Option<StorageIdx> {
        if self.request.avoid_local || self.request.ignore_locality {
            return None;
        }
        self.on_host(self.request.client_host, |_| true)
    }

    /// Chooses among the good DataNodes on a host. Ignores their load, as `chooseLocalOrFavoredStorage` does.
    fn on_host(&self, host: &str, wanted: impl Fn(&NodeIdx) -> bool) -> Option<StorageIdx> {
        let nodes = self.placement.nodes.by_host(host);
        let shuffled = self.placement.random.shuffled(nodes.len());
        let wanted = shuffled.filter_map(|at| nodes.get(at).copied()).filter(wanted);
        wanted.into_iter().find_map(|node| {
            self.judge_node(node, false).ok()?;
            self.kinds().find_map(|kind| self.storage_of(node, kind))
        })
    }

    /// Chooses a DataNode in the writer's rack, otherwise any. The network's mapping names the rack of a writer that is not a
    /// DataNode.
    fn in_writers_rack(&self) -> Option<StorageIdx> {
        if self.request.ignore_locality {
            return self.pick(Scope::Everywhere);
        }
        let writer = self.placement.writer(self.request);
        let rack = writer.and_then(|node| self.placement.nodes.node(node)).map(|node| &*node.rack);
        let nearby = rack.or(self.request.client_rack);
        nearby
            .and_then(|rack| self.pick(Scope::Rack(rack)))
            .or_else(|| self.pick(Scope::Everywhere))
    }

    fn rack_of(&self, storage: StorageIdx) -> Option<&str> {
        let node = self.placement.nodes.node_of(storage)?;
        self.placement.nodes.node(node).map(|node| &*node.rack)
    }

    /// Chooses a DataNode in another rack than the storage's, otherwise in the same rack.
    fn remote_from(&self, storage: StorageIdx) -> Option<StorageIdx> {
        let rack = self.rack_of(storage)?;
        self.pick(Scope::OtherRacks(rack)).or_else(|| self.pick(Scope::Rack(rack)))
    }

    /// Chooses a DataNode for the third replica. A new block's is in the rack of the second replica, a copy in the rack of its
    /// source. Falls back to the rack of the other replica, then to any.
    fn third(&self, first: StorageIdx, second: StorageIdx) -> Option<StorageIdx> {
        let nodes = self.placement.nodes;
        let (near, other) = if self.request.chosen.is_empty() {
            (self.rack_of(second), self.rack_of(first))
        } else {
            let writer = self.placement.writer(self.request).or(nodes.node_of(first));
            let other = if nodes.node_of(first) == writer { second } else { first };
            let rack = writer.and_then(|node| nodes.node(node)).map(|node| &*node.rack);
            (rack, self.rack_of(other))
        };
        near.and_then(|rack| self.pick(Scope::Rack(rack)))
            .or_else(|| self.pick(Scope::Rack(other?)))
            .or_else(|| self.pick(Scope::Everywhere))
    }

    /// Chooses a storage in a part of the network. Tries the wanted types in order; each DataNode with a good storage of a type
    /// has the same chance. Judges few DataNodes, unless few of those with the type can take the replica.
    fn pick(&self, scope: Scope<'_>) -> Option<StorageIdx> {
        self.kinds().find_map(|kind| {
            let candidates = self.placement.nodes.topology().with_kind(kind, scope);
            self.placement.shuffled(candidates).find_map(|node| {
                self.judge_node(node, self.consider_load).ok()?;
                self.storage_of(node, kind)
            })
        })
    }

    /// A storage of this node that can take the replica, or why there is none.
    pub(super) fn judge(&self, node: NodeIdx) -> Result<StorageIdx, Refusal> {
        self.judge_node(node, self.consider_load)?;
        self.kinds().find_map(|kind| self.storage_of(node, kind)).ok_or(Refusal::NoStorage)
    }

    /// Refuses a DataNode that cannot take the replica, whatever its storages.
    fn judge_node(&self, node: NodeIdx, consider_load: bool) -> Result<(), Refusal> {
        #[cfg(test)]
        self.placement.nodes.judged.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let known = self.placement.nodes.node(node).ok_or(Refusal::NotInService)?;
        if !known.alive || known.admin != AdminState::Normal {
            return Err(Refusal::NotInService);
        }
        if self.is_taken(node) {
            return Err(Refusal::Excluded);
        }
        if consider_load && self.is_loaded(known.xceivers) {
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
        Ok(())
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
            || self.request.avoid_local && nodes.by_host(self.request.client_host).contains(&node)
    }

    fn is_loaded(&self, xceivers: u32) -> bool {
        f64::from(xceivers) > self.load_max && xceivers > 1
    }

    fn is_stale(&self, heard_ms: u64) -> bool {
        self.avoid_stale
            && self.placement.now_ms.saturating_sub(heard_ms)
                > self.placement.params.stale_interval_ms
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
        let fits = |storage: &StorageIdx| {
            nodes.storage(*storage).is_some_and(|known| known.takes(kind, size))
        };
        let shuffled = self.placement.random.shuffled(storages.len());
        shuffled.filter_map(|at| storages.get(at).copied()).find(fits)
    }
}
