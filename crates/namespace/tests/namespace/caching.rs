//! Cache pools and directives.

use crate::world::{World, exception, kind};
use zerohop_namespace::{CacheDirectiveRequest, CacheStats, NamespaceParams};
use zerohop_wire::{CacheDirective, CacheExpiry, CachePool, JavaException};

const DAY_MS: i64 = 86_400_000;

fn pool(name: &str) -> CachePool {
    CachePool::new(name)
}

fn directive(path: &str, pool: &str) -> CacheDirectiveRequest {
    let directive = CacheDirective::default().path(path.to_owned()).pool(pool.to_owned());
    CacheDirectiveRequest { directive, ..CacheDirectiveRequest::default() }
}

/// A pool of alice's group with a limit of 3000 bytes and a day, one of everybody, and files.
fn world() -> World {
    world_with(NamespaceParams::default())
}

fn world_with(params: NamespaceParams) -> World {
    let mut world = World::with(params);
    let root = world.root();
    let hot = pool("hot")
        .owner("alice".to_owned())
        .group("staff".to_owned())
        .mode(0o750)
        .limit(3000)
        .max_relative_expiry_ms(DAY_MS);
    world.namespace.cache_manager(&root).add_cache_pool(hot).unwrap();
    world.namespace.cache_manager(&root).add_cache_pool(pool("cold")).unwrap();
    for name in ["/d/a", "/d/b", "/d/below/c"] {
        world.write(name, &[1000]);
    }
    world.edits();
    world
}

fn stats(world: &mut World, pool: &str) -> CacheStats {
    let root = world.root();
    if world.namespace.cache_changes().is_some() {
        world.namespace.cache_scanner().scan(world.now);
    }
    let (pools, _) = world.namespace.cache_listing(&root).pools("");
    pools.into_iter().find(|entry| entry.info.name == pool).unwrap().stats
}

#[test]
fn who_may_use_a_pool() {
    let mut world = world();
    let (alice, bob) = (world.user("alice", &["staff"]), world.user("bob", &["staff"]));
    let carol = world.user("carol", &["guests"]);
    let namespace = &mut world.namespace;
    assert_eq!(
        kind(namespace.cache_manager(&alice).add_cache_pool(pool("x"))),
        JavaException::AccessControl
    );
    let id =
        namespace.cache_manager(&alice).add_cache_directive(&directive("/d/a", "hot")).unwrap();
    for other in [&bob, &carol] {
        let refused = namespace.cache_manager(other).add_cache_directive(&directive("/d/a", "hot"));
        assert_eq!(kind(refused), JavaException::AccessControl);
        assert_eq!(
            kind(namespace.cache_manager(other).remove_cache_directive(id)),
            JavaException::AccessControl
        );
    }
    let filter = CacheDirective::default();
    let seen = [&alice, &bob, &carol]
        .map(|user| namespace.cache_listing(user).directives(0, &filter).unwrap().0.len());
    assert_eq!(seen, [1, 1, 0]);
    let (pools, has_more) = namespace.cache_listing(&carol).pools("cold");
    assert_eq!((pools.len(), pools[0].info.owner.clone(), has_more), (1, None, false));
}

/// Of a file the owner's class alone would count.
#[test]
fn an_owner_of_a_pool_has_what_its_group_may_too() {
    let mut world = world();
    let root = world.root();
    let mode = |mode: u16| pool("hot").mode(mode);
    let may = |world: &mut World, user: &str, groups: &[&str]| {
        let user = world.user(user, groups);
        let request = CacheDirectiveRequest { force: true, ..directive("/d/a", "hot") };
        world.namespace.cache_manager(&user).add_cache_directive(&request).is_ok()
    };
    for (bits, expected) in [
        (0o020, [true, false, true, false]),
        (0o200, [true, true, false, false]),
        (0o002, [false, false, false, true]),
    ] {
        world.namespace.cache_manager(&root).modify_cache_pool(mode(bits)).unwrap();
        let found = [("alice", "staff"), ("alice", "x"), ("bob", "staff"), ("bob", "x")]
            .map(|(user, group)| may(&mut world, user, &[group]));
        assert_eq!(found, expected, "{bits:o}");
    }
}

#[test]
fn lists_come_in_pages_of_the_length_configured() {
    let params = NamespaceParams {
        cache_directives_batch: 2,
        cache_pools_batch: 1,
        ..NamespaceParams::default()
    };
    let mut world = world_with(params);
    let root = world.root();
    let namespace = &mut world.namespace;
    for path in ["/d/a", "/d/b", "/d/below/c"] {
        namespace.cache_manager(&root).add_cache_directive(&directive(path, "cold")).unwrap();
    }
    let filter = CacheDirective::default();
    let page = |after| {
        let (page, has_more) = namespace.cache_listing(&root).directives(after, &filter).unwrap();
        (page.into_iter().map(|entry| entry.info.id).collect::<Vec<_>>(), has_more)
    };
    assert_eq!(page(0), (vec![Some(1), Some(2)], true));
    assert_eq!(page(2), (vec![Some(3)], false));
    let (pools, has_more) = namespace.cache_listing(&root).pools("");
    assert_eq!((pools.len(), pools[0].info.name.as_str(), has_more), (1, "cold", true));
    let (pools, has_more) = namespace.cache_listing(&root).pools("cold");
    assert_eq!((pools.len(), pools[0].info.name.as_str(), has_more), (1, "hot", false));
}

