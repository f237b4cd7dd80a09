//! Steps that change and ask names, rights and attributes.

use super::row::{BLOCK, Row};
use super::servers::Servers;
use crate::Outcome;

pub(super) fn list(row: &mut Row<impl Servers>) -> Outcome {
    row.client.ok(&["mkdir", "/list/sub", "750"])?;
    row.put("/list/b", 31, 1000, 2)?;
    row.put("/list/a", 32, BLOCK + 1, 3)?;
    row.put("/list/name with space and ü", 33, 10, 1)?;
    let owner = row.client.ok(&["stat", "/list/a"])?[5].clone();
    let tail = format!("{owner} supergroup");
    let (block, long) = (BLOCK, BLOCK + 1);
    let entries = [
        format!("a file {long} 3 {block} 644 {tail}"),
        format!("b file 1000 2 {block} 644 {tail}"),
        format!("name with space and ü file 10 1 {block} 644 {tail}"),
        format!("sub dir 0 0 0 750 {tail}"),
    ];
    let entries = entries.each_ref().map(String::as_str);
    for client in row.everyone() {
        client.gives(&["list", "/list"], &entries)?;
        client.gives(&["list", "/list/b"], &[entries[1]])?;
        client.gives(&["list", "/list/sub"], &[])?;
        client
            .gives(&["stat", "/list/sub"], &["dir", "0", "0", "0", "750", &owner, "supergroup"])?;
        client.gives(&["exists", "/list/none"], &["false"])?;
        // Below a file the superuser finds nothing, and others are told why.
        client.gives(&["exists", "/list/b/x"], &["false"])?;
        client.fails("alice", &["stat", "/list/b/x"], "AccessControlException")?;
        client.fails("", &["stat", "/list/none"], "FileNotFoundException")?;
        client.fails("", &["list", "/list/none"], "FileNotFoundException")?;
    }
    Ok(())
}

pub(super) fn rename(row: &mut Row<impl Servers>) -> Outcome {
    row.client.ok(&["mkdir", "/rename/dir"])?;
    row.put("/rename/a", 41, 100, 1)?;
    row.put("/rename/b", 42, 200, 1)?;
    let c = &mut row.client;
    c.gives(&["rename", "/rename/a", "/rename/c"], &["true"])?;
    // A target that is a directory takes the source in; a target that is a file refuses.
    c.gives(&["rename", "/rename/c", "/rename/dir"], &["true"])?;
    c.gives(&["exists", "/rename/dir/c"], &["true"])?;
    c.gives(&["rename", "/rename/b", "/rename/dir/c"], &["false"])?;
    c.gives(&["rename", "/rename/none", "/rename/x"], &["false"])?;
    c.gives(&["rename", "/rename/b", "/rename/no/parent"], &["false"])?;
    c.gives(&["rename", "/rename/dir", "/rename/dir/below"], &["false"])?;
    c.gives(&["rename", "/rename/dir", "/rename/moved"], &["true"])?;
    row.forget("/rename/a");
    row.forget("/rename/b");
    row.keep("/rename/moved/c", 41, 100);
    rename_with_options(row)?;
    row.read_by_all("/rename/moved/c", 42, 200)
}

fn rename_with_options(row: &mut Row<impl Servers>) -> Outcome {
    let c = &mut row.client;
    let exists = "FileAlreadyExistsException";
    c.fails("", &["rename2", "/rename/b", "/rename/moved/c", "false"], exists)?;
    c.fails("", &["rename2", "/rename/none", "/rename/x", "true"], "FileNotFoundException")?;
    c.fails("", &["rename2", "/rename/b", "/rename/no/parent", "true"], "FileNotFoundException")?;
    c.ok(&["mkdir", "/rename/full/entry"])?;
    c.ok(&["mkdir", "/rename/source"])?;
    c.fails(
        "",
        &["rename2", "/rename/source", "/rename/full", "true"],
        "IOException|PathIsNotEmptyDirectoryException",
    )?;
    c.fails("", &["rename2", "/rename/b", "/rename/full", "true"], "IOException")?;
    c.ok(&["rename2", "/rename/source", "/rename/full/entry", "true"])?;
    c.ok(&["rename2", "/rename/b", "/rename/moved/c", "true"])?;
    c.gives(&["exists", "/rename/b"], &["false"])?;
    row.keep("/rename/moved/c", 42, 200);
    Ok(())
}

