//! How a file system is connected.

use crate::configuration::of_environment;
use crate::failure::{EINTERNAL, Failure, Result, run, run_for_number};
use crate::handles::{Handles, hdfsFS};
use crate::hdfs_store::HdfsStore;
use crate::local_store::LocalStore;
use crate::store::{Connected, FILE_SYSTEMS, Store};
use crate::{tPort, text};
use parking_lot::Mutex;
use std::ffi::{c_char, c_int};
use std::ptr::null_mut;
use std::sync::{Arc, Weak};
use zerohop::FileSystem;
use zerohop_conf::Location;
use zerohop_system::process::PerProcess;

/// What a builder's pointer points to; never looked into.
pub struct hdfsBuilder {
    _private: [u8; 0],
}

/// What was set.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Wanted {
    /// None is this machine's own file system.
    name_node: Option<String>,
    port: tPort,
    user: Option<String>,
    settings: Vec<(String, String)>,
    is_new: bool,
}

/// What a builder stands for.
#[derive(Default)]
struct Builder {
    wanted: Wanted,
    /// What the first function that returns nothing could not set.
    failure: Option<Failure>,
}

static BUILDERS: Handles<Mutex<Builder>> = Handles::new("builder");

impl Wanted {
    /// Returns the URI, or `None` for fs.defaultFS, whose port counts: Hadoop ignores the one that is set.
    fn uri(&self) -> Result<Option<String>> {
        let name = self.name_node.as_deref().unwrap_or_default();
        if matches!(name, "default" | "") {
            return Ok(None);
        }
        let mut location = Location::parse(name);
        if location.scheme.is_none() {
            location = Location::parse(&format!("hdfs://{name}"));
        }
        let Some(place) = location.place() else { return Ok(None) };
        match (place.port(), self.port) {
            (_, 0) => Ok(Some(format!("hdfs://{place}"))),
            (None, port) => Ok(Some(format!("hdfs://{place}:{port}"))),
            (Some(_), port) => {
                Err(Failure::invalid(format!("{name} has a port, and port {port} is set")))
            }
        }
    }

    /// Returns `true` if this machine's own file system is meant.
    fn is_local(&self) -> bool {
        let name = self.name_node.as_deref();
        name.is_none_or(|name| Location::parse(name).has_scheme("file"))
    }

    fn is_known(&self) -> Result<()> {
        let name = self.name_node.as_deref().unwrap_or_default();
        match Location::parse(name).scheme {
            Some(scheme) if !scheme.eq_ignore_ascii_case("hdfs") => {
                Err(Failure::new(EINTERNAL, format!("No FileSystem for scheme \"{scheme}\"")))
            }
            _ => Ok(()),
        }
    }

    fn connect(&self) -> Result<Arc<dyn Store>> {
        if self.is_local() {
            return Ok(Arc::new(LocalStore::default()));
        }
        self.is_known()?;
        let mut conf = of_environment()?;
        for (key, value) in &self.settings {
            conf.set(key, value.as_str());
        }
        let mut builder = FileSystem::builder().conf(conf.clone());
        if let Some(uri) = self.uri()? {
            builder = builder.name_node(uri);
        } else if Location::parse(&conf.default_fs()?).has_scheme("file") {
            return Ok(Arc::new(LocalStore::default()));
        }
        if let Some(user) = &self.user {
            builder = builder.user(user.as_str());
        }
        let warnings = builder.take_warnings()?;
        if !warnings.is_empty() {
            zerohop_system::noteln!("libhdfs: {}", warnings.join("; "));
        }
        Ok(Arc::new(HdfsStore::new(builder.build_blocking()?, conf)))
    }
}

/// Clients that are shared: those of a process, by what was asked for.
type Shared = Mutex<Vec<(Wanted, Weak<dyn Store>)>>;

static SHARED: PerProcess<Shared> = PerProcess::new(Mutex::default);

/// The client that others use, or a new one. Unlike Java's, one that is disconnected stays for those who share it.
fn shared(wanted: &Wanted) -> Result<Arc<dyn Store>> {
    if wanted.is_new {
        return wanted.connect();
    }
    let mut shared = SHARED.get().lock();
    shared.retain(|(_, store)| store.strong_count() > 0);
    let found = shared.iter().find(|(known, _)| known == wanted);
    if let Some(store) = found.and_then(|(_, store)| store.upgrade()) {
        return Ok(store);
    }
    let store = wanted.connect()?;
    shared.push((wanted.clone(), Arc::downgrade(&store)));
    Ok(store)
}

