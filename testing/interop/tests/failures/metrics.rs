//! `/prom`, and all beans of `/jmx`, beside Apache's: every name that Apache's daemons have is in ours, or in the list of
//! those that are not, with the reason. And the names of our dashboard are served.

use std::collections::BTreeSet;

use serde_json::Value;
use zerohop_interop::cluster::Cluster;
use zerohop_interop::harm::{Explain, http};
use zerohop_interop::prometheus::Exposition;
use zerohop_interop::{Outcome, tools};

/// Patterns of names that only Apache's daemons have, below the reason for each group.
const ONLY_APACHE: &str = include_str!("metrics_only_apache.txt");

/// What the daemons must be told so that all of this is served.
pub const SETTINGS: [(&str, &str); 4] = [
    ("hadoop.prometheus.endpoint.enabled", "true"),
    ("rpc.metrics.quantile.enable", "true"),
    ("rpc.metrics.percentiles.intervals", "60"),
    ("dfs.metrics.percentiles.intervals", "60"),
];

/// The names that a NameNode and a DataNode serve.
pub struct Served {
    /// `prom NAME` and `jmx BEAN ATTRIBUTE`, without ports, ids and directories.
    pub names: BTreeSet<String>,
    /// The pages of our daemons, which are read strictly.
    pub pages: Vec<Exposition>,
}

/// What Apache's daemons serve. Their `/prom` repeats types, and is read line by line.
pub fn of_apache(cluster: &Cluster) -> Outcome<Served> {
    let mut names = beans(cluster)?;
    for port in ports(cluster) {
        let page = http(port, "/prom")?;
        let lines = page.lines().filter(|line| !line.starts_with('#'));
        let found = lines.filter_map(|line| Some(line.split_once('{')?.0));
        names.extend(found.map(|name| format!("prom {}", common(cluster, name))));
    }
    Ok(Served { names, pages: Vec::new() })
}

/// What ours serve.
pub fn of_ours(cluster: &Cluster) -> Outcome<Served> {
    let (mut names, mut pages) = (beans(cluster)?, Vec::new());
    for port in ports(cluster) {
        let page = Exposition::parse(&http(port, "/prom")?).at("/prom")?;
        names.extend(page.names().iter().map(|name| format!("prom {}", common(cluster, name))));
        pages.push(page);
    }
    Ok(Served { names, pages })
}

fn ports(cluster: &Cluster) -> [u16; 2] {
    [cluster.site.http_port, cluster.site.info_ports[0]]
}

fn beans(cluster: &Cluster) -> Outcome<BTreeSet<String>> {
    let mut names = BTreeSet::new();
    for port in ports(cluster) {
        let page: Value = serde_json::from_str(&http(port, "/jmx")?).at("/jmx")?;
        for bean in page["beans"].as_array().into_iter().flatten() {
            let name = common(cluster, bean["name"].as_str().unwrap_or_default());
            let members = bean.as_object().into_iter().flatten().map(|(member, _)| member);
            let members = members.filter(|member| !is_uncalled(bean, member));
            for member in members.filter(|member| *member != "modelerType") {
                names.insert(format!("jmx {name} {}", common(cluster, member)));
            }
        }
    }
    Ok(names)
}

/// Returns `true` if a member is that of an RPC method that was not called. Apache's daemons show such members only if the
/// page was read more than 10 s before, which is as long as they keep an answer.
fn is_uncalled(bean: &Value, member: &str) -> bool {
    let is_of_calls =
        bean["name"].as_str().is_some_and(|name| name.contains("RpcDetailedActivity"));
    let method = member.strip_suffix("NumOps").or_else(|| member.strip_suffix("AvgTime"));
    is_of_calls && method.is_some_and(|method| bean[format!("{method}NumOps")] == 0)
}

/// A name without what two clusters cannot have in common.
fn common(cluster: &Cluster, name: &str) -> String {
    let site = &cluster.site;
    let ports = [site.rpc_port, site.http_port].into_iter().chain(site.data_ports.clone());
    let ports = ports.chain(site.info_ports.clone()).chain(site.ipc_ports.clone());
    let given = cluster.directory().to_owned();
    let real = given.canonicalize().unwrap_or_else(|_| given.clone());
    let directories = [given, real].map(|directory| directory.display().to_string());
    let mut name =
        directories.iter().fold(name.to_owned(), |name, known| name.replace(known, "DIR"));
    for port in ports {
        name = name.replace(&port.to_string(), "PORT");
    }
    without_ids(&name)
}

/// With `ID` in place of each UUID.
fn without_ids(name: &str) -> String {
    let is_id = |text: &str| {
        text.len() == 36
            && text.char_indices().all(|(at, letter)| match at {
                8 | 13 | 18 | 23 => letter == '-',
                _ => letter.is_ascii_hexdigit(),
            })
    };
    let starts = (0..name.len()).filter(|at| name.get(*at..at + 36).is_some_and(is_id));
    let ids: Vec<String> = starts.map(|at| name[at..at + 36].to_owned()).collect();
    ids.iter().fold(name.to_owned(), |name, id| name.replace(id, "ID"))
}