pub(super) fn delete(row: &mut Row<impl Servers>) -> Outcome {
    let c = &mut row.client;
    c.ok(&["mkdir", "/delete/full/sub"])?;
    c.fails("", &["delete", "/delete/full", "false"], "PathIsNotEmptyDirectoryException")?;
    c.gives(&["delete", "/delete/full/sub", "false"], &["true"])?;
    c.gives(&["delete", "/delete/none", "true"], &["false"])?;
    row.put("/delete/full/f", 51, 3 * BLOCK, 3)?;
    let c = &mut row.client;
    c.gives(&["delete", "/delete/full/f", "false"], &["true"])?;
    c.ok(&["mkdir", "/delete/full/a/b/c"])?;
    c.gives(&["delete", "/delete/full", "true"], &["true"])?;
    row.forget("/delete/full/f");
    row.everyone().try_for_each(|c| c.gives(&["list", "/delete"], &[]))
}

pub(super) fn permissions(row: &mut Row<impl Servers>) -> Outcome {
    const DENIED: &str = "AccessControlException";
    let c = &mut row.client;
    c.ok(&["mkdir", "/perm", "755"])?;
    let message = c.fails("alice", &["mkdir", "/perm/x"], DENIED)?;
    if !message.contains("user=alice, access=WRITE, inode=\"/perm\"") {
        return Err(format!("the denial says: {message}"));
    }
    c.ok(&["mkdir", "/perm/open", "1777"])?;
    c.ok(&["chmod", "/perm/open", "1777"])?;
    let put = ["put", "/perm/open/f", "1000", "61", "1", "1048576"];
    c.ok_as("alice", &put)?;
    c.gives(
        &["stat", "/perm/open/f"],
        &["file", "1000", "1", "1048576", "644", "alice", "supergroup"],
    )?;
    // The sticky bit keeps others from removing it, the mode from changing it.
    c.fails("bob", &["delete", "/perm/open/f", "false"], DENIED)?;
    c.fails("bob", &["rename", "/perm/open/f", "/perm/open/g"], DENIED)?;
    c.fails("bob", &["append", "a", "/perm/open/f"], DENIED)?;
    c.fails("bob", &["chmod", "/perm/open/f", "777"], DENIED)?;
    c.fails("alice", &["chown", "/perm/open/f", "bob", ""], DENIED)?;
    c.ok_as("bob", &["access", "/perm/open/f", "r--"])?;
    c.fails("bob", &["access", "/perm/open/f", "rw-"], DENIED)?;
    c.ok_as("alice", &["chmod", "/perm/open/f", "600"])?;
    c.fails("bob", &["read", "/perm/open/f", "0", "-1"], DENIED)?;
    c.ok(&["chown", "/perm/open/f", "", "staff"])?;
    c.ok_as("alice", &["chmod", "/perm/open/f", "640"])?;
    c.ok_as("bob", &["read", "/perm/open/f", "0", "-1"])?;
    c.fails("carol", &["read", "/perm/open/f", "0", "-1"], DENIED)?;
    c.ok(&["chmod", "/perm/open", "700"])?;
    c.fails("alice", &["stat", "/perm/open/f"], DENIED)?;
    c.fails("alice", &["list", "/perm/open"], DENIED)?;
    row.keep("/perm/open/f", 61, 1000);
    for client in row.everyone() {
        client.fails("alice", &["safemode", "enter"], DENIED)?;
    }
    Ok(())
}

