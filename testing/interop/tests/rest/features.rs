//! What Apache's NameNode has and ours lacks.

use std::process::Command;

use crate::gateway::Gateway;

/// What makes directories with snapshots, coded ones and ones with a permission, sent to our gateway.
const CHANGES: &[(&str, &str)] = &[
    ("PUT", "/s?op=MKDIRS"),
    ("PUT", "/s?op=ALLOWSNAPSHOT"),
    ("PUT", "/s/d?op=MKDIRS&permission=777&unmaskedpermission=751"),
    ("PUT", "/s/a?op=CREATE&data=true"),
    ("PUT", "/s?op=CREATESNAPSHOT&snapshotname=s1"),
    ("PUT", "/s/a?op=RENAME&destination=/s/d/b"),
    ("PUT", "/s/e?op=MKDIRS"),
    ("PUT", "/s?op=CREATESNAPSHOT&snapshotname=s2"),
    ("PUT", "/s?op=CREATESNAPSHOT&snapshotname=s3"),
    ("PUT", "/s?op=RENAMESNAPSHOT&oldsnapshotname=s3&snapshotname=s4"),
    ("DELETE", "/s?op=DELETESNAPSHOT&snapshotname=s4"),
    ("PUT", "/plain?op=MKDIRS"),
    ("PUT", "/plain?op=ALLOWSNAPSHOT"),
    ("PUT", "/plain?op=DISALLOWSNAPSHOT"),
    ("PUT", "/s/e?op=ENABLEECPOLICY&ecpolicy=XOR-2-1-1024k"),
    ("PUT", "/s/e?op=SETECPOLICY&ecpolicy=XOR-2-1-1024k"),
    ("PUT", "/uncoded?op=MKDIRS"),
    ("PUT", "/uncoded?op=SETECPOLICY&ecpolicy=XOR-2-1-1024k"),
    ("POST", "/uncoded?op=UNSETECPOLICY"),
    ("PUT", "/?op=ENABLEECPOLICY&ecpolicy=RS-3-2-1024k"),
    ("PUT", "/?op=DISABLEECPOLICY&ecpolicy=RS-3-2-1024k"),
];

/// What the gateway and Apache's NameNode are then asked.
const QUESTIONS: &[&str] = &[
    "/s?op=LISTSTATUS",
    "/s/d?op=GETACLSTATUS",
    "/?op=GETSNAPSHOTTABLEDIRECTORYLIST",
    "/s?op=GETSNAPSHOTLIST",
    "/s?op=GETSNAPSHOTDIFF&oldsnapshotname=s1&snapshotname=s2",
    "/s?op=GETSNAPSHOTDIFF&oldsnapshotname=s2",
    "/s?op=GETSNAPSHOTDIFFLISTING&oldsnapshotname=s1&snapshotname=s2",
    "/s?op=GETSNAPSHOTDIFFLISTING&oldsnapshotname=s1&snapshotname=s2&snapshotdiffstartpath=/&snapshotdiffindex=-1",
    "/s/d/b?op=GET_BLOCK_LOCATIONS",
    "/s/d/b?op=GETFILELINKSTATUS",
    "/s/e?op=GETECPOLICY",
    "/uncoded?op=GETECPOLICY",
    "/?op=GETECPOLICIES",
    "/?op=GETECCODECS",
];

/// Snapshots and erasure coding, which our NameNode lacks: our gateway passes them on to one that has them, and answers as it does.
pub fn are_passed_on(gateway: &Gateway, http_port: u16) {
    let stream = [("Content-Type", "application/octet-stream")];
    for (method, path) in CHANGES.iter().copied() {
        let target = format!("/webhdfs/v1{path}&user.name=root");
        let answer = gateway.ask(method, &target, &stream, b"").unwrap();
        let said = String::from_utf8_lossy(&answer.body).into_owned();
        assert!(matches!(answer.status, 200 | 201), "{method} {path}: {} {said}", answer.status);
    }
    let ask = |port: u16, path: &str| {
        let mut command = Command::new("curl");
        command.args(["-s", "--max-time", "60"]);
        command.arg(format!("http://127.0.0.1:{port}/webhdfs/v1{path}&user.name=root"));
        let said = String::from_utf8_lossy(&command.output().unwrap().stdout).into_owned();
        let json: serde_json::Value =
            serde_json::from_str(&said).unwrap_or_else(|error| panic!("{path}: {error}: {said}"));
        assert!(json.get("RemoteException").is_none(), "{path}: {said}");
        json
    };
    for path in QUESTIONS.iter().copied() {
        let (ours, apaches) = (ask(gateway.port, path), ask(http_port, path));
        assert_eq!(ours, apaches, "{path}");
    }
}
