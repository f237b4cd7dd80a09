//! `/events`: what an operator wants to know in the morning.

use crate::content::{Body, Cell, Content, Level, Section, Table};
use crate::figures::{count, date};
use std::time::{SystemTime, UNIX_EPOCH};
use zerohop_daemon::events::{EVENTS_MAX, EventRecord};

/// Returns the page's content: the events that are kept, the newest first. `columns` name what they are about.
pub fn events(record: &EventRecord, columns: &[&'static str]) -> Content {
    let mut heads = vec!["Last", "Event"];
    heads.extend(columns);
    heads.extend(["Cause", "Times", "First"]);
    let mut table = Table::new(&heads, "No event since the start.");
    for known in record.newest() {
        let kind = known.event.kind();
        let level = if kind.is_good { Level::Good } else { Level::Bad };
        let mut row = vec![moment(known.last), Cell::state(kind.name, level)];
        row.extend(columns.iter().map(|column| Cell::code(known.event.value(column))));
        row.extend([known.event.cause().into(), Cell::count(known.times), moment(known.first)]);
        table.row(row);
    }
    let note = format!(
        "The last {} events since the start. Each is one line of the log, at warn; /jmx counts them in the bean Events.",
        count(EVENTS_MAX as u64)
    );
    Content::new().with(Section::new("events", Body::Table(table)).titled("Events").noted(note))
}

fn moment(time: SystemTime) -> Cell {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    date(u64::try_from(since.as_millis()).unwrap_or(u64::MAX)).into()
}
