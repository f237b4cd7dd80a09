//! Commands say what they wait for, in plain words, and recognise a port of the wrong kind.

mod support;

use std::fs;
use std::net::TcpListener;

use support::{Signal, Up, run, zerohop};

/// 10 s without output, and then "java.net.ConnectException".
#[test]
fn a_namenode_that_is_down_was_waited_for_in_silence() {
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let uri = format!("hdfs://{closed}");
    let retries = ["-D", "ipc.client.connect.max.retries=3"];
    let (code, out, err) = run(zerohop(&retries).args(["-fs", &uri, "fs", "-ls", "/"]));
    assert_eq!((code, out.as_str()), (1, ""), "{err}");
    let told = format!("cannot connect to {closed}: Connection refused");
    assert!(err.contains(&told) && err.contains("tried 2 of 4 times"), "{err}");
    assert!(!err.contains("java") && !err.contains("Exception"), "{err}");
    // Apache's command line keeps Apache's words.
    let (code, _, err) =
        run(zerohop(&["hdfs", "dfs"]).args(retries).args(["-fs", &uri, "-ls", "/"]));
    assert!(code == 1 && err.contains("java.net.ConnectException: Connection refused"), "{err}");
}

/// 18 s without output where all DataNodes are down.
#[test]
fn datanodes_that_are_down_were_waited_for_in_silence() {
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path().join("data");
    let up = Up::start(&data);
    let file = directory.path().join("file");
    fs::write(&file, "x").unwrap();
    assert_eq!(run(up.fs(&["-put"]).arg(&file).arg("/f")).0, 0);
    // The NameNode says where the block is; nobody gives it, as its files are gone.
    assert_eq!(up.stop(Signal::TERM), 0);
    let finalized = |directory: &std::path::Path| -> Vec<std::path::PathBuf> {
        let mut found = vec![directory.to_owned()];
        let mut blocks = Vec::new();
        while let Some(directory) = found.pop() {
            for entry in fs::read_dir(directory).unwrap().flatten() {
                let path = entry.path();
                let name = entry.file_name().to_string_lossy().into_owned();
                match path.is_dir() {
                    true => found.push(path),
                    false if name.starts_with("blk_") => blocks.push(path),
                    false => {}
                }
            }
        }
        blocks
    };
    let up = Up::start(&data);
    for path in finalized(&data.join("data1")) {
        fs::remove_file(path).unwrap();
    }
    let window = ["-D", "dfs.client.retry.window.base=1500", "-cat", "/f"];
    let (code, _, err) = run(&mut up.fs(&window));
    assert_eq!(code, 1, "{err}");
    assert!(err.contains("no DataNode gives") && err.contains("/f"), "{err}");
    assert!(err.contains("times, asking the NameNode"), "{err}");
}

/// The web port of the NameNode as its RPC port, and the reverse.
#[test]
fn a_port_of_the_wrong_kind_is_recognised() {
    let directory = tempfile::tempdir().unwrap();
    let up = Up::start(&directory.path().join("data"));
    let value = |key: &str| {
        let mut command = zerohop(&["getconf", "-confKey", key]);
        run(command.env("HADOOP_CONF_DIR", &up.conf)).1.trim().to_owned()
    };
    let (web, uri) = (value("dfs.namenode.http-address"), value("fs.defaultFS"));
    let (code, _, err) = run(&mut up.fs(&["-fs", &format!("hdfs://{web}"), "-ls", "/"]));
    assert!(code == 1 && err.contains("this is a web port"), "{code} {err}");
    let rpc = uri.trim_start_matches("hdfs://");
    let swapped = format!("dfs.namenode.http-address={rpc}");
    let mut fsck = zerohop(&["-D", &swapped, "fsck", "/"]);
    let (code, _, err) = run(fsck.env("HADOOP_CONF_DIR", &up.conf));
    assert!(code == 1 && err.contains("this is an RPC port"), "{code} {err}");
}

/// `-lss`, `-reprot`, `dfs.replicatoin` were refused, or taken, without a word of what was meant.
#[test]
fn misspelt_words_get_a_suggestion() {
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let uri = format!("hdfs://{closed}");
    let once = "ipc.client.connect.max.retries=0";
    let with = |words: &[&str]| run(zerohop(&["-fs", &uri, "-D", once]).args(words));
    for (words, code, meant) in [
        (&["fs", "-lss", "/"][..], 255, "Did you mean -ls?"),
        (&["fs", "-rm", "-skipTrahs", "/f"], 255, "did you mean -skipTrash?"),
        (&["dfsadmin", "-reprot"], 255, "Did you mean -report?"),
        (&["fsck", "/", "-bloks"], 255, "did you mean -blocks?"),
        (&["hdfs", "dsf", "-ls"], 1, "Did you mean dfs?"),
        (&["fskc"], 2, "fsck"),
        (&["ls", "/"], 2, "did you mean `zerohop fs -ls /'?"),
        (&["sf", "-ls"], 2, "did you mean `zerohop fs -ls'?"),
        (&["getconf", "-confKey", "dfs.replicatoin"], 255, "Did you mean dfs.replication?"),
        (&["fs", "-D", "dfs.replicatoin=2", "-ls", "/"], 1, "did you mean dfs.replication?"),
    ] {
        let (ended, _, err) = with(words);
        assert!(ended == code && err.contains(meant), "{words:?}: {ended} {err}");
    }
    // Help behind a command.
    for words in [&["fs", "-ls", "-help"][..], &["dfsadmin", "-report", "-help"], &["up", "-help"]]
    {
        let (code, out, err) = with(words);
        assert!(code == 0 && err.is_empty() && out.lines().count() > 0, "{words:?}: {code} {err}");
    }
    let (code, out, _) = with(&["bench", "--help"]);
    assert!(code == 0 && out.contains("bench dfsio"), "{out}");
    // To Apache's shell it is an option that no command has.
    let (code, _, err) = with(&["hdfs", "dfs", "-ls", "-help"]);
    assert!(code == 255 && err.contains("Illegal option -help"), "{code} {err}");
}
