//! The trash emptier of the active NameNode, as Apache Hadoop's `TrashPolicyDefault.Emptier` works.
//!
//! A client moves what it deletes to `/user/NAME/.Trash/Current`. At each multiple of the checkpoint interval the emptier
//! deletes the checkpoints of every user that are older than the deletion interval. Then it renames `Current` to a
//! checkpoint, whose name is the local time: `yyMMddHHmmss`.

use crate::call_error::CallError;
use crate::core::Core;
use crate::service::{Caller, ClientService, Outcome, http_context};
use crate::trash_policy::TrashPolicy;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp, ToSpan, Zoned};
use std::convert::Infallible;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;
use zerohop_namespace::{Error as NamespaceError, FileStatus, RenameOptions};
use zerohop_system::clock;
use zerohop_wire::CallerIdentity;

/// The directory below a trash root that clients move what they delete to.
const CURRENT: &str = "Current";

/// The name of a trash root below a home directory.
const TRASH: &str = ".Trash";

/// The name of a checkpoint.
const CHECKPOINT: &str = "%y%m%d%H%M%S";

/// Other names that the emptier tries for a checkpoint whose name is taken.
const SUFFIX_MAX: usize = 1000;

/// Years before now of the earliest date that two digits of a year can mean, as in Java's `SimpleDateFormat`.
const CENTURY_START_YEARS: i16 = 80;

/// Empties the trash at each multiple of the checkpoint interval; never ends by itself.
pub(crate) async fn run(core: Arc<Core>, policy: TrashPolicy) -> Infallible {
    tracing::info!(
        "Namenode trash configuration: Deletion interval = {} minutes, Emptier interval = {} minutes.",
        policy.keep.as_secs() / 60,
        policy.interval.as_secs() / 60
    );
    let interval_ms = (policy.interval.as_millis() as u64).max(1);
    loop {
        let now_ms = core.clock.now().wall_ms;
        let end_ms = (now_ms / interval_ms + 1).saturating_mul(interval_ms);
        clock::sleep(Duration::from_millis(end_ms - now_ms)).await;
        let now_ms = core.clock.now().wall_ms;
        // The clock may have stepped back.
        if now_ms >= end_ms {
            let emptier = Emptier { core: &core, policy: &policy, now: local(now_ms) };
            emptier.empty().await;
        }
    }
}

fn local(wall_ms: u64) -> Zoned {
    let since_1970 = SignedDuration::from_millis(i64::try_from(wall_ms).unwrap_or(i64::MAX));
    Timestamp::from_duration(since_1970).unwrap_or(Timestamp::MAX).to_zoned(TimeZone::system())
}

/// One run of the emptier.
struct Emptier<'a> {
    core: &'a Arc<Core>,
    policy: &'a TrashPolicy,
    now: Zoned,
}

impl Emptier<'_> {
    /// Deletes old checkpoints and makes new ones, in the trash of every user. A user's trash that cannot be emptied is left
    /// for the next run.
    async fn empty(&self) {
        let homes = match self.list(&self.policy.homes).await {
            Ok(homes) => homes,
            Err(error) => {
                return tracing::warn!("cannot list {} for the trash: {error}", self.policy.homes);
            }
        };
        for home in homes.iter().filter(|home| home.is_dir()) {
            let root = child(&child(&self.policy.homes, &home.path), TRASH);
            if let Err(error) = self.empty_root(&root).await {
                tracing::warn!("Trash caught: {error}. Skipping {root}.");
            }
        }
    }

    async fn empty_root(&self, root: &str) -> Outcome<()> {
        if !self.exists(root).await? {
            return Ok(());
        }
        self.delete_checkpoints(root).await?;
        self.create_checkpoint(root).await
    }

    async fn delete_checkpoints(&self, root: &str) -> Outcome<()> {
        let keep = SignedDuration::try_from(self.policy.keep).unwrap_or(SignedDuration::MAX);
        for entry in self.list(root).await?.iter().filter(|entry| entry.path != CURRENT) {
            // If the root is a file, the listing has one entry without a name.
            let path =
                if entry.path.is_empty() { root.to_owned() } else { child(root, &entry.path) };
            let Some(made) = time_of_checkpoint(&entry.path, &self.now) else {
                if self.policy.cleans_roots {
                    tracing::warn!("Unexpected item in trash: {path}. Deleting.");
                    self.delete(&path).await?;
                } else {
                    tracing::warn!("Unexpected item in trash: {path}. Ignoring.");
                }
                continue;
            };
            if self.now.duration_since(&made) <= keep {
                continue;
            }
            if self.delete(&path).await? {
                tracing::info!("Deleted trash checkpoint: {path}");
            } else {
                tracing::warn!("Couldn't delete checkpoint: {path} Ignoring.");
            }
        }
        Ok(())
    }

    async fn create_checkpoint(&self, root: &str) -> Outcome<()> {
        let current = child(root, CURRENT);
        if !self.exists(&current).await? {
            return Ok(());
        }
        let base = child(root, &self.now.strftime(CHECKPOINT).to_string());
        for attempt in 0..=SUFFIX_MAX {
            let checkpoint = if attempt == 0 { base.clone() } else { format!("{base}-{attempt}") };
            match self.rename(&current, &checkpoint).await {
                Err(CallError::Namespace(NamespaceError::AlreadyExists(_))) => {}
                Err(error) => return Err(error),
                Ok(()) => {
                    tracing::info!("Created trash checkpoint: {checkpoint}");
                    return Ok(());
                }
            }
        }
        Err(CallError::Failed(format!("Failed to checkpoint trash: {base}-{SUFFIX_MAX}")))
    }
}

