//! Attributes of objects, kept in one extended attribute of the file.

use crate::errors::{generic, reading, writing};
use object_store::path::Path;
use object_store::{Attribute, Attributes, Result};
use std::borrow::Cow;
use zerohop_client::{ErrorKind, FileSystem, XAttrFlags};

/// The extended attribute's name; its value is a list of keys and values as in a URL's query.
const NAME: &str = "user.zerohop.object.attributes";

/// How the keys of a user's own metadata begin.
const METADATA: &str = "metadata:";

/// Keeps attributes with a file or with the directory of an upload.
pub(crate) async fn keep(
    fs: &FileSystem,
    path: &str,
    location: &Path,
    attributes: &Attributes,
) -> Result<()> {
    if attributes.is_empty() {
        return Ok(());
    }
    let text = encode(attributes)?;
    let kept = fs.set_xattr(path, NAME, text.as_bytes(), XAttrFlags::default()).await;
    kept.map_err(|error| writing(location, error))
}

/// The attributes of a file or of an upload; none where none were kept, or where there is no file.
pub(crate) async fn kept(fs: &FileSystem, path: &str, location: &Path) -> Result<Attributes> {
    match fs.xattr(path, NAME).await {
        Ok(value) => Ok(decode(&value.unwrap_or_default())),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(Attributes::new()),
        Err(error) => Err(reading(location, error)),
    }
}

fn encode(attributes: &Attributes) -> Result<String> {
    let mut pairs = Vec::new();
    for (key, value) in attributes {
        pairs.push((key_of(key)?, value.as_ref()));
    }
    pairs.sort();
    Ok(form_urlencoded::Serializer::new(String::new()).extend_pairs(pairs).finish())
}

fn decode(value: &[u8]) -> Attributes {
    let pairs = form_urlencoded::parse(value);
    let known = pairs.filter_map(|(key, value)| Some((attribute_of(&key)?, value.into_owned())));
    known.collect()
}

static KEYS: [(&str, Attribute); 6] = [
    ("cache-control", Attribute::CacheControl),
    ("content-disposition", Attribute::ContentDisposition),
    ("content-encoding", Attribute::ContentEncoding),
    ("content-language", Attribute::ContentLanguage),
    ("content-type", Attribute::ContentType),
    ("storage-class", Attribute::StorageClass),
];

fn key_of(attribute: &Attribute) -> Result<Cow<'static, str>> {
    if let Attribute::Metadata(name) = attribute {
        return Ok(format!("{METADATA}{name}").into());
    }
    let known = KEYS.iter().find(|(_, known)| known == attribute);
    known.map(|(key, _)| Cow::Borrowed(*key)).ok_or_else(|| {
        generic(format!("{attribute:?} is an attribute that this store does not know"))
    })
}

fn attribute_of(key: &str) -> Option<Attribute> {
    if let Some(name) = key.strip_prefix(METADATA) {
        return Some(Attribute::Metadata(name.to_owned().into()));
    }
    KEYS.iter().find(|(known, _)| *known == key).map(|(_, attribute)| attribute.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_come_back_as_they_were() {
        let mut attributes: Attributes = KEYS
            .iter()
            .map(|(key, attribute)| (attribute.clone(), format!("a value of {key}, with = and &")))
            .collect();
        attributes.insert(Attribute::Metadata("own key".into()), "ä  b".into());
        let text = encode(&attributes).unwrap();
        assert_eq!(decode(text.as_bytes()), attributes);
    }

    #[test]
    fn bytes_that_are_no_attributes_are_left_out() {
        assert_eq!(decode(b"\xff\xfe&&=&unknown=1"), Attributes::new());
    }
}
