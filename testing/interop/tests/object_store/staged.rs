//! What is left of writers that do not finish, and what readers see meanwhile.

use crate::place::Place;
use bytes::Bytes;
use futures_util::{FutureExt, TryStreamExt};
use object_store::multipart::MultipartStore;
use object_store::path::Path;
use object_store::{Error, ObjectStore, ObjectStoreExt, PutPayload};
use zerohop_object_store::object_store;

fn pattern(len: usize) -> Bytes {
    (0..len).map(|at| (at % 251) as u8).collect()
}

pub async fn a_put_that_is_given_up_leaves_nothing(place: &Place) {
    let (store, path) = (place.store(), Path::from("a"));
    let payload: PutPayload = std::iter::repeat_n(pattern(1 << 20), 20).collect();
    for steps in 0..20 {
        let put = store.put(&path, payload.clone());
        tokio::pin!(put);
        for _ in 0..steps {
            if put.as_mut().now_or_never().is_some() {
                break;
            }
            tokio::task::yield_now().await;
        }
    }
}

pub async fn readers_see_an_object_whole_or_not_at_all(place: &Place) {
    let (store, path) = (place.store(), Path::from("a"));
    let len = 300_000;
    let of = move |number: u8| Bytes::from(vec![number; len + usize::from(number)]);
    store.put(&path, of(0).into()).await.unwrap();
    let writing = {
        let (store, path) = (store.clone(), path.clone());
        tokio::spawn(async move {
            for number in 1..=60 {
                store.put(&path, of(number).into()).await.unwrap();
            }
        })
    };
    while !writing.is_finished() {
        let got = store.get(&path).await.unwrap();
        let size = got.meta.size;
        let Ok(bytes) = got.bytes().await else {
            // Overwritten, and its blocks deleted, before all of it was read.
            continue;
        };
        assert_eq!(bytes.len() as u64, size);
        assert_eq!(bytes, of(bytes[0]));
    }
    writing.await.unwrap();
}

pub async fn large_objects_are_read_as_they_were_written(place: &Place) {
    let (store, path) = (place.store(), Path::from("large"));
    let data = pattern(9 << 20);
    store.put(&path, data.clone().into()).await.unwrap();
    assert_eq!(store.get(&path).await.unwrap().bytes().await.unwrap(), data);
    let got = store.get_range(&path, 5..(8 << 20)).await.unwrap();
    assert_eq!(got, data.slice(5..(8 << 20)));
    let pieces: Vec<Bytes> =
        store.get(&path).await.unwrap().into_stream().try_collect().await.unwrap();
    assert!(pieces.len() > 1);
    let ranges = [0..10, 4 << 20..(4 << 20) + 100, 5..8, (9 << 20) - 1..(9 << 20) + 50];
    let got = store.get_ranges(&path, &ranges).await.unwrap();
    for (range, bytes) in ranges.iter().zip(got) {
        let end = range.end.min(data.len() as u64);
        assert_eq!(bytes, data.slice(range.start as usize..end as usize), "{range:?}");
    }
    let beyond = data.len() as u64..data.len() as u64 + 1;
    store.get_ranges(&path, &[0..1, beyond]).await.unwrap_err();
    assert_eq!(store.get_ranges(&path, &[]).await.unwrap(), Vec::<Bytes>::new());
}

pub async fn an_upload_with_parts_missing_or_empty(place: &Place) {
    let (store, path) = (place.store(), Path::from("a/b"));
    let mut upload = store.put_multipart(&path).await.unwrap();
    upload.put_part("one".into()).await.unwrap();
    // Asked for and never done.
    drop(upload.put_part("two".into()));
    let error = upload.complete().await.unwrap_err();
    assert!(error.to_string().contains("part 1 has not been written"), "{error}");
    upload.abort().await.unwrap();
    let late = upload.put_part("late".into()).await.unwrap_err();
    assert!(matches!(late, Error::NotFound { .. }), "{late}");
    place.no_hidden_files().await;

    let mut upload = store.put_multipart(&path).await.unwrap();
    for part in ["", "one", "", "two", ""] {
        upload.put_part(part.into()).await.unwrap();
    }
    let put = upload.complete().await.unwrap();
    let got = store.get(&path).await.unwrap();
    assert_eq!((&got.meta.e_tag, got.meta.size), (&put.e_tag, 6));
    assert_eq!(got.bytes().await.unwrap(), "onetwo");
}

pub async fn ids_of_uploads_are_no_paths(place: &Place) {
    let (store, path) = (place.store(), Path::from("a"));
    store.put(&Path::from("other/file"), "x".into()).await.unwrap();
    let id = "../other".to_owned();
    store.abort_multipart(&path, &id).await.unwrap_err();
    store.put_part(&path, &id, 0, "x".into()).await.unwrap_err();
    let id = store.create_multipart(&path).await.unwrap();
    let part = store.put_part(&path, &id, 1, "x".into()).await.unwrap();
    store.complete_multipart(&path, &id, vec![part]).await.unwrap_err();
    store.abort_multipart(&path, &id).await.unwrap();
    store.head(&Path::from("other/file")).await.unwrap();
}

pub async fn parts_are_joined_by_their_numbers(place: &Place) {
    let (store, path) = (place.store(), Path::from("a"));
    let id = store.create_multipart(&path).await.unwrap();
    let mut parts = Vec::new();
    for (index, bytes) in [(2, "three"), (0, "one"), (1, "two")] {
        parts.push((index, store.put_part(&path, &id, index, bytes.into()).await.unwrap()));
    }
    parts.sort_by_key(|(index, _)| *index);
    let parts = parts.into_iter().map(|(_, part)| part).collect();
    let put = store.complete_multipart(&path, &id, parts).await.unwrap();
    let got = store.get(&path).await.unwrap();
    assert_eq!(got.meta.e_tag, put.e_tag);
    assert_eq!(got.bytes().await.unwrap(), "onetwothree");
}

/// The object is published before the directory of its parts is deleted, and a refused deletion does not take it back.
pub async fn an_upload_whose_directory_cannot_be_deleted_is_complete(place: &Place) {
    place.fs.set_permission(place.root(), 0o777).await.unwrap();
    let (store, path) = (place.store_of("alice"), Path::from("a"));
    let id = store.create_multipart(&path).await.unwrap();
    let part = store.put_part(&path, &id, 0, "one".into()).await.unwrap();
    let directory = place.path(&format!(".zerohop-staged-{id}"));
    let locked = format!("{directory}/locked");
    place.fs.mkdirs(&format!("{locked}/below")).await.unwrap();
    place.fs.set_permission(&locked, 0o700).await.unwrap();
    let put = store.complete_multipart(&path, &id, vec![part]).await.unwrap();
    place.fs.status(&locked).await.expect("alice may not delete it");
    let got = store.get(&path).await.unwrap();
    assert_eq!(got.meta.e_tag, put.e_tag);
    assert_eq!(got.bytes().await.unwrap(), "one");
    place.fs.delete(&directory, true).await.unwrap();
}
