//! Lists are in order of name, from any name on, page by page.

use crate::place::Place;
use futures_util::TryStreamExt;
use object_store::list::{PaginatedListOptions, PaginatedListStore};
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt};
use zerohop_object_store::{HdfsObjectStore, object_store};

const NAMES: [&str; 12] = [
    "a", "a b/c", "a!/x", "a-b", "a-c/d", "a.b", "aa/a/a", "aa/a-", "aa/b", "ab", "b/c/d/e", "b/c-",
];

async fn filled(place: &Place) -> (HdfsObjectStore, Vec<String>) {
    let store = place.store();
    let mut names: Vec<String> = NAMES.iter().map(|name| (*name).to_owned()).collect();
    for name in &names {
        store.put(&Path::parse(name).unwrap(), "x".into()).await.unwrap();
    }
    place.fs.mkdirs(&place.path("empty/directory")).await.unwrap();
    names.sort();
    (store, names)
}

async fn listed(store: &HdfsObjectStore, prefix: Option<&str>, after: &str) -> Vec<String> {
    let prefix = prefix.map(|prefix| Path::parse(prefix).unwrap());
    let after = Path::parse(after).unwrap();
    let found = store.list_with_offset(prefix.as_ref(), &after);
    found.map_ok(|meta| meta.location.to_string()).try_collect().await.unwrap()
}

pub async fn in_order_from_any_name_on(place: &Place) {
    let (store, names) = filled(place).await;
    let all: Vec<String> =
        store.list(None).map_ok(|meta| meta.location.to_string()).try_collect().await.unwrap();
    assert_eq!(all, names);
    let after =
        ["", "a", "a b", "a!", "a-", "a-b", "a-c", "a/", "aa", "aa/a", "aa/a/a", "b/c/d", "z"];
    for after in after {
        let greater = |name: &&String| name.as_str() > after.trim_end_matches('/');
        let expected: Vec<String> = names.iter().filter(greater).cloned().collect();
        assert_eq!(listed(&store, None, after).await, expected, "after {after}");
        let below: Vec<String> =
            expected.into_iter().filter(|name| name.starts_with("aa/")).collect();
        assert_eq!(listed(&store, Some("aa"), after).await, below, "after {after}, below aa");
    }
}

pub async fn page_by_page(place: &Place) {
    let (store, names) = filled(place).await;
    for (prefix, max_keys) in [("", 1), ("", 5), ("a", 2), ("a-", 1), ("aa/", 1), ("b/c", 7)] {
        let mut options = PaginatedListOptions { max_keys: Some(max_keys), ..Default::default() };
        let mut found = Vec::new();
        loop {
            let page = store.list_paginated(Some(prefix), options.clone()).await.unwrap();
            assert!(page.result.objects.len() <= max_keys);
            found.extend(page.result.objects.iter().map(|meta| meta.location.to_string()));
            options.page_token = page.page_token;
            if options.page_token.is_none() {
                break;
            }
        }
        let expected: Vec<&String> = names.iter().filter(|name| name.starts_with(prefix)).collect();
        assert_eq!(found.iter().collect::<Vec<_>>(), expected, "{prefix}");
    }
    let flat = PaginatedListOptions { delimiter: Some("/".into()), ..Default::default() };
    let page = store.list_paginated(Some("a"), flat).await.unwrap().result;
    assert_eq!(
        page.common_prefixes,
        ["a b", "a!", "a-c", "aa"].map(|name| Path::parse(name).unwrap())
    );
    assert_eq!(page.objects.len(), 4);
}

/// A directory that was renamed between two pages used to end the list.
pub async fn the_next_page_of_a_directory_that_is_gone_fails(place: &Place) {
    let (store, _) = filled(place).await;
    let mut options = PaginatedListOptions { max_keys: Some(1), ..Default::default() };
    let first = store.list_paginated(Some("aa/"), options.clone()).await.unwrap();
    options.page_token = Some(first.page_token.expect("more names"));
    assert!(place.fs.rename(&place.path("aa"), &place.path("moved")).await.unwrap());
    let next = store.list_paginated(Some("aa/"), options.clone()).await;
    assert!(matches!(next, Err(object_store::Error::NotFound { .. })), "{next:?}");
    options.page_token = None;
    let anew = store.list_paginated(Some("aa/"), options).await.unwrap();
    assert!(anew.result.objects.is_empty() && anew.page_token.is_none());
}
