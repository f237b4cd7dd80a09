//! Hadoop's configuration files: properties, `final`, XInclude of local files.
//!
//! Entities: the five of XML, character references, and those a DOCTYPE defines with a plain text.
//! Nothing is fetched from anywhere; entities do not nest, so they cannot grow.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use quick_xml::events::{BytesRef, BytesStart, Event};
use quick_xml::{Reader, XmlVersion};

use crate::{ConfError, Source};

/// Largest file that is taken for a configuration.
const FILE_BYTES_MAX: u64 = 16 << 20;
/// Files that include each other deeper than this do so in a circle.
const INCLUDE_DEPTH_MAX: usize = 16;

/// One `<property>` with a name and a value.
#[derive(Debug, Clone)]
pub(crate) struct Property {
    pub name: String,
    pub value: String,
    pub is_final: bool,
    pub source: Source,
}

/// The properties of a file in their order, included files in place.
pub(crate) fn read_file(path: &Path) -> Result<Vec<Property>, ConfError> {
    let mut properties = Vec::new();
    read_nested(path, 0, &mut properties)?;
    Ok(properties)
}

fn read_nested(path: &Path, depth: usize, out: &mut Vec<Property>) -> Result<(), ConfError> {
    let unreadable = |source| ConfError::Read { path: path.to_owned(), source };
    let size = std::fs::metadata(path).map_err(unreadable)?.len();
    if size > FILE_BYTES_MAX {
        let problem =
            format!("{size} bytes are too many for a configuration; is it the right file?");
        return Err(ConfError::Parse { path: path.to_owned(), line: 1, problem });
    }
    let bytes = std::fs::read(path).map_err(unreadable)?;
    parse(&bytes, path, depth, out)
}

/// Parses the text of a file; `path` is where relative includes start and what errors name.
pub(crate) fn parse(
    bytes: &[u8],
    path: &Path,
    depth: usize,
    out: &mut Vec<Property>,
) -> Result<(), ConfError> {
    let text = std::str::from_utf8(bytes).map_err(|error| ConfError::Parse {
        path: path.to_owned(),
        line: 1 + count_lines(bytes.get(..error.valid_up_to()).unwrap_or_default()),
        problem: "not UTF-8; save the file in UTF-8".to_owned(),
    })?;
    let text = text.trim_start_matches('\u{feff}').trim_start();
    let skipped = count_lines(bytes.get(..bytes.len() - text.len()).unwrap_or_default());
    let parser = Parser {
        path,
        shared_path: Arc::from(path),
        text,
        depth,
        out,
        line: 1 + skipped,
        counted: 0,
        entities: HashMap::new(),
        property: Draft::default(),
        token: None,
        includes: Vec::new(),
    };
    parser.run()
}

fn count_lines(bytes: &[u8]) -> usize {
    bytes.iter().filter(|byte| **byte == b'\n').count()
}

/// A property whose end has not been reached.
#[derive(Default)]
struct Draft {
    line: usize,
    name: Option<String>,
    value: Option<String>,
    is_final: bool,
}

/// An `<xi:include>` whose end has not been reached.
struct Include {
    /// What it names, where there is no such file.
    missing: Option<String>,
    had_fallback: bool,
    in_fallback: bool,
}

struct Parser<'a> {
    path: &'a Path,
    shared_path: Arc<Path>,
    text: &'a str,
    depth: usize,
    out: &'a mut Vec<Property>,
    line: usize,
    /// Bytes of `text` whose lines are in `line`; never beyond the reader's position.
    counted: usize,
    entities: HashMap<String, String>,
    property: Draft,
    /// Text of the element name, value or final that is open.
    token: Option<String>,
    /// The open ones, the innermost last: a fallback may include again.
    includes: Vec<Include>,
}

