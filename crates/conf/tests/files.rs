//! Files as administrators write them, and as they should not.

use std::time::Duration;

use zerohop_conf::{Conf, ConfError, Source, Unit, keys, parse_duration, parse_size, site_xml};

fn parsed(text: &str) -> Result<Conf, ConfError> {
    let mut conf = Conf::new();
    conf.parse_xml(text.as_bytes())?;
    Ok(conf)
}

fn directory(name: &str, files: &[(&str, &str)]) -> std::path::PathBuf {
    let directory =
        std::env::temp_dir().join(format!("zerohop-conf-{name}-{}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    for (name, text) in files {
        std::fs::write(directory.join(name), text).unwrap();
    }
    directory
}

#[test]
fn defaults_all_parse() {
    let conf = Conf::new();
    assert_eq!(conf.get(&keys::DFS_REPLICATION).unwrap(), 3);
    assert_eq!(conf.get(&keys::DFS_BLOCKSIZE).unwrap(), 128 << 20);
    assert_eq!(conf.get(&keys::DFS_HEARTBEAT_INTERVAL).unwrap(), Duration::from_secs(3));
    assert_eq!(conf.get(&keys::DFS_NAMENODE_SAFEMODE_THRESHOLD_PCT).unwrap(), 0.999);
    assert_eq!(conf.get(&keys::DFS_NAMENODE_RPC_ADDRESS).unwrap(), None);
    for key in keys::all().filter(|key| !key.default.is_empty()) {
        let name = key.name;
        let fits = match key.kind {
            "bool" => conf.get_named::<bool>(name, key.default, key.unit).is_ok(),
            "i32" => conf.get_named::<i32>(name, key.default, key.unit).is_ok(),
            "i64" => conf.get_named::<i64>(name, key.default, key.unit).is_ok(),
            "u64" => conf.get_named::<u64>(name, key.default, key.unit).is_ok(),
            "f32" | "f64" => conf.get_named::<f64>(name, key.default, key.unit).is_ok(),
            "Duration" => conf.get_named::<Duration>(name, key.default, key.unit).is_ok(),
            _ => conf.get_named::<String>(name, key.default, key.unit).is_ok(),
        };
        assert!(fits, "{name}");
    }
}

#[test]
fn no_key_stands_twice_and_none_is_deprecated() {
    let mut names: Vec<_> = keys::all().map(|key| key.name).collect();
    assert!(names.iter().all(|name| zerohop_conf::replaced_by(name).is_none()));
    let count = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), count);
}

#[test]
fn long_and_short_form_final_and_deprecated() {
    let mut conf = parsed(
        "<?xml version=\"1.0\"?>\n<?xml-stylesheet href=\"c.xsl\"?>\n<!-- c -->\n<configuration>
         <property><name> dfs.block.size </name><value>64m</value><final>true</final></property>
         <property name=\"dfs.replication\" value=\"2\"/>
         <property><name>empty</name><value></value></property>
         <property><name>cdata</name><value><![CDATA[a<b]]>&amp;&#65;</value></property>
         </configuration>",
    )
    .unwrap();
    assert_eq!(conf.get(&keys::DFS_BLOCKSIZE).unwrap(), 64 << 20);
    assert_eq!(conf.get(&keys::DFS_REPLICATION).unwrap(), 2);
    assert_eq!(conf.get_raw("empty"), None);
    assert_eq!(conf.get_raw("cdata").as_deref(), Some("a<b&A"));
    assert_eq!(conf.get_raw("dfs.block.size").as_deref(), Some("64m"));
    let Some(Source::File { line, .. }) = conf.source("dfs.blocksize") else { panic!() };
    assert_eq!(line, 5);
    conf.parse_xml(b"<configuration><property name='dfs.blocksize' value='1m'/></configuration>")
        .unwrap();
    assert_eq!(conf.get(&keys::DFS_BLOCKSIZE).unwrap(), 64 << 20);
    assert_eq!(conf.warnings().len(), 2, "{:?}", conf.warnings());
    conf.set_option("dfs.blocksize", "1m");
    assert_eq!(conf.get(&keys::DFS_BLOCKSIZE).unwrap(), 1 << 20);
    assert_eq!(conf.source("dfs.blocksize"), Some(Source::CommandLine));
}