/// Calls of the NameNode's own user, in the audit log as Apache Hadoop has them.
impl Emptier<'_> {
    fn service(&self) -> ClientService<'_> {
        let user = &self.core.settings.namespace_params.superuser;
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        let context = http_context(CallerIdentity::simple(user.as_str(), None), address);
        let caller = Caller::of_call(self.core, context, Arc::new([]), "rpc");
        ClientService::new(self.core, caller)
    }

    /// Lists a directory; one that does not exist is empty.
    async fn list(&self, path: &str) -> Outcome<Vec<FileStatus>> {
        let (mut entries, mut after) = (Vec::<FileStatus>::new(), Vec::new());
        loop {
            let answer = self.service().reads().listing(path, &after, false);
            let Some(page) = answer.outcome().await? else { return Ok(entries) };
            let remaining = page.remaining;
            entries.extend(page.entries);
            match entries.last() {
                Some(last) if remaining > 0 => after = last.path.as_bytes().to_vec(),
                _ => return Ok(entries),
            }
        }
    }

    async fn exists(&self, path: &str) -> Outcome<bool> {
        let answer = self.service().reads().file_info(path);
        Ok(answer.outcome().await?.is_some())
    }

    async fn delete(&self, path: &str) -> Outcome<bool> {
        let answer = self.service().directories().delete(path, true);
        answer.outcome().await
    }

    async fn rename(&self, src: &str, dst: &str) -> Outcome<()> {
        let answer = self.service().directories().rename2(src, dst, RenameOptions::default());
        answer.outcome().await
    }
}

fn child(directory: &str, name: &str) -> String {
    format!("{}/{name}", directory.trim_end_matches('/'))
}

/// Returns the time in a checkpoint's name, or `None` for other names.
///
/// Java's `SimpleDateFormat` reads the name: `yyMMddHHmmss`, otherwise Hadoop 1's `yyMMddHHmm`. All fields but the last have two
/// digits, months and days may be too large, and what follows the digits does not count.
fn time_of_checkpoint(name: &str, now: &Zoned) -> Option<Zoned> {
    let digits = name.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(name.len());
    let digits = name.get(..digits)?;
    let field = |at: usize| digits.get(at..at + 2)?.parse::<i64>().ok();
    let (minute, second) = match digits.len() {
        9..=10 => (digits.get(8..)?.parse().ok()?, 0),
        11..=18 => (field(8)?, digits.get(10..)?.parse::<i64>().ok()?),
        _ => return None,
    };
    let start = now.year() - CENTURY_START_YEARS;
    let year = start - start % 100 + i16::try_from(field(0)?).ok()?;
    let year = if year < start { year + 100 } else { year };
    let date = Date::new(year, 1, 1).ok()?;
    let date = date.checked_add((field(2)? - 1).months()).ok()?;
    let date = date.checked_add((field(4)? - 1).days()).ok()?;
    let seconds = field(6)? * 3600 + minute * 60 + second;
    let time = date.at(0, 0, 0, 0).checked_add(SignedDuration::from_secs(seconds)).ok()?;
    // Of an hour that comes twice, as in Java, the second one: the first would make the checkpoint an hour older than it is.
    now.time_zone().to_ambiguous_zoned(time).later().ok()
}

#[cfg(test)]
#[path = "trash_test.rs"]
mod tests;
