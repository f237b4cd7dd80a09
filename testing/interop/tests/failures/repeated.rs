//! Calls that change something are sent again, with the same ids, to a NameNode that was killed after it
//! had answered them: each gets its first answer, and none happens twice.

use tokio::runtime::Runtime;
use zerohop_interop::cluster::{Cluster, Spec};
use zerohop_interop::harm::{self, Explain, SETTLE, client, over, shape};
use zerohop_interop::{Kind, Outcome, wait};
use zerohop_proto::Checked;
use zerohop_proto::hdfs::{
    AppendRequestProto, AppendResponseProto, ConcatRequestProto, ConcatResponseProto,
    CreateRequestProto, CreateResponseProto, DeleteRequestProto, DeleteResponseProto,
    FsPermissionProto, RemoveXAttrRequestProto, RemoveXAttrResponseProto, Rename2RequestProto,
    Rename2ResponseProto, RenameRequestProto, RenameResponseProto, SetXAttrRequestProto,
    SetXAttrResponseProto, XAttrProto, x_attr_proto::XAttrNamespaceProto,
};
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
    vec![
        repeated::<_, CreateResponseProto>(ids, "create", create),
        repeated::<_, AppendResponseProto>(ids, "append", append),
        repeated::<_, ConcatResponseProto>(ids, "concat", concat),
        repeated::<_, RenameResponseProto>(ids, "rename", rename),
        repeated::<_, Rename2ResponseProto>(ids, "rename2", rename2),
        repeated::<_, DeleteResponseProto>(ids, "delete", delete),
        repeated::<_, SetXAttrResponseProto>(ids, "setXAttr", set),
        repeated::<_, RemoveXAttrResponseProto>(ids, "removeXAttr", remove),
    ]
}

#[test]
fn calls_sent_again_to_a_killed_namenode_happen_once() {
    let (name, ours) = ("repeated", Kind::Ours);
    let spec = Spec { name, namenode: ours, datanodes: ours, count: 3, settings: Vec::new() };
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
        let mark = repeated::<_, SetXAttrResponseProto>(
            &rpc,
            "setXAttr",
            SetXAttrRequestProto {
                src: "/r/marked".to_owned(),
                x_attr: Some(xattr()),
                flag: Some(1),
            },
        );
        (mark.send)(&runtime, &rpc, &mark.id)?;
        let calls = calls(&rpc);
        let first: Outcome<Vec<String>> =
            calls.iter().map(|call| (call.send)(&runtime, &rpc, &call.id)).collect();
        let first = first?;
        cluster.kill_namenode();
        cluster.start_namenode()?;
        cluster.wait_serving()?;

        let rpc = connect(cluster);
        for (call, first) in calls.iter().zip(&first) {
            let mut again = String::new();
            wait::until(&format!("{} again", call.method), SETTLE, || {
                again = (call.send)(&runtime, &rpc, &call.id.again())?;
                Ok(true)
            })?;
            // What an append says of the place changes: its first words say which block it is.
            let same = match call.method {
                "append" => block_of(&again).is_some() && block_of(&again) == block_of(first),
                _ => again == *first,
            };
            if !same {
                return Err(format!("{}: {first}, then {again}", call.method));
            }
        }
        // As calls of their own they would not be allowed: they have happened.
        for call in calls.iter().filter(|call| call.method != "delete" && call.method != "rename") {
            if let Ok(answer) = (call.send)(&runtime, &rpc, &rpc.next_call()) {
                return Err(format!("{} happened twice: {answer}", call.method));
            }
        }
        Ok(())
    });
}

/// The block in an append's answer.
fn block_of(answer: &str) -> Option<&str> {
    let from = answer.find("ExtendedBlockProto")?;
    answer.get(from..from + answer.get(from..)?.find('}')?)
}
