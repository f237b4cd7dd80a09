//! The scan of the directives continues after what changes between its slices.

use super::*;
use crate::blocks::{BlockManager, BlockParams, Now};
use crate::fixture::{create, superuser};
use crate::{CacheDirectiveRequest, Namespace, NamespaceParams};
use zerohop_wire::CacheDirective;

const NOW: Now = Now { wall_ms: 1, mono_ms: 1 };
const SLICE: usize = 10;

fn direct(namespace: &mut Namespace, path: &str) -> i64 {
    let directive = CacheDirective::default().path(path.to_owned()).pool("pool".to_owned());
    let request = CacheDirectiveRequest { directive, ..CacheDirectiveRequest::default() };
    namespace.cache_manager(&superuser()).add_cache_directive(&request).unwrap()
}

/// Two directories of a hundred files, each with a directive.
fn namespace() -> (Namespace, [i64; 2]) {
    let mut namespace =
        Namespace::new(NamespaceParams::default(), BlockManager::new(BlockParams::default()));
    namespace.start(NOW);
    let pool = CachePool::new("pool");
    namespace.cache_manager(&superuser()).add_cache_pool(pool).unwrap();
    for file in 0..100 {
        create(&mut namespace, &format!("/a/{file:03}"));
        create(&mut namespace, &format!("/b/{file:03}"));
    }
    let ids = ["/a", "/b"].map(|path| direct(&mut namespace, path));
    (namespace, ids)
}

fn files_needed(namespace: &Namespace) -> (Vec<i64>, i64) {
    let (list, _) =
        namespace.cache_listing(&superuser()).directives(0, &CacheDirective::default()).unwrap();
    let (pools, _) = namespace.cache_listing(&superuser()).pools("");
    let directives = list.iter().map(|entry| entry.stats.files_needed).collect();
    (directives, pools[0].stats.files_needed)
}

/// Scans with `between` after each slice that is not the last; how many slices there were.
fn scan(namespace: &mut Namespace, mut between: impl FnMut(&mut Namespace, usize)) -> usize {
    let mut slices = 1;
    while namespace.cache_scanner().continue_scan(NOW, SLICE) {
        between(namespace, slices);
        slices += 1;
        assert!(slices < 1000, "the scan does not end");
    }
    slices
}

#[test]
fn a_directive_over_many_files_is_scanned_in_several_holds_and_counts_at_the_end() {
    let (mut namespace, _) = namespace();
    let slices = scan(&mut namespace, |it, _| assert_eq!(files_needed(it), (vec![0, 0], 0)));
    assert!((20..30).contains(&slices), "{slices}");
    assert_eq!(files_needed(&namespace), (vec![100, 100], 200));
    assert_eq!(namespace.cache_changes(), None);
    // The next scan begins anew, and shows the last one's figures until it ends.
    create(&mut namespace, "/a/more");
    scan(&mut namespace, |it, _| assert_eq!(files_needed(it), (vec![100, 100], 200)));
    assert_eq!(files_needed(&namespace), (vec![101, 100], 201));
}

#[test]
fn a_file_or_a_directive_that_goes_between_two_slices_of_a_scan_does_no_harm() {
    let (mut namespace, [first, _]) = namespace();
    scan(&mut namespace, |it, slices| match slices {
        // The file that the scan goes on after, and one before it.
        3 => {
            for file in it.cache_scan().map(|scan| scan.file().to_owned()).into_iter() {
                assert!(it.directories(&superuser()).delete(&format!("/a/{file}"), false).unwrap());
            }
            assert!(it.directories(&superuser()).delete("/a/099", false).unwrap());
        }
        5 => it.cache_manager(&superuser()).remove_cache_directive(first).unwrap(),
        15 => assert!(it.directories(&superuser()).delete("/b", true).unwrap()),
        _ => {}
    });
    assert_eq!(files_needed(&namespace).0.len(), 1);
    assert!(namespace.cache_changes().is_some(), "a directive changed: there is one more scan");
    scan(&mut namespace, |_, _| {});
    assert_eq!((files_needed(&namespace), namespace.cache_changes()), ((vec![0], 0), None));
}

#[test]
fn a_directive_that_changes_during_a_scan_waits_for_a_whole_one() {
    let (mut namespace, [first, _]) = namespace();
    create(&mut namespace, "/c/only");
    let mut third = 0;
    scan(&mut namespace, |it, slices| {
        if slices == 3 {
            let mut request = CacheDirectiveRequest::default();
            (request.directive.id, request.directive.path) = (Some(first), Some("/c".to_owned()));
            it.cache_manager(&superuser()).modify_cache_directive(&request).unwrap();
            third = direct(it, "/b");
        }
    });
    assert_eq!((files_needed(&namespace).0, third), (vec![0, 100, 0], 3));
    let changes = namespace.cache_changes().unwrap();
    while namespace.cache_scanner().scan_changes(changes, NOW, SLICE) {}
    assert_eq!(files_needed(&namespace), (vec![1, 100, 100], 201));
}

/// The rest of a scan of an earlier term was carried out when the NameNode was active again.
#[test]
fn a_scan_does_not_go_on_after_a_failover_and_back() {
    let (mut namespace, _) = namespace();
    assert!(namespace.cache_scanner().continue_scan(NOW, SLICE));
    namespace.become_standby();
    assert!(namespace.cache_scan().is_none());
}
