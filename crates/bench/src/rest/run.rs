//! All parts of the measurement, one after the other.

use super::plan::{RestPlan, Section};
use super::service::SHORT;
use super::{appends, connections, files, short};
use crate::files::Failure;
use crate::report::{Report, Row};

/// Runs all parts; `progress` sees each figure as soon as it is there. The directory on the cluster is deleted at the end,
/// also after a failure.
pub fn run(plan: &RestPlan, progress: &mut dyn FnMut(&Row)) -> Result<Report, Failure> {
    let mut report = Report::new();
    let mut add = |row: Row| {
        progress(&row);
        report.rows.push(row);
    };
    // The shell makes none.
    plan.service.client(SHORT).mkdirs(&plan.directory)?;
    let done = plan.sections.iter().try_for_each(|section| match section {
        Section::Files => files::run(plan, &mut add),
        Section::Append => appends::chunks(plan, &mut add),
        Section::Lines => appends::lines(plan, &mut add),
        Section::Short => short::run(plan, &mut add),
        Section::Connections => connections::run(plan, &mut add),
    });
    let cleaned = plan.service.client(SHORT).delete(&plan.directory);
    done?;
    cleaned?;
    Ok(report)
}
