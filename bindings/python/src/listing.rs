//! Listings, some entries at a time.

use crate::failure::{self, About};
use crate::operation::Operation;
use crate::process::OfProcess;
use crate::status::FileStatus;
use pyo3::prelude::*;
use std::sync::Arc;
use tokio::runtime::Handle;
use tokio::sync::Mutex;
use zerohop::{ListPages, Walk};

/// Entries of a walk that are given at once.
const BATCH: usize = 1000;

/// Where the entries are from.
pub(crate) enum Source {
    Pages(ListPages),
    Walk(Walk),
}

impl Source {
    /// Some more entries; none at the end.
    async fn batch(&mut self) -> zerohop::Result<Vec<FileStatus>> {
        match self {
            Self::Pages(pages) => loop {
                match pages.next().await? {
                    None => return Ok(Vec::new()),
                    // A directory may have shrunk to less than the page before.
                    Some(page) if page.is_empty() => {}
                    Some(page) => return Ok(page.into_iter().map(Into::into).collect()),
                }
            },
            Self::Walk(walk) => {
                let mut batch = Vec::new();
                while batch.len() < BATCH {
                    match walk.next().await.transpose()? {
                        Some(entry) => batch.push(entry.into()),
                        None => break,
                    }
                }
                Ok(batch)
            }
        }
    }
}

/// What a directory holds, or what lies below it.
#[pyclass(frozen, module = "zerohop._zerohop")]
pub(crate) struct Listing {
    runtime: Handle,
    path: String,
    source: Arc<OfProcess<Mutex<Source>>>,
}

impl Listing {
    pub(crate) fn new(runtime: Handle, path: String, source: Source) -> Self {
        Self { runtime, path, source: Arc::new(OfProcess::new(Mutex::new(source))) }
    }
}

#[pymethods]
impl Listing {
    /// The next entries, as a list; empty at the end.
    fn batch(&self) -> PyResult<Operation> {
        if !self.source.is_here() {
            return Err(failure::of_parent("the listing"));
        }
        let (source, path) = (Arc::clone(&self.source), self.path.clone());
        let work = async move { source.lock().await.batch().await.about(&path) };
        Ok(Operation::new(&self.runtime, work))
    }
}