impl Parser<'_> {
    fn run(mut self) -> Result<(), ConfError> {
        let mut reader = Reader::from_str(self.text);
        let mut seen_root = false;
        let mut open = 0_usize;
        loop {
            let event = reader.read_event();
            self.advance_to(reader.buffer_position());
            match event.map_err(|error| self.error(format!("not well-formed XML: {error}")))? {
                Event::Start(element) => {
                    self.root(&mut seen_root, &element)?;
                    open += 1;
                    self.start(&element)?;
                }
                Event::Empty(element) => {
                    self.root(&mut seen_root, &element)?;
                    self.start(&element)?;
                    self.end(element.local_name().as_ref())?;
                }
                Event::End(element) => {
                    open = open.saturating_sub(1);
                    self.end(element.local_name().as_ref())?;
                }
                Event::Text(text) => self.append(&text.xml10_content()),
                Event::CData(text) => self.append(&text.xml10_content()),
                Event::GeneralRef(reference) => self.entity(&reference)?,
                Event::DocType(text) => self.doctype(&text.xml10_content())?,
                Event::Eof => break,
                Event::Comment(_) | Event::Decl(_) | Event::PI(_) => {}
            }
        }
        if open > 0 || !seen_root {
            return Err(self.error("the file ends before </configuration>; is it cut off?".into()));
        }
        Ok(())
    }

    fn advance_to(&mut self, position: u64) {
        let position = usize::try_from(position).unwrap_or(usize::MAX).min(self.text.len());
        let passed = self.text.as_bytes().get(self.counted..position).unwrap_or_default();
        self.line += count_lines(passed);
        self.counted = position.max(self.counted);
    }

    fn error(&self, problem: String) -> ConfError {
        ConfError::Parse { path: self.path.to_owned(), line: self.line, problem }
    }

    fn root(&self, seen: &mut bool, element: &BytesStart<'_>) -> Result<(), ConfError> {
        if !*seen && element.local_name().as_ref() != "configuration" {
            return Err(self.error("the root element must be <configuration>".into()));
        }
        *seen = true;
        Ok(())
    }

    fn start(&mut self, element: &BytesStart<'_>) -> Result<(), ConfError> {
        match element.local_name().as_ref() {
            "property" => self.start_property(element)?,
            "name" | "value" | "final" => self.token = Some(String::new()),
            "include" => self.include(element)?,
            "fallback" => {
                if let Some(include) = self.includes.last_mut() {
                    (include.had_fallback, include.in_fallback) = (true, true);
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// The short form has the property in its attributes.
    fn start_property(&mut self, element: &BytesStart<'_>) -> Result<(), ConfError> {
        self.property = Draft { line: self.line, ..Draft::default() };
        for (name, value) in self.attributes(element)? {
            match name.as_str() {
                "name" => self.property.name = Some(value.trim().to_owned()),
                "value" => self.property.value = Some(value),
                "final" => self.property.is_final = value == "true",
                _ => {}
            }
        }
        Ok(())
    }

    fn attributes(&self, element: &BytesStart<'_>) -> Result<Vec<(String, String)>, ConfError> {
        let mut found = Vec::new();
        for attribute in element.attributes() {
            let attribute =
                attribute.map_err(|error| self.error(format!("bad attribute: {error}")))?;
            let value = attribute
                .normalized_value_with(XmlVersion::Implicit1_0, 0, |name| self.lookup(name))
                .map_err(|error| self.error(format!("bad attribute: {error}")))?;
            found.push((attribute.key.local_name().as_ref().to_owned(), value.into_owned()));
        }
        Ok(found)
    }

    fn include(&mut self, element: &BytesStart<'_>) -> Result<(), ConfError> {
        let attributes = self.attributes(element)?;
        let Some((_, href)) = attributes.into_iter().find(|(name, _)| name == "href") else {
            return Err(self.error("<xi:include> needs an href".into()));
        };
        if self.depth >= INCLUDE_DEPTH_MAX {
            return Err(
                self.error(format!("{href} is included too deep; do files include themselves?"))
            );
        }
        let Some(target) = self.include_path(&href) else {
            let problem =
                format!("cannot include {href}: only local files can be included; copy it");
            return Err(self.error(problem));
        };
        let missing = (!target.is_file()).then_some(href);
        if missing.is_none() {
            read_nested(&target, self.depth + 1, self.out)?;
        }
        self.includes.push(Include { missing, had_fallback: false, in_fallback: false });
        Ok(())
    }

    fn include_path(&self, href: &str) -> Option<PathBuf> {
        let href = match href.strip_prefix("file:") {
            Some(rest) => rest.strip_prefix("//").unwrap_or(rest),
            None if href.contains("://") => return None,
            None => href,
        };
        Some(self.path.parent().unwrap_or(Path::new("")).join(href))
    }

    fn append(&mut self, text: &str) {
        if let Some(token) = &mut self.token {
            token.push_str(text);
        }
    }

    fn entity(&mut self, reference: &BytesRef<'_>) -> Result<(), ConfError> {
        let name = reference.xml10_content();
        let character = reference
            .resolve_char_ref()
            .map_err(|error| self.error(format!("bad character reference &{name};: {error}")))?;
        let text = match character {
            Some(character) => character.to_string(),
            None => match self.lookup(&name) {
                Some(text) => text.to_owned(),
                None => {
                    return Err(self.error(format!("unknown entity &{name};; write &amp; for &")));
                }
            },
        };
        self.append(&text);
        Ok(())
    }

    fn lookup(&self, name: &str) -> Option<&str> {
        match name {
            "amp" => Some("&"),
            "lt" => Some("<"),
            "gt" => Some(">"),
            "apos" => Some("'"),
            "quot" => Some("\""),
            _ => self.entities.get(name).map(String::as_str),
        }
    }

    /// Takes `<!ENTITY name "text">`; everything else that a DOCTYPE may define is left out.
    fn doctype(&mut self, text: &str) -> Result<(), ConfError> {
        for declaration in text.split("<!ENTITY").skip(1) {
            let mut words = declaration.trim_start().splitn(2, char::is_whitespace);
            let (Some(name), Some(rest)) = (words.next(), words.next()) else { continue };
            let rest = rest.trim_start();
            let quote = rest.chars().next().filter(|c| matches!(c, '"' | '\''));
            let value = quote.and_then(|quote| rest.get(1..)?.split(quote).next());
            match value {
                Some(value) if !value.contains(['&', '%']) && name != "%" => {
                    self.entities.insert(name.to_owned(), value.to_owned());
                }
                _ => {
                    let problem = format!(
                        "entity {name}: only entities with a plain text are supported; write the text out"
                    );
                    return Err(self.error(problem));
                }
            }
        }
        Ok(())
    }

    fn end(&mut self, element: &str) -> Result<(), ConfError> {
        match element {
            "name" => self.property.name = self.token.take().map(|name| name.trim().to_owned()),
            "value" => self.property.value = self.token.take(),
            "final" => self.property.is_final = self.token.take().as_deref() == Some("true"),
            "property" => self.end_property(),
            "fallback" => {
                if let Some(include) = self.includes.last_mut() {
                    include.in_fallback = false;
                }
            }
            "include" => {
                let ended = self.includes.pop();
                // Hadoop asks for no fallback within a fallback.
                let needed = !self.includes.iter().any(|include| include.in_fallback);
                let ended = ended.filter(|include| needed && !include.had_fallback);
                if let Some(href) = ended.and_then(|include| include.missing) {
                    let problem = format!(
                        "cannot include {href}: there is no such file (and no <xi:fallback>)"
                    );
                    return Err(self.error(problem));
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// An empty name or value makes no property, as in Hadoop.
    fn end_property(&mut self) {
        let draft = std::mem::take(&mut self.property);
        // The include was there: what its fallback holds does not count.
        if self.includes.iter().any(|include| include.in_fallback && include.missing.is_none()) {
            return;
        }
        let (Some(name), Some(value)) = (draft.name, draft.value) else { return };
        if name.is_empty() || value.is_empty() {
            return;
        }
        let source = Source::File { path: self.shared_path.clone(), line: draft.line };
        self.out.push(Property { name, value, is_final: draft.is_final, source });
    }
}
