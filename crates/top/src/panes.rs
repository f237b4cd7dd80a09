//! What is shown of the figures: the header, and a table for each tab.

use crate::datanode::{Disk, ShortCircuit, Traffic};
use crate::figures::{DataNode, Figures, NameNode};
use crate::pane::{Cell, Fact, Pane, Row, Tone, number, text};
use crate::units::{bytes, bytes_per_s, duration, ms, per_s, percent, printable};

const ABSENT: &str = "-";
/// Hadoop calls a DataNode stale after half a minute without a heartbeat.
const STALE_S: u64 = 30;

/// Lines of labelled values about the whole cluster.
pub(crate) fn header(figures: &Figures) -> Vec<Vec<Fact>> {
    let cluster = &figures.cluster;
    let fact = |label, value: String| Fact { label, value, tone: Tone::Plain };
    let count =
        |count: Option<u64>| count.map_or_else(|| ABSENT.to_owned(), |count| count.to_string());
    let size = |size: Option<u64>| size.map_or_else(|| ABSENT.to_owned(), bytes);
    let bad_unless_zero = |label, value: Option<u64>, tone: Tone| {
        let tone = if value.is_some_and(|value| value > 0) { tone } else { Tone::Plain };
        Fact { label, value: count(value), tone }
    };
    let share = match (cluster.used, cluster.capacity) {
        (Some(used), Some(capacity)) => percent(used, capacity),
        _ => ABSENT.to_owned(),
    };
    let calls = &figures.calls;
    let rate = calls.per_second.map_or_else(|| ABSENT.to_owned(), per_s);
    let time = |time: Option<f64>| {
        time.map_or_else(|| ABSENT.to_owned(), |time| format!("{} ms", ms(time)))
    };
    let safe_mode = match &cluster.safe_mode {
        Some(why) => Fact { label: "Safe mode", value: printable(why), tone: Tone::Warning },
        None => fact("Safe mode", "off".to_owned()),
    };
    vec![
        figures.name_nodes.iter().map(namenode).collect(),
        vec![
            fact("Capacity", size(cluster.capacity)),
            fact("Used", format!("{} ({share})", size(cluster.used))),
            fact("Non-DFS", size(cluster.non_dfs_used)),
            fact("Free", size(cluster.remaining)),
        ],
        vec![
            fact("Files", count(cluster.files)),
            fact("Blocks", count(cluster.blocks)),
            bad_unless_zero("Missing", cluster.missing_blocks, Tone::Bad),
            bad_unless_zero("Corrupt", cluster.corrupt_blocks, Tone::Bad),
            bad_unless_zero("Under-replicated", cluster.under_replicated_blocks, Tone::Warning),
            fact("To delete", count(cluster.pending_deletion_blocks)),
        ],
        vec![
            fact("Live", count(cluster.live_data_nodes)),
            bad_unless_zero("Dead", cluster.dead_data_nodes, Tone::Bad),
            bad_unless_zero("Failed volumes", cluster.volume_failures, Tone::Bad),
            fact("Calls/s", rate),
            fact("Queue", format!("{}, {}", count(calls.queue_length), time(calls.queue_ms))),
            fact("Processing", time(calls.processing_ms)),
            fact("Connections", count(calls.connections)),
        ],
        vec![safe_mode],
    ]
}

fn namenode(node: &NameNode) -> Fact {
    let name = if node.id.is_empty() { String::new() } else { format!("{} ", node.id) };
    let (state, tone) = match (&node.state, &node.problem) {
        (Some(state), _) if state == "active" => ("active", Tone::Plain),
        (Some(state), _) => (state.as_str(), Tone::Plain),
        (None, Some(problem)) => (problem.as_str(), Tone::Bad),
        (None, None) => ("no answer", Tone::Bad),
    };
    Fact { label: "NameNode", value: printable(&format!("{name}{}: {state}", node.address)), tone }
}

