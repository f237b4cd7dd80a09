//! Calls that the NameNode has carried out, and whose answers are lost.

use crate::place::Place;
use object_store::multipart::MultipartStore;
use object_store::path::Path;
use object_store::{
    CopyMode, CopyOptions, Error, ObjectStore, ObjectStoreExt, PutMode, RenameOptions,
    RenameTargetMode, UpdateVersion,
};
use zerohop_interop::lost_answers::Relay;
use zerohop_object_store::{HdfsObjectStore, object_store};

/// A store through a relay, and the relay.
fn relayed(place: &Place) -> (HdfsObjectStore, Relay) {
    let relay = Relay::start(place.fs.uri().trim_start_matches("hdfs://")).unwrap();
    (place.store_through(&relay), relay)
}

async fn holds(store: &HdfsObjectStore, at: &Path, text: &'static str) {
    assert_eq!(store.get(at).await.unwrap().bytes().await.unwrap(), text);
}

/// A put where nothing may be was told that its own object was there already: who takes a lock so had taken it, and did not
/// know.
pub async fn an_object_that_was_put_is_not_said_to_be_another_s(place: &Place) {
    let (store, relay) = relayed(place);
    let at = Path::from("a");
    relay.lose("rename2");
    let put = store.put_opts(&at, "mine".into(), PutMode::Create.into()).await.unwrap();
    assert!(relay.has_lost());
    assert_eq!(store.head(&at).await.unwrap().e_tag, put.e_tag);
    holds(&store, &at, "mine").await;
    let other = store.put_opts(&at, "other".into(), PutMode::Create.into()).await.unwrap_err();
    assert!(matches!(other, Error::AlreadyExists { .. }), "{other}");

    relay.lose("rename2");
    let put =
        store.put_opts(&at, "again".into(), PutMode::Update(put.into()).into()).await.unwrap();
    assert!(relay.has_lost());
    holds(&store, &at, "again").await;
    relay.lose("rename2");
    store.put(&at, "over".into()).await.unwrap();
    assert!(relay.has_lost());
    holds(&store, &at, "over").await;
    let late = PutMode::Update(UpdateVersion { e_tag: put.e_tag, version: None });
    let late = store.put_opts(&at, "late".into(), late.into()).await.unwrap_err();
    assert!(matches!(late, Error::Precondition { .. }), "{late}");
}

/// The call was refused, and the refusal was lost.
pub async fn objects_of_others_are_left_alone(place: &Place) {
    let (store, relay) = relayed(place);
    let at = Path::from("a");
    place.store().put(&at, "other".into()).await.unwrap();
    relay.lose("rename2");
    store.put_opts(&at, "mine".into(), PutMode::Create.into()).await.unwrap_err();
    assert!(relay.has_lost());
    holds(&store, &at, "other").await;
}

pub async fn an_object_that_was_renamed_is_renamed(place: &Place) {
    let (store, relay) = relayed(place);
    let (from, to) = (Path::from("from"), Path::from("to"));
    for mode in [RenameTargetMode::Create, RenameTargetMode::Overwrite] {
        store.put(&from, "text".into()).await.unwrap();
        relay.lose("rename2");
        let options = RenameOptions::new().with_target_mode(mode);
        store.rename_opts(&from, &to, options).await.unwrap();
        assert!(relay.has_lost());
        holds(&store, &to, "text").await;
    }
    let copied = Path::from("copied");
    relay.lose("rename2");
    let options = CopyOptions::new().with_mode(CopyMode::Create);
    store.copy_opts(&to, &copied, options).await.unwrap();
    assert!(relay.has_lost());
    holds(&store, &copied, "text").await;
}

/// The first part had all the bytes, and the others were gone: the upload could not be completed any more.
pub async fn an_upload_that_was_joined_is_complete(place: &Place) {
    let (store, relay) = relayed(place);
    let at = Path::from("a");
    for method in ["concat", "rename2"] {
        let id = store.create_multipart(&at).await.unwrap();
        let mut parts = Vec::new();
        for (index, text) in ["one", "two", "three"].into_iter().enumerate() {
            parts.push(store.put_part(&at, &id, index, text.into()).await.unwrap());
        }
        relay.lose(method);
        store.complete_multipart(&at, &id, parts).await.unwrap();
        assert!(relay.has_lost());
        holds(&store, &at, "onetwothree").await;
        store.delete(&at).await.unwrap();
    }
}

/// Another client may have deleted the object: that it is gone does not tell who did.
pub async fn a_deletion_without_an_answer_is_not_judged(place: &Place) {
    let (store, relay) = relayed(place);
    let at = Path::from("a");
    store.put(&at, "text".into()).await.unwrap();
    relay.lose("delete");
    let error = store.delete(&at).await.unwrap_err();
    assert!(relay.has_lost());
    assert!(matches!(error, Error::Generic { .. }), "{error}");
    assert!(matches!(store.head(&at).await.unwrap_err(), Error::NotFound { .. }));
}
