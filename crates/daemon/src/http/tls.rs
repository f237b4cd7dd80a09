//! TLS for a port: a certificate and its key in PEM files, which are read again when they have changed.

use crate::log_limiter::LogLimiter;
use parking_lot::Mutex;
use std::fmt;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::version::{TLS12, TLS13};
use tokio_rustls::rustls::{self, ServerConfig, SupportedProtocolVersion};

/// HTTP/2 as clients ask for it (ALPN).
pub(super) const HTTP_2: &[u8] = b"h2";
const HTTP_1_1: &[u8] = b"http/1.1";

/// Names of Java for protocols that are not spoken.
const TOO_OLD: [&str; 4] = ["SSLv2Hello", "SSLv3", "TLSv1", "TLSv1.1"];

/// The versions of TLS that a port speaks.
#[derive(Clone, Copy, Debug)]
pub struct TlsVersions(&'static [&'static SupportedProtocolVersion]);

impl TlsVersions {
    /// TLS 1.2 and 1.3.
    pub const ALL: Self = Self(&[&TLS13, &TLS12]);
    const ONLY_1_2: Self = Self(&[&TLS12]);
    const ONLY_1_3: Self = Self(&[&TLS13]);

    /// Returns those of Java's names that are spoken. Older protocols are left out.
    ///
    /// Returns `None` if none is left, or a name is unknown.
    pub fn of_names(names: &[String]) -> Option<Self> {
        let has = |wanted: &str| names.iter().any(|name| name == wanted);
        let is_known =
            |name: &String| ["TLSv1.2", "TLSv1.3"].contains(&&**name) || TOO_OLD.contains(&&**name);
        match (names.iter().all(is_known), has("TLSv1.2"), has("TLSv1.3")) {
            (true, true, true) => Some(Self::ALL),
            (true, true, false) => Some(Self::ONLY_1_2),
            (true, false, true) => Some(Self::ONLY_1_3),
            _ => None,
        }
    }
}

/// The certificate of a port.
pub struct Tls {
    certificate: PathBuf,
    key: PathBuf,
    versions: TlsVersions,
    loaded: Mutex<Loaded>,
    failed: LogLimiter,
}

struct Loaded {
    config: Arc<ServerConfig>,
    /// The files that it was read from, as they were then; none where they could not be looked at.
    files: Option<[FileState; 2]>,
}

/// What changes when a file is written or replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct FileState {
    inode: u64,
    len: u64,
    modified: (i64, i64),
}

/// Why a certificate cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TlsError {
    /// The file with the certificates, the server's first.
    #[error("{}: {problem}", path.display())]
    Certificate {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        problem: String,
    },
    /// The file with the private key.
    #[error("{}: {problem}", path.display())]
    Key {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        problem: String,
    },
}

impl Tls {
    /// Reads a certificate, with those of its issuers behind it, and its private key without a password.
    ///
    /// # Errors
    /// If a file cannot be read or holds something else, or the key is not the certificate's.
    pub fn from_files(
        certificate: PathBuf,
        key: PathBuf,
        versions: TlsVersions,
    ) -> Result<Self, TlsError> {
        let files = file_states(&certificate, &key).ok();
        let config = load(&certificate, &key, versions)?;
        let loaded = Mutex::new(Loaded { config, files });
        Ok(Self { certificate, key, versions, loaded, failed: LogLimiter::default() })
    }

    /// The configuration for the next connection. If the files have changed they are read again; where that fails, the
    /// certificate that was read before stays.
    pub(super) fn config(&self) -> Arc<ServerConfig> {
        let mut loaded = self.loaded.lock();
        let files = file_states(&self.certificate, &self.key).ok();
        if files.is_some() && files != loaded.files {
            match load(&self.certificate, &self.key, self.versions) {
                Ok(config) => {
                    tracing::info!(
                        "TLS: the certificate was read again from {}",
                        self.certificate.display()
                    );
                    *loaded = Loaded { config, files };
                }
                // One of two files may have been written so far: they are looked at again.
                Err(error) if self.failed.allow() => {
                    tracing::warn!("TLS: the certificate that was read before stays: {error}");
                }
                Err(_) => {}
            }
        }
        Arc::clone(&loaded.config)
    }
}

impl fmt::Debug for Tls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tls").field("certificate", &self.certificate).finish_non_exhaustive()
    }
}

