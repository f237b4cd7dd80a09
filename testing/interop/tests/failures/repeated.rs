//! Calls that change something are sent again, with the same ids, to a NameNode that was killed after it
//! had answered them: each gets its first answer, and none happens twice.

use tokio::runtime::Runtime;
use zerohop_interop::cluster::{Cluster, Spec};
use zerohop_interop::harm::{self, Explain, SETTLE, client, over, shape};
use zerohop_interop::{Kind, Outcome, wait};
use zerohop_proto::Checked;
use zerohop_proto::hdfs::{x_attr_proto::XAttrNamespaceProto, *};
use zerohop_transport::login::User;
use zerohop_transport::rpc::{CallId, ClientOptions, RpcClient};

const PROTOCOL: &str = "org.apache.hadoop.hdfs.protocol.ClientProtocol";
const BLOCK: u64 = 1 << 20;

type Send = dyn Fn(&Runtime, &RpcClient, &CallId) -> Outcome<String>;

/// A call with the ids it is sent with, again and again.
struct Repeated {
    id: CallId,
    method: &'static str,
    send: Box<Send>,
}

fn repeated<Q, R>(ids: &RpcClient, method: &'static str, request: Q) -> Repeated
where
    Q: prost::Message + 'static,
    R: Checked + std::fmt::Debug + 'static,
{
    let send = move |runtime: &Runtime, client: &RpcClient, id: &CallId| {
        let answer = runtime.block_on(client.call_with_id::<Q, R>(id, method, &request));
        answer.map(|answer| format!("{answer:?}")).at(method)
    };
    Repeated { id: ids.next_call(), method, send: Box::new(send) }
}

fn xattr() -> XAttrProto {
    XAttrProto {
        namespace: XAttrNamespaceProto::User.into(),
        name: "a".to_owned(),
        value: Some(vec![1].into()),
    }
}

/// One of each kind that the edit log knows the caller of.
fn calls(ids: &RpcClient) -> Vec<Repeated> {
    let (src, dst) = (|p: &str| format!("/r/{p}"), |p: &str| format!("/r/{p}-moved"));
    let create = CreateRequestProto {
        src: src("made"),
        masked: FsPermissionProto { perm: 0o644 },
        client_name: "again".to_owned(),
        create_flag: 1,
        create_parent: true,
        replication: 3,
        block_size: BLOCK,
        ..Default::default()
    };
    let append =
        AppendRequestProto { src: src("appended"), client_name: "again".to_owned(), flag: Some(4) };
    let concat = ConcatRequestProto { trg: src("whole"), srcs: vec![src("part")] };
    let rename = RenameRequestProto { src: src("old"), dst: dst("old") };
    let rename2 = Rename2RequestProto {
        src: src("old2"),
        dst: dst("old2"),
        overwrite_dest: false,
        move_to_trash: None,
    };
    let delete = DeleteRequestProto { src: src("gone"), recursive: false };
    let set = SetXAttrRequestProto { src: src("whole"), x_attr: Some(xattr()), flag: Some(1) };
    let remove = RemoveXAttrRequestProto { src: src("marked"), x_attr: Some(xattr()) };
    let mut calls = caching(ids, "new", 3);
    calls.extend([
        repeated::<_, CreateResponseProto>(ids, "create", create),
        repeated::<_, AppendResponseProto>(ids, "append", append),
        repeated::<_, ConcatResponseProto>(ids, "concat", concat),
        repeated::<_, RenameResponseProto>(ids, "rename", rename),
        repeated::<_, Rename2ResponseProto>(ids, "rename2", rename2),
        repeated::<_, DeleteResponseProto>(ids, "delete", delete),
        repeated::<_, SetXAttrResponseProto>(ids, "setXAttr", set),
        repeated::<_, RemoveXAttrResponseProto>(ids, "removeXAttr", remove),
    ]);
    calls
}

fn pool(name: &str, limit: Option<i64>) -> CachePoolInfoProto {
    CachePoolInfoProto { pool_name: Some(name.to_owned()), limit, ..Default::default() }
}

fn directive(id: Option<i64>, path: &str) -> CacheDirectiveInfoProto {
    CacheDirectiveInfoProto {
        id,
        path: Some(path.to_owned()),
        pool: Some("kept".to_owned()),
        ..Default::default()
    }
}

/// What [`caching`] is done to: two pools, and directives 1 and 2.
fn caching_before(ids: &RpcClient) -> Vec<Repeated> {
    let add_pool = |name| AddCachePoolRequestProto { info: pool(name, None) };
    let add =
        |path| AddCacheDirectiveRequestProto { info: directive(None, path), cache_flags: None };
    vec![
        repeated::<_, AddCachePoolResponseProto>(ids, "addCachePool", add_pool("kept")),
        repeated::<_, AddCachePoolResponseProto>(ids, "addCachePool", add_pool("gone")),
        repeated::<_, AddCacheDirectiveResponseProto>(ids, "addCacheDirective", add("/r/whole")),
        repeated::<_, AddCacheDirectiveResponseProto>(ids, "addCacheDirective", add("/r/old")),
    ]
}

fn caching(ids: &RpcClient, name: &str, limit: i64) -> Vec<Repeated> {
    let add_pool = AddCachePoolRequestProto { info: pool(name, None) };
    let modify_pool = ModifyCachePoolRequestProto { info: pool("kept", Some(limit << 30)) };
    let remove_pool = RemoveCachePoolRequestProto { pool_name: "gone".to_owned() };
    let add =
        AddCacheDirectiveRequestProto { info: directive(None, "/r/marked"), cache_flags: None };
    let modify =
        ModifyCacheDirectiveRequestProto { info: directive(Some(1), "/r/old2"), cache_flags: None };
    let remove = RemoveCacheDirectiveRequestProto { id: 2 };
    vec![
        repeated::<_, AddCachePoolResponseProto>(ids, "addCachePool", add_pool),
        repeated::<_, ModifyCachePoolResponseProto>(ids, "modifyCachePool", modify_pool),
        repeated::<_, RemoveCachePoolResponseProto>(ids, "removeCachePool", remove_pool),
        repeated::<_, AddCacheDirectiveResponseProto>(ids, "addCacheDirective", add),
        repeated::<_, ModifyCacheDirectiveResponseProto>(ids, "modifyCacheDirective", modify),
        repeated::<_, RemoveCacheDirectiveResponseProto>(ids, "removeCacheDirective", remove),
    ]
}

/// A pipeline that is set up anew, of a block in which nothing is yet.
fn pipeline(runtime: &Runtime, rpc: &RpcClient) -> Outcome<Repeated> {
    let (src, client_name) = ("/r/open".to_owned(), "open".to_owned());
    let create = CreateRequestProto {
        src: src.clone(),
        masked: FsPermissionProto { perm: 0o644 },
        client_name: client_name.clone(),
        create_flag: 1,
        create_parent: true,
        replication: 3,
        block_size: BLOCK,
        ..Default::default()
    };
    let _: CreateResponseProto = runtime.block_on(rpc.call("create", &create)).at("create")?;
    let add = AddBlockRequestProto { src, client_name: client_name.clone(), ..Default::default() };
    let added: AddBlockResponseProto =
        runtime.block_on(rpc.call("addBlock", &add)).at("addBlock")?;
    let old = added.block.b.clone();
    let stamp =
        UpdateBlockForPipelineRequestProto { block: old.clone(), client_name: client_name.clone() };
    let stamped: UpdateBlockForPipelineResponseProto =
        runtime.block_on(rpc.call("updateBlockForPipeline", &stamp)).at("a new stamp")?;
    let update = UpdatePipelineRequestProto {
        client_name,
        old_block: old,
        new_block: stamped.block.b,
        new_nodes: added.block.locs.into_iter().map(|node| node.id).collect(),
        storage_i_ds: added.block.storage_i_ds,
    };
    Ok(repeated::<_, UpdatePipelineResponseProto>(rpc, "updatePipeline", update))
}

/// A NameNode of this kind answers, is killed, and ours goes on in its directory.
fn sent_again(name: &str, first: Kind) {
    let ours = Kind::Ours;
    let spec = Spec { name, namenode: first, datanodes: ours, count: 3, settings: Vec::new() };
    over(Cluster::start(&spec), |cluster| {
        let fs = client(&cluster.conf(), &[])?;
        for name in ["appended", "whole", "part", "old", "old2", "gone", "marked"] {
            let len = if name == "whole" { BLOCK } else { 3000 };
            harm::put(&fs, &format!("/r/{name}"), 1, len, shape(3, BLOCK))?;
        }
        let runtime = Runtime::new().at("a runtime")?;
        let _inside = runtime.enter();
        let connect = |cluster: &Cluster| {
            let address = format!("127.0.0.1:{}", cluster.site.rpc_port);
            RpcClient::new(address, PROTOCOL, 1, &User::of_process(), ClientOptions::default())
        };
        let rpc = connect(cluster);
        let (src, x_attr) = ("/r/marked".to_owned(), Some(xattr()));
        let mark = SetXAttrRequestProto { src, x_attr, flag: Some(1) };
        let mut before = caching_before(&rpc);
        before.push(repeated::<_, SetXAttrResponseProto>(&rpc, "setXAttr", mark));
        for call in before {
            (call.send)(&runtime, &rpc, &call.id)?;
        }
        let mut calls = calls(&rpc);
        calls.push(pipeline(&runtime, &rpc)?);
        let first: Outcome<Vec<String>> =
            calls.iter().map(|call| (call.send)(&runtime, &rpc, &call.id)).collect();
        let first = first?;
        cluster.kill_namenode();
        cluster.stop_all()?;
        cluster.start_all(ours, ours)?;

        let rpc = connect(cluster);
        for (call, first) in calls.iter().zip(&first) {
            let mut again = String::new();
            wait::until(&format!("{} again", call.method), SETTLE, || {
                again = (call.send)(&runtime, &rpc, &call.id.again())?;
                Ok(true)
            })?;
            // Of an append and a new file the rest of the answer is what is so now: which replicas
            // there are, and words that the two projects choose differently.
            let same = match call.method {
                "append" => said(&again, "ExtendedBlockProto", '}') == said(first, "Extended", '}'),
                "create" => said(&again, "file_id", ',') == said(first, "file_id", ','),
                _ => again == *first,
            };
            if !same {
                return Err(format!("{}: {first}, then {again}", call.method));
            }
        }
        // As calls of their own they would not be allowed: they have happened. (Those of the first
        // line may come twice.)
        let may_repeat = ["delete", "rename", "modifyCachePool", "modifyCacheDirective"];
        for call in calls.iter().filter(|call| !may_repeat.contains(&call.method)) {
            match (call.send)(&runtime, &rpc, &rpc.next_call()) {
                Ok(answer) if call.method == "addCacheDirective" => {
                    if first.contains(&answer) {
                        return Err(format!("the same directive once more: {answer}"));
                    }
                }
                Ok(answer) => return Err(format!("{} happened twice: {answer}", call.method)),
                Err(_) => {}
            }
        }
        Ok(())
    });
}

/// A part of an answer.
fn said<'a>(answer: &'a str, from: &str, to: char) -> Option<&'a str> {
    let rest = answer.get(answer.find(from)?..)?;
    let rest = rest.get(rest.find(['{', ':'])?..)?;
    rest.get(..rest.find(to)?)
}

#[test]
fn calls_sent_again_to_a_killed_namenode_happen_once() {
    sent_again("repeated", Kind::Ours);
}

/// What Apache's NameNode wrote of its callers, ours reads.
#[test]
fn calls_that_apache_s_namenode_answered_happen_once() {
    sent_again("repeated-apache", Kind::Apache);
}
