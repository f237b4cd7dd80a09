//! `/calls`: what is being asked now, by whom, and which directories it is about.

use crate::core::Core;
use zerohop_pages::{Body, Cell, Content, Level, Section, Table, Tile, age, bytes, count};
use zerohop_system::clock;

const RUNNING_MAX: usize = 100;
const DIRECTORIES_MAX: usize = 20;
/// A call that takes longer is marked.
const LONG_MS: u64 = 5000;

pub(super) fn content(core: &Core) -> Content {
    let now_ms = core.clock.now().mono_ms;
    let mut content = Content::new();
    let mut running = Table::new(&["Method", "User", "From", "For"], "No call is under way.");
    let mut methods =
        Table::new(&["Method", "Port", "Calls", "Takes now", "All took"], "No call yet.");
    let (mut total, mut queue_ms, mut work_ms, mut slow, mut received, mut sent) =
        (0, 0.0, 0.0, 0, 0, 0);
    let mut under_way = 0;
    for (port, activity) in core.rpc_activity() {
        let calls = activity.running();
        under_way += calls.len();
        for call in calls.iter().take(RUNNING_MAX) {
            let ms = call.age.as_millis() as u64;
            let user = match call.identity.real_user() {
                Some(real) => format!("{} by {real}", call.identity.user()),
                None => call.identity.user().to_string(),
            };
            running.row(vec![
                Cell::code(&*call.method),
                user.into(),
                call.remote.to_string().into(),
                Cell::number(age(ms)).level(Level::warn_if(ms > LONG_MS)),
            ]);
        }
        let figures = activity.figures();
        total += figures.count;
        queue_ms = f64::max(queue_ms, figures.queue_ms);
        work_ms = f64::max(work_ms, figures.processing_ms);
        slow += figures.slow;
        received += figures.received;
        sent += figures.sent;
        let mut by_count = figures.methods;
        by_count.sort_by_key(|(_, times)| std::cmp::Reverse(times.count));
        for (name, times) in by_count {
            methods.row(vec![
                Cell::code(&*name),
                Cell::number(port.to_string()),
                Cell::count(times.count),
                Cell::number(format!("{:.3} ms", times.mean_ms(clock::now()))),
                Cell::number(age(times.total.as_millis() as u64)),
            ]);
        }
    }
    content.add(Section::new(
        "figures",
        Body::Tiles(vec![
            Tile::new("Under way", Cell::count(under_way as u64), "without an answer yet"),
            Tile::new("Answered", Cell::count(total), format!("{} slow", count(slow))),
            Tile::new(
                "Wait for a thread",
                Cell::text(format!("{queue_ms:.2} ms")),
                "on average, lately",
            ),
            Tile::new(
                "Until the answer",
                Cell::text(format!("{work_ms:.2} ms")),
                "on average, lately",
            ),
            Tile::new("Received", Cell::text(bytes(received)), "in requests"),
            Tile::new("Sent", Cell::text(bytes(sent)), "in answers"),
        ]),
    ));
    content.add(Section::new("running", Body::Table(running)).titled("Running calls"));
    content.add(Section::new("users", Body::Table(users(core, now_ms))).titled("Top users").noted(
        "Operations by user, in windows of some minutes (dfs.namenode.top.windows.minutes).",
    ));
    let mut directories = Table::new(&["Directory", "Operations in 5 minutes"], "None lately.");
    for (directory, number) in core.hot_directories.hottest(DIRECTORIES_MAX, now_ms) {
        let address = format!("/explorer?path={}", zerohop_pages::url_value(&directory));
        directories.row(vec![Cell::code(directory).to(address), Cell::count(number)]);
    }
    content
        .add(Section::new("directories", Body::Table(directories)).titled("Hottest directories"));
    content.add(Section::new("methods", Body::Table(methods)).titled("Calls by method"));
    content
}

fn users(core: &Core, now_ms: u64) -> Table {
    let mut table =
        Table::new(&["Window", "Operation", "All users", "Busiest users"], "No operation lately.");
    for window in core.top_users.report(now_ms) {
        for operation in window.operations.iter().take(8) {
            let busiest: Vec<String> = operation
                .users
                .iter()
                .take(5)
                .map(|(user, n)| format!("{user} {}", count(*n)))
                .collect();
            table.row(vec![
                format!("{} min", window.length_ms / 60_000).into(),
                if operation.kind == "*" { "all" } else { operation.kind }.into(),
                Cell::count(operation.total),
                busiest.join(", ").into(),
            ]);
        }
    }
    table
}