fn connect(wanted: &Wanted) -> Result<hdfsFS> {
    Ok(FILE_SYSTEMS.add(Connected::new(shared(wanted)?)))
}

/// A builder; hdfsBuilderConnect() frees it.
#[unsafe(no_mangle)]
pub extern "C" fn hdfsNewBuilder() -> *mut hdfsBuilder {
    run(null_mut(), || Ok(BUILDERS.add(Mutex::new(Builder::default()))))
}

/// Sets for a function that returns nothing: the first failure is that of hdfsBuilderConnect().
fn set(bld: *mut hdfsBuilder, change: impl FnOnce(&mut Wanted) -> Result<()>) {
    run((), || {
        let builder = BUILDERS.get(bld)?;
        let mut builder = builder.lock();
        if let Err(failure) = change(&mut builder.wanted) {
            builder.failure.get_or_insert(failure);
        }
        Ok(())
    });
}

/// Asks for a client of its own, which is not shared with others.
#[unsafe(no_mangle)]
pub extern "C" fn hdfsBuilderSetForceNewInstance(bld: *mut hdfsBuilder) {
    set(bld, |wanted| {
        wanted.is_new = true;
        Ok(())
    });
}

/// Names the NameNode: a host, `host:port`, a name service, or a URI; `default` is fs.defaultFS, NULL this machine's own
/// file system.
///
/// # Safety
/// `nn` is NULL or a C string. It is copied.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hdfsBuilderSetNameNode(bld: *mut hdfsBuilder, nn: *const c_char) {
    set(bld, |wanted| {
        // SAFETY: as the caller promises.
        wanted.name_node = unsafe { text::optional(nn, "nn") }?.map(str::to_owned);
        Ok(())
    });
}

/// Sets the NameNode's port; 0 is the default one. `default` ignores it: the configuration names the port.
#[unsafe(no_mangle)]
pub extern "C" fn hdfsBuilderSetNameNodePort(bld: *mut hdfsBuilder, port: tPort) {
    set(bld, |wanted| {
        wanted.port = port;
        Ok(())
    });
}

/// Names the user; NULL is the process's, or HADOOP_USER_NAME.
///
/// # Safety
/// `userName` is NULL or a C string. It is copied.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hdfsBuilderSetUserName(bld: *mut hdfsBuilder, userName: *const c_char) {
    set(bld, |wanted| {
        // SAFETY: as the caller promises.
        wanted.user = unsafe { text::optional(userName, "userName") }?.map(str::to_owned);
        Ok(())
    });
}

/// Names the Kerberos ticket cache (`hadoop.security.kerberos.ticket.cache.path`).
///
/// # Safety
/// `kerbTicketCachePath` is NULL or a C string. It is copied.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hdfsBuilderSetKerbTicketCachePath(
    bld: *mut hdfsBuilder,
    kerbTicketCachePath: *const c_char,
) {
    set(bld, |wanted| {
        // SAFETY: as the caller promises.
        let path = unsafe { text::optional(kerbTicketCachePath, "kerbTicketCachePath") }?;
        let key = "hadoop.security.kerberos.ticket.cache.path".to_owned();
        wanted.settings.extend(path.map(|path| (key, path.to_owned())));
        Ok(())
    });
}

/// Sets a key of the configuration; NULL sets nothing. 0, or the number of the error.
///
/// # Safety
/// `key` and `val` are NULL or C strings. They are copied.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hdfsBuilderConfSetStr(
    bld: *mut hdfsBuilder,
    key: *const c_char,
    val: *const c_char,
) -> c_int {
    run_for_number(|| {
        // SAFETY: as the caller promises.
        let (key, val) = unsafe { (text::needed(key, "key")?, text::optional(val, "val")?) };
        let builder = BUILDERS.get(bld)?;
        let setting = val.map(|val| (key.to_owned(), val.to_owned()));
        builder.lock().wanted.settings.extend(setting);
        Ok(())
    })
}

/// Frees a builder that was not connected.
#[unsafe(no_mangle)]
pub extern "C" fn hdfsFreeBuilder(bld: *mut hdfsBuilder) {
    if !bld.is_null() {
        run((), || BUILDERS.take(bld).map(drop));
    }
}

