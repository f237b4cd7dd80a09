//! Paths, renames and joins.

use super::{check, path};
use crate::error::{
    AlreadyExists, ConcatError, LeasedFile, NotADirectory, NotFound, PathError, RenameError,
};
use zerohop_wire::{InodeId, JavaException};

#[test]
fn what_is_not_there() {
    let absent = |holder: Option<&str>, open_files| {
        let holder = holder.map(str::to_owned);
        LeasedFile { path: path(), id: InodeId(7), holder, open_files }
    };
    check(
        JavaException::FileNotFound,
        [
            (NotFound::File { path: path() }.into(), "File does not exist: /d/f"),
            (
                NotFound::Leased { file: absent(None, None) }.into(),
                "File does not exist: /d/f (inode 7) Holder null does not have any open files.",
            ),
            (
                NotFound::Leased { file: absent(Some("c"), Some(2)) }.into(),
                "File does not exist: /d/f (inode 7) [Lease.  Holder: c, pending creates: 2]",
            ),
            (NotFound::NotAFile { path: path() }.into(), "Path is not a file: /d/f"),
            (NotFound::Directory { path: path() }.into(), "Directory does not exist: /d/f"),
            (
                NotFound::FileOrDirectory { path: path() }.into(),
                "File/Directory does not exist: /d/f",
            ),
            (NotFound::LastInode { path: path() }.into(), "cannot find /d/f"),
            (NotFound::Owned { path: path() }.into(), "Directory/File does not exist /d/f"),
            (NotFound::Timed { path: path() }.into(), "File/Directory /d/f does not exist."),
            (NotFound::Accessed { path: path() }.into(), "Path not found: /d/f"),
            (NotFound::Listed { path: path() }.into(), "Path /d/f does not exist"),
            (NotFound::Parent { path: path() }.into(), "Parent directory doesn't exist: /d/f"),
            (NotFound::Overwritten { path: path() }.into(), "Can't overwrite non-existent /d/f"),
            (
                NotFound::Appended { path: path(), client_host: "10.0.0.1".to_owned() }.into(),
                "Failed to append to non-existent file /d/f for client 10.0.0.1",
            ),
            (NotFound::RenameSource { path: path() }.into(), "rename source /d/f is not found."),
            (
                NotFound::RenameParent { path: path() }.into(),
                "rename destination parent /d/f not found.",
            ),
            (NotFound::OfEdit { path: path() }.into(), "/d/f does not exist"),
            (NotFound::InodePath { path: path() }.into(), "Invalid inode path: /d/f"),
            (
                NotFound::InodeNumber { path: path() }.into(),
                "File for given inode path does not exist: /d/f",
            ),
        ],
    );
}

#[test]
fn what_is_there_already() {
    check(
        JavaException::FileAlreadyExists,
        [
            (
                AlreadyExists::File { path: path(), client_host: "10.0.0.1".to_owned() }.into(),
                "/d/f for client 10.0.0.1 already exists",
            ),
            (
                AlreadyExists::Directory { path: path() }.into(),
                "/d/f already exists as a directory",
            ),
            (
                AlreadyExists::AppendedDirectory { path: path() }.into(),
                "Cannot append to directory /d/f; already exists as a directory.",
            ),
            (
                AlreadyExists::FileForDirectory { path: path() }.into(),
                "Path is not a directory: /d/f",
            ),
            (
                AlreadyExists::FileForParent { parent: path(), name: "x".to_owned() }.into(),
                "Parent path is not a directory: /d/f x",
            ),
            (
                AlreadyExists::RenameDestination { path: path() }.into(),
                "rename destination /d/f already exists",
            ),
            (
                AlreadyExists::RenameToItself { path: path(), destination: "/d/f/".to_owned() }
                    .into(),
                "The source /d/f and destination /d/f/ are the same",
            ),
            (
                AlreadyExists::RenameToTarget { path: path(), target: "/t".to_owned() }.into(),
                "Cannot rename symlink /d/f to its target /t",
            ),
        ],
    );
}

