//! The tables as Parquet files on the local disk; the same ones for the same scale.

use crate::failure::Result;
use crate::schema::{DIMENSIONS, Dimension, FIRST_YEAR, GROUPS, dimensions, queries};
use datafusion::arrow::array::{ArrayRef, Int32Array, Int64Array, RecordBatch, StringArray};
use datafusion::parquet::arrow::ArrowWriter;
use datafusion::parquet::basic::Compression;
use datafusion::parquet::file::properties::WriterProperties;
use fastrand::Rng;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

const SEED: u64 = 16;
/// Rows that are made at a time.
const BATCH: u64 = 1 << 16;
/// Rows of a row group, the unit that a query's threads read.
const ROW_GROUP: usize = 1 << 20;
/// Rows of a file of the fact table.
const FILE_ROWS: u64 = 4 << 20;

/// A file that was made: the table it belongs to, its name and where it is.
#[derive(Clone, Debug)]
pub struct TableFile {
    /// The table.
    pub table: &'static str,
    /// Where it is on the local disk.
    pub local: PathBuf,
}

/// The files of tables that were written before, in their order.
pub fn find_tables(directory: &Path) -> Result<Vec<TableFile>> {
    let mut files = Vec::new();
    for table in DIMENSIONS.into_iter().chain(["facts"]) {
        let of_table = directory.join(table);
        let why = |error| format!("{}: {error}; --generate writes it", of_table.display());
        let mut found = Vec::new();
        for entry in std::fs::read_dir(&of_table).map_err(why)? {
            let local = entry?.path();
            if local.extension().is_some_and(|extension| extension == "parquet") {
                found.push(TableFile { table, local });
            }
        }
        if found.is_empty() {
            return Err(why(std::io::ErrorKind::NotFound.into()).into());
        }
        found.sort_by(|a, b| a.local.cmp(&b.local));
        files.append(&mut found);
    }
    Ok(files)
}

/// Writes the statements beside the tables, for other programs that are to run them: each in a file of its query's name.
pub fn write_queries(directory: &Path) -> Result<()> {
    for query in queries() {
        std::fs::write(directory.join(query.name.replace(' ', "-") + ".sql"), query.sql)?;
    }
    Ok(())
}

/// Writes all tables of a schema with `facts` rows, each in a directory of its own below `directory`.
pub fn generate(directory: &Path, facts: u64) -> Result<Vec<TableFile>> {
    let mut files = Vec::new();
    let dimensions = dimensions(facts);
    for dimension in &dimensions {
        let mut file = TableWriter::create(directory, dimension.name, 0)?;
        for (start, end) in pieces(0, dimension.rows) {
            file.write(&dimension_rows(dimension, start, end)?)?;
        }
        files.push(file.close()?);
    }
    let mut random = Rng::with_seed(SEED);
    let starts = (0..facts.max(1)).step_by(FILE_ROWS as usize);
    for (number, first) in starts.enumerate() {
        let mut file = TableWriter::create(directory, "facts", number)?;
        for (start, end) in pieces(first, facts.min(first + FILE_ROWS)) {
            file.write(&fact_rows(&dimensions, end - start, &mut random)?)?;
        }
        files.push(file.close()?);
    }
    Ok(files)
}

fn pieces(start: u64, end: u64) -> impl Iterator<Item = (u64, u64)> {
    (start..end).step_by(BATCH as usize).map(move |from| (from, end.min(from + BATCH)))
}

/// A Parquet file in the making.
struct TableWriter {
    file: TableFile,
    writer: Option<ArrowWriter<File>>,
}

impl TableWriter {
    fn create(directory: &Path, table: &'static str, number: usize) -> Result<Self> {
        let directory = directory.join(table);
        std::fs::create_dir_all(&directory)?;
        let local = directory.join(format!("part-{number}.parquet"));
        Ok(Self { file: TableFile { table, local }, writer: None })
    }