/// Connects as a builder says, and frees it. NULL on an error, and where a name that was set is none: EINVAL.
#[unsafe(no_mangle)]
pub extern "C" fn hdfsBuilderConnect(bld: *mut hdfsBuilder) -> hdfsFS {
    run(null_mut(), || {
        let builder = BUILDERS.take(bld)?;
        let mut builder = builder.lock();
        match builder.failure.take() {
            Some(failure) => Err(failure),
            None => connect(&builder.wanted),
        }
    })
}

/// # Safety
/// `nn` and `user` are NULL or C strings.
unsafe fn connect_to(nn: *const c_char, port: tPort, user: *const c_char, is_new: bool) -> hdfsFS {
    run(null_mut(), || {
        // SAFETY: as the caller promises.
        let (nn, user) = unsafe { (text::optional(nn, "nn")?, text::optional(user, "user")?) };
        connect(&Wanted {
            name_node: nn.map(str::to_owned),
            port,
            user: user.map(str::to_owned),
            settings: Vec::new(),
            is_new,
        })
    })
}

/// Connects as a user; see hdfsBuilderSetNameNode() and hdfsBuilderSetUserName(). NULL on an error.
///
/// # Safety
/// `nn` and `user` are NULL or C strings.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hdfsConnectAsUser(
    nn: *const c_char,
    port: tPort,
    user: *const c_char,
) -> hdfsFS {
    // SAFETY: as the caller promises.
    unsafe { connect_to(nn, port, user, false) }
}

/// Connects as the user of the process. NULL on an error.
///
/// # Safety
/// `nn` is NULL or a C string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hdfsConnect(nn: *const c_char, port: tPort) -> hdfsFS {
    // SAFETY: as the caller promises.
    unsafe { connect_to(nn, port, std::ptr::null(), false) }
}

/// hdfsConnectAsUser() with a client of its own.
///
/// # Safety
/// `nn` and `user` are NULL or C strings.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hdfsConnectAsUserNewInstance(
    nn: *const c_char,
    port: tPort,
    user: *const c_char,
) -> hdfsFS {
    // SAFETY: as the caller promises.
    unsafe { connect_to(nn, port, user, true) }
}

/// hdfsConnect() with a client of its own.
///
/// # Safety
/// `nn` is NULL or a C string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hdfsConnectNewInstance(nn: *const c_char, port: tPort) -> hdfsFS {
    // SAFETY: as the caller promises.
    unsafe { connect_to(nn, port, std::ptr::null(), true) }
}

