//! Verbs that people of Apache's type, on a cluster of ours; completions and manual pages.

mod support;

use std::fs;
use std::process::Command;

use serde_json::Value;
use support::{BINARY, Up, run, zerohop};

fn on(up: &Up, words: &[&str]) -> (i32, String, String) {
    run(zerohop(words).env("HADOOP_CONF_DIR", &up.conf))
}

#[test]
fn verbs_of_apaches_script() {
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path().join("data");
    let up = Up::start(&data);
    let file = directory.path().join("file");
    fs::write(&file, vec![7; 100_000]).unwrap();
    assert_eq!(run(up.fs(&["-put"]).arg(&file).arg("/f")).0, 0);

    let (code, out, err) = on(&up, &["groups"]);
    let user = out.split(" :").next().unwrap_or_default().to_owned();
    assert!(code == 0 && !user.is_empty(), "{code} {out} {err}");
    let (_, json, _) = on(&up, &["groups", "--json", &user, "nobody-at-all"]);
    let json: Value = serde_json::from_str(&json).unwrap();
    assert!(json[&user].is_array() && json["nobody-at-all"] == Value::Array(vec![]), "{json}");

    let (code, out, _) = on(&up, &["hdfs", "storagepolicies", "-listPolicies"]);
    let hot = "\tBlockStoragePolicy{HOT:7, storageTypes=[DISK], creationFallbacks=[], replicationFallbacks=[ARCHIVE]}\n";
    assert!(
        code == 0 && out.starts_with("Block Storage Policies:\n") && out.contains(hot),
        "{out}"
    );
    let policy = |words: &[&str]| on(&up, &[&["storagepolicies"], words].concat());
    let (_, out, _) = policy(&["-getStoragePolicy", "-path", "/f"]);
    assert_eq!(out, "The storage policy of /f is unspecified\n");
    let (code, out, _) = policy(&["-setStoragePolicy", "-path", "/f", "-policy", "COLD"]);
    assert_eq!((code, out.as_str()), (0, "Set storage policy COLD on /f\n"));
    let (_, out, _) = policy(&["-getStoragePolicy", "-path", "/f"]);
    assert!(out.starts_with("The storage policy of /f:\nBlockStoragePolicy{COLD:2,"), "{out}");

    let (code, out, _) = on(&up, &["balancer"]);
    assert!(code == 0 && out.contains("The cluster is balanced. Exiting..."), "{code} {out}");
    let (code, _, err) = on(&up, &["mover", "-p", "/f"]);
    assert!(code == 254 && err.contains("Some blocks can't be moved"), "no archive: {code} {err}");
    assert_eq!(policy(&["-unsetStoragePolicy", "-path", "/f"]).0, 0);
    let (code, _, err) = policy(&["-getStoragePolicy", "-path", "/none"]);
    assert!(code == 2 && err.contains("File/Directory does not exist: /none"), "{code} {err}");
    let (code, _, err) = policy(&["-listPolicis"]);
    assert!(code == 1 && err.contains("Did you mean -listPolicies?"), "{code} {err}");

    let (code, out, _) = on(&up, &["ec", "-listPolicies"]);
    assert_eq!((code, out.as_str()), (0, "There is no erasure coding policies in the cluster.\n"));
    let (code, out, _) = on(&up, &["ec", "-getPolicy", "-path", "/f"]);
    assert_eq!((code, out.as_str()), (0, "The erasure coding policy of /f is unspecified\n"));

    let (code, out, err) = on(&up, &["debug", "recoverLease", "-path", "/f"]);
    assert_eq!((code, out.as_str()), (0, "recoverLease SUCCEEDED on /f\n"), "{err}");
    let block = support::only_replica(&data.join("data1"));
    let name = block.file_name().unwrap().to_string_lossy().into_owned();
    let metas = fs::read_dir(block.parent().unwrap()).unwrap().flatten();
    let meta = metas.map(|entry| entry.path()).find(|path| {
        let other = path.file_name().unwrap().to_string_lossy();
        other.starts_with(&format!("{name}_")) && other.ends_with(".meta")
    });
    let meta = meta.unwrap();
    let (block, meta) = (block.to_str().unwrap(), meta.to_str().unwrap());
    let verify = ["debug", "verifyMeta", "-meta", meta, "-block", block];
    let (code, out, err) = on(&up, &verify);
    assert!(
        code == 0 && out.starts_with("Checksum type: DataChecksum(type=CRC32C, chunkSize=512)\n"),
        "{out} {err}"
    );
    let made = directory.path().join("made.meta");
    let (code, _, err) =
        on(&up, &["debug", "computeMeta", "-block", block, "-out", made.to_str().unwrap()]);
    assert_eq!(code, 0, "{err}");
    assert_eq!(fs::read(made).unwrap(), fs::read(meta).unwrap());

    let copy = ["distcp", "-update", "-p", "--json", "/f", "/copies"];
    assert_eq!(run(&mut up.fs(&["-mkdir", "/copies"])).0, 0);
    for (copied, skipped) in [(1, 0), (0, 1)] {
        let (code, out, err) = on(&up, &copy);
        let json: Value =
            serde_json::from_str(&out).unwrap_or_else(|_| panic!("{code} {out} {err}"));
        assert_eq!(
            (json["copied"].as_i64(), json["skipped"].as_i64()),
            (Some(copied), Some(skipped))
        );
    }
}