/// The tables, in the order of the tabs.
pub(crate) fn panes(figures: &Figures) -> Vec<Pane> {
    vec![
        data_nodes(figures),
        calls(figures),
        users(figures),
        directories(figures),
        traffic(figures),
        disks(figures),
    ]
}

fn row(cells: Vec<Cell>) -> Row {
    Row { cells, tone: Tone::Plain }
}

fn data_nodes(figures: &Figures) -> Pane {
    let one = |node: &DataNode| Row {
        tone: match node {
            _ if node.state.starts_with("Dead") => Tone::Bad,
            _ if node.failed_volumes > 0 || node.last_contact_s > STALE_S => Tone::Warning,
            _ if figures.slow_peers.contains(&node.name) => Tone::Warning,
            _ => Tone::Plain,
        },
        cells: vec![
            Cell::text(&node.name),
            Cell::text(&node.state),
            Cell::number(node.used as f64, bytes(node.used)),
            Cell::number(
                if node.capacity > 0 { node.used as f64 / node.capacity as f64 } else { -1.0 },
                percent(node.used, node.capacity),
            ),
            Cell::number(node.remaining as f64, bytes(node.remaining)),
            Cell::count(node.blocks),
            Cell::number(node.last_contact_s as f64, duration(node.last_contact_s)),
            Cell::count(node.failed_volumes),
            Cell::known(node.xceivers, |count| count.to_string()),
            Cell::text(node.problem.clone().unwrap_or_else(|| node.version.clone())),
        ],
    };
    Pane {
        title: "DataNodes",
        columns: vec![
            text("DataNode"),
            text("State"),
            number("Used"),
            number("Used %"),
            number("Free"),
            number("Blocks"),
            number("Contact"),
            number("Failed vol."),
            number("Xceivers"),
            text("Version"),
        ],
        rows: figures.data_nodes.iter().map(one).collect(),
        note: figures.data_nodes.is_empty().then(|| "No DataNode is known.".to_owned()),
    }
}

fn calls(figures: &Figures) -> Pane {
    let calls = &figures.calls;
    let one = |kind: &crate::calls::CallKind| {
        row(vec![
            Cell::text(&kind.kind),
            Cell::known(kind.per_second, per_s),
            Cell::count(kind.calls),
            Cell::known(kind.mean_ms, ms),
        ])
    };
    let note = match calls.seconds {
        _ if !calls.has_kinds => Some(not_served("Calls by kind")),
        None => Some("Rates take two readings that differ.".to_owned()),
        Some(seconds) => Some(format!("Rates are over {seconds:.1} s.")),
    };
    Pane {
        title: "Calls",
        columns: vec![text("Call"), number("Calls/s"), number("Since start"), number("Mean ms")],
        rows: calls.kinds.iter().map(one).collect(),
        note,
    }
}

fn not_served(what: &str) -> String {
    format!("{what}: not served by this NameNode.")
}

fn users(figures: &Figures) -> Pane {
    /// Of a user's kinds, as many are shown.
    const KINDS_MAX: usize = 5;
    let columns = vec![text("User"), number("Calls/s"), number("Calls"), text("Most")];
    let Some(users) = &figures.users else {
        return Pane {
            title: "Users",
            columns,
            note: Some(not_served("Calls by user")),
            ..Pane::default()
        };
    };
    let one = |user: &crate::users::UserCalls| {
        let kinds: Vec<String> = user
            .kinds
            .iter()
            .take(KINDS_MAX)
            .map(|(kind, count)| format!("{kind} {count}"))
            .collect();
        row(vec![
            Cell::text(&user.user),
            Cell::number(user.per_second, per_s(user.per_second)),
            Cell::count(user.calls),
            Cell::text(kinds.join(", ")),
        ])
    };
    Pane {
        title: "Users",
        columns,
        rows: users.users.iter().map(one).collect(),
        note: Some(format!("Calls of the last {}.", duration(users.window_s as u64))),
    }
}

