//! Properties as the XML of a site file.

use quick_xml::Writer;
use quick_xml::events::{BytesDecl, BytesText, Event};
use std::io;

/// The text of a site file with these names and values.
pub fn site_xml<'a>(properties: impl IntoIterator<Item = (&'a str, &'a str)>) -> String {
    site_file(properties.into_iter().map(|(name, value)| [("name", name), ("value", value)]))
}

/// The text of a site file. Each property is given as its elements and their texts.
pub(crate) fn site_file<'a, const N: usize>(
    properties: impl IntoIterator<Item = [(&'static str, &'a str); N]>,
) -> String {
    let mut writer = Writer::new(Vec::new());
    // Writing to memory does not fail.
    let _ = write(&mut writer, properties);
    String::from_utf8_lossy(&writer.into_inner()).into_owned()
}

fn write<'a, const N: usize>(
    writer: &mut Writer<Vec<u8>>,
    properties: impl IntoIterator<Item = [(&'static str, &'a str); N]>,
) -> io::Result<()> {
    let text = |text| Event::Text(BytesText::new(text));
    writer.write_event(Event::Decl(BytesDecl::new("1.0", Some("UTF-8"), Some("no"))))?;
    writer.write_event(text("\n"))?;
    writer.create_element("configuration").write_inner_content(|writer| {
        for elements in properties {
            writer.write_event(text("\n  "))?;
            writer.create_element("property").write_inner_content(|writer| {
                for (element, content) in elements {
                    writer.create_element(element).write_text_content(BytesText::new(content))?;
                }
                Ok(())
            })?;
        }
        writer.write_event(text("\n"))
    })?;
    writer.write_event(text("\n"))
}
