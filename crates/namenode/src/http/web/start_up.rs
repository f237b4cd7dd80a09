//! `/startup`: how far the start is, and what safe mode waits for.

use crate::core::Core;
use crate::start_progress::StartProgress;
use zerohop_namespace::blocks::{NodeFilter, SafeModeFigures};
use zerohop_pages::{Body, Cell, Content, Level, Notice, Section, Table, age, count, percent};

pub(super) fn content(core: &Core) -> Content {
    let (figures, tip, nodes) = core.read(|namespace| {
        let safe_mode = namespace.blocks().safe_mode();
        let tip = safe_mode.is_on().then(|| safe_mode.tip());
        let nodes = namespace.blocks().datanodes().reports(NodeFilter::Live).len();
        (safe_mode.figures(), tip, nodes)
    });
    let notice = match tip {
        Some(tip) => Notice::new(Level::Warn, format!("Safe mode is ON. {tip}")),
        None => Notice::new(Level::Good, "Safe mode is off: files can be changed."),
    };
    Content::new()
        .with(Section::new("notices", Body::Notices(vec![notice])))
        .with(Section::new("phases", Body::Table(phases(&core.start_progress))).titled("Start"))
        .with(Section::new("safemode", Body::Facts(safe_mode(&figures, nodes))).titled("Safe mode"))
        .every(1000)
}

/// The phases of the start.
pub(super) fn phases(progress: &StartProgress) -> Table {
    let mut table = Table::new(&["Phase", "State", "Time", "Done"], "The start has not begun.");
    for state in progress.phases() {
        let shown = match (state.took, state.is_done) {
            (None, _) => Cell::state("Not needed yet", Level::Plain),
            (Some(_), false) => Cell::state("Running", Level::Warn),
            (Some(_), true) => Cell::state("Done", Level::Good),
        };
        let is_edits = state.phase == crate::start_progress::StartPhase::Edits;
        let done = is_edits.then(|| format!("{} edits", count(progress.edits())));
        table.row(vec![
            state.phase.name().into(),
            shown,
            Cell::number(state.took.map_or_else(String::new, |took| age(took.as_millis() as u64))),
            done.unwrap_or_default().into(),
        ]);
    }
    table
}

fn safe_mode(figures: &SafeModeFigures, nodes: usize) -> Vec<(&'static str, Cell)> {
    let reported = format!(
        "{} of {} ({})",
        count(figures.safe),
        count(figures.total),
        percent(figures.safe, figures.total)
    );
    let reported = match figures.is_starting {
        true => Cell::share(figures.safe, figures.total).with_text(reported),
        false => "all that were needed".into(),
    };
    vec![
        ("Blocks with enough replicas", reported),
        ("Blocks needed", Cell::count(figures.needed)),
        ("Live DataNodes", Cell::text(format!("{nodes}, {} needed", figures.nodes_needed))),
        ("Entered by an operator", if figures.is_manual { "yes" } else { "no" }.into()),
        (
            "Too little room for edits",
            if figures.is_low_on_resources { "yes" } else { "no" }.into(),
        ),
    ]
}
