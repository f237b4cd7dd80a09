//! Tests of the hosts that a configuration lets call.

use super::*;

fn hosts(settings: &[(&str, &str)]) -> Arc<AllowedHosts> {
    let mut conf = Conf::new();
    settings.iter().for_each(|(name, value)| conf.set(name, *value));
    AllowedHosts::from_conf(&conf).unwrap()
}

async fn may_call(hosts: &Arc<AllowedHosts>, remote: &str) -> bool {
    hosts.check(remote.parse().unwrap()).await.is_ok()
}

/// Returns the hosts of a name service with these NameNodes.
fn pair(first: &str, second: &str) -> Arc<AllowedHosts> {
    hosts(&[
        ("dfs.nameservices", "ns"),
        ("dfs.ha.namenodes.ns", "a, b"),
        ("dfs.namenode.rpc-address.ns.a", &format!("{first}:8020")),
        ("dfs.namenode.rpc-address.ns.b", &format!("{second}:8020")),
        ("dfs.namenode.shared.edits.dir", "qjournal://203.0.113.3:8485;203.0.113.4/ns"),
    ])
}

#[tokio::test]
async fn the_hosts_of_namenodes_and_journal_nodes_may_call_and_no_others() {
    let known = pair("203.0.113.1", "203.0.113.2");
    for remote in ["203.0.113.1", "203.0.113.2", "203.0.113.3", "203.0.113.4", "::ffff:203.0.113.1"]
    {
        assert!(may_call(&known, remote).await, "{remote}");
    }
    for remote in ["203.0.113.9", "127.0.0.1", "::1"] {
        let refused = known.check(remote.parse().unwrap()).await.unwrap_err().to_string();
        assert!(refused.contains("203.0.113.2") && refused.contains("allowed.hosts"), "{refused}");
    }
}

/// On one machine the kernel chooses which of its addresses a call shows.
#[tokio::test]
async fn calls_of_this_machine_are_those_of_its_daemons() {
    let known = pair("203.0.113.1", "127.0.14.2");
    assert!(may_call(&known, "127.0.0.1").await && may_call(&known, "127.0.14.1").await);
    assert!(!may_call(&known, "203.0.113.9").await);
}

#[tokio::test]
async fn a_journal_node_that_knows_no_namenode_says_what_to_set() {
    let bare = hosts(&[]);
    let advice = bare.advice().unwrap();
    let refused = bare.check("127.0.0.1".parse().unwrap()).await.unwrap_err().to_string();
    for text in [advice, refused] {
        for key in
            ["dfs.nameservices", "dfs.namenode.rpc-address", "zerohop.journalnode.allowed.hosts"]
        {
            assert!(text.contains(key), "{key}: {text}");
        }
    }
    let any = hosts(&[("zerohop.journalnode.allowed.hosts", "*")]);
    assert!(any.advice().is_none() && may_call(&any, "203.0.113.9").await);
    let some = hosts(&[("zerohop.journalnode.allowed.hosts", "203.0.113.7, 203.0.113.8")]);
    assert!(may_call(&some, "203.0.113.8").await && !may_call(&some, "203.0.113.9").await);
}

/// A failure of DNS would have shut the active NameNode out.
#[tokio::test]
async fn addresses_of_a_name_stay_while_it_cannot_be_resolved() {
    let known = pair("name.invalid", "203.0.113.2");
    let address = vec!["203.0.113.1".parse().unwrap()];
    known.resolved.write().of_names.insert("name.invalid".to_owned(), address);
    known.resolve();
    assert!(may_call(&known, "203.0.113.1").await && may_call(&known, "203.0.113.2").await);
}

#[test]
fn hosts_are_read_from_addresses() {
    let host = |text: &str| host_of(text).unwrap_or_default();
    assert_eq!(
        (host("a:1"), host(" a "), host("[::1]:8020")),
        ("a".into(), "a".into(), "::1".into())
    );
    assert_eq!((host("0.0.0.0:9868"), host("")), (String::new(), String::new()));
    assert_eq!(namenodes(&Conf::new()).unwrap(), Vec::<String>::new());
    let mut conf = Conf::new();
    conf.set("fs.defaultFS", "hdfs://alone:8020/");
    assert_eq!(namenodes(&conf).unwrap(), ["alone"]);
    conf.set("fs.defaultFS", "hdfs://ns");
    conf.set("dfs.nameservices", "ns");
    assert_eq!(namenodes(&conf).unwrap(), Vec::<String>::new());
}
