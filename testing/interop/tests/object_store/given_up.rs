//! Every async method of the store is polled, dropped and called again.

use std::collections::BTreeSet;
use std::future::Future;
use std::pin::Pin;

use crate::place::Place;
use futures_util::{FutureExt, StreamExt, TryStreamExt};
use object_store::list::{PaginatedListOptions, PaginatedListStore};
use object_store::multipart::MultipartStore;
use object_store::path::Path;
use object_store::{
    CopyOptions, Error, GetOptions, ObjectStore, PutMode, PutMultipartOptions, PutOptions,
    RenameOptions, Result,
};
use zerohop_interop::tools;
use zerohop_object_store::{HdfsObjectStore, object_store};

/// After so many polls a call is dropped.
const POLLS: [usize; 5] = [1, 2, 3, 5, 9];

type Doing<'a> = Pin<Box<dyn Future<Output = Result<()>> + Send + 'a>>;

/// A method, and a call of it on a store that has the objects `a/f` and `a/g`.
type Case = (&'static str, for<'a> fn(&'a HdfsObjectStore) -> Doing<'a>);

macro_rules! call {
    ($method:ident, |$store:ident| $call:expr) => {
        (stringify!($method), |$store| Box::pin(async move { $call.await.map(drop) }))
    };
}

fn f() -> Path {
    Path::from("a/f")
}

fn g() -> Path {
    Path::from("a/g")
}

fn new() -> Path {
    Path::from("b/new")
}

async fn uploaded(store: &HdfsObjectStore, ends: bool) -> Result<()> {
    let mut upload = store.put_multipart_opts(&new(), PutMultipartOptions::default()).await?;
    upload.put_part("one".into()).await?;
    match ends {
        true => upload.complete().await.map(drop),
        false => upload.abort().await,
    }
}

async fn with_parts(store: &HdfsObjectStore, ends: bool) -> Result<()> {
    let id = store.create_multipart(&new()).await?;
    let part = store.put_part(&new(), &id, 0, "one".into()).await?;
    match ends {
        true => store.complete_multipart(&new(), &id, vec![part]).await.map(drop),
        false => store.abort_multipart(&new(), &id).await,
    }
}

const CASES: [Case; 17] = [
    call!(put_opts, |store| store.put_opts(&new(), "text".into(), PutOptions::default())),
    call!(put_multipart_opts, |store| uploaded(store, true)),
    call!(complete, |store| uploaded(store, true)),
    call!(abort, |store| uploaded(store, false)),
    call!(get_opts, |store| store.get_opts(&f(), GetOptions::default())),
    call!(get_ranges, |store| store.get_ranges(&f(), &[0..1, 2..3])),
    call!(delete_stream, |store| {
        let all = futures_util::stream::iter([Ok(g())]).boxed();
        store.delete_stream(all).try_collect::<Vec<_>>()
    }),
    call!(list, |store| store.list(None).try_collect::<Vec<_>>()),
    call!(list_with_offset, |store| store.list_with_offset(None, &f()).try_collect::<Vec<_>>()),
    call!(list_with_delimiter, |store| store.list_with_delimiter(None)),
    call!(copy_opts, |store| store.copy_opts(&f(), &new(), CopyOptions::default())),
    call!(rename_opts, |store| store.rename_opts(&g(), &new(), RenameOptions::default())),
    call!(create_multipart, |store| with_parts(store, false)),
    call!(put_part, |store| with_parts(store, true)),
    call!(complete_multipart, |store| with_parts(store, true)),
    call!(abort_multipart, |store| with_parts(store, false)),
    call!(list_paginated, |store| store.list_paginated(None, PaginatedListOptions::default())),
];

/// The methods of the traits that the store implements, as its sources name them.
fn implemented() -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for file in ["store.rs", "multipart.rs"] {
        let path = tools::root().join("crates/object-store/src").join(file);
        let text = std::fs::read_to_string(path).unwrap();
        let mut is_trait_s = false;
        for line in text.lines() {
            if line.starts_with("impl") {
                is_trait_s = line.contains("Store for ") || line.contains("Upload for ");
            }
            let line = line.trim_start();
            let method = line.strip_prefix("async fn ").or_else(|| line.strip_prefix("fn "));
            if let Some(method) = method.filter(|_| is_trait_s) {
                found.insert(method.split(['(', '<']).next().unwrap_or_default().to_owned());
            }
        }
    }
    found
}

pub async fn every_async_method(place: &Place) {
    let covered: BTreeSet<String> = CASES.iter().map(|(method, _)| (*method).to_owned()).collect();
    assert_eq!(covered, implemented(), "each method is polled and dropped here");
    for (method, call) in CASES {
        for polls in POLLS {
            let place = place.below(&format!("{method}-{polls}"));
            let store = place.store();
            for name in ["a/f", "a/g"] {
                store
                    .put_opts(&Path::from(name), "text".into(), PutMode::Create.into())
                    .await
                    .unwrap();
            }
            {
                let mut doing = call(&store);
                for _ in 0..polls {
                    if doing.as_mut().now_or_never().is_some() {
                        break;
                    }
                    tokio::task::yield_now().await;
                }
            }
            match call(&store).await {
                Ok(()) => {}
                // It was deleted or renamed by the call that was given up.
                Err(Error::NotFound { .. })
                    if matches!(method, "delete_stream" | "rename_opts") => {}
                Err(error) => panic!("{method} after {polls} poll(s): {error}"),
            }
            // Uploads that nobody ended are left, as a program that is killed leaves them.
            place.delete_uploads().await;
        }
    }
    place.no_open_files().await;
}
