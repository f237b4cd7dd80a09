//! WebHDFS of one kind of server beside the other kind's.

use std::process::Command;

use regex::Regex;
use zerohop_interop::cluster::{Cluster, Spec};
use zerohop_interop::{Kind, site};

use crate::requests::REQUESTS;

/// The answers to [`REQUESTS`] with redirects followed: status, and body as JSON if it is. What changes from time to time is
/// left out.
fn web_answers(cluster: &Cluster) -> Vec<String> {
    let base = format!("http://127.0.0.1:{}/webhdfs/v1", cluster.site.http_port);
    let volatile = Regex::new(
        r#"("(?:modificationTime|accessTime|fileId|message|used|remaining|capacity)":)("[^"]*?(?:\\n|, status)[^"]*"|[0-9]+)"#,
    )
    .unwrap();
    // Ours passes the caller's own parameters on.
    let location = Regex::new(r#"(namenoderpcaddress=[^&"]*)[^"]*"#).unwrap();
    let one = |(method, path, body): &(&str, &str, &str)| {
        let mut command = Command::new("curl");
        command.args(["-s", "-L", "--max-time", "60", "-w", "\n%{http_code}", "-X", method]);
        if matches!(*method, "PUT" | "POST") {
            command.args(["-H", "Content-Type: application/octet-stream", "--data-binary", body]);
        }
        let user = if path.contains("GETHOMEDIRECTORY") { "" } else { "&user.name=root" };
        let out = command.arg(format!("{base}{path}{user}")).output().unwrap();
        let said = String::from_utf8_lossy(&out.stdout).into_owned();
        let (body, code) = said.rsplit_once('\n').unwrap_or_default();
        let json = serde_json::from_str::<serde_json::Value>(body);
        let body = json.map_or_else(|_| body.to_owned(), |value| value.to_string());
        let body = location.replace_all(&body, "$1");
        format!("{method} {path}: {code} {}", volatile.replace_all(&body, "${1}0"))
    };
    REQUESTS.iter().map(one).collect()
}

/// Apache's NameNode redirects to our DataNode, and ours to Apache's; what a caller sees is the same.
#[test]
fn webhdfs_of_one_kind_sends_on_to_the_other() {
    let settings = site::settings(&[("dfs.replication", "1")]);
    let (namenode, datanodes) = (Kind::Apache, Kind::Ours);
    let spec = Spec { name: "rest-mixed", namenode, datanodes, count: 1, settings };
    let mut cluster = Cluster::start(&spec).unwrap();
    let apaches = web_answers(&cluster);
    cluster.stop_all().unwrap();
    cluster.start_all(Kind::Ours, Kind::Apache).unwrap();
    let ours = web_answers(&cluster);
    let differ: Vec<String> = ours
        .iter()
        .zip(&apaches)
        .filter(|(ours, apaches)| ours != apaches)
        .map(|(ours, apaches)| format!("ours:   {ours}\napache: {apaches}\n"))
        .collect();
    assert!(differ.is_empty(), "{}", differ.join("\n"));
    // A caller that cannot reach the DataNodes by their names gets other ones, or the data through the NameNode.
    cluster.stop_namenode().unwrap();
    let map = "zerohop.webhdfs.redirect.addresses=127.0.0.1=gw.example";
    let start = |cluster: &mut Cluster, value: &str| {
        let with = |mut command: Command| {
            command.args(["-D", value]);
            Ok(command)
        };
        cluster.start_namenode_as(with).unwrap();
        cluster.wait_serving().unwrap();
    };
    start(&mut cluster, map);
    let base = format!("http://127.0.0.1:{}/webhdfs/v1", cluster.site.http_port);
    let ask = |args: &[&str], path: &str| {
        let mut command = Command::new("curl");
        command.args(["-s", "-i", "--max-time", "60"]).args(args).arg(format!("{base}{path}"));
        String::from_utf8_lossy(&command.output().unwrap().stdout).replace('\r', "")
    };
    let told = ask(&["-X", "PUT"], "/p?op=CREATE&user.name=root");
    let expected = format!("location: http://gw.example:{}/", cluster.site.info_ports[0]);
    assert!(told.starts_with("HTTP/1.1 307") && told.contains(&expected), "{told}");
    cluster.stop_namenode().unwrap();
    start(&mut cluster, "zerohop.webhdfs.proxy.clients=127.0.0.0/8");
    let put = ["-L", "-X", "PUT", "--data-binary", "by way of the NameNode"];
    let made = ask(&put, "/p?op=CREATE&user.name=root");
    assert!(made.contains("HTTP/1.1 201"), "{made}");
    let read = ask(&[], "/p?op=OPEN&user.name=root");
    assert!(
        read.starts_with("HTTP/1.1 200") && read.ends_with("\n\nby way of the NameNode"),
        "{read}"
    );
}
