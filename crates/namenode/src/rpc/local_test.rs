//! Clients that come by HTTP, and their racks.

use super::*;
use crate::message::{decode, encode};
use crate::{FormatOptions, NameNode};
use std::os::unix::fs::PermissionsExt;
use zerohop_conf::Conf;
use zerohop_namespace::OpContext;
use zerohop_namespace::blocks::{Heartbeat, StorageReport, StorageType};
use zerohop_namespace::{CreateFlags, CreateRequest};
use zerohop_proto::hdfs::{AddBlockRequestProto, AddBlockResponseProto};

const DATANODES: usize = 6;

/// Registers DataNodes, half of them in `/a` and the others in `/b`.
fn join(core: &Core) {
    for index in 0..DATANODES {
        let rack = if index % 2 == 0 { "/a" } else { "/b" };
        let id = DatanodeId {
            ip: format!("10.0.0.{index}"),
            host: format!("dn{index}"),
            uuid: format!("uuid-{index}"),
            xfer_port: 9866,
            ..DatanodeId::default()
        };
        let storage = StorageReport {
            id: format!("DS-{index}").into(),
            kind: StorageType::Disk,
            read_only: false,
            failed: false,
            capacity: 1 << 40,
            dfs_used: 0,
            non_dfs_used: 0,
            remaining: 1 << 39,
            block_pool_used: 0,
            mount: None,
        };
        core.write(|namespace| {
            let (blocks, now) = (namespace.blocks_mut(), core.clock.now());
            blocks.register(id, rack, "3.4.3", now);
            let uuid = format!("uuid-{index}");
            blocks.heartbeat(&uuid, Heartbeat::default(), &[storage], now, &|_| 0);
        });
    }
}

fn create(core: &Core, path: &str, remote: SocketAddr) {
    let client_host = remote.ip().to_string().as_str().into();
    let op = OpContext { client_host, ..OpContext::internal(core.clock.now()) };
    let request = CreateRequest {
        path,
        client_name: "writer",
        replication: 1,
        block_size: 1 << 20,
        create_parent: true,
        flags: CreateFlags { create: true, ..CreateFlags::default() },
        ..CreateRequest::default()
    };
    core.write(|namespace| namespace.files(&op).create(&request)).0.unwrap();
}

/// Only DataNodes were mapped to racks: another client's blocks were placed anywhere.
#[tokio::test(flavor = "multi_thread")]
async fn the_script_is_asked_for_the_rack_of_a_client_that_is_no_datanode() {
    let directory = tempfile::tempdir().unwrap();
    let script = directory.path().join("script");
    let text = "#!/bin/sh\ncase $1 in 10.9.9.1) echo /a;; 10.9.9.2) echo /b;; *) exit 3;; esac\n";
    std::fs::write(&script, text).unwrap();
    std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o755)).unwrap();
    let mut conf = Conf::new();
    conf.set("dfs.namenode.name.dir", directory.path().join("name").to_str().unwrap());
    conf.set("fs.defaultFS", "hdfs://127.0.0.1:0");
    conf.set("dfs.namenode.http-address", "127.0.0.1:0");
    conf.set("dfs.namenode.safemode.extension", "0");
    conf.set("net.topology.script.file.name", script.to_str().unwrap());
    NameNode::format(&conf, FormatOptions::default()).unwrap();
    let node = NameNode::start(Arc::new(conf)).await.unwrap();
    join(node.core());
    let calls = LocalCalls::new(node.core());
    let user = CallerIdentity::simple(zerohop_transport::login::User::of_process().name, None);
    for (client, rack) in [("10.9.9.1:0", "/a"), ("10.9.9.2:0", "/b")] {
        let remote: SocketAddr = client.parse().unwrap();
        for number in 0..10 {
            let path = format!("/{}/{number}", remote.ip());
            create(node.core(), &path, remote);
            let request = AddBlockRequestProto {
                src: path,
                client_name: "writer".to_owned(),
                ..AddBlockRequestProto::default()
            };
            let asked = calls.call(user.clone(), remote, "addBlock", encode(&request));
            let answer: AddBlockResponseProto = decode(asked.await.unwrap()).unwrap();
            let location = answer.block.locs[0].location.clone();
            assert_eq!(location.as_deref(), Some(rack), "{client}");
        }
    }
    for _ in 0..10 {
        let client = "10.9.9.2".parse().unwrap();
        let chosen = calls.datanode_for_block(client, 1, vec!["dn1".to_owned()]).await.unwrap();
        assert!(["uuid-3", "uuid-5"].contains(&chosen.uuid.as_str()), "{chosen:?}");
    }
    let unknown = "10.9.9.9".parse().unwrap();
    assert!(calls.datanode_for_block(unknown, 1, Vec::new()).await.is_some());
    node.stop().await;
}
