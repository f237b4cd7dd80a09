//! Typed keys.

use std::marker::PhantomData;

/// What a number without suffix means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// A count, a switch, a text.
    Plain,
    /// Bytes; the suffixes k, m, g, t, p, e are powers of 1024.
    Bytes,
    /// Milliseconds; another unit may be named by its suffix.
    Millis,
    /// Seconds; another unit may be named by its suffix.
    Seconds,
    /// Minutes; another unit may be named by its suffix.
    Minutes,
}

/// A configuration key with its type, default and unit.
#[derive(Debug)]
pub struct Key<T> {
    /// Hadoop's name.
    pub name: &'static str,
    /// Hadoop's default; empty means that there is none.
    pub default: &'static str,
    /// What a number without suffix means.
    pub unit: Unit,
    /// One sentence on its purpose.
    pub doc: &'static str,
    value: PhantomData<fn() -> T>,
}

impl<T> Key<T> {
    /// A key; the table files are the place to make one.
    pub const fn new(
        name: &'static str,
        default: &'static str,
        unit: Unit,
        doc: &'static str,
    ) -> Self {
        Key { name, default, unit, doc, value: PhantomData }
    }
}

/// A row of the table of keys, without its type.
#[derive(Debug, Clone, Copy)]
pub struct KeyInfo {
    /// The name of its constant in [`crate::keys`].
    pub constant: &'static str,
    /// Hadoop's name.
    pub name: &'static str,
    /// Hadoop's default; empty means that there is none.
    pub default: &'static str,
    /// The Rust type of the value.
    pub kind: &'static str,
    /// What a number without suffix means.
    pub unit: Unit,
    /// One sentence on its purpose.
    pub doc: &'static str,
}

/// Makes the constants of a table file and `TABLE`, the list of its rows.
macro_rules! keys {
    ($( #[doc = $doc:literal] $constant:ident : $kind:ty = $name:literal, $default:literal, $unit:ident; )*) => {
        $(
            #[doc = $doc]
            pub const $constant: $crate::Key<$kind> =
                $crate::Key::new($name, $default, $crate::Unit::$unit, $doc);
        )*
        /// The rows of this file.
        pub(crate) const TABLE: &[$crate::KeyInfo] = &[
            $( $crate::KeyInfo {
                constant: stringify!($constant),
                name: $name,
                default: $default,
                kind: stringify!($kind),
                unit: $crate::Unit::$unit,
                doc: $doc,
            }, )*
        ];
    };
}
pub(crate) use keys;