/// Closes a file system's handle, and completes the files that were opened with it for writing, whose own handles are
/// closed by hdfsCloseFile() afterwards. Files that are read stay open. 0, or -1 with errno, after which the handle is
/// closed, too.
#[unsafe(no_mangle)]
pub extern "C" fn hdfsDisconnect(fs: hdfsFS) -> c_int {
    run(-1, || {
        FILE_SYSTEMS.take(fs)?.disconnect()?;
        Ok(0)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::CString;

    #[test]
    fn the_port_is_said_once() {
        let uri = |name: &str, port| {
            Wanted { name_node: Some(name.to_owned()), port, ..Wanted::default() }.uri()
        };
        assert_eq!(uri("default", 0).unwrap(), None);
        assert_eq!(uri("nn", 0).unwrap().as_deref(), Some("hdfs://nn"));
        assert_eq!(uri("nn", 8020).unwrap().as_deref(), Some("hdfs://nn:8020"));
        assert_eq!(uri("hdfs://nn:8020/", 0).unwrap().as_deref(), Some("hdfs://nn:8020"));
        assert_eq!(uri("hdfs://[::1]", 1).unwrap().as_deref(), Some("hdfs://[::1]:1"));
        assert!(uri("nn:8020", 8020).is_err());
        // The port beside "default" used to be an error, and pyarrow's own default is such a port.
        assert_eq!(uri("default", 8020).unwrap(), None);
        for name in ["hdfs:///", "hdfs:/", "hdfs:///p"] {
            assert_eq!(uri(name, 0).unwrap(), None, "{name}");
        }
        for name in ["alice@nn", "hdfs://alice@nn/p", "HDFS://nn"] {
            assert_eq!(uri(name, 9).unwrap().as_deref(), Some("hdfs://nn:9"), "{name}");
        }
    }

    #[test]
    fn clients_are_shared_and_a_handle_is_closed_once() {
        let wanted = Wanted { name_node: Some("nn".to_owned()), ..Wanted::default() };
        let (one, two) = (connect(&wanted).unwrap(), connect(&wanted).unwrap());
        let store = |fs| Arc::as_ptr(&FILE_SYSTEMS.get(fs).unwrap().store).cast::<u8>();
        assert_eq!(store(one), store(two));
        let own = connect(&Wanted { is_new: true, ..wanted }).unwrap();
        assert_ne!(store(one), store(own));
        assert_eq!(
            (hdfsDisconnect(one), hdfsDisconnect(one), hdfsDisconnect(null_mut())),
            (0, -1, -1)
        );
        assert_eq!(store(two), store(two));
        assert_eq!((hdfsDisconnect(two), hdfsDisconnect(own)), (0, 0));
    }

    /// The files of a handle that was closed used to stay empty, and their lease to be renewed.
    #[test]
    fn files_are_complete_when_their_file_system_is_closed() {
        let dir = tempfile::tempdir().unwrap();
        let path = CString::new(dir.path().join("file").to_str().unwrap()).unwrap();
        // SAFETY: NULL, C strings, and bytes of their length.
        unsafe {
            let fs = hdfsConnect(std::ptr::null(), 0);
            let file = crate::hdfsOpenFile(fs, path.as_ptr(), libc::O_WRONLY, 0, 0, 0);
            let write = || crate::hdfsWrite(fs, file, c"text".as_ptr().cast(), 4);
            assert_eq!(write(), 4);
            assert_eq!(hdfsDisconnect(fs), 0);
            assert_eq!(write(), -1);
            assert_eq!(std::io::Error::last_os_error().raw_os_error(), Some(EINTERNAL));
            assert_eq!((crate::hdfsCloseFile(fs, file), crate::hdfsCloseFile(fs, file)), (0, -1));
        }
        assert_eq!(std::fs::read(dir.path().join("file")).unwrap(), b"text");
    }

    #[test]
    fn a_child_connects_while_a_thread_of_its_parent_does() {
        let held = SHARED.get().lock();
        // SAFETY: the child connects and ends.
        let child = unsafe { libc::fork() };
        if child == 0 {
            // SAFETY: it sets a clock: a child that waits for the parent's lock is ended.
            unsafe { libc::alarm(60) };
            let wanted = Wanted { name_node: Some("nn".to_owned()), ..Wanted::default() };
            let is_connected = connect(&wanted).is_ok();
            // SAFETY: it ends the child, and nothing of the parent's runs in it.
            unsafe { libc::_exit(if is_connected { 0 } else { 1 }) }
        }
        let mut status = -1;
        // SAFETY: `status` is the place of a number.
        assert_eq!(unsafe { libc::waitpid(child, &mut status, 0) }, child);
        assert_eq!(status, 0);
        drop(held);
    }

    #[test]
    fn a_builder_is_freed_once() {
        let builder = hdfsNewBuilder();
        hdfsBuilderSetNameNodePort(builder, 1);
        hdfsFreeBuilder(builder);
        hdfsFreeBuilder(builder);
        assert!(hdfsBuilderConnect(builder).is_null());
        // SAFETY: NULL is allowed.
        unsafe { hdfsBuilderSetNameNode(null_mut(), std::ptr::null()) };
    }

    #[test]
    fn a_name_that_is_not_utf_8_fails_at_connect_and_connects_to_nothing_else() {
        let setters: [unsafe extern "C" fn(*mut hdfsBuilder, *const c_char); 3] =
            [hdfsBuilderSetNameNode, hdfsBuilderSetUserName, hdfsBuilderSetKerbTicketCachePath];
        for set in setters {
            let builder = hdfsNewBuilder();
            // SAFETY: C strings.
            unsafe {
                hdfsBuilderSetNameNode(builder, c"nn".as_ptr());
                set(builder, c"\xff".as_ptr());
                set(builder, c"name".as_ptr());
            }
            assert!(hdfsBuilderConnect(builder).is_null());
            assert_eq!(std::io::Error::last_os_error().raw_os_error(), Some(libc::EINVAL));
            assert!(hdfsBuilderConnect(builder).is_null(), "it is freed");
        }
    }
}
