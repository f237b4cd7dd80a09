//! A store that keeps files open: what another program does meanwhile, and what this one does.

use crate::place::Place;
use futures_util::TryStreamExt;
use object_store::path::Path;
use object_store::{Error, GetOptions, ObjectStore, ObjectStoreExt, PutMode, UpdateVersion};
use std::time::{Duration, Instant};
use zerohop_client::CreateOptions;
use zerohop_object_store::{HdfsObjectStore, object_store};

async fn ranges(store: &HdfsObjectStore, at: &Path) -> object_store::Result<String> {
    let bytes = store.get_ranges(at, &[0..2, 2..5]).await?;
    Ok(String::from_utf8(bytes.concat()).unwrap())
}

async fn whole(store: &HdfsObjectStore, at: &Path) -> String {
    let bytes = store.get(at).await.unwrap().bytes().await.unwrap();
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// After another name was given to it, only an open file has these bytes at the old name.
pub async fn a_file_is_opened_once(place: &Place) {
    let at = Path::from("a");
    let rename = async |from: &str, to: &str| {
        place.fs.rename(&place.path(from), &place.path(to)).await.unwrap();
    };
    for open in ["get_ranges", "get"] {
        let store = place.store_with_open_files();
        store.put(&at, "first".into()).await.unwrap();
        match open {
            "get" => assert_eq!(whole(&store, &at).await, "first"),
            _ => assert_eq!(ranges(&store, &at).await.unwrap(), "first"),
        }
        rename("a", "b").await;
        assert_eq!(ranges(&store, &at).await.unwrap(), "first", "{open}");
        // A get asks what is there.
        let missing = store.get(&at).await.map(drop).unwrap_err();
        assert!(matches!(missing, Error::NotFound { .. }), "{open}: {missing}");
        // Another store opens files of its own.
        let missing = ranges(&place.store(), &at).await.unwrap_err();
        assert!(matches!(missing, Error::NotFound { .. }), "{open}: {missing}");
        rename("b", "a").await;
        store.delete(&at).await.unwrap();
    }
    // When its time is over, a file is closed.
    let store = place.store().with_files_open_for(Duration::from_millis(20));
    store.put(&at, "first".into()).await.unwrap();
    assert_eq!(ranges(&store, &at).await.unwrap(), "first");
    rename("a", "b").await;
    let start = Instant::now();
    while ranges(&store, &at).await.is_ok() {
        assert!(start.elapsed() < Duration::from_secs(60));
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    rename("b", "a").await;
    // With another root the same name is another file.
    let below = place.store_with_open_files();
    assert_eq!(ranges(&below, &at).await.unwrap(), "first");
    place.store().put(&Path::from("x/a"), "other".into()).await.unwrap();
    let below = below.with_root(&place.path("x"));
    assert_eq!(ranges(&below, &at).await.unwrap(), "other");
}

/// Whatever shows the object's new ETag closes the old file; conditions are those of the object that is there.
pub async fn an_object_that_another_program_replaces(place: &Place) {
    let (store, other, at) = (place.store_with_open_files(), place.store(), Path::from("a"));
    let old = other.put(&at, "first".into()).await.unwrap().e_tag;
    for look in ["get", "if_match", "head", "list", "list_with_delimiter"] {
        assert_eq!(ranges(&store, &at).await.unwrap(), "first", "{look}");
        assert_eq!(whole(&store, &at).await, "first", "{look}");
        let new = other.put(&at, "other".into()).await.unwrap().e_tag;
        match look {
            "get" => assert_eq!(whole(&store, &at).await, "other"),
            "if_match" => {
                let with = |tag: &Option<String>| GetOptions::new().with_if_match(tag.clone());
                let refused = store.get_opts(&at, with(&old)).await.map(drop).unwrap_err();
                assert!(matches!(refused, Error::Precondition { .. }), "{refused}");
                let got = store.get_opts(&at, with(&new)).await.unwrap();
                assert_eq!(got.meta.e_tag, new);
                assert_eq!(got.bytes().await.unwrap(), "other");
                let update = |tag: &Option<String>| {
                    let version = UpdateVersion { e_tag: tag.clone(), version: None };
                    store.put_opts(&at, "mine!".into(), PutMode::Update(version).into())
                };
                let refused = update(&old).await.unwrap_err();
                assert!(matches!(refused, Error::Precondition { .. }), "{refused}");
            }
            "head" => assert_eq!(store.head(&at).await.unwrap().e_tag, new),
            "list" => {
                let all: Vec<_> = store.list(None).try_collect().await.unwrap();
                assert_eq!(all.iter().map(|meta| &meta.e_tag).collect::<Vec<_>>(), [&new]);
            }
            _ => {
                let all = store.list_with_delimiter(None).await.unwrap();
                assert_eq!(all.objects[0].e_tag, new);
            }
        }
        assert_eq!(ranges(&store, &at).await.unwrap(), "other", "{look}");
        other.put(&at, "first".into()).await.unwrap();
        store.head(&at).await.unwrap();
    }
}

pub async fn changes_through_the_store_are_seen_at_once(place: &Place) {
    let (store, at, to) = (place.store_with_open_files(), Path::from("a"), Path::from("b"));
    for change in ["put", "multipart", "copy", "rename"] {
        store.put(&at, "first".into()).await.unwrap();
        store.put(&to, "other".into()).await.unwrap();
        for file in [&at, &to] {
            ranges(&store, file).await.unwrap();
        }
        match change {
            "put" => drop(store.put(&at, "other".into()).await.unwrap()),
            "multipart" => {
                let mut upload = store.put_multipart(&at).await.unwrap();
                upload.put_part("other".into()).await.unwrap();
                upload.complete().await.unwrap();
            }
            "copy" => store.copy(&to, &at).await.unwrap(),
            _ => store.rename(&to, &at).await.unwrap(),
        }
        // By a clone, too.
        assert_eq!(ranges(&store.clone(), &at).await.unwrap(), "other", "{change}");
        if change == "rename" {
            let missing = ranges(&store, &to).await.unwrap_err();
            assert!(matches!(missing, Error::NotFound { .. }), "{missing}");
        }
    }
    store.delete(&at).await.unwrap();
    let missing = ranges(&store, &at).await.unwrap_err();
    assert!(matches!(missing, Error::NotFound { .. }), "{missing}");
}

/// A range that the open file does not have is one of the file that has taken its place.
pub async fn a_read_that_fails_opens_the_file_again(place: &Place) {
    let (store, at) = (place.store_with_open_files(), Path::from("a"));
    store.put(&at, "first".into()).await.unwrap();
    assert_eq!(ranges(&store, &at).await.unwrap(), "first");
    place.store().put(&at, "another one".into()).await.unwrap();
    let bytes = store.get_ranges(&at, &[8..9, 9..11]).await.unwrap();
    assert_eq!(bytes.concat(), b"one");
    // Its successor is the one that stays open.
    assert_eq!(ranges(&store, &at).await.unwrap(), "anoth");
}

pub async fn a_file_that_grows_is_opened_each_time(place: &Place) {
    let (store, at) = (place.store_with_open_files(), Path::from("a"));
    let mut file = place.fs.create(&place.path("a"), CreateOptions::default()).await.unwrap();
    for len in 1..4 {
        file.write(b"0123456789").await.unwrap();
        file.hflush().await.unwrap();
        let end = len * 10;
        let bytes = store.get_ranges(&at, &[end - 10..end - 5, end - 5..end]).await.unwrap();
        assert_eq!(bytes.concat(), b"0123456789", "{len}");
        assert_eq!(whole(&store, &at).await.len() as u64, end);
    }
    file.close().await.unwrap();
    assert_eq!(whole(&store, &at).await.len(), 30);
}