    fn write(&mut self, rows: &RecordBatch) -> Result<()> {
        if self.writer.is_none() {
            let properties = WriterProperties::builder()
                .set_compression(Compression::SNAPPY)
                .set_max_row_group_row_count(Some(ROW_GROUP))
                .build();
            let file = File::create(&self.file.local)?;
            self.writer = Some(ArrowWriter::try_new(file, rows.schema(), Some(properties))?);
        }
        if let Some(writer) = &mut self.writer {
            writer.write(rows)?;
        }
        Ok(())
    }

    fn close(self) -> Result<TableFile> {
        if let Some(writer) = self.writer {
            writer.close()?;
        }
        Ok(self.file)
    }
}

fn dimension_rows(dimension: &Dimension, start: u64, end: u64) -> Result<RecordBatch> {
    let keys = || (start..end).map(|key| key as i32);
    let label = |key: i32| format!("{} group {}", dimension.name, key % GROUPS);
    let mut columns: Vec<(String, ArrayRef)> = vec![
        ("key".to_owned(), Arc::new(Int32Array::from_iter_values(keys()))),
        ("label".to_owned(), Arc::new(StringArray::from_iter_values(keys().map(label)))),
        (
            "weight".to_owned(),
            Arc::new(Int64Array::from_iter_values(keys().map(|key| i64::from(key % 97)))),
        ),
    ];
    if dimension.name == "dates" {
        let days = StringArray::from_iter_values(keys().map(day));
        columns.push(("day".to_owned(), Arc::new(days)));
    } else {
        let names = keys().map(|key| format!("{} number {key:09}", dimension.name));
        columns.push(("name".to_owned(), Arc::new(StringArray::from_iter_values(names))));
    }
    Ok(RecordBatch::try_from_iter(columns)?)
}

/// The day with a number, of years with twelve months of 28 days.
fn day(number: i32) -> String {
    let (month, day) = (number / 28, number % 28);
    format!("{:04}-{:02}-{:02}", FIRST_YEAR + month / 12, month % 12 + 1, day + 1)
}

fn fact_rows(dimensions: &[Dimension], count: u64, random: &mut Rng) -> Result<RecordBatch> {
    let mut columns: Vec<(String, ArrayRef)> = Vec::with_capacity(DIMENSIONS.len() + 3);
    for dimension in dimensions {
        let end = i32::try_from(dimension.rows).unwrap_or(i32::MAX);
        let keys = (0..count).map(|_| random.i32(0..end));
        let column = Int32Array::from_iter_values(keys);
        columns.push((format!("{}_key", dimension.name), Arc::new(column)));
    }
    for (name, end) in [("quantity", 100), ("amount", 1_000_000), ("cost", 700_000)] {
        let values = (0..count).map(|_| random.i64(1..=end));
        columns.push((name.to_owned(), Arc::new(Int64Array::from_iter_values(values))));
    }
    Ok(RecordBatch::try_from_iter(columns)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::DATE;

    #[test]
    fn every_scale_has_the_date_that_is_asked_for() {
        let smallest = dimensions(0).iter().find(|one| one.name == "dates").unwrap().rows;
        assert!((0..smallest as i32).any(|number| day(number) == DATE));
        assert_eq!(day(12 * 28), "2007-01-01");
    }

    #[test]
    fn the_fact_table_is_split_into_files() {
        let directory = tempfile::tempdir().unwrap();
        let files = generate(directory.path(), 1000).unwrap();
        assert_eq!(files.len(), 26);
        let found = find_tables(directory.path()).unwrap();
        let paths = |files: &[TableFile]| files.iter().map(|f| f.local.clone()).collect::<Vec<_>>();
        assert_eq!(paths(&found), paths(&files));
        std::fs::remove_file(&files[25].local).unwrap();
        let missing = find_tables(directory.path()).unwrap_err().to_string();
        assert!(missing.contains("facts") && missing.contains("--generate"), "{missing}");
        assert_eq!(
            pieces(10, 10 + BATCH + 1).collect::<Vec<_>>(),
            [(10, 10 + BATCH), (10 + BATCH, 11 + BATCH)]
        );
    }
}