fn directories(figures: &Figures) -> Pane {
    let columns = vec![text("Directory"), number("Calls/s"), number("Calls")];
    let Some(hot) = &figures.directories else {
        let note = Some(not_served("Hot directories"));
        return Pane { title: "Directories", columns, note, ..Pane::default() };
    };
    let one = |(path, count): &(String, u64)| {
        let rate = if hot.window_s > 0.0 { *count as f64 / hot.window_s } else { 0.0 };
        row(vec![Cell::text(path), Cell::number(rate, per_s(rate)), Cell::count(*count)])
    };
    Pane {
        title: "Directories",
        columns,
        rows: hot.directories.iter().map(one).collect(),
        note: Some(format!("Calls of the last {}.", duration(hot.window_s as u64))),
    }
}

fn traffic(figures: &Figures) -> Pane {
    let rate = |rate: Option<f64>| Cell::known(rate, bytes_per_s);
    let one = |traffic: &Traffic| {
        row(vec![
            Cell::text(&traffic.name),
            rate(traffic.local_read),
            rate(traffic.remote_read),
            rate(traffic.local_write),
            rate(traffic.remote_write),
            Cell::known(traffic.local_reads, per_s),
            Cell::known(traffic.remote_reads, per_s),
            Cell::known(traffic.short_circuit.as_ref().map(|short| short.granted), |count| {
                count.to_string()
            }),
            Cell::text(traffic.short_circuit.as_ref().map_or_else(|| ABSENT.to_owned(), refused)),
        ])
    };
    let tells = figures.traffic.iter().any(|traffic| traffic.short_circuit.is_some());
    let note = match tells || figures.traffic.is_empty() {
        true => None,
        false => Some(
            "Short-circuit reads and why they were refused: not served by these DataNodes."
                .to_owned(),
        ),
    };
    Pane {
        title: "Bytes",
        columns: vec![
            text("DataNode"),
            number("Read local"),
            number("Read remote"),
            number("Write local"),
            number("Write remote"),
            number("Local reads/s"),
            number("Remote reads/s"),
            number("Descriptors"),
            text("Refused"),
        ],
        rows: figures.traffic.iter().map(one).collect(),
        note,
    }
}

fn refused(short: &ShortCircuit) -> String {
    let reasons: Vec<String> = short
        .refused
        .iter()
        .filter(|(_, count)| **count > 0)
        .map(|(reason, count)| format!("{reason} {count}"))
        .collect();
    if reasons.is_empty() { "0".to_owned() } else { reasons.join(", ") }
}

fn disks(figures: &Figures) -> Pane {
    let time = |time: Option<f64>| Cell::known(time, ms);
    let one = |disk: &Disk| Row {
        tone: if disk.is_slow { Tone::Warning } else { Tone::Plain },
        cells: vec![
            Cell::text(&disk.data_node),
            Cell::text(&disk.volume),
            Cell::text(disk.storage_type.clone().unwrap_or_else(|| ABSENT.to_owned())),
            Cell::known(disk.used, bytes),
            Cell::known(disk.free, bytes),
            time(disk.read_ms),
            time(disk.write_ms),
            time(disk.sync_ms),
            time(disk.metadata_ms),
            Cell::known(disk.errors, |count| count.to_string()),
            Cell::text(if disk.is_slow { "slow" } else { "" }),
        ],
    };
    let measured = |disk: &Disk| disk.read_ms.or(disk.write_ms).or(disk.metadata_ms).is_some();
    let note = match figures.disks.iter().any(measured) {
        true => None,
        false => Some(
            "Latencies: not measured by these DataNodes (dfs.datanode.fileio.profiling.sampling.percentage)."
                .to_owned(),
        ),
    };
    Pane {
        title: "Disks",
        columns: vec![
            text("DataNode"),
            text("Volume"),
            text("Type"),
            number("Used"),
            number("Free"),
            number("Read ms"),
            number("Write ms"),
            number("Sync ms"),
            number("Meta ms"),
            number("Errors"),
            text("State"),
        ],
        rows: figures.disks.iter().map(one).collect(),
        note,
    }
}
