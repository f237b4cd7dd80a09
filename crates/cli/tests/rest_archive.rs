//! Many files in one request, by curl and tar, and a recursive list.

use std::process::{Command, Stdio};

const BINARY: &str = env!("CARGO_BIN_EXE_zerohop");

/// What a shell does on a cluster of its own. `get`, `tar_in`, `form` and the like are files that it leaves.
const SCRIPT: &str = r#"set -e
G=$ZEROHOP_REST/webhdfs/v1
U=user.name=$(id -un)
long=$(printf 'x%.0s' $(seq 150))
mkdir -p in/d/e
echo one >in/a
echo two >in/d/b
head -c 3000000 /dev/zero | tr '\0' z >in/d/e/$long
tar -C in -cf in.tar .
curl -sf -T in.tar -H 'Content-Type: application/x-tar' "$G/put?op=PUTARCHIVE&$U" >tar_in
curl -sf "$G/put?op=GETARCHIVE&$U" >out.tar
mkdir out
tar -C out -xf out.tar
diff -r in out
curl -sf "$G/put?op=GETARCHIVE&file=a&file=d/b&$U" | tar -tf - >some
curl -sf "$G/put/d/b?op=GETARCHIVE&$U" | tar -xOf - >one
curl -sf -F 'files=@in/a;filename=f/a' -F 'other=@in/d/b;filename=../b' -F 'last=@in/d/b;filename=/abs' \
  "$G/form?op=PUTARCHIVE&$U" -o form -w '%{http_code}' >form_status
curl -sf -T in.tar -H 'Content-Type: application/x-tar' "$G/put?op=PUTARCHIVE&overwrite=false&$U" >again
head -c 2000000 in.tar >half.tar
curl -s -T half.tar -H 'Content-Type: application/x-tar' "$G/half?op=PUTARCHIVE&$U" -o half -w '%{http_code}' >half_status
curl -sf "$G/?op=LISTSTATUS_RECURSIVE&$U" >list
curl -s "$G/none?op=LISTSTATUS_RECURSIVE&$U" -o none -w '%{http_code}' >none_status
curl -sf $ZEROHOP_REST/openapi.json >openapi
"#;

#[test]
fn archives_and_lists_come_back_as_they_were_put() {
    let directory = tempfile::tempdir().unwrap();
    let mut command = Command::new(BINARY);
    command.args(["up", "--port", "0", "--http-port", "0", "--rest-port", "0", "--exec", SCRIPT]);
    command.current_dir(directory.path()).env_remove("HADOOP_CONF_DIR").stdin(Stdio::null());
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = |name: &str| std::fs::read_to_string(directory.path().join(name)).unwrap();
    let json = |name: &str| serde_json::from_str::<serde_json::Value>(&text(name)).unwrap();

    let put = json("tar_in");
    let files = put["Files"].as_array().unwrap();
    assert!(files.iter().all(|file| file.get("RemoteException").is_none()), "{put}");
    assert!(files.iter().any(|file| file["length"] == 3_000_000), "{put}");
    assert_eq!((text("some").as_str(), text("one").as_str()), ("a\nd/b\n", "two\n"));

    assert_eq!(text("form_status"), "207");
    let form = json("form");
    assert_eq!(form["Files"][0], serde_json::json!({ "name": "f/a", "length": 4 }), "{form}");
    for refused in [1, 2] {
        let exception = &form["Files"][refused]["RemoteException"]["exception"];
        assert_eq!(exception, "IllegalArgumentException", "{form}");
    }
    let again = json("again");
    let taken = again["Files"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|file| file["RemoteException"]["exception"] == "FileAlreadyExistsException");
    assert_eq!(taken.count(), 3, "{again}");

    assert_eq!(text("half_status"), "400");
    assert!(json("half").get("RemoteException").is_some());
    assert_eq!(text("none_status"), "404");
    let list: Vec<serde_json::Value> =
        text("list").lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let paths: Vec<&str> = list.iter().map(|one| one["path"].as_str().unwrap()).collect();
    assert!(paths.contains(&"/put/d/b") && paths.contains(&"/form/f/a"), "{paths:?}");
    // What broke off left no file, under any name.
    let is_part = |path: &&str| path.contains("_UPLOADING_") || path.starts_with("/half/d/e/");
    assert!(!paths.iter().any(is_part), "{paths:?}");
    assert_eq!(list.iter().find(|one| one["path"] == "/put/a").unwrap()["length"], 4);
    assert_eq!(json("openapi")["openapi"], "3.1.0");
}