/// Pools and directives are kept, but their paths are not scanned.
#[test]
fn nothing_is_counted_where_caching_is_off() {
    let params = NamespaceParams { caching_enabled: false, ..NamespaceParams::default() };
    let mut world = world_with(params);
    let root = world.root();
    world.namespace.cache_manager(&root).add_cache_directive(&directive("/d", "hot")).unwrap();
    assert!(world.namespace.cache_changes().is_none() && !world.namespace.has_cache_directives());
    assert_eq!(stats(&mut world, "hot"), CacheStats::default());
}

#[test]
fn a_pool_s_limit_counts_what_its_directives_need() {
    let mut world = world();
    let root = world.root();
    world.namespace.cache_manager(&root).add_cache_directive(&directive("/d", "hot")).unwrap();
    // The files of the directory, not of those below.
    let two = CacheStats { bytes_needed: 2000, files_needed: 2, ..CacheStats::default() };
    assert_eq!(stats(&mut world, "hot"), two);
    let twice = |force: bool| {
        let mut request = directive("/d/below/c", "hot");
        request.directive.replication = Some(2);
        CacheDirectiveRequest { force, ..request }
    };
    let refused =
        world.namespace.cache_manager(&root).add_cache_directive(&twice(false)).unwrap_err();
    assert_eq!(exception(&refused), JavaException::InvalidRequest);
    let words =
        "size 1000 bytes at replication 2 would exceed pool hot's remaining capacity of 1000";
    assert!(refused.to_string().contains(words), "{refused:?}");
    world.namespace.cache_manager(&root).add_cache_directive(&twice(true)).unwrap();
    assert_eq!(stats(&mut world, "hot").bytes_needed, 4000);
}

#[test]
fn directives_end() {
    let mut world = world();
    let root = world.root();
    let until = |ms: i64, is_relative: bool| {
        let mut request = directive("/d/a", "hot");
        request.directive.expiry = Some(CacheExpiry { ms, is_relative });
        request
    };
    for bad in [until(-1, true), until(DAY_MS + 1, true), until(i64::MAX, false)] {
        let refused = world.namespace.cache_manager(&root).add_cache_directive(&bad);
        assert_eq!(kind(refused), JavaException::InvalidRequest);
    }
    world.namespace.cache_manager(&root).add_cache_directive(&until(60_000, true)).unwrap();
    assert_eq!(stats(&mut world, "hot").files_needed, 1);
    world.pass_ms(60_000);
    let (root, now) = (world.root(), world.now);
    world.namespace.cache_scanner().scan(now);
    let filter = CacheDirective::default();
    let (list, _) = world.namespace.cache_listing(&root).directives(0, &filter).unwrap();
    assert!(list[0].has_expired && list[0].stats == CacheStats::default());
}

#[test]
fn what_is_asked_for_is_logged_and_in_images() {
    let mut world = world();
    let root = world.root();
    let first = world
        .namespace
        .cache_manager(&root)
        .add_cache_directive(&directive("/d/a", "hot"))
        .unwrap();
    let second =
        world.namespace.cache_manager(&root).add_cache_directive(&directive("/d", "cold")).unwrap();
    assert_eq!((first, second), (1, 2));
    let mut change = CacheDirectiveRequest::default();
    (change.directive.id, change.directive.replication) = (Some(first), Some(3));
    world.namespace.cache_manager(&root).modify_cache_directive(&change).unwrap();
    let limit = pool("cold").limit(7);
    world.namespace.cache_manager(&root).modify_cache_pool(limit).unwrap();
    world.namespace.cache_manager(&root).remove_cache_directive(second).unwrap();
    world.namespace.cache_manager(&root).remove_cache_pool("cold").unwrap();
    let names = world.edit_names();
    assert_eq!(
        names,
        [
            "OP_ADD_CACHE_DIRECTIVE",
            "OP_ADD_CACHE_DIRECTIVE",
            "OP_MODIFY_CACHE_DIRECTIVE",
            "OP_MODIFY_CACHE_POOL",
            "OP_REMOVE_CACHE_DIRECTIVE",
            "OP_REMOVE_CACHE_POOL"
        ]
    );
    world.check_replay();
    world.check_image();
}

#[test]
fn names_and_paths_that_no_edit_can_carry_are_refused() {
    let mut world = world();
    let root = world.root();
    let long = "n".repeat(22_000);
    let owned = pool("owned").owner(long.clone());
    assert_eq!(kind(world.namespace.cache_manager(&root).add_cache_pool(owned)), JavaException::Io);
    let grouped = pool("cold").group(long.clone());
    assert_eq!(
        kind(world.namespace.cache_manager(&root).modify_cache_pool(grouped)),
        JavaException::Io
    );
    let id = world
        .namespace
        .cache_manager(&root)
        .add_cache_directive(&directive("/d/a", "cold"))
        .unwrap();
    let mut moved = directive(&format!("/{long}"), "cold");
    moved.directive.id = Some(id);
    assert_eq!(
        kind(world.namespace.cache_manager(&root).modify_cache_directive(&moved)),
        JavaException::Io
    );
    world.check_replay();
}
