//! What the forms change.

use super::host::{Changed, ExplorerHost};
use crate::failure::Failure;
use crate::operation::Operation;
use crate::params::Params;
use crate::paths::normalised;
use zerohop_client::{FileSystem, RenameOptions};

/// Does what a form asks for, `do` of it.
pub(super) async fn run<H: ExplorerHost>(
    host: &H,
    fs: &FileSystem,
    path: &str,
    form: &Params,
) -> Result<Changed, Failure> {
    let what = form.text("do").unwrap_or_default();
    let here = |what| Ok(Changed { path: path.to_owned(), what });
    // A new directory changes no file.
    if what != "mkdir" {
        host.close_streams(path).await;
    }
    match what {
        "mkdir" => {
            host.check(Operation::Mkdirs)?;
            let made = below(path, name(form)?)?;
            if fs.exists(&made).await? {
                return Err(Failure::exists(&made));
            }
            fs.mkdirs(&made).await?;
            Ok(Changed { path: made, what: "created" })
        }
        "delete" => {
            host.check(Operation::Delete)?;
            if form.text("sure") != Some("1") {
                return Err(Failure::illegal("Nothing was deleted: the box was not ticked."));
            }
            match fs.delete(path, true).await? {
                true => Ok(Changed { path: parent(path).to_owned(), what: "deleted" }),
                false => Err(Failure::io(format!("{path} was not deleted"))),
            }
        }
        "rename" => {
            host.check(Operation::Rename)?;
            let to = name(form)?;
            let to = if to.starts_with('/') { normalised(to) } else { below(parent(path), to)? };
            host.close_streams(&to).await;
            fs.rename2(path, &to, RenameOptions::default()).await?;
            Ok(Changed { path: to, what: "renamed" })
        }
        "permission" => {
            host.check(Operation::SetPermission)?;
            let Some(bits) = form.permission("permission")? else {
                return Err(Failure::illegal("A permission is three or four octal digits."));
            };
            fs.set_permission(path, bits).await?;
            here("permission")
        }
        "owner" => {
            host.check(Operation::SetOwner)?;
            fs.set_owner(path, form.text("owner"), form.text("group")).await?;
            here("owner")
        }
        "replication" => {
            host.check(Operation::SetReplication)?;
            let Some(replication) = form.number("replication", "a short")? else {
                return Err(Failure::illegal("A replication is a number."));
            };
            fs.set_replication(path, replication).await?;
            here("replication")
        }
        _ => Err(Failure::illegal("The form asks for nothing that is known here.")),
    }
}

fn name(form: &Params) -> Result<&str, Failure> {
    form.text("name").ok_or_else(|| Failure::illegal("A name is missing."))
}

/// What is in a directory under a name.
pub(super) fn below(directory: &str, name: &str) -> Result<String, Failure> {
    if name.is_empty() || name.contains('/') || [".", ".."].contains(&name) {
        return Err(Failure::illegal(format!("{name:?} is no name of a file")));
    }
    Ok(format!("{}/{name}", directory.trim_end_matches('/')))
}

fn parent(path: &str) -> &str {
    match path.rsplit_once('/') {
        Some(("", _)) | None => "/",
        Some((parent, _)) => parent,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stay_in_their_directory() {
        assert_eq!(below("/a", "b<c>").unwrap(), "/a/b<c>");
        assert_eq!(below("/", "b").unwrap(), "/b");
        for bad in ["", ".", "..", "../b", "/b", "b/c"] {
            assert!(below("/a", bad).is_err(), "{bad}");
        }
        assert_eq!([parent("/a/b"), parent("/a"), parent("/")], ["/a", "/", "/"]);
    }
}