pub(super) fn owners(row: &mut Row<impl Servers>) -> Outcome {
    row.put("/owners/f", 71, 10, 1)?;
    row.client.ok(&["chown", "/owners/f", "carol", "guests"])?;
    row.client.ok(&["chmod", "/owners/f", "4755"])?;
    row.client.ok(&["settimes", "/owners/f", "1500000000123", "1600000000456"])?;
    row.client.ok(&["settimes", "/owners", "1400000000000", "-1"])?;
    for client in row.everyone() {
        client.gives(&["times", "/owners/f"], &["1500000000123", "1600000000456"])?;
        client.gives(&["times", "/owners"], &["1400000000000", "0"])?;
        let stat = client.ok(&["stat", "/owners/f"])?;
        if stat[5..] != ["carol", "guests"] {
            return Err(format!("stat: {stat:?}"));
        }
    }
    let home = row.client.ok_as("alice", &["home"])?;
    if home[0] == "/user/alice" { Ok(()) } else { Err(format!("home: {home:?}")) }
}

pub(super) fn attributes(row: &mut Row<impl Servers>) -> Outcome {
    row.put("/attr/f", 81, 10, 1)?;
    let c = &mut row.client;
    c.ok(&["setxattr", "/attr/f", "user.one", "00ff10"])?;
    c.ok(&["setxattr", "/attr/f", "trusted.two", ""])?;
    c.ok(&["setacl", "/attr/f", "user::rw-,user:alice:r--,group::---,other::---"])?;
    c.ok(&["modifyacl", "/attr/f", "group:guests:r-x"])?;
    for client in row.everyone() {
        client.gives(&["getxattr", "/attr/f", "user.one"], &["00ff10"])?;
        client.gives(&["listxattr", "/attr/f"], &["trusted.two", "user.one"])?;
        client.gives(&["getacl", "/attr/f"], &["user:alice:r--,group::---,group:guests:r-x"])?;
        client.ok_as("alice", &["read", "/attr/f", "0", "-1"])?;
        client.ok_as("carol", &["read", "/attr/f", "0", "-1"])?;
        client.fails("bob", &["read", "/attr/f", "0", "-1"], "AccessControlException")?;
    }
    let c = &mut row.client;
    c.ok(&["removexattr", "/attr/f", "user.one"])?;
    c.fails(
        "",
        &["getxattr", "/attr/f", "user.one"],
        "IOException|RemoteException|XAttrNotFoundException",
    )?;
    c.ok(&["removeacl", "/attr/f"])?;
    c.gives(&["getacl", "/attr/f"], &[""])?;
    c.fails("alice", &["read", "/attr/f", "0", "-1"], "AccessControlException")?;
    c.ok(&["setpolicy", "/attr", "COLD"])?;
    row.everyone().try_for_each(|c| c.gives(&["getpolicy", "/attr/f"], &["COLD"]))
}

pub(super) fn quotas(row: &mut Row<impl Servers>) -> Outcome {
    row.client.ok(&["mkdir", "/quota/in"])?;
    row.put("/quota/in/f", 91, BLOCK + 5, 2)?;
    let used = (2 * (BLOCK + 5)).to_string();
    let (len, space) = ((BLOCK + 5).to_string(), (8 * BLOCK).to_string());
    row.client.ok(&["setquota", "/quota/in", "3", &space])?;
    for client in row.everyone() {
        client.gives(&["summary", "/quota/in"], &[&len, "1", "1", "3", &used, &space])?;
        client.gives(&["quota", "/quota/in"], &["2", "3", &used, &space])?;
    }
    row.client.ok(&["mkdir", "/quota/in/one"])?;
    row.client.fails("", &["mkdir", "/quota/in/two"], "NSQuotaExceededException")?;
    row.client.ok(&["delete", "/quota/in/one", "true"])?;
    let block = BLOCK.to_string();
    let big = ["put", "/quota/in/big", &(4 * BLOCK).to_string(), "1", "3", &block];
    row.client.fails("", &big, "DSQuotaExceededException")?;
    // The failed writer may still hold the file: removing it is everybody's right.
    row.client.ok(&["delete", "/quota/in/big", "true"])?;
    row.client.ok(&["setquota", "/quota/in", "-1", "-1"])?;
    row.client.gives(&["summary", "/quota/in"], &[&len, "1", "1", "-1", &used, "-1"])
}
