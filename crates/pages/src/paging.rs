//! Long lists, a page of them at a time.

use crate::figures::count;

/// Which page of a list is shown, and where the others are.
#[derive(Clone, Debug, Default)]
pub struct Paging {
    pub(crate) first: Option<String>,
    pub(crate) previous: Option<String>,
    pub(crate) next: Option<String>,
    pub(crate) shown: String,
}

impl Paging {
    /// For a list of which the beginning of the next page is known only when the page before is.
    pub fn links(first: Option<String>, next: Option<String>, shown: impl Into<String>) -> Self {
        Self { first, previous: None, next, shown: shown.into() }
    }

    /// The rows of page `page` (from 1) of `total` rows, and the links; `address` gives that of another page.
    pub fn numbered(
        page: usize,
        total: usize,
        per_page: usize,
        address: impl Fn(usize) -> String,
    ) -> (std::ops::Range<usize>, Option<Self>) {
        let pages = total.div_ceil(per_page.max(1)).max(1);
        let page = page.clamp(1, pages);
        let start = (page - 1) * per_page;
        let rows = start..total.min(start + per_page);
        if pages == 1 {
            return (rows, None);
        }
        let shown = format!(
            "{} to {} of {}",
            count(rows.start as u64 + 1),
            count(rows.end as u64),
            count(total as u64)
        );
        let previous = (page > 1).then(|| address(page - 1));
        let next = (page < pages).then(|| address(page + 1));
        (rows, Some(Self { first: None, previous, next, shown }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_that_is_not_there_is_the_nearest() {
        let ask = |page| {
            let (rows, paging) = Paging::numbered(page, 250, 100, |page| page.to_string());
            let paging = paging.unwrap();
            (rows, paging.previous, paging.next, paging.shown)
        };
        assert_eq!(ask(0), (0..100, None, Some("2".into()), "1 to 100 of 250".into()));
        assert_eq!(ask(usize::MAX), (200..250, Some("2".into()), None, "201 to 250 of 250".into()));
        let (rows, paging) = Paging::numbered(7, 0, 100, |_| String::new());
        assert!(rows == (0..0) && paging.is_none());
    }
}
