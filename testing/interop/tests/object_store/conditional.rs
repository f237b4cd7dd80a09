//! Puts that depend on what is there, against writers that do not ask.

use crate::place::Place;
use object_store::path::Path;
use object_store::{Error, ObjectStore, ObjectStoreExt, PutMode, PutResult, UpdateVersion};
use zerohop_client::{AppendOptions, CreateOptions, RenameOptions};
use zerohop_object_store::{HdfsObjectStore, object_store};

async fn update(
    store: &HdfsObjectStore,
    at: &Path,
    from: PutResult,
) -> object_store::Result<PutResult> {
    store.put_opts(at, "updated".into(), PutMode::Update(from.into()).into()).await
}

pub async fn an_update_sees_what_others_did_with_the_file(place: &Place) {
    let (store, fs, at) = (place.store(), &place.fs, Path::from("a/b"));
    let failed = |result: object_store::Result<PutResult>| {
        let error = result.unwrap_err();
        assert!(matches!(error, Error::Precondition { .. }), "{error}");
    };
    for change in ["overwritten", "appended", "moved", "replaced", "deleted", "a directory"] {
        let put = store.put(&at, "first".into()).await.unwrap();
        match change {
            "overwritten" => {
                let mut file =
                    fs.create(&place.path("a/b"), CreateOptions::overwriting()).await.unwrap();
                file.write(b"first").await.unwrap();
                file.close().await.unwrap();
            }
            "appended" => {
                let mut file =
                    fs.append(&place.path("a/b"), AppendOptions::default()).await.unwrap();
                file.write(b"!").await.unwrap();
                file.close().await.unwrap();
            }
            "moved" => {
                let options = RenameOptions::default().overwrite(true);
                fs.rename2(&place.path("a/b"), &place.path("a/c"), options).await.unwrap();
            }
            "replaced" => {
                store.put(&Path::from("a/d"), "first".into()).await.unwrap();
                let options = RenameOptions::default().overwrite(true);
                fs.rename2(&place.path("a/d"), &place.path("a/b"), options).await.unwrap();
            }
            "deleted" => assert!(fs.delete(&place.path("a/b"), false).await.unwrap()),
            _ => {
                fs.delete(&place.path("a/b"), false).await.unwrap();
                fs.mkdirs(&place.path("a/b")).await.unwrap();
            }
        }
        failed(update(&store, &at, put).await);
    }
}

pub async fn what_hdfs_cannot_do_is_refused(place: &Place) {
    let (store, at) = (place.store(), Path::from("a"));
    let put = store.put(&at, "first".into()).await.unwrap();
    let version = UpdateVersion { version: Some("1".to_owned()), ..put.into() };
    let mode = PutMode::Update(version);
    let refused = store.put_opts(&at, "x".into(), mode.into()).await.unwrap_err();
    assert!(matches!(refused, Error::NotSupported { .. }), "{refused}");
    let nothing = UpdateVersion { e_tag: None, version: None };
    store.put_opts(&at, "x".into(), PutMode::Update(nothing).into()).await.unwrap_err();
    let old = object_store::GetOptions::new().with_version(Some("1"));
    let refused = store.get_opts(&at, old).await.unwrap_err();
    assert!(matches!(refused, Error::NotSupported { .. }), "{refused}");
    let mut tags = object_store::TagSet::default();
    tags.push("team", "storage");
    let refused = store.put_opts(&at, "x".into(), tags.into()).await.unwrap_err();
    assert!(matches!(refused, Error::NotImplemented { .. }), "{refused}");
    assert_eq!(store.get(&at).await.unwrap().bytes().await.unwrap(), "first");
}

/// Writers that update by ETag beside writers that overwrite: an update never takes the place of bytes that it has not seen.
pub async fn no_update_replaces_what_was_put_without_a_condition(place: &Place) {
    let (store, at) = (place.store(), Path::from("a"));
    store.put(&at, "0".into()).await.unwrap();
    let overwriting = {
        let (store, at) = (store.clone(), at.clone());
        tokio::spawn(async move {
            for number in 1..=100 {
                store.put(&at, format!("{number}").into()).await.unwrap();
            }
        })
    };
    let mut seen = Vec::new();
    while !overwriting.is_finished() {
        let got = store.get(&at).await.unwrap();
        let version = UpdateVersion { e_tag: got.meta.e_tag.clone(), version: None };
        let read = String::from_utf8(got.bytes().await.unwrap().to_vec()).unwrap();
        let updated = format!("{read}+");
        match store.put_opts(&at, updated.into(), PutMode::Update(version).into()).await {
            Ok(_) => seen.push(read),
            Err(error) => assert!(matches!(error, Error::Precondition { .. }), "{error}"),
        }
    }
    overwriting.await.unwrap();
    // What was put last is there, alone or with the marks of updates that had read it.
    let last = store.get(&at).await.unwrap().bytes().await.unwrap();
    assert_eq!(std::str::from_utf8(&last).unwrap().trim_end_matches('+'), "100");
}
