//! What is wrong with a path: nothing is there, something else is in the way, or no inode may have it.

use super::lease::LeasedFile;
use thiserror::Error;

/// Nothing is where an operation needs something.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
#[allow(missing_docs)]
pub enum NotFound {
    #[error("File does not exist: {path}")]
    File { path: String },
    /// A file that a client says it writes.
    #[error("File does not exist: {file}")]
    Leased { file: LeasedFile },
    /// Something is there, and it is no file.
    #[error("Path is not a file: {path}")]
    NotAFile { path: String },
    #[error("Directory does not exist: {path}")]
    Directory { path: String },
    #[error("File/Directory does not exist: {path}")]
    FileOrDirectory { path: String },
    /// `FSDirectory.resolveLastINode`
    #[error("cannot find {path}")]
    LastInode { path: String },
    /// `FSDirectory.checkOwner`
    #[error("Directory/File does not exist {path}")]
    Owned { path: String },
    /// The path whose times are set.
    #[error("File/Directory {path} does not exist.")]
    Timed { path: String },
    /// The path that an access is checked at.
    #[error("Path not found: {path}")]
    Accessed { path: String },
    /// One of the directories of a batched listing.
    #[error("Path {path} does not exist")]
    Listed { path: String },
    #[error("Parent directory doesn't exist: {path}")]
    Parent { path: String },
    #[error("Can't overwrite non-existent {path}")]
    Overwritten { path: String },
    #[error("Failed to append to non-existent file {path} for client {client_host}")]
    Appended { path: String, client_host: String },
    #[error("rename source {path} is not found.")]
    RenameSource { path: String },
    #[error("rename destination parent {path} not found.")]
    RenameParent { path: String },
    /// The path that an edit names.
    #[error("{path} does not exist")]
    OfEdit { path: String },
    /// A path below `/.reserved/.inodes` without a number.
    #[error("Invalid inode path: {path}")]
    InodePath { path: String },
    /// A path below `/.reserved/.inodes` with the number of no inode.
    #[error("File for given inode path does not exist: {path}")]
    InodeNumber { path: String },
}

/// Something is where an operation puts something new.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
#[allow(missing_docs)]
pub enum AlreadyExists {
    #[error("{path} for client {client_host} already exists")]
    File { path: String, client_host: String },
    #[error("{path} already exists as a directory")]
    Directory { path: String },
    #[error("Cannot append to directory {path}; already exists as a directory.")]
    AppendedDirectory { path: String },
    /// A file is where a directory is to be made.
    #[error("Path is not a directory: {path}")]
    FileForDirectory { path: String },
    /// A file is where the directory of a new inode should be.
    #[error("Parent path is not a directory: {parent} {name}")]
    FileForParent { parent: String, name: String },
    #[error("rename destination {path} already exists")]
    RenameDestination { path: String },
    #[error("The source {path} and destination {destination} are the same")]
    RenameToItself { path: String, destination: String },
    #[error("Cannot rename symlink {path} to its target {target}")]
    RenameToTarget { path: String, target: String },
}

/// A file is where a directory is needed.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
#[allow(missing_docs)]
pub enum NotADirectory {
    /// On the way to a path.
    #[error("{path} (is not a directory)")]
    Ancestor { path: String },
    #[error("Parent path is not a directory: {path}")]
    Parent { path: String },
    #[error("rename destination parent {path} is a file.")]
    RenameParent { path: String },
    /// At the path itself.
    #[error("`{path}': Is not a directory")]
    Path { path: String },
}

impl NotADirectory {
    /// The path of the file.
    pub(crate) fn into_path(self) -> String {
        match self {
            Self::Ancestor { path }
            | Self::Parent { path }
            | Self::RenameParent { path }
            | Self::Path { path } => path,
        }
    }
}

/// A path at which an operation is refused, whether an inode is there or not.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
#[allow(missing_docs)]
pub enum PathError {
    #[error("Absolute path required, but got '{path}'")]
    NotAbsolute { path: String },
    #[error("Invalid path name {path}")]
    Invalid { path: String },
    #[error("Invalid path name Invalid file name: {path}")]
    InvalidFileName { path: String },
    #[error("Invalid path name Cannot rename to or from /.reserved")]
    RenameOfReserved,
    #[error(
        "File name \"{name}\" is reserved and cannot be created. If this is during upgrade change the name of the existing \
         file or directory to another name before upgrading to the new release."
    )]
    ReservedName { name: String },
    #[error("\".snapshot\" is a reserved name.")]
    SnapshotName,
    #[error("{operation}: Pathname too long.  Limit {len_max} characters, {depth_max} levels.")]
    TooLong { operation: &'static str, len_max: usize, depth_max: usize },
    #[error(
        "The maximum path component name limit of {name} in directory {directory} is exceeded: limit={limit} length={len}"
    )]
    ComponentTooLong { name: String, directory: String, limit: usize, len: usize },
    #[error("`{path} is non empty': Directory is not empty")]
    NotEmpty { path: String },
    /// The path is a symbolic link, which the client has to follow.
    #[error("{target}")]
    Symlink { target: String },
    #[error("Path {path} is not a symbolic link")]
    NotASymlink { path: String },
    /// A listing cannot continue after an inode that is gone.
    #[error("Can't find startAfter {path}")]
    StartAfter { path: String },
}

/// What a rename refuses besides what [`NotFound`], [`AlreadyExists`] and [`NotADirectory`] say.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
#[allow(missing_docs)]
pub enum RenameError {
    #[error("rename source cannot be the root")]
    SourceIsRoot,
    #[error("rename destination cannot be the root")]
    DestinationIsRoot,
    #[error("Rename destination {destination} is a directory or file under source {path}")]
    IntoItself { path: String, destination: String },
    #[error("Source {path} and destination {destination} must both be directories")]
    KindsDiffer { path: String, destination: String },
    #[error("rename destination directory is not empty: {path}")]
    NotEmpty { path: String },
}