#[test]
fn includes_are_relative_and_fall_back() {
    let directory = directory(
        "include",
        &[
            (
                "core-site.xml",
                "<configuration xmlns:xi='http://www.w3.org/2001/XInclude'>
                 <xi:include href='more.xml'/>
                 <xi:include href='none.xml'><xi:fallback>
                   <property><name>b</name><value>2</value></property>
                 </xi:fallback></xi:include>
                 <xi:include href='more.xml'><xi:fallback>
                   <property><name>c</name><value>3</value></property>
                 </xi:fallback></xi:include></configuration>",
            ),
            ("more.xml", "<configuration><property name='a' value='1'/></configuration>"),
        ],
    );
    let conf = Conf::load(&directory).unwrap();
    assert_eq!(conf.get_raw("a").as_deref(), Some("1"));
    assert_eq!(conf.get_raw("b").as_deref(), Some("2"));
    assert_eq!(conf.get_raw("c"), None);
    std::fs::write(
        directory.join("hdfs-site.xml"),
        "<configuration>\n<include href='hdfs-site.xml'/></configuration>",
    )
    .unwrap();
    assert!(Conf::load(&directory).unwrap_err().to_string().contains("include themselves"));
    std::fs::remove_dir_all(&directory).unwrap();
    assert!(Conf::load(&directory).unwrap_err().to_string().contains("check the path"));
}

/// The second choice of a file, and the third.
#[test]
fn a_fallback_may_include_again() {
    let include = |href: &str, fallback: &str| {
        format!("<xi:include href='{href}'><xi:fallback>{fallback}</xi:fallback></xi:include>")
    };
    let last = "<property name='last' value='1'/>";
    let more = include("more.xml", last);
    let site = |body: &str| {
        format!(
            "<configuration xmlns:xi='http://www.w3.org/2001/XInclude'>{body}<property name='end' value='1'/></configuration>"
        )
    };
    let directory = directory(
        "nested",
        &[("more.xml", "<configuration><property name='a' value='1'/></configuration>")],
    );
    let read = |body: &str| {
        std::fs::write(directory.join("core-site.xml"), site(body)).unwrap();
        let conf = Conf::load(&directory).map_err(|error| error.to_string())?;
        let is_set = |name: &str| conf.is_set(name);
        Ok::<_, String>((is_set("a"), is_set("last"), is_set("end")))
    };
    assert_eq!(read(&include("none", &more)), Ok((true, false, true)));
    assert_eq!(read(&include("none", &include("none", last))), Ok((false, true, true)));
    assert_eq!(read(&include("none", &format!("{more}{last}"))), Ok((true, true, true)));
    assert_eq!(read(&include("none", "<xi:include href='none'/>")), Ok((false, false, true)));
    assert_eq!(read(&include("more.xml", &include("none", last))), Ok((true, false, true)));
    assert!(read("<xi:include href='none'/>").unwrap_err().contains("no <xi:fallback>"));
    std::fs::remove_dir_all(&directory).unwrap();
}

#[test]
fn errors_name_the_line_and_what_to_do() {
    let message = |text: &str| parsed(text).unwrap_err().to_string();
    assert!(
        message("<configuration>\n\n<property></configuration>")
            .starts_with("configuration.xml:3:")
    );
    assert!(message("<configuration>\n<property>").contains("cut off"));
    assert!(message("").contains("cut off"));
    assert!(message("<project/>").contains("root element"));
    assert!(message("<configuration>&x;</configuration>").contains("&amp;"));
    assert!(
        message("<configuration><xi:include href='http://a/b'/></configuration>").contains("local")
    );
    let conf =
        parsed("<configuration>\n<property name='dfs.replication' value='many'/></configuration>")
            .unwrap();
    let text = conf.get(&keys::DFS_REPLICATION).unwrap_err().to_string();
    assert!(
        text.starts_with("dfs.replication: `many' from configuration.xml:2 is not a whole number"),
        "{text}"
    );
}

