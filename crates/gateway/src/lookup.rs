//! Operations that read metadata, except OPEN and lists.

use crate::failure::Failure;
use crate::operation::Operation;
use crate::params::invalid;
use crate::request::Request;
use crate::shapes;
use crate::snapshots;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value, json};
use zerohop_client::{FileSystem, XAttr};

/// Returns the answer to a GET that neither opens nor lists; `None` for an empty answer.
pub(crate) async fn answer(fs: &FileSystem, request: &Request) -> Result<Option<Value>, Failure> {
    let path = request.path.as_str();
    Ok(Some(match request.operation {
        Operation::GetFileStatus => {
            json!({ "FileStatus": shapes::file_status(&fs.status(path).await?, None) })
        }
        Operation::GetFileLinkStatus => {
            json!({ "FileStatus": shapes::file_status(&fs.link_status(path).await?, None) })
        }
        Operation::GetContentSummary => shapes::content_summary(&fs.content_summary(path).await?),
        Operation::GetQuotaUsage => shapes::quota_usage(&fs.quota_usage(path).await?),
        Operation::GetFileChecksum => match fs.checksum(path).await? {
            Some(checksum) => shapes::file_checksum(&checksum),
            None => json!({ "FileChecksum": null }),
        },
        Operation::GetHomeDirectory => json!({ "Path": fs.home() }),
        Operation::GetTrashRoot => json!({ "Path": format!("{}/.Trash", fs.home()) }),
        Operation::GetAclStatus => shapes::acl_status(&fs.acl_status(path).await?),
        Operation::GetXAttrs => xattrs(fs, request).await?,
        Operation::ListXAttrs => {
            // A text that holds JSON, as Apache's servers have it.
            let names = Value::from(fs.list_xattrs(path).await?);
            json!({ "XAttrNames": names.to_string() })
        }
        Operation::CheckAccess => {
            fs.access(path, action(request.params.needed("fsaction")?)?).await?;
            return Ok(None);
        }
        Operation::GetAllStoragePolicy => {
            let policies = fs.storage_policies().await?;
            let all: Vec<Value> = policies.iter().map(shapes::storage_policy).collect();
            json!({ "BlockStoragePolicies": { "BlockStoragePolicy": all } })
        }
        Operation::GetStoragePolicy => {
            json!({ "BlockStoragePolicy": shapes::storage_policy(&fs.storage_policy(path).await?) })
        }
        Operation::GetEcPolicy => {
            fs.erasure_coding_policy(path).await?.as_ref().map_or(Value::Null, shapes::ec_policy)
        }
        Operation::GetEcPolicies => shapes::ec_policies(&fs.erasure_coding_policies().await?),
        Operation::GetEcCodecs => {
            let codecs = fs.erasure_coding_codecs().await?.into_iter();
            let codecs: Map<String, Value> = codecs.map(|(name, all)| (name, all.into())).collect();
            json!({ "ErasureCodingCodecs": codecs })
        }
        Operation::GetLinkTarget => json!({ "Path": fs.link_target(path).await? }),
        // Without security there is none to give.
        Operation::GetDelegationToken => json!({ "Token": null }),
        Operation::GetServerDefaults => shapes::server_defaults(&fs.server_defaults().await?),
        Operation::GetStatus => shapes::fs_status(&fs.fs_stats().await?),
        other => match snapshots::answer(fs, request).await? {
            Some(answer) => answer,
            None => {
                let name = other.name();
                let why = format!("{name} is not implemented by this server");
                return Err(Failure::unsupported(why));
            }
        },
    }))
}

/// `r-x` as bits.
fn action(text: &str) -> Result<u8, Failure> {
    let letters = text.as_bytes();
    let bit = |at: usize, letter: u8, bit: u8| match letters.get(at) {
        Some(found) if *found == letter => Some(bit),
        Some(b'-') => Some(0),
        _ => None,
    };
    let bits = [bit(0, b'r', 4), bit(1, b'w', 2), bit(2, b'x', 1)];
    match bits {
        [Some(read), Some(write), Some(execute)] if letters.len() == 3 => {
            Ok(read | write | execute)
        }
        _ => Err(invalid("fsaction", text, "[r-][w-][x-]")),
    }
}

async fn xattrs(fs: &FileSystem, request: &Request) -> Result<Value, Failure> {
    let name = request.params.text("encoding").unwrap_or("HEX");
    // Refused where there is nothing to encode, too.
    let encode: fn(&[u8]) -> String = match name.to_ascii_uppercase().as_str() {
        "TEXT" => |value| format!("\"{}\"", String::from_utf8_lossy(value)),
        "HEX" => |value| format!("0x{}", hex::encode(value)),
        "BASE64" => |value| format!("0s{}", STANDARD.encode(value)),
        _ => return Err(invalid("encoding", name, "TEXT,HEX,BASE64")),
    };
    let wanted: Vec<&str> =
        request.params.values("xattr.name").filter(|name| !name.is_empty()).collect();
    let mut all: Vec<XAttr> = fs.xattrs(&request.path).await?;
    if !wanted.is_empty() {
        all.retain(|xattr| wanted.contains(&xattr.full_name().as_str()));
        if all.len() < wanted.len() {
            return Err(Failure::no_such_xattr());
        }
    }
    let mut list = Vec::new();
    for xattr in &all {
        list.push(json!({ "name": xattr.full_name(), "value": encode(xattr.value.as_deref().unwrap_or_default()) }));
    }
    Ok(json!({ "XAttrs": list }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_action_is_three_letters() {
        assert_eq!(
            (action("r-x").unwrap(), action("---").unwrap(), action("rwx").unwrap()),
            (5, 0, 7)
        );
        for text in ["", "rw", "rwxr", "xwr", "r x"] {
            assert!(action(text).is_err(), "{text}");
        }
    }
}
