//! Names that HDFS has no files for.

use crate::place::Place;
use futures_util::TryStreamExt;
use object_store::path::Path;
use object_store::{Error, ObjectStore, ObjectStoreExt, PutMode};
use zerohop_object_store::object_store;

pub async fn a_file_and_a_directory_cannot_have_one_name(place: &Place) {
    let store = place.store();
    let (above, below) = (Path::from("a"), Path::from("a/b"));
    store.put(&above, "file".into()).await.unwrap();
    let refused = store.put(&below, "x".into()).await.unwrap_err();
    assert!(matches!(refused, Error::Generic { .. }), "{refused}");
    let missing = store.head(&below).await.unwrap_err();
    assert!(matches!(missing, Error::NotFound { .. }), "{missing}");
    let missing = store.delete(&below).await.unwrap_err();
    assert!(matches!(missing, Error::NotFound { .. }), "{missing}");

    store.delete(&above).await.unwrap();
    store.put(&below, "x".into()).await.unwrap();
    store.put(&above, "file".into()).await.unwrap_err();
    let there = store.put_opts(&above, "file".into(), PutMode::Create.into()).await.unwrap_err();
    assert!(matches!(there, Error::AlreadyExists { .. }), "{there}");
    // A directory is no object for any call.
    for missing in [
        store.head(&above).await.map(drop),
        store.get(&above).await.map(drop),
        store.get_range(&above, 0..1).await.map(drop),
        store.get_ranges(&above, &[0..1, 2..3]).await.map(drop),
        store.delete(&above).await,
        store.copy(&above, &Path::from("c")).await,
        store.rename(&above, &Path::from("c")).await,
    ] {
        assert!(matches!(missing, Err(Error::NotFound { .. })), "{missing:?}");
    }
    assert_eq!(store.get(&below).await.unwrap().bytes().await.unwrap(), "x");
}

pub async fn names_that_hdfs_refuses_are_refused_and_not_found(place: &Place) {
    let store = place.store();
    let source = Path::from("source");
    store.put(&source, "x".into()).await.unwrap();
    for name in ["day=2026-01-01 00:00", "", ".zerohop-staged-x", "a/.zerohop-staged-x/part-000000"]
    {
        let path = Path::parse(name).unwrap();
        for refused in [
            store.put(&path, "x".into()).await.map(drop),
            store.put_multipart(&path).await.map(drop),
            store.copy(&source, &path).await,
            store.rename(&source, &path).await,
        ] {
            assert!(matches!(refused, Err(Error::NotSupported { .. })), "{name}: {refused:?}");
        }
        let missing = store.head(&path).await.unwrap_err();
        assert!(matches!(missing, Error::NotFound { .. }), "{name}: {missing}");
        let listed: Vec<_> = store.list(Some(&path)).try_collect().await.unwrap();
        assert_eq!(listed.len(), usize::from(name.is_empty()), "{name}");
    }
}

pub async fn renames_to_the_name_itself(place: &Place) {
    let (store, path) = (place.store(), Path::from("a/b"));
    store.put(&path, "x".into()).await.unwrap();
    store.rename(&path, &path).await.unwrap();
    let there = store.rename_if_not_exists(&path, &path).await.unwrap_err();
    assert!(matches!(there, Error::AlreadyExists { .. }), "{there}");
    store.put(&Path::from("c"), "y".into()).await.unwrap();
    let there = store.rename_if_not_exists(&path, &Path::from("c")).await.unwrap_err();
    assert!(matches!(there, Error::AlreadyExists { .. }), "{there}");
    store.rename_if_not_exists(&path, &Path::from("new/d/e")).await.unwrap();
    store.copy(&Path::from("c"), &Path::from("c")).await.unwrap();
    assert_eq!(store.get(&Path::from("new/d/e")).await.unwrap().bytes().await.unwrap(), "x");
}
