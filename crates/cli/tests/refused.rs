//! Daemons and clients refuse what promises protection and is not implemented, and daemons warn of
//! keys without effect.

mod support;

use std::path::Path;

use support::{run, zerohop};

const SECURED: &str = "<configuration>
<property><name>fs.defaultFS</name><value>hdfs://127.0.0.1:1</value></property>
<property><name>hadoop.security.authentication</name><value>kerberos</value></property>
<property><name>dfs.encrypt.data.transfer</name><value>true</value></property>
<property><name>dfs.block.access.token.enable</name><value>true</value></property>
<property><name>dfs.http.policy</name><value>HTTPS_ONLY</value></property>
<property><name>dfs.namenode.plugins</name><value>a.Plugin</value></property>
</configuration>";

fn with(directory: &Path, args: &[&str]) -> (i32, String) {
    let mut command = zerohop(args);
    let (code, _, err) = run(command.env("HADOOP_CONF_DIR", directory).env_remove("ZEROHOP_LOG"));
    (code, err)
}

/// `hadoop.security.authentication=kerberos`, `dfs.encrypt.data.transfer` and
/// `dfs.block.access.token.enable` were accepted and ignored.
#[test]
fn secured_configurations_were_accepted_and_ignored() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("core-site.xml");
    std::fs::write(&file, SECURED).unwrap();
    let at = |line: usize| format!("{}:{line}", file.display());
    for (daemon, role) in [
        (&["namenode"][..], "NameNode"),
        (&["namenode", "-format"], "NameNode"),
        (&["datanode"], "DataNode"),
    ] {
        let (code, err) = with(directory.path(), daemon);
        assert_eq!(code, 1, "{err}");
        assert!(
            err.contains(&format!("the {role} refuses 4 values of the configuration:")),
            "{err}"
        );
        for refused in [
            format!("hadoop.security.authentication: `kerberos' from {}", at(3)),
            format!("dfs.encrypt.data.transfer: `true' from {}", at(4)),
            format!("dfs.block.access.token.enable: `true' from {}", at(5)),
            format!("dfs.http.policy: `HTTPS_ONLY' from {}", at(6)),
        ] {
            assert!(err.contains(&refused), "{refused}: {err}");
        }
        let warning = format!("{}: dfs.namenode.plugins has no effect", at(7));
        let warned = usize::from(!daemon.contains(&"-format"));
        assert_eq!(err.matches(&warning).count(), warned, "{err}");
    }
    for client in [
        &["fs", "-ls", "/"][..],
        &["dfsadmin", "-report"],
        &["dfsadmin", "-getDatanodeInfo", "127.0.0.1:1"],
    ] {
        let (code, err) = with(directory.path(), client);
        assert_ne!(code, 0, "{err}");
        // `fs` prints the first line of an error alone; that line said how many values were refused and not which.
        assert!(
            err.contains(
                "the client refuses 2 values of the configuration: hadoop.security.authentication=kerberos, dfs.encrypt.data.transfer=true"
            ),
            "{err}"
        );
        assert!(!err.contains("dfs.namenode.plugins"), "{err}");
    }
    let (code, err) = with(directory.path(), &["fsck", "/"]);
    assert!(code == 1 && err.contains("dfs.http.policy: `HTTPS_ONLY'"), "{code} {err}");
    let (code, err) = with(directory.path(), &["getconf", "-confKey", "dfs.http.policy"]);
    assert_eq!((code, err.as_str()), (0, ""));
}

#[test]
fn levels_of_the_log_that_cannot_be_read_are_said() {
    let mut ls = zerohop(&["fs"]);
    let once = ["-D", "ipc.client.connect.max.retries=0"];
    ls.args(once).args(["-ls", "hdfs://127.0.0.1:1/"]).env("ZEROHOP_LOG", "zerohop_client=loud");
    let (code, _, err) = run(&mut ls);
    assert_eq!(code, 1, "{err}");
    let said = "ZEROHOP_LOG=zerohop_client=loud has no effect: ";
    assert_eq!(err.matches(said).count(), 1, "{err}");
}

#[test]
fn a_command_warns_of_keys_without_effect_where_the_log_is_asked_for() {
    let once = ["-D", "ipc.client.connect.max.retries=0", "-D", "dfs.namenode.plugins=x"];
    let mut ls = zerohop(&["fs"]);
    ls.args(once).args(["-ls", "hdfs://127.0.0.1:1/"]).env("ZEROHOP_LOG", "warn");
    let (_, _, err) = run(&mut ls);
    let warning = "the command line: dfs.namenode.plugins has no effect: it is not implemented";
    assert_eq!(err.matches(warning).count(), 1, "{err}");
}
