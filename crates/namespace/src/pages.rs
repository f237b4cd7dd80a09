//! A growing array whose entries never move: growth copies nothing, however many there are.

/// Entries of a page.
const PAGE: usize = 4096;

/// Entries by number, in pages.
pub(crate) struct Pages<T> {
    pages: Vec<Vec<T>>,
}

impl<T> Default for Pages<T> {
    fn default() -> Self {
        Self { pages: Vec::new() }
    }
}

impl<T> Pages<T> {
    /// Entries so far; the next one gets this number.
    pub(crate) fn len(&self) -> usize {
        match self.pages.split_last() {
            Some((last, full)) => full.len() * PAGE + last.len(),
            None => 0,
        }
    }

    /// Entries that fit without another page.
    pub(crate) fn capacity(&self) -> usize {
        self.pages.len() * PAGE
    }

    pub(crate) fn get(&self, number: usize) -> Option<&T> {
        self.pages.get(number / PAGE)?.get(number % PAGE)
    }

    pub(crate) fn get_mut(&mut self, number: usize) -> Option<&mut T> {
        self.pages.get_mut(number / PAGE)?.get_mut(number % PAGE)
    }

    /// Appends an entry; its number.
    pub(crate) fn push(&mut self, entry: T) -> usize {
        match self.pages.last_mut() {
            Some(last) if last.len() < PAGE => last.push(entry),
            _ => {
                let mut page = Vec::with_capacity(PAGE);
                page.push(entry);
                self.pages.push(page);
            }
        }
        self.len() - 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_stay_where_they_are() {
        let mut pages = Pages::default();
        assert_eq!(pages.push(0), 0);
        let first: *const usize = pages.get(0).unwrap();
        (1..3 * PAGE).for_each(|number| assert_eq!(pages.push(number), number));
        assert_eq!(pages.get(0).map(std::ptr::from_ref), Some(first));
        *pages.get_mut(PAGE).unwrap() = 5;
        assert_eq!((pages.get(PAGE), pages.get(PAGE + 1)), (Some(&5), Some(&(PAGE + 1))));
        assert_eq!((pages.len(), pages.capacity()), (3 * PAGE, 3 * PAGE));
        assert_eq!(pages.get(3 * PAGE), None);
    }
}
