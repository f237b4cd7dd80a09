//! The answer of each call that changes something is lost once. With a single NameNode the caller is told that the outcome is
//! unknown; with a pair the call is repeated under its id, and the NameNode gives the answer that it gave before.

use zerohop_client::{
    AppendOptions, CacheDirective, CachePool, CreateOptions, ErrorKind, FileSystem, RenameOptions,
    Result, XAttrFlags,
};
use zerohop_interop::cluster::{Cluster, Spec};
use zerohop_interop::given_up::wait;
use zerohop_interop::harm::over;
use zerohop_interop::lost_answers::Relay;
use zerohop_interop::{Kind, Outcome};

use crate::files::Doing;

/// A method of the protocol, and a call of the client that sends it, and that succeeds once.
type Case = (&'static str, fn(FileSystem) -> Doing);

fn is_true(done: Result<bool>) -> Result<()> {
    match done? {
        true => Ok(()),
        false => Err(zerohop_client::Error::new(ErrorKind::Io, "false")),
    }
}

macro_rules! call {
    ($method:literal, |$fs:ident| $call:expr) => {
        ($method, |$fs| Box::pin(async move { $call }))
    };
}

fn directive(id: Option<i64>) -> CacheDirective {
    let mut directive = CacheDirective::default();
    (directive.path, directive.pool) = (Some("/l/kept".to_owned()), Some("pool".to_owned()));
    directive.id = id;
    directive
}

fn cases() -> Vec<Case> {
    vec![
        call!("mkdirs", |fs| is_true(fs.mkdirs("/l/made").await)),
        call!("create", |fs| fs.create("/l/new", CreateOptions::default()).await?.close().await),
        call!("append", |fs| fs
            .append("/l/appended", AppendOptions::default())
            .await?
            .close()
            .await),
        call!("addBlock", |fs| {
            let mut file = fs.create("/l/block", CreateOptions::default()).await?;
            file.write(b"x").await?;
            file.close().await
        }),
        call!("complete", |fs| fs.create("/l/done", CreateOptions::default()).await?.close().await),
        call!("rename", |fs| is_true(fs.rename("/l/one", "/l/one-moved").await)),
        call!("rename2", |fs| fs.rename2("/l/two", "/l/two-moved", RenameOptions::default()).await),
        call!("concat", |fs| fs.concat("/l/whole", &["/l/part"]).await),
        call!("truncate", |fs| is_true(fs.truncate("/l/cut", 0).await)),
        call!("delete", |fs| is_true(fs.delete("/l/gone", false).await)),
        call!("setXAttr", |fs| {
            let flags = XAttrFlags { create: true, replace: false };
            fs.set_xattr("/l/kept", "user.new", b"x", flags).await
        }),
        call!("removeXAttr", |fs| fs.remove_xattr("/l/marked", "user.old").await),
        call!("createSnapshot", |fs| fs.create_snapshot("/s", Some("s")).await.map(drop)),
        call!("renameSnapshot", |fs| fs.rename_snapshot("/s", "s0", "t0").await),
        call!("deleteSnapshot", |fs| fs.delete_snapshot("/s", "s1").await),
        call!("addCachePool", |fs| fs.add_cache_pool(&CachePool::new("pool-new")).await),
        call!("removeCachePool", |fs| fs.remove_cache_pool("pool-gone").await),
        call!("addCacheDirective", |fs| fs
            .add_cache_directive(&directive(None), false)
            .await
            .map(drop)),
        call!("removeCacheDirective", |fs| {
            let all = fs.cache_directives(&CacheDirective::default()).await?;
            let id = all.first().and_then(|(directive, _)| directive.id).unwrap_or(0);
            fs.remove_cache_directive(id).await
        }),
    ]
}

/// What the calls are done to.
async fn prepare(fs: &FileSystem, has_snapshots: bool) -> Result<()> {
    fs.mkdirs("/l").await?;
    for name in ["appended", "one", "two", "whole", "part", "cut", "gone", "kept", "marked"] {
        let mut file = fs.create(&format!("/l/{name}"), CreateOptions::default()).await?;
        file.write(name.as_bytes()).await?;
        file.close().await?;
    }
    fs.set_xattr("/l/marked", "user.old", b"x", XAttrFlags::default()).await?;
    fs.add_cache_pool(&CachePool::new("pool")).await?;
    fs.add_cache_pool(&CachePool::new("pool-gone")).await?;
    fs.add_cache_directive(&directive(None), false).await?;
    if !has_snapshots {
        return Ok(());
    }
    fs.mkdirs("/s").await?;
    fs.allow_snapshot("/s", true).await?;
    fs.create_snapshot("/s", Some("s0")).await?;
    fs.create_snapshot("/s", Some("s1")).await.map(drop)
}

/// Everything is gone again.
async fn clear(fs: &FileSystem, has_snapshots: bool) -> Result<()> {
    for (directive, _) in fs.cache_directives(&CacheDirective::default()).await? {
        fs.remove_cache_directive(directive.id.unwrap_or(0)).await?;
    }
    for (pool, _) in fs.cache_pools().await? {
        fs.remove_cache_pool(&pool.name).await?;
    }
    if has_snapshots {
        for snapshot in fs.snapshots("/s").await?.unwrap_or_default() {
            let path = snapshot.path();
            fs.delete_snapshot("/s", path.rsplit('/').next().unwrap_or_default()).await?;
        }
        fs.allow_snapshot("/s", false).await?;
    }
    fs.delete("/l", true).await.map(drop)
}

fn each(
    kind: Kind,
    direct: &FileSystem,
    through: &FileSystem,
    relay: &Relay,
    is_pair: bool,
) -> Outcome {
    // Ours has none.
    let has_snapshots = kind == Kind::Apache;
    wait(prepare(direct, has_snapshots)).map_err(|error| format!("preparing: {error}"))?;
    let cases = cases().into_iter();
    for (method, call) in cases.filter(|(method, _)| has_snapshots || !method.contains("Snapshot"))
    {
        relay.lose(method);
        let ended = wait(call(through.clone()));
        if !relay.has_lost() {
            return Err(format!("{method} was not called: {ended:?}"));
        }
        match (ended, is_pair) {
            (Ok(()), true) => {}
            // Nobody has refused it: the caller is not told of anything that he has done himself.
            (Err(error), false)
                if error.kind() == ErrorKind::Io && error.java_class().is_none() => {}
            (ended, _) => return Err(format!("{method}, a pair {is_pair}: {ended:?}")),
        }
    }
    wait(clear(direct, has_snapshots)).map_err(|error| format!("clearing: {error}"))
}

fn lost(kind: Kind) {
    let name = format!("lost-answers-{kind:?}").to_lowercase();
    let spec =
        Spec { name: &name, namenode: kind, datanodes: kind, count: 1, settings: Vec::new() };
    over(Cluster::start(&spec), |cluster| {
        let builder =
            || FileSystem::builder().config_dir(cluster.conf()).set("dfs.replication", "1");
        let text = |error: zerohop_client::Error| error.to_string();
        let uri = cluster.uri();
        let relay = Relay::start(uri.trim_start_matches("hdfs://")).map_err(|e| e.to_string())?;
        let (direct, at) = (builder().build().map_err(text)?, relay.address());
        let single = builder().name_node(format!("hdfs://{at}")).build().map_err(text)?;
        each(kind, &direct, &single, &relay, false)?;
        // Both names lead to the one NameNode, which remembers its answers as the other one of a pair does.
        let pair = builder()
            .name_node("hdfs://pair")
            .set("dfs.nameservices", "pair")
            .set("dfs.ha.namenodes.pair", "nn1,nn2")
            .set("dfs.namenode.rpc-address.pair.nn1", at.as_str())
            .set("dfs.namenode.rpc-address.pair.nn2", at.as_str());
        each(kind, &direct, &pair.build().map_err(text)?, &relay, true)
    });
}

#[test]
fn no_answer_of_ours_that_was_lost_is_made_up() {
    lost(Kind::Ours);
}

#[test]
fn no_answer_of_apaches_that_was_lost_is_made_up() {
    lost(Kind::Apache);
}
