//! What images and logs tell of and nothing here obeys: refused by name, with what to do.

use crate::world::{World, empty, kind};
use zerohop_journal::EditOp;
use zerohop_journal::image::{ImageReader, ImageWriter, SectionName};
use zerohop_journal::op;
use zerohop_namespace::{Namespace, XAttr, XAttrNamespace};
use zerohop_proto::hdfs::fsimage::{
    INodeSection, NameSystemSection, SecretManagerSection, SnapshotSection, StringTableSection,
    i_node_section as inode, secret_manager_section, string_table_section,
};
use zerohop_wire::{InodeId, JavaException, TxId};

/// An image of a root directory, and what else a test puts in.
#[derive(Default)]
struct Image {
    counters: NameSystemSection,
    xattr: Option<XAttr>,
    snapshots: SnapshotSection,
    /// Last days of tokens, beside one key.
    tokens: Vec<u64>,
    /// A change of the root directory's message.
    change: Option<fn(&mut inode::INode)>,
}

const NOW_MS: u64 = 1_000_000;

impl Image {
    fn load(self) -> Result<Namespace, String> {
        let mut bytes = Vec::new();
        let mut out = ImageWriter::new(&mut bytes);
        self.write(&mut out).unwrap();
        out.finish().unwrap();
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("fsimage_0000000000000000000");
        std::fs::write(&path, bytes).unwrap();
        let mut namespace = empty();
        match namespace.load_image(&ImageReader::open(&path).unwrap(), NOW_MS) {
            Ok(_) => Ok(namespace),
            Err(e) => Err(e.to_string()),
        }
    }

    fn write(self, out: &mut ImageWriter<'_>) -> std::io::Result<()> {
        out.message(&self.counters)?;
        out.end(SectionName::NsInfo).unwrap();
        let name = self.xattr.as_ref().map_or("none", |xattr| &xattr.name).to_owned();
        out.message(&StringTableSection { num_entry: Some(1), mask_bits: Some(0) })?;
        out.message(&string_table_section::Entry { id: Some(1), str: Some(name) })?;
        out.end(SectionName::StringTable).unwrap();
        let root = InodeId::ROOT.0;
        out.message(&INodeSection { last_inode_id: Some(root), num_inodes: Some(1) })?;
        let x_attrs = self.xattr.map(|xattr| {
            let namespace = xattr.namespace as u32;
            let name = (namespace & 3) << 30 | 1 << 6 | (namespace >> 2) << 5;
            let entry = inode::XAttrCompactProto { name, value: xattr.value };
            inode::XAttrFeatureProto { x_attrs: vec![entry] }
        });
        let directory = inode::INodeDirectory { x_attrs, ..Default::default() };
        let mut message = inode::INode {
            r#type: inode::i_node::Type::Directory as i32,
            id: root,
            directory: Some(directory),
            ..Default::default()
        };
        self.change.inspect(|change| change(&mut message));
        out.message(&message)?;
        out.end(SectionName::Inode).unwrap();
        out.message(&self.snapshots)?;
        out.end(SectionName::Snapshot).unwrap();
        out.message(&SecretManagerSection {
            current_id: Some(9),
            token_sequence_number: Some(7),
            num_keys: Some(1),
            num_tokens: Some(self.tokens.len() as u32),
        })?;
        out.message(&secret_manager_section::DelegationKey::default())?;
        for max_date in self.tokens {
            let max_date = Some(max_date);
            out.message(&secret_manager_section::PersistToken { max_date, ..Default::default() })?;
        }
        out.end(SectionName::SecretManager).unwrap();
        Ok(())
    }
}

fn xattr(namespace: XAttrNamespace, name: &str, value: &'static [u8]) -> XAttr {
    XAttr { namespace, name: name.into(), value: Some(value.into()) }
}

fn zone() -> XAttr {
    xattr(XAttrNamespace::Raw, "hdfs.crypto.encryption.zone", b"key")
}

fn striped() -> XAttr {
    xattr(XAttrNamespace::System, "hdfs.erasurecoding.policy", b"\0\0\0\x0cRS-6-3-1024k")
}

/// What is left of features that were used once, and are not any more.
#[test]
fn remains_are_taken() {
    let image = Image {
        snapshots: SnapshotSection { snapshot_counter: Some(3), ..Default::default() },
        tokens: vec![NOW_MS - 1, NOW_MS],
        xattr: Some(xattr(XAttrNamespace::Raw, "mine", b"")),
        ..Image::default()
    };
    image.load().unwrap();
}

