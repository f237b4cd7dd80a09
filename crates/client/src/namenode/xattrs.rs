//! Calls about extended attributes.

use super::proxy::NameNode;
use super::wire_path::wire_path;
use crate::error::{Error, Result};
use crate::types::{XAttr, XAttrFlags};
use bytes::Bytes;
use zerohop_proto::hdfs::*;

/// Extended attributes of paths, each by its full name (`user.color`).
pub(crate) struct XAttrs(pub(super) NameNode);

impl XAttrs {
    pub(crate) async fn set(
        &self,
        path: &str,
        name: &str,
        value: &[u8],
        flags: XAttrFlags,
    ) -> Result<()> {
        let value = (!value.is_empty()).then(|| Bytes::copy_from_slice(value));
        let attribute = XAttr { value, ..named(name)? };
        let request = SetXAttrRequestProto {
            src: wire_path(path)?,
            x_attr: Some((&attribute).into()),
            flag: Some(flags.bits()),
        };
        let _: SetXAttrResponseProto = self.0.call("setXAttr", &request).await?;
        Ok(())
    }

    /// All attributes with their values.
    pub(crate) async fn all(&self, path: &str) -> Result<Vec<XAttr>> {
        self.ask(path, Vec::new()).await
    }

    /// The value of one attribute.
    pub(crate) async fn get(&self, path: &str, name: &str) -> Result<Option<Bytes>> {
        let found = self.ask(path, vec![(&named(name)?).into()]).await?;
        Ok(found.into_iter().next().map(|attribute| attribute.value.unwrap_or_default()))
    }

    async fn ask(&self, path: &str, names: Vec<XAttrProto>) -> Result<Vec<XAttr>> {
        let request = GetXAttrsRequestProto { src: wire_path(path)?, x_attrs: names };
        let response: GetXAttrsResponseProto = self.0.call("getXAttrs", &request).await?;
        Ok(response.x_attrs.into_iter().map(Into::into).collect())
    }

    /// The names of all attributes.
    pub(crate) async fn list(&self, path: &str) -> Result<Vec<String>> {
        let request = ListXAttrsRequestProto { src: wire_path(path)? };
        let response: ListXAttrsResponseProto = self.0.call("listXAttrs", &request).await?;
        let found = response.x_attrs.into_iter().map(XAttr::from);
        Ok(found.map(|attribute| attribute.full_name()).collect())
    }

    pub(crate) async fn remove(&self, path: &str, name: &str) -> Result<()> {
        let name = named(name)?;
        let request =
            RemoveXAttrRequestProto { src: wire_path(path)?, x_attr: Some((&name).into()) };
        let _: RemoveXAttrResponseProto = self.0.call("removeXAttr", &request).await?;
        Ok(())
    }
}

/// An attribute without a value, by its full name.
fn named(full_name: &str) -> Result<XAttr> {
    XAttr::named(full_name).ok_or_else(|| {
        Error::invalid(
            "An XAttr name must be prefixed with user/trusted/security/system/raw, followed by a '.'",
        )
    })
}
