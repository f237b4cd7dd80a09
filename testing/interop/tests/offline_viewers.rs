//! Apache's offline edits viewer reads a segment of ours that holds every operation.

use std::path::Path;
use std::time::Duration;
use zerohop_interop::{Outcome, java, programs, tools};
use zerohop_journal::{EditOp, op, samples};

/// A directory for a segment of `ops` and what the viewer makes of it.
fn segment(ops: &[EditOp]) -> Outcome<tempfile::TempDir> {
    let directory = tempfile::tempdir_in(tools::out()).map_err(|e| e.to_string())?;
    std::fs::write(directory.path().join("edits"), samples::segment(1, ops))
        .map_err(|e| e.to_string())?;
    Ok(directory)
}

fn as_xml(directory: &Path) -> Outcome<String> {
    programs::edits_as_xml(directory, &directory.join("edits"), &directory.join("edits.xml"))
}

#[test]
fn oev_reads_every_operation() {
    let xml = segment(&samples::all()).and_then(|directory| as_xml(directory.path())).unwrap();
    for (_, name) in op::OP_CODES {
        assert_eq!(xml.matches(&format!("<OPCODE>{name}</OPCODE>")).count(), 1, "{name}");
    }
    for text in [
        format!("<PATH>{}</PATH>", samples::ODD_PATH.replace('\u{1f600}', "&#128512;")),
        "<RPC_CLIENTID>30313233-3435-3637-3839-616263646566</RPC_CLIENTID>".to_owned(),
        "<RENEWER>yarn</RENEWER>".to_owned(),
        "<MAXRELATIVEEXPIRY>2305843009213693951</MAXRELATIVEEXPIRY>".to_owned(),
        "<STORAGETYPE>1</STORAGETYPE>".to_owned(),
    ] {
        assert!(xml.contains(&text), "no {text} in\n{xml}");
    }
}

/// What the viewer writes from its own XML is our segment, byte for byte, where the viewer can: it
/// does not write the obsolete quotas, loses a new file's extended attributes and storage policy,
/// and cannot read a truncated block back.
#[test]
fn oev_writes_our_bytes_back() {
    let mut ops = samples::all();
    ops.retain(|op| !matches!(op, EditOp::SetNsQuota(_) | EditOp::ClearNsQuota(_)));
    for op in &mut ops {
        match op {
            EditOp::Add(add) => {
                add.xattrs.clear();
                add.storage_policy_id = 0;
            }
            EditOp::Truncate(truncate) => truncate.block = None,
            _ => {}
        }
    }
    let directory = segment(&ops).unwrap();
    as_xml(directory.path()).unwrap();
    let name = |name: &str| directory.path().join(name).display().to_string();
    let class = "org.apache.hadoop.hdfs.tools.offlineEditsViewer.OfflineEditsViewer";
    let (from, to) = (name("edits.xml"), name("edits.back"));
    let args = ["-i", &from, "-o", &to, "-p", "binary"];
    let finished = java::run(class, &args, directory.path(), Duration::from_secs(60));
    finished.and_then(|finished| finished.ok("oev")).unwrap();
    let ours = std::fs::read(directory.path().join("edits")).unwrap();
    let back = std::fs::read(to).unwrap();
    let at = ours.iter().zip(&back).position(|(a, b)| a != b);
    assert!(ours == back, "they differ at byte {at:?} of {} and {}", ours.len(), back.len());
}

/// Our viewer writes what Apache's does, of a segment with every operation.
#[test]
fn our_edits_viewer_writes_what_apaches_does() {
    let directory = segment(&samples::all()).unwrap();
    let theirs = as_xml(directory.path()).unwrap();
    let edits = directory.path().join("edits").display().to_string();
    let ours = |processor: &str| {
        let mut command = std::process::Command::new(tools::zerohop().unwrap());
        let output =
            command.args(["oev", "-i", &edits, "-o", "-", "-p", processor]).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    // The blanks between elements depend on the JDK.
    let elements = |xml: &str| -> Vec<String> {
        xml.split_inclusive('>').map(|part| part.trim_start().to_owned()).collect()
    };
    let (ours_xml, theirs) = (elements(&ours("xml")), elements(&theirs));
    let differs = ours_xml.iter().zip(&theirs).position(|(a, b)| a != b);
    let near = differs.map(|at| {
        let range = at.saturating_sub(6)..at + 2;
        (ours_xml.get(range.clone()), theirs.get(range))
    });
    assert!(near.is_none() && ours_xml.len() == theirs.len(), "{near:?}");

    let counts = directory.path().join("stats").display().to_string();
    let class = "org.apache.hadoop.hdfs.tools.offlineEditsViewer.OfflineEditsViewer";
    let args = ["-i", &edits, "-o", &counts, "-p", "stats"];
    let finished = java::run(class, &args, directory.path(), Duration::from_secs(60));
    finished.and_then(|finished| finished.ok("oev")).unwrap();
    assert_eq!(ours("stats"), std::fs::read_to_string(counts).unwrap());
}