/// What is wrong with our names, one a line: those that we lack, and patterns of the list that stand for nothing.
pub fn differences(theirs: &Served, ours: &Served) -> Vec<String> {
    let known: Vec<&str> = ONLY_APACHE
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .collect();
    // Which exceptions calls had is a matter of timing.
    let is_method = |name: &&String| !name.to_lowercase().contains("exception");
    let lacking: Vec<&String> = theirs.names.difference(&ours.names).filter(is_method).collect();
    let unknown = lacking.iter().filter(|name| !known.iter().any(|known| matches(known, name)));
    let idle = known.iter().filter(|known| !lacking.iter().any(|name| matches(known, name)));
    let unknown = unknown.map(|name| format!("we lack {name}"));
    unknown.chain(idle.map(|pattern| format!("nothing lacks: {pattern}"))).collect()
}

/// Whether a pattern, in which `*` stands for any text, is that of a text.
fn matches(pattern: &str, text: &str) -> bool {
    let Some((start, rest)) = pattern.split_once('*') else { return pattern == text };
    let Some(mut left) = text.strip_prefix(start) else { return false };
    loop {
        if matches(rest, left) {
            return true;
        }
        let mut letters = left.chars();
        if letters.next().is_none() {
            return false;
        }
        left = letters.as_str();
    }
}

/// Figures of one tree that the pages must show, and what makes a page of metrics one.
pub fn check_figures(served: &Served) -> Outcome {
    let [name_node, data_node] = &served.pages[..] else { return Err("two pages".to_owned()) };
    for (page, name, least) in [
        (name_node, "fs_namesystem_capacity_total", 1.0),
        (name_node, "fs_namesystem_blocks_total", 4.0),
        (name_node, "fs_namesystem_num_live_data_nodes", 2.0),
        (name_node, "namenode_create_file_ops", 6.0),
        (name_node, "namenode_add_block_ops", 6.0),
        (name_node, "namenode_transactions_num_ops", 10.0),
        (name_node, "namenode_syncs_num_ops", 1.0),
        (name_node, "rpcdetailed_create_num_ops", 6.0),
        (name_node, "rpc_rpc_call_successes", 10.0),
        (name_node, "jvm_metrics_mem_heap_used_m", 1.0),
        (data_node, "datanode_bytes_written", 1.0),
        (data_node, "datanode_blocks_written", 1.0),
        (data_node, "datanode_heartbeats_num_ops", 1.0),
        (data_node, "datanode_write_block_op_num_ops", 1.0),
    ] {
        match page.value(name) {
            Some(value) if value >= least => {}
            other => return Err(format!("{name} is {other:?}, not {least} or more")),
        }
    }
    for (page, name) in
        [(name_node, "fs_namesystem_blocks_total"), (data_node, "datanode_bytes_read")]
    {
        let labels = &page.series[name][0].0;
        if !labels.contains_key("hostname")
            || labels.get("context").map(String::as_str) != Some("dfs")
        {
            return Err(format!("{name}: {labels:?}"));
        }
    }
    Ok(())
}

/// The metrics that our dashboard asks these daemons for, and that they do not serve. Those of daemons that are not in this
/// cluster are checked where they are.
pub fn missing_in_dashboard(served: &Served) -> Outcome<Vec<String>> {
    let names: BTreeSet<String> = served.pages.iter().flat_map(Exposition::names).collect();
    let asked = dashboard_names()?;
    let elsewhere = ["journal_node_", "httpfsserver_"];
    let is_here = |name: &String| !elsewhere.iter().any(|start| name.starts_with(start));
    if asked.len() < 30 {
        return Err(format!("a dashboard of {} names", asked.len()));
    }
    Ok(asked.into_iter().filter(is_here).filter(|name| !names.contains(name)).collect())
}

/// The names of metrics in the expressions of `deploy/grafana`.
fn dashboard_names() -> Outcome<BTreeSet<String>> {
    let path = tools::root().join("deploy/grafana/zerohop.json");
    let text = std::fs::read_to_string(&path).at("the dashboard")?;
    let dashboard: Value = serde_json::from_str(&text).at("the dashboard")?;
    let mut expressions = Vec::new();
    collect(&dashboard, &mut expressions);
    let mut names = BTreeSet::new();
    for expression in expressions {
        let words =
            expression.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_');
        // Names of labels and functions have no name of a record before them.
        let starts = [
            "fs_",
            "namenode_",
            "datanode_",
            "rpc_",
            "rpcdetailed_",
            "jvm_",
            "journal_node_",
            "httpfsserver_",
            "startup_progress_",
            "retry_cache_",
            "nn_top_",
            "org_apache_",
        ];
        // A part of a name, as patterns have it, ends in `_`.
        let names_of = words.filter(|word| {
            starts.iter().any(|start| word.starts_with(start)) && !word.ends_with('_')
        });
        names.extend(names_of.map(str::to_owned));
    }
    Ok(names)
}

fn collect(value: &Value, expressions: &mut Vec<String>) {
    match value {
        Value::Object(members) => {
            for (name, member) in members {
                match member {
                    Value::String(text) if ["expr", "query"].contains(&name.as_str()) => {
                        expressions.push(text.clone());
                    }
                    other => collect(other, expressions),
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| collect(item, expressions)),
        _ => {}
    }
}

/// `/health` of both daemons, which are well.
pub fn check_health(cluster: &Cluster) -> Outcome {
    for (port, service) in ports(cluster).into_iter().zip(["NameNode", "DataNode"]) {
        let page: Value = serde_json::from_str(&http(port, "/health")?).at("/health")?;
        if page["status"] != "healthy" || page["service"] != service {
            return Err(page.to_string());
        }
    }
    Ok(())
}