#[test]
fn paths_that_are_refused() {
    use JavaException as Java;
    check(
        Java::ParentNotDirectory,
        [
            (NotADirectory::Ancestor { path: path() }.into(), "/d/f (is not a directory)"),
            (NotADirectory::Parent { path: path() }.into(), "Parent path is not a directory: /d/f"),
            (
                NotADirectory::RenameParent { path: path() }.into(),
                "rename destination parent /d/f is a file.",
            ),
        ],
    );
    let not_directory = NotADirectory::Path { path: path() };
    check(Java::PathIsNotDirectory, [(not_directory.into(), "`/d/f': Is not a directory")]);
    check(
        Java::Assertion,
        [(
            PathError::NotAbsolute { path: "a".to_owned() }.into(),
            "Absolute path required, but got 'a'",
        )],
    );
    check(
        Java::InvalidPath,
        [
            (PathError::Invalid { path: path() }.into(), "Invalid path name /d/f"),
            (
                PathError::InvalidFileName { path: path() }.into(),
                "Invalid path name Invalid file name: /d/f",
            ),
            (
                PathError::RenameOfReserved.into(),
                "Invalid path name Cannot rename to or from /.reserved",
            ),
        ],
    );
    check(
        Java::HadoopIllegalArgument,
        [
            (
                PathError::ReservedName { name: ".reserved".to_owned() }.into(),
                "File name \".reserved\" is reserved and cannot be created. If this is during upgrade change the name of \
                 the existing file or directory to another name before upgrading to the new release.",
            ),
            (PathError::SnapshotName.into(), "\".snapshot\" is a reserved name."),
        ],
    );
    let (operation, len_max, depth_max) = ("create", 8000, 1000);
    check(
        Java::Io,
        [
            (
                PathError::TooLong { operation, len_max, depth_max }.into(),
                "create: Pathname too long.  Limit 8000 characters, 1000 levels.",
            ),
            (PathError::NotASymlink { path: path() }.into(), "Path /d/f is not a symbolic link"),
        ],
    );
    let (name, directory) = ("x".to_owned(), "/d".to_owned());
    check(
        Java::PathComponentTooLong,
        [(
            PathError::ComponentTooLong { name, directory, limit: 0, len: 1 }.into(),
            "The maximum path component name limit of x in directory /d is exceeded: limit=0 length=1",
        )],
    );
    let not_empty = PathError::NotEmpty { path: path() };
    check(
        Java::PathIsNotEmptyDirectory,
        [(not_empty.into(), "`/d/f is non empty': Directory is not empty")],
    );
    check(Java::UnresolvedPath, [(PathError::Symlink { target: "/t".to_owned() }.into(), "/t")]);
    let start_after = PathError::StartAfter { path: path() };
    check(
        Java::DirectoryListingStartAfterNotFound,
        [(start_after.into(), "Can't find startAfter /d/f")],
    );
}

#[test]
fn renames_and_joins_that_are_refused() {
    let (to, target) = ("/t".to_owned(), "/t".to_owned());
    check(
        JavaException::Io,
        [
            (RenameError::SourceIsRoot.into(), "rename source cannot be the root"),
            (RenameError::DestinationIsRoot.into(), "rename destination cannot be the root"),
            (
                RenameError::IntoItself { path: path(), destination: to.clone() }.into(),
                "Rename destination /t is a directory or file under source /d/f",
            ),
            (
                RenameError::KindsDiffer { path: path(), destination: to }.into(),
                "Source /d/f and destination /t must both be directories",
            ),
            (
                RenameError::NotEmpty { path: path() }.into(),
                "rename destination directory is not empty: /d/f",
            ),
            (
                ConcatError::ReservedPath { path: path() }.into(),
                "Concat operation doesn't support .reserved relative path : /d/f",
            ),
        ],
    );
    check(
        JavaException::IllegalArgument,
        [
            (ConcatError::NoTarget.into(), "Target file name is empty"),
            (ConcatError::NoSources.into(), "No sources given"),
        ],
    );
    check(
        JavaException::HadoopIllegalArgument,
        [
            (
                ConcatError::TargetOpen { path: path() }.into(),
                "concat: target file /d/f is under construction",
            ),
            (
                ConcatError::OtherDirectory { path: path(), target: target.clone() }.into(),
                "Source file /d/f is not in the same directory with the target /t",
            ),
            (
                ConcatError::SourceIsTarget { path: path(), target }.into(),
                "concat: the src file /d/f is the same with the target file /t",
            ),
            (
                ConcatError::SourceTwice.into(),
                "concat: at least two of the source files are the same",
            ),
            (
                ConcatError::EmptyOrOpen { path: path() }.into(),
                "concat: source file /d/f is invalid or empty or underConstruction",
            ),
            (
                ConcatError::LargerBlocks { path: path(), block_size: 2, target_block_size: 1 }
                    .into(),
                "concat: source file /d/f has preferred block size 2 which is greater than the target file's preferred \
                 block size 1",
            ),
        ],
    );
}