/// Files of this machine were offered for paths in HDFS.
#[test]
fn paths_in_hdfs_are_completed_from_hdfs() {
    let directory = tempfile::tempdir().unwrap();
    let up = Up::start(&directory.path().join("data"));
    let local = directory.path().join("local");
    fs::create_dir_all(local.join("data-of-this-machine")).unwrap();
    for name in ["/data/one", "/data/two words", "/data-of-hdfs", "/user/me"] {
        let (code, _, err) =
            run(zerohop(&["fs", "-mkdir", "-p", name]).env("HADOOP_CONF_DIR", &up.conf));
        assert_eq!(code, 0, "{err}");
    }
    let (_, script, _) = run(&mut zerohop(&["completions", "bash"]));
    let path = directory.path().join("zerohop.bash");
    fs::write(&path, script).unwrap();
    let complete = |words: &str| {
        let line = format!(
            ". {}; COMP_WORDS=({words}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); _zerohop; IFS=,; echo \"${{COMPREPLY[*]}}\"",
            path.display()
        );
        let mut bash = Command::new("bash");
        bash.args(["-c", &line]).current_dir(&local).env_remove("HADOOP_CONF_DIR");
        run(&mut bash).1.trim().to_owned()
    };
    let program = format!("{BINARY} --config {}", up.conf.display());
    assert_eq!(complete(&format!("{program} fs -ls /da")), "/data/,/data-of-hdfs/");
    assert_eq!(complete(&format!("{program} fs -cat /data/t")), r"/data/two\ words/");
    assert_eq!(complete(&format!("{program} fsck /us")), "/user/");
    assert_eq!(complete(&format!("{program} fs -ls data")), "");
    // The first path of a put is local, and later ones may be either.
    assert_eq!(complete(&format!("{program} fs -put data")), "");
    assert_eq!(complete(&format!("{program} fs -put data /data/o")), "/data/one/");
    assert_eq!(complete(&format!("{program} fs -get /data/one data")), "data-of-this-machine");
    for (shell, part) in [("zsh", "fs -ls $directory"), ("fish", "zerohop fs -ls $directory")] {
        let (code, script, _) = run(&mut zerohop(&["completions", shell]));
        assert!(code == 0 && script.contains(part), "{shell}");
    }
}

#[test]
fn completions_come_from_the_table_of_commands() {
    let (code, script, err) = run(&mut zerohop(&["completions", "bash"]));
    assert_eq!(code, 0, "{err}");
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("zerohop.bash");
    fs::write(&path, script).unwrap();
    let complete = |words: &str| {
        let line = format!(
            ". {}; COMP_WORDS=({words}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); _zerohop; echo ${{COMPREPLY[*]}}",
            path.display()
        );
        run(Command::new("bash").args(["-c", &line])).1.trim().to_owned()
    };
    assert_eq!(complete("zerohop dfsa"), "dfsadmin");
    assert_eq!(complete("zerohop --config /c fs -appe"), "-appendToFile");
    assert_eq!(complete("zerohop dfs -rm -skipT"), "-skipTrash");
    assert_eq!(complete("zerohop up --bi"), "--bind");
    assert_eq!(complete("zerohop fsck / -openf"), "-openforwrite");
    for shell in ["zsh", "fish"] {
        let (code, script, err) = run(&mut zerohop(&["completions", shell]));
        assert!(code == 0 && script.contains("-appendToFile"), "{shell}: {err}");
    }
    let (code, page, err) = run(&mut zerohop(&["man", "fs"]));
    assert!(code == 0 && page.contains(r"\-appendToFile"), "{err}");
    let pages = directory.path().join("man");
    let (code, _, err) = run(zerohop(&["man", "--directory"]).arg(&pages));
    assert!(
        code == 0 && pages.join("zerohop.1").exists() && pages.join("zerohop-up.1").exists(),
        "{err}"
    );
}
