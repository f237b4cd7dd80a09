//! Every public async method of the client is polled, dropped and called again, outside any runtime: nothing is left of the
//! call that was given up, or the next one waits for its end.

use std::collections::BTreeSet;
use std::sync::Arc;

use zerohop_client::{CreateOptions, ErrorKind, FileSystem, Result};
use zerohop_conf::Conf;
use zerohop_interop::cluster::{Cluster, Spec};
use zerohop_interop::given_up::{are_all, give_up, public_async_methods, wait};
use zerohop_interop::harm::{SETTLE, over};
use zerohop_interop::{Kind, Outcome, site, tools};

use crate::{file_system, files};

/// After so many polls a call is dropped: before anything was sent, while an answer is awaited, later.
pub const POLLS: [usize; 3] = [1, 2, 5];

/// What a file has.
pub const TEXT: &[u8] = b"given up";

/// A directory for one call: a file `f`, a file `g`, a directory `d`.
pub struct Place {
    pub fs: FileSystem,
    pub conf: Conf,
    pub directory: String,
}

impl Place {
    pub fn path(&self, name: &str) -> String {
        format!("{}/{name}", self.directory)
    }

    fn below(&self, name: &str) -> Result<Arc<Self>> {
        let (fs, conf) = (self.fs.clone(), self.conf.clone());
        let place = Self { fs, conf, directory: self.path(name) };
        wait(async {
            place.fs.mkdirs(&place.path("d")).await?;
            for name in ["f", "g"] {
                let options = CreateOptions::default().replication(Some(1));
                let mut file = place.fs.create(&place.path(name), options).await?;
                file.write(TEXT).await?;
                file.close().await?;
            }
            Ok(Arc::new(place))
        })
    }
}

/// How a call ends that is made again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Again {
    /// As if the first one had not been.
    Succeeds,
    /// It may also be refused, because the first one was carried out; not for a lease that the first one left.
    MayBeRefused,
    /// The call gives up another one, of an open file or a listing, and asks that again.
    Inside,
}

pub type Call = Box<dyn Fn(Arc<Place>) -> files::Doing>;

/// A method, and a call of it.
pub struct Case {
    pub method: &'static str,
    pub again: Again,
    pub call: Call,
}

impl Case {
    fn check(&self, place: &Place, polls: usize) -> Outcome {
        let doing = format!("{} after {polls} poll(s)", self.method);
        let name = format!("{}-{polls}", self.method.replace("::", "-"));
        let place = place.below(&name).map_err(|e| format!("{doing}: {e}"))?;
        if self.again != Again::Inside {
            // One that has ended by then tells nothing.
            _ = give_up((self.call)(Arc::clone(&place)), polls);
        }
        match wait((self.call)(place)) {
            Ok(()) => Ok(()),
            Err(error)
                if self.again == Again::MayBeRefused
                    && error.java_class().is_some()
                    && error.kind() != ErrorKind::Fenced =>
            {
                Ok(())
            }
            Err(error) => Err(format!("{doing}: {:?}: {error}", error.kind())),
        }
    }
}

/// The client's other files keep its leases: what a call has left is open for good.
fn no_file_is_open(fs: &FileSystem) -> Outcome {
    let mut open = Vec::new();
    zerohop_interop::wait::until("all files are closed", SETTLE, || {
        let (left, _) = wait(fs.open_files("/", 0)).map_err(|error| error.to_string())?;
        open = left.into_iter().map(|file| file.path).collect();
        if open.is_empty() { Ok(true) } else { Err(format!("{open:?}")) }
    })
}

fn polled_and_dropped(kind: Kind) {
    let name = format!("given-up-{kind:?}").to_lowercase();
    let settings = site::settings(&[("dfs.namenode.acls.enabled", "true")]);
    let spec = Spec { name: &name, namenode: kind, datanodes: kind, count: 2, settings };
    over(Cluster::start(&spec), |cluster| {
        let conf = Conf::load(cluster.conf()).map_err(|error| error.to_string())?;
        let fs = FileSystem::connect(&conf, None).map_err(|error| error.to_string())?;
        let place = Place { fs: fs.clone(), conf, directory: String::new() };
        let cases: Vec<Case> = file_system::cases().into_iter().chain(files::cases()).collect();
        let covered: BTreeSet<String> = cases.iter().map(|case| case.method.to_owned()).collect();
        are_all(&covered, &public_async_methods(&tools::root().join("crates/client/src"))?)?;
        for case in &cases {
            let once = [0];
            for polls in if case.again == Again::Inside { once.iter() } else { POLLS.iter() } {
                case.check(&place, *polls)?;
            }
        }
        no_file_is_open(&fs)
    });
}

#[test]
fn every_async_method_on_ours() {
    polled_and_dropped(Kind::Ours);
}

#[test]
fn every_async_method_on_apaches() {
    polled_and_dropped(Kind::Apache);
}
