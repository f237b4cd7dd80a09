//! Prometheus' text format, read strictly: what a scraper may refuse is an error here.

use std::collections::{BTreeMap, BTreeSet};

use crate::Outcome;

/// Labels, and a value.
pub type Sample = (BTreeMap<String, String>, f64);

/// A page of metrics.
#[derive(Debug, Default)]
pub struct Exposition {
    /// The type of each name.
    pub types: BTreeMap<String, String>,
    /// The series of each name: labels in the order of their names, and the value.
    pub series: BTreeMap<String, Vec<Sample>>,
}

impl Exposition {
    /// Reads a page.
    ///
    /// # Errors
    /// For the first line that the format does not allow: a name without a type or with two, lines of one name that are
    /// not together, a label that is not escaped, a series that occurs twice.
    pub fn parse(text: &str) -> Outcome<Self> {
        if !text.is_empty() && !text.ends_with('\n') {
            return Err("the last line has no end".to_owned());
        }
        let mut page = Self::default();
        let (mut current, mut ended) = (String::new(), BTreeSet::new());
        for line in text.lines() {
            page.take(line, &mut current, &mut ended).map_err(|why| format!("{why}: {line}"))?;
        }
        Ok(page)
    }

    /// The names.
    pub fn names(&self) -> BTreeSet<String> {
        self.series.keys().cloned().collect()
    }

    /// The value of the only series of a name.
    pub fn value(&self, name: &str) -> Option<f64> {
        match self.series.get(name).map(Vec::as_slice) {
            Some([(_, value)]) => Some(*value),
            _ => None,
        }
    }

    fn take(&mut self, line: &str, current: &mut String, ended: &mut BTreeSet<String>) -> Outcome {
        if let Some(comment) = line.strip_prefix("# ") {
            let mut words = comment.splitn(3, ' ');
            let (kind, name) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
            let rest = words.next().unwrap_or_default();
            if !["HELP", "TYPE"].contains(&kind) {
                return Ok(());
            }
            if name != current {
                ended.insert(std::mem::replace(current, name.to_owned()));
            }
            if ended.contains(name) || !is_name(name) {
                return Err("a name that comes again, or is none".to_owned());
            }
            if kind == "TYPE" {
                if !["counter", "gauge", "summary", "histogram", "untyped"].contains(&rest) {
                    return Err("no type".to_owned());
                }
                if self.types.insert(name.to_owned(), rest.to_owned()).is_some() {
                    return Err("a second type".to_owned());
                }
            }
            return Ok(());
        }
        let end = line.find(['{', ' ']).ok_or("no value")?;
        let (name, rest) = line.split_at(end);
        if name != current || !self.types.contains_key(name) {
            return Err("no type before it".to_owned());
        }
        let (labels, value) = match rest.strip_prefix('{') {
            Some(rest) => labels(rest)?,
            None => (BTreeMap::new(), rest),
        };
        let value = value.strip_prefix(' ').ok_or("no blank before the value")?;
        let value: f64 = value.parse().map_err(|_| "a value that is no number")?;
        let all = self.series.entry(name.to_owned()).or_default();
        if all.iter().any(|(known, _)| *known == labels) {
            return Err("a series that was there".to_owned());
        }
        all.push((labels, value));
        Ok(())
    }
}

/// Labels up to their brace, and what is behind it.
fn labels(text: &str) -> Outcome<(BTreeMap<String, String>, &str)> {
    let (mut labels, mut rest) = (BTreeMap::new(), text);
    loop {
        if let Some(behind) = rest.strip_prefix('}') {
            return Ok((labels, behind));
        }
        let (name, behind) = rest.split_once("=\"").ok_or("a label without a value")?;
        if !is_name(name) || name.contains(':') {
            return Err("no name of a label".to_owned());
        }
        let (mut value, mut letters) = (String::new(), behind.char_indices());
        let end = loop {
            match letters.next().ok_or("a label without an end")? {
                (at, '"') => break at + 1,
                (_, '\\') => match letters.next() {
                    Some((_, 'n')) => value.push('\n'),
                    Some((_, letter @ ('"' | '\\'))) => value.push(letter),
                    _ => return Err("an unknown escape".to_owned()),
                },
                (_, letter) => value.push(letter),
            }
        };
        if labels.insert(name.to_owned(), value).is_some() {
            return Err("a label twice".to_owned());
        }
        rest = behind.get(end..).unwrap_or_default();
        rest = match rest.strip_prefix(',') {
            Some(more) => more,
            None if rest.starts_with('}') => rest,
            None => return Err("no comma between labels".to_owned()),
        };
    }
}

fn is_name(name: &str) -> bool {
    let mut letters = name.chars();
    let is_first = |letter: char| letter.is_ascii_alphabetic() || letter == '_' || letter == ':';
    letters.next().is_some_and(is_first)
        && letters.all(|letter| is_first(letter) || letter.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_pages_in_the_format_are_read() {
        let good = "# HELP a text\n# TYPE a counter\na{x=\"1\\\"\\\\\\n\",y=\"\"} 7\na{x=\"2\"} NaN\n# TYPE b gauge\nb 1.5\n";
        let page = Exposition::parse(good).unwrap();
        assert_eq!((page.value("b"), page.series["a"].len()), (Some(1.5), 2));
        assert_eq!(page.series["a"][0].0["x"], "1\"\\\n");
        for bad in [
            "a 1\n",
            "# TYPE a counter\na 1",
            "# TYPE a counter\na 1\na 2\n",
            "# TYPE a counter\n# TYPE a counter\na 1\n",
            "# TYPE a counter\na 1\n# TYPE b gauge\nb 1\n# TYPE a counter\n",
            "# TYPE a counter\na{x=\"1\" 1\n",
            "# TYPE a counter\na{x=\"\\t\"} 1\n",
            "# TYPE a counter\na{x=\"1\",x=\"2\"} 1\n",
            "# TYPE a counter\na{x-y=\"1\"} 1\n",
            "# TYPE a counter\na one\n",
            "# TYPE a number\na 1\n",
        ] {
            assert!(Exposition::parse(bad).is_err(), "{bad}");
        }
    }
}
