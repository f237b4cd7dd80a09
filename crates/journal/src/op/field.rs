//! How a field is written; an operation whose fields all know that is a plain declaration.

use crate::codec::{Reader, Writer};
use crate::error::DecodeError;
use crate::types::{PermissionStatus, StorageType};
use zerohop_wire::{BlockId, GenerationStamp, InodeId};

pub(super) type Result<T> = std::result::Result<T, DecodeError>;

/// An operation's fields behind the transaction id.
pub(super) trait Body: Sized {
    /// Whether the caller's ids follow.
    const RPC_IDS: bool;
    fn put(&self, out: &mut Writer<'_>);
    fn get(from: &mut Reader<'_>) -> Result<Self>;
}

impl<T: Body> Body for Box<T> {
    const RPC_IDS: bool = T::RPC_IDS;

    fn put(&self, out: &mut Writer<'_>) {
        T::put(self, out);
    }

    fn get(from: &mut Reader<'_>) -> Result<Self> {
        T::get(from).map(Box::new)
    }
}

/// A value with one way to be written.
pub(super) trait Field: Sized {
    fn put(&self, out: &mut Writer<'_>);
    fn get(from: &mut Reader<'_>) -> Result<Self>;
}

macro_rules! fields {
    ($($type:ty: |$value:ident, $out:ident| $put:expr, |$from:ident| $get:expr;)*) => {
        $(impl Field for $type {
            fn put(&self, $out: &mut Writer<'_>) {
                let $value = self;
                $put
            }
            fn get($from: &mut Reader<'_>) -> Result<Self> {
                $get
            }
        })*
    };
}

fields! {
    u8: |value, out| out.u8(*value), |from| from.u8();
    bool: |value, out| out.u8(u8::from(*value)), |from| Ok(from.u8()? != 0);
    i16: |value, out| out.i16(*value), |from| from.i16();
    i32: |value, out| out.i32(*value), |from| from.i32();
    i64: |value, out| out.i64(*value), |from| from.i64();
    String: |value, out| out.utf8(value), |from| from.utf8();
    BlockId: |value, out| out.i64(value.0), |from| from.i64().map(BlockId);
    GenerationStamp: |value, out| out.i64(value.0), |from| from.i64().map(GenerationStamp);
    InodeId: |value, out| out.i64(value.0 as i64), |from| from.i64().map(|id| InodeId(id as u64));
    StorageType: |value, out| out.i32(*value as i32), |from| storage_type(from.i32()?);
}

fn storage_type(ordinal: i32) -> Result<StorageType> {
    StorageType::from_ordinal(ordinal)
        .ok_or(DecodeError::Value { what: "storage type", value: ordinal.into() })
}

/// Mode bits, two bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Mode(pub u16);

fields! {
    Mode: |value, out| out.i16(value.0 as i16), |from| from.i16().map(|mode| Self(mode as u16));
    PermissionStatus: |value, out| {
        out.text(&value.user);
        out.text(&value.group);
        Mode(value.mode).put(out);
    }, |from| Ok(Self {
        user: from.text()?.into(),
        group: from.text()?.into(),
        mode: Mode::get(from)?.0,
    });
}

/// Declares operations whose fields are written one after another in the declared order;
/// `rpc` in front of the name says that the caller's ids follow.
macro_rules! plain_ops {
    () => {};
    ($(#[$doc:meta])* rpc $name:ident { $($fields:tt)* } $($rest:tt)*) => {
        plain_ops!(@one true; $(#[$doc])* $name { $($fields)* });
        plain_ops!($($rest)*);
    };
    ($(#[$doc:meta])* $name:ident { $($fields:tt)* } $($rest:tt)*) => {
        plain_ops!(@one false; $(#[$doc])* $name { $($fields)* });
        plain_ops!($($rest)*);
    };
    (@one $rpc:literal; $(#[$doc:meta])* $name:ident {
        $($(#[$field_doc:meta])* $field:ident: $type:ty,)*
    }) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq)]
        pub struct $name {
            $($(#[$field_doc])* pub $field: $type,)*
        }

        impl $crate::op::field::Body for $name {
            const RPC_IDS: bool = $rpc;

            fn put(&self, _out: &mut $crate::codec::Writer<'_>) {
                $($crate::op::field::Field::put(&self.$field, _out);)*
            }

            fn get(_from: &mut $crate::codec::Reader<'_>) -> $crate::op::field::Result<Self> {
                Ok(Self { $($field: $crate::op::field::Field::get(_from)?,)* })
            }
        }
    };
}
pub(super) use plain_ops;