fn load(
    certificate: &Path,
    key: &Path,
    versions: TlsVersions,
) -> Result<Arc<ServerConfig>, TlsError> {
    let of_certificate =
        |problem: String| TlsError::Certificate { path: certificate.to_owned(), problem };
    let of_key = |problem: String| TlsError::Key { path: key.to_owned(), problem };
    let chain = CertificateDer::pem_file_iter(certificate)
        .and_then(Iterator::collect::<Result<Vec<_>, _>>)
        .map_err(|error| of_certificate(error.to_string()))?;
    if chain.is_empty() {
        return Err(of_certificate("no certificate in PEM format is in it".to_owned()));
    }
    let secret = PrivateKeyDer::from_pem_file(key).map_err(|error| match error {
        rustls::pki_types::pem::Error::NoItemsFound => {
            of_key("no private key in PEM format without a password is in it".to_owned())
        }
        error => of_key(error.to_string()),
    })?;
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_protocol_versions(versions.0)
        .map_err(|error| of_certificate(error.to_string()))?
        .with_no_client_auth()
        .with_single_cert(chain, secret);
    let mut config = config.map_err(|error| match error {
        rustls::Error::InvalidCertificate(_) => of_certificate(error.to_string()),
        error => {
            of_key(format!("it does not fit the certificate in {}: {error}", certificate.display()))
        }
    })?;
    config.alpn_protocols = vec![HTTP_2.to_vec(), HTTP_1_1.to_vec()];
    Ok(Arc::new(config))
}

fn file_states(certificate: &Path, key: &Path) -> io::Result<[FileState; 2]> {
    let state = |path: &Path| {
        let file = std::fs::metadata(path)?;
        let modified = (file.mtime(), file.mtime_nsec());
        Ok::<_, io::Error>(FileState { inode: file.ino(), len: file.len(), modified })
    };
    Ok([state(certificate)?, state(key)?])
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    const FIRST: [&str; 2] =
        [include_str!("testdata/first.certificate.pem"), include_str!("testdata/first.key.pem")];
    pub(in crate::http) const SECOND: [&str; 2] =
        [include_str!("testdata/second.certificate.pem"), include_str!("testdata/second.key.pem")];

    /// Puts both files into place as a tool that renews certificates does.
    pub(in crate::http) fn replace(directory: &Path, [certificate, key]: [&str; 2]) {
        for (name, content) in [("certificate.pem", certificate), ("key.pem", key)] {
            let fresh = directory.join("fresh");
            std::fs::write(&fresh, content).unwrap();
            std::fs::rename(&fresh, directory.join(name)).unwrap();
        }
    }

    pub(in crate::http) fn of_first(directory: &Path) -> Tls {
        of_first_with(directory, TlsVersions::ALL)
    }

    pub(in crate::http) fn of_first_with(directory: &Path, versions: TlsVersions) -> Tls {
        replace(directory, FIRST);
        let (certificate, key) = (directory.join("certificate.pem"), directory.join("key.pem"));
        Tls::from_files(certificate, key, versions).unwrap()
    }

    #[test]
    fn versions_of_tls_are_those_that_are_named_or_none() {
        let count = |names: &[&str]| {
            let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
            TlsVersions::of_names(&names).map(|versions| versions.0.len())
        };
        assert_eq!(count(&["TLSv1.2"]), Some(1));
        assert_eq!(count(&["TLSv1.3", "TLSv1.2"]), Some(2));
        assert_eq!(count(&["TLSv1", "SSLv2Hello", "TLSv1.1", "TLSv1.2"]), Some(1));
        for refused in [&["TLSv1.1"][..], &["TLSv1.2", "TLSv1.4"], &["tlsv1.2"], &[]] {
            assert_eq!(count(refused), None, "{refused:?}");
        }
    }

    #[test]
    fn a_certificate_is_read_again_when_its_files_have_changed_and_only_then() {
        let directory = tempfile::tempdir().unwrap();
        let tls = of_first(directory.path());
        let first = tls.config();
        assert!(Arc::ptr_eq(&first, &tls.config()));
        replace(directory.path(), [SECOND[0], FIRST[1]]);
        assert!(Arc::ptr_eq(&first, &tls.config()), "the key is not the certificate's");
        replace(directory.path(), SECOND);
        let second = tls.config();
        assert!(!Arc::ptr_eq(&first, &second));
        std::fs::remove_file(directory.path().join("key.pem")).unwrap();
        assert!(Arc::ptr_eq(&second, &tls.config()));
    }

    #[test]
    fn what_is_wrong_names_its_file() {
        let directory = tempfile::tempdir().unwrap();
        let load = |files| {
            replace(directory.path(), files);
            let (certificate, key) =
                (directory.path().join("certificate.pem"), directory.path().join("key.pem"));
            Tls::from_files(certificate, key, TlsVersions::ALL).map(drop)
        };
        load(FIRST).unwrap();
        let wrong = load(["", FIRST[1]]).unwrap_err();
        assert!(
            matches!(&wrong, TlsError::Certificate { problem, .. } if problem.contains("no certificate")),
            "{wrong}"
        );
        for files in [[FIRST[0], ""], [FIRST[0], FIRST[0]], [FIRST[0], SECOND[1]]] {
            let wrong = load(files).unwrap_err();
            assert!(matches!(wrong, TlsError::Key { .. }), "{wrong}");
            assert!(wrong.to_string().contains("key.pem: "), "{wrong}");
        }
        let missing = Tls::from_files("/none/a.pem".into(), "/none/b.pem".into(), TlsVersions::ALL);
        let missing = missing.unwrap_err();
        assert!(missing.to_string().starts_with("/none/a.pem: "), "{missing}");
    }
}
