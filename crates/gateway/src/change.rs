//! Operations that change the namespace.

use crate::failure::Failure;
use crate::operation::Operation;
use crate::other_paths;
use crate::params::{Params, invalid};
use crate::request::Request;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use zerohop_client::{AclEntry, FileSystem, RenameOptions, StorageType, XAttrFlags};

/// The answer to a PUT, POST or DELETE that is neither CREATE nor APPEND; none is an empty one.
pub(crate) async fn answer(fs: &FileSystem, request: &Request) -> Result<Option<Value>, Failure> {
    let (path, params) = (request.path.as_str(), &request.params);
    let done = match request.operation {
        Operation::Mkdirs => {
            let permission = params.permission("permission")?.unwrap_or(0o755);
            match params.permission("unmaskedpermission")? {
                None => fs.mkdirs_with(path, permission, true).await?,
                Some(unmasked) => fs.mkdirs_masked(path, permission, unmasked, true).await?,
            }
        }
        Operation::Rename => return rename(fs, request).await,
        Operation::CreateSnapshot => {
            let made = fs.create_snapshot(path, params.text("snapshotname")).await?;
            return Ok(Some(json!({ "Path": made })));
        }
        Operation::SetReplication => {
            let wanted = params.number("replication", "a short")?;
            fs.set_replication(path, wanted.unwrap_or(3)).await?
        }
        Operation::Truncate => {
            params.needed("newlength")?;
            let len = params.number("newlength", "a long")?;
            let len = len.ok_or_else(|| invalid("newlength", "-1", "a long"))?;
            fs.truncate(path, len).await?
        }
        Operation::Delete => fs.delete(path, params.flag("recursive", false)?).await?,
        _ => {
            change(fs, request).await?;
            return Ok(None);
        }
    };
    Ok(Some(json!({ "boolean": done })))
}

/// Operations with an empty answer.
async fn change(fs: &FileSystem, request: &Request) -> Result<(), Failure> {
    let (path, params) = (request.path.as_str(), &request.params);
    let acl = |with_permission| acl_entries(params, with_permission);
    match request.operation {
        Operation::CreateSymlink => {
            let parent = params.flag("createparent", false)?;
            // What a link of HttpFS's port leads to may be relative to the link.
            let target = match request.is_of_httpfs {
                true => params.needed("destination")?.to_owned(),
                false => other_paths::destination(fs, request)?,
            };
            fs.create_symlink(&target, path, parent).await?;
        }
        Operation::SetOwner => {
            let (owner, group) = (params.text("owner"), params.text("group"));
            if owner.is_none() && group.is_none() {
                return Err(Failure::illegal("Both owner and group are empty."));
            }
            fs.set_owner(path, owner, group).await?;
        }
        Operation::SetPermission => {
            let permission = params.permission("permission")?.unwrap_or(0o755);
            fs.set_permission(path, permission).await?;
        }
        Operation::SetTimes => {
            let modified = params.number("modificationtime", "a long")?;
            let accessed = params.number("accesstime", "a long")?;
            fs.set_times(path, modified, accessed).await?;
        }
        Operation::SetAcl => fs.set_acl(path, &acl(true)?).await?,
        Operation::ModifyAclEntries => fs.modify_acl(path, &acl(true)?).await?,
        Operation::RemoveAclEntries => fs.remove_acl_entries(path, &acl(false)?).await?,
        Operation::RemoveDefaultAcl => fs.remove_default_acl(path).await?,
        Operation::RemoveAcl => fs.remove_acl(path).await?,
        Operation::SetXAttr => {
            let name = params.needed("xattr.name")?;
            let value = xattr_value(params.text("xattr.value").unwrap_or_default())?;
            fs.set_xattr(path, name, &value, xattr_flags(params)?).await?;
        }
        Operation::RemoveXAttr => fs.remove_xattr(path, params.needed("xattr.name")?).await?,
        Operation::SetStoragePolicy => {
            fs.set_storage_policy(path, params.needed("storagepolicy")?).await?;
        }
        Operation::UnsetStoragePolicy => fs.unset_storage_policy(path).await?,
        Operation::SatisfyStoragePolicy => fs.satisfy_storage_policy(path).await?,
        Operation::SetEcPolicy => {
            fs.set_erasure_coding_policy(path, Some(params.needed("ecpolicy")?)).await?;
        }
        Operation::UnsetEcPolicy => fs.unset_erasure_coding_policy(path).await?,
        Operation::EnableEcPolicy | Operation::DisableEcPolicy => {
            let enable = request.operation == Operation::EnableEcPolicy;
            fs.enable_erasure_coding_policy(params.needed("ecpolicy")?, enable).await?;
        }
        Operation::SetQuota => {
            let names = quota(params, "namespacequota")?;
            fs.set_quota(path, names, quota(params, "storagespacequota")?).await?;
        }
        Operation::SetQuotaByStorageType => {
            let name = params.needed("storagetype")?;
            let kind = StorageType::from_str_name(&name.to_ascii_uppercase());
            let kind = kind.ok_or_else(|| invalid("storagetype", name, "a storage type"))?;
            if let Some(space) = quota(params, "storagespacequota")? {
                fs.set_type_quota(path, kind, space).await?;
            }
        }
        Operation::RenewDelegationToken | Operation::CancelDelegationToken => {
            params.needed("token")?;
            return Err(Failure::invalid_token());
        }
        Operation::Concat => {
            fs.concat(path, &other_paths::sources(fs, request)?).await?;
        }
        Operation::AllowSnapshot => fs.allow_snapshot(path, true).await?,
        Operation::DisallowSnapshot => fs.allow_snapshot(path, false).await?,
        Operation::RenameSnapshot => {
            let old = params.needed("oldsnapshotname")?;
            fs.rename_snapshot(path, old, params.needed("snapshotname")?).await?;
        }
        Operation::DeleteSnapshot => {
            fs.delete_snapshot(path, params.needed("snapshotname")?).await?;
        }
        other => {
            let name = other.name();
            return Err(Failure::unsupported(format!("{name} is not implemented by this server")));
        }
    }
    Ok(())
}