#[test]
fn entities_neither_nest_nor_read_files() {
    let doctype = |entity: &str| {
        format!(
            "<!DOCTYPE c [{entity}]>\n<configuration><property><name>a</name><value>&x;</value></property></configuration>"
        )
    };
    let conf = parsed(&doctype("<!ENTITY x \"42\">")).unwrap();
    assert_eq!(conf.get_raw("a").as_deref(), Some("42"));
    assert!(parsed(&doctype("<!ENTITY x SYSTEM 'file:///etc/passwd'>")).is_err());
    assert!(parsed(&doctype("<!ENTITY y \"yy\"><!ENTITY x \"&y;&y;\">")).is_err());
}

#[test]
fn variables_lists_and_name_services() {
    let mut conf = Conf::new();
    conf.set("hadoop.tmp.dir", "/data");
    conf.set("dfs.namenode.rpc-address.ns1.nn2", "h2:8020");
    conf.set("dfs.namenode.rpc-address.ns1", "h:8020");
    assert_eq!(conf.get(&keys::DFS_NAMENODE_NAME_DIR).unwrap(), ["file:///data/dfs/name"]);
    assert_eq!(conf.get(&keys::DFS_NAMENODE_EDITS_DIR).unwrap(), ["file:///data/dfs/name"]);
    let key = &keys::DFS_NAMENODE_RPC_ADDRESS;
    assert_eq!(conf.get_for(key, &["ns1", "nn2"]).unwrap().as_deref(), Some("h2:8020"));
    assert_eq!(conf.get_for(key, &["ns1", "nn1"]).unwrap(), None);
    let special = conf.specialize(Some("ns1"), Some("nn2"));
    assert_eq!(special.get(key).unwrap().as_deref(), Some("h2:8020"));
    conf.set("dfs.hosts", "${ping}");
    conf.set("ping", "${pong}");
    conf.set("pong", "${ping}");
    assert!(matches!(conf.get(&keys::DFS_HOSTS), Err(ConfError::Depth { .. })));
    assert_eq!(conf.get_raw("dfs.hosts"), None);
}

#[test]
fn sizes_and_times() {
    assert_eq!(parse_size("128m"), Some(128 << 20));
    assert_eq!(parse_size("1E"), Some(1 << 60));
    assert_eq!(parse_size("9e"), None);
    assert_eq!(parse_size("-1"), Some(-1));
    assert_eq!(parse_size("0x10"), Some(16));
    assert_eq!(parse_size("128mb"), None);
    assert_eq!(parse_duration("3", Unit::Seconds), Some(Duration::from_secs(3)));
    assert_eq!(parse_duration("3MS", Unit::Seconds), Some(Duration::from_millis(3)));
    assert_eq!(parse_duration("1.5h", Unit::Seconds), Some(Duration::from_secs(5400)));
    assert_eq!(parse_duration("-1", Unit::Millis), Some(Duration::ZERO));
    assert_eq!(parse_duration("9223372036854775807d", Unit::Millis).map(|_| ()), Some(()));
    assert_eq!(parse_duration("s", Unit::Millis), None);
}

#[test]
fn what_is_written_is_read() {
    let text = site_xml([("a", "x<&\">'y"), ("b", " 2 ")]);
    let conf = parsed(&text).unwrap();
    assert_eq!(conf.get_raw("a").as_deref(), Some("x<&\">'y"));
    assert_eq!(conf.get_raw("b").as_deref(), Some(" 2 "));
}
