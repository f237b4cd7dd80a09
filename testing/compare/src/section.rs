//! The parts of the comparison, by name.

/// A part of the comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Section {
    /// Long files.
    Io,
    /// Reads that do not leave the machine.
    Local,
    /// hflush and hsync.
    Flush,
    /// Small files, by Apache's client on both.
    Small,
    /// The NameNodes under our load generator.
    Metadata,
    /// The NameNodes under Apache's load generator.
    Nnbench,
    /// A command of the shell as a whole process.
    Shell,
    /// put, get and cp.
    Copy,
    /// HttpFS and WebHDFS.
    Rest,
    /// HttpFS with gateways that read locally.
    RestLocal,
    /// A star schema in SQL.
    Star,
}

impl Section {
    /// All parts, in the order they run.
    pub const ALL: [Section; 11] = [
        Section::Io,
        Section::Local,
        Section::Flush,
        Section::Small,
        Section::Metadata,
        Section::Nnbench,
        Section::Shell,
        Section::Copy,
        Section::Rest,
        Section::RestLocal,
        Section::Star,
    ];

    /// Its name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Section::Io => "io",
            Section::Local => "local",
            Section::Flush => "flush",
            Section::Small => "small",
            Section::Metadata => "metadata",
            Section::Nnbench => "nnbench",
            Section::Shell => "shell",
            Section::Copy => "copy",
            Section::Rest => "rest",
            Section::RestLocal => "rest-local",
            Section::Star => "star",
        }
    }
}