#[test]
fn images_with_what_would_be_lost_are_refused() {
    let tokens = vec![NOW_MS + 1, NOW_MS, NOW_MS + 2];
    let allowed = SnapshotSection { snapshottable_dir: vec![16385], ..Default::default() };
    for (image, wanted) in [
        (Image { snapshots: allowed, ..Default::default() }, "directories that may have snapshots"),
        (Image { tokens, ..Default::default() }, "2 tokens of Kerberos clients"),
        (Image { xattr: Some(zone()), ..Default::default() }, "16385 needs encryption zones"),
        (Image { xattr: Some(striped()), ..Default::default() }, "16385 needs erasure coding"),
    ] {
        let refusal = image.load().map(drop).unwrap_err();
        assert!(refusal.contains(wanted) && refusal.contains("-saveNamespace"), "{refusal}");
    }
}

fn directory(message: &mut inode::INode) -> &mut inode::INodeDirectory {
    message.directory.as_mut().unwrap()
}

/// The loader used to replace or drop what it did not know. An owner became "", an attribute was gone, and a file without a
/// body became a directory.
#[test]
fn an_image_lost_information_silently() {
    type Change = fn(&mut inode::INode);
    let changes: [(Change, &str); 7] = [
        (|root| directory(root).permission = Some(9 << 40), "lacks: user 9"),
        (|root| directory(root).permission = Some(9 << 16), "lacks: group 9"),
        (
            |root| {
                let entries = vec![9 << 6 | 7];
                directory(root).acl = Some(inode::AclFeatureProto { entries });
            },
            "lacks: user 9",
        ),
        (
            |root| {
                let x_attrs = vec![inode::XAttrCompactProto { name: 9 << 6, value: None }];
                directory(root).x_attrs = Some(inode::XAttrFeatureProto { x_attrs });
            },
            "lacks: extended attribute 9",
        ),
        (
            |root| {
                let quota = inode::QuotaByStorageTypeEntryProto { storage_type: 77, quota: 1 };
                let quotas = vec![quota];
                directory(root).type_quotas =
                    Some(inode::QuotaByStorageTypeFeatureProto { quotas });
            },
            "unknown storage type 77",
        ),
        (|root| root.r#type = inode::i_node::Type::File as i32, "says that it is a File"),
        (|root| root.name = Some(b"\xff".to_vec().into()), "not UTF-8"),
    ];
    for (change, wanted) in changes {
        let refusal = Image { change: Some(change), ..Image::default() }.load().map(drop);
        let refusal = refusal.unwrap_err();
        assert!(refusal.contains(wanted) && refusal.contains("inode 16385"), "{refusal}");
    }
}

#[test]
fn edits_that_turn_on_what_is_not_obeyed_are_refused() {
    let mut world = World::new();
    world.mkdirs("/d");
    let info = xattr(XAttrNamespace::Raw, "hdfs.crypto.file.encryption.info", b"key");
    let set = |xattr| EditOp::from(op::SetXAttr { path: "/d".into(), xattrs: vec![xattr] });
    let add = op::Add {
        inode_id: InodeId(20_000),
        path: "/d/f".into(),
        xattrs: vec![info],
        ..op::Add::default()
    };
    for (edit, wanted) in [
        (set(zone()), "/d needs encryption zones"),
        (set(striped()), "/d needs erasure coding"),
        (add.into(), "/d/f needs encryption zones"),
    ] {
        let refusal = world.namespace.apply(TxId(9), &edit).unwrap_err().to_string();
        assert!(refusal.contains(wanted) && refusal.contains("-saveNamespace"), "{refusal}");
    }
    let replicated =
        xattr(XAttrNamespace::System, "hdfs.erasurecoding.policy", b"\0\0\0\x0breplication");
    world.namespace.apply(TxId(9), &set(replicated)).unwrap();
}

/// `distcp -px` below /.reserved/raw copies ciphertext together with such attributes.
#[test]
fn attributes_of_encryption_zones_cannot_be_set() {
    let mut world = World::new();
    world.mkdirs("/d");
    let root = world.root();
    let path = "/.reserved/raw/d";
    let refused = world.namespace.xattrs(&root).set_xattr(path, zone(), true, false);
    assert_eq!(kind(refused), JavaException::UnsupportedOperation);
    let mine = xattr(XAttrNamespace::Raw, "mine", b"");
    world.namespace.xattrs(&root).set_xattr(path, mine, true, false).unwrap();
}
