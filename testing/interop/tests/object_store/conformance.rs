//! Every function of `object_store::integration` that is not about HTTP.

use crate::place::Place;
use object_store::integration as suite;
use zerohop_object_store::object_store;

/// A test of this name that gives the suite's function of the same name a store of its own.
macro_rules! suite {
    ($($name:ident),* $(,)?) => {$(
        pub async fn $name(place: &Place) {
            suite::$name(&place.store()).await;
        }
    )*};
}

suite!(
    put_get_delete_list,
    get_opts,
    list_uses_directories_correctly,
    list_with_delimiter,
    list_with_offset_exclusivity,
    rename_and_copy,
    copy_if_not_exists,
    copy_rename_nonexistent_object,
    stream_get,
    multipart_out_of_order,
);

pub async fn put_opts_with_updates(place: &Place) {
    suite::put_opts(&place.store(), true).await;
}

pub async fn the_last_of_two_uploads_wins(place: &Place) {
    suite::multipart_race_condition(&place.store(), true).await;
}

pub async fn get_nonexistent_object(place: &Place) {
    let error = suite::get_nonexistent_object(&place.store(), None).await.unwrap_err();
    assert!(matches!(error, object_store::Error::NotFound { .. }), "{error}");
}

pub async fn attributes_kept_and_refused(place: &Place) {
    suite::put_get_attributes(&place.store().with_attributes()).await;
    suite::put_get_attributes(&place.below("refused").store()).await;
}

pub async fn multipart_store(place: &Place) {
    suite::multipart(&place.store(), &place.store()).await;
}

pub async fn list_paginated(place: &Place) {
    suite::list_paginated(&place.store(), &place.store()).await;
}