/// With `renameoptions` an error says why it was not done; without, the answer is false.
async fn rename(fs: &FileSystem, request: &Request) -> Result<Option<Value>, Failure> {
    let to = other_paths::destination(fs, request)?;
    let Some(options) = request.params.text("renameoptions") else {
        let done = fs.rename(&request.path, &to).await?;
        return Ok(Some(json!({ "boolean": done })));
    };
    let mut wanted = RenameOptions::default();
    for option in options.split(',') {
        match option.trim().to_ascii_uppercase().as_str() {
            "NONE" => {}
            "OVERWRITE" => wanted.overwrite = true,
            "TO_TRASH" => wanted.to_trash = true,
            _ => return Err(invalid("renameoptions", options, "NONE, OVERWRITE, TO_TRASH")),
        }
    }
    fs.rename2(&request.path, &to, wanted).await?;
    Ok(None)
}

/// A limit; none within for no limit (-1), none at all for "as it is" (the largest number).
fn quota(params: &Params, name: &str) -> Result<Option<Option<u64>>, Failure> {
    let text = params.needed(name)?;
    match text.parse::<i64>() {
        Ok(i64::MAX) => Ok(None),
        Ok(-1) => Ok(Some(None)),
        Ok(limit) if limit >= 0 => Ok(Some(u64::try_from(limit).ok())),
        _ => Err(invalid(name, text, "a long")),
    }
}

fn acl_entries(params: &Params, with_permission: bool) -> Result<Vec<AclEntry>, Failure> {
    let parts = params.needed("aclspec")?.trim().split(',').filter(|part| !part.is_empty());
    let refused = |error| Failure::acl_entry(zerohop_client::Error::from(error).to_string());
    parts.map(|part| AclEntry::parse(part, with_permission).map_err(refused)).collect()
}

/// A value as text, `0x` hexadecimal, or `0s` in base 64 (`XAttrCodec.decodeValue`).
fn xattr_value(text: &str) -> Result<Vec<u8>, Failure> {
    let bad = || invalid("xattr.value", text, "text, 0x and hexadecimal digits, or 0s and base 64");
    let of = |prefix: &str| {
        let head = text.get(..2).filter(|head| head.eq_ignore_ascii_case(prefix))?;
        text.strip_prefix(head)
    };
    if let Some(digits) = of("0x") {
        return hex::decode(digits).map_err(|_| bad());
    }
    if let Some(base64) = of("0s") {
        return STANDARD.decode(base64).map_err(|_| bad());
    }
    let quoted = text.strip_prefix('"').and_then(|text| text.strip_suffix('"'));
    Ok(quoted.unwrap_or(text).as_bytes().to_vec())
}

fn xattr_flags(params: &Params) -> Result<XAttrFlags, Failure> {
    let Some(text) = params.text("flag") else { return Ok(XAttrFlags::default()) };
    let mut flags = XAttrFlags { create: false, replace: false };
    for flag in text.split(',') {
        match flag.trim().to_ascii_uppercase().as_str() {
            "CREATE" => flags.create = true,
            "REPLACE" => flags.replace = true,
            _ => return Err(invalid("flag", text, "[CREATE, REPLACE]")),
        }
    }
    Ok(flags)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_attributes_are_text_hexadecimal_or_base_64() {
        for (text, bytes) in [
            ("0x4142", "AB"),
            ("0sQUI=", "AB"),
            ("\"0x\"", "0x"),
            ("abc", "abc"),
            ("", ""),
            ("é", "é"),
        ] {
            assert_eq!(xattr_value(text).unwrap(), bytes.as_bytes(), "{text}");
        }
        assert!(xattr_value("0xz").is_err() && xattr_value("0s!").is_err());
    }
}
