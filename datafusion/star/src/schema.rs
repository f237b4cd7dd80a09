//! The star schema: one fact table, 25 dimension tables, and the two queries.

use std::fmt::Write;

/// The dimension tables, smallest first; `dates` is the one that the first query restricts.
pub const DIMENSIONS: [&str; 25] = [
    "regions",
    "currencies",
    "channels",
    "carriers",
    "segments",
    "warehouses",
    "terms",
    "dates",
    "promotions",
    "brands",
    "stores",
    "categories",
    "suppliers",
    "employees",
    "cities",
    "postcodes",
    "devices",
    "campaigns",
    "contracts",
    "products",
    "addresses",
    "accounts",
    "households",
    "sessions",
    "customers",
];

/// Rows of the smallest dimension.
const ROWS_MIN: f64 = 100.0;
/// The largest dimension has one row for so many of the fact table.
const FACTS_PER_CUSTOMER: f64 = 20.0;
/// Every dimension is divided into so many groups.
pub const GROUPS: i32 = 10;
/// The days of the dimension `dates` are numbered from the first of January of this year.
pub const FIRST_YEAR: i32 = 2006;
/// The date that is asked for: the third of February of the first year, which every scale has.
pub const DATE: &str = "2006-02-03";

/// A table's name and its rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dimension {
    /// The table's name; the fact table has its key as `NAME_key`.
    pub name: &'static str,
    /// Keys go from 0 to this, exclusive.
    pub rows: u64,
}

/// The dimensions for a fact table of `facts` rows: from 100 rows up to a twentieth of it, by equal factors.
pub fn dimensions(facts: u64) -> Vec<Dimension> {
    let largest = (facts as f64 / FACTS_PER_CUSTOMER).max(ROWS_MIN);
    let steps = (DIMENSIONS.len() - 1) as f64;
    let rows = |index: usize| ROWS_MIN * (largest / ROWS_MIN).powf(index as f64 / steps);
    let tables = DIMENSIONS.iter().enumerate();
    tables.map(|(index, name)| Dimension { name, rows: rows(index).round() as u64 }).collect()
}

/// A query with the name of its rows in the report.
#[derive(Clone, Debug)]
pub struct Query {
    /// For people.
    pub name: &'static str,
    /// Its text.
    pub sql: String,
}

/// The published query and the one about everything.
pub fn queries() -> [Query; 2] {
    [Query { name: "one date", sql: one_date() }, Query { name: "everything", sql: everything() }]
}

/// An aggregate over the whole fact table joined to two dimensions, of one date: dates are spread over the fact table, so
/// that all of three columns is read.
fn one_date() -> String {
    format!(
        "SELECT stores.label, count(*) AS sales, sum(amount) AS amount FROM facts \
         JOIN dates ON dates_key = dates.key JOIN stores ON stores_key = stores.key \
         WHERE dates.day = '{DATE}' GROUP BY stores.label ORDER BY stores.label"
    )
}

/// All columns of the fact table, joined to all dimensions.
fn everything() -> String {
    let mut sql = "SELECT regions.label, count(*) AS sales, sum(quantity) AS quantity, \
                   sum(amount) AS amount, sum(cost) AS cost"
        .to_owned();
    for name in DIMENSIONS {
        // Writing to a string does not fail.
        let _ = write!(sql, ", sum({name}.weight) AS {name}_weight");
    }
    sql.push_str(" FROM facts");
    for name in DIMENSIONS {
        let _ = write!(sql, " JOIN {name} ON {name}_key = {name}.key");
    }
    sql + " GROUP BY regions.label ORDER BY regions.label"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dimensions_grow_from_a_hundred_rows() {
        for facts in [0, 1_000, 1_000_000, 8_000_000_000] {
            let all = dimensions(facts);
            assert_eq!((all.len(), all[0].rows), (25, 100));
            assert!(all.is_sorted_by_key(|dimension| dimension.rows), "{all:?}");
            assert_eq!(all[24].rows, (facts / 20).max(100));
        }
    }
}
