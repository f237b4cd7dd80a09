//! Whom a client trusts: the trust store of `ssl-client.xml`, or the certificates of the system.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::CertificateDer;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::{ClientConfig, RootCertStore};
use zerohop_conf::{Conf, keys};

use super::jks;
use crate::error::{Error, Result};

/// The settings of all TLS connections of a client.
pub(crate) type ClientTls = Arc<ClientConfig>;

/// The key of `ssl-client.xml` that names the trust store.
const TRUST_STORE: &str = "ssl.client.truststore.location";

/// Files with the authorities that the system trusts, on Debian, Red Hat and others.
const SYSTEM: [&str; 3] =
    ["/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/cert.pem"];

/// Reads the trust store.
///
/// # Errors
/// Fails if there is none, or it holds no certificates in PEM or JKS.
pub(crate) fn client_tls(conf: &Conf) -> Result<ClientTls> {
    let path = trust_store(conf)?;
    let bytes = std::fs::read(&path).map_err(|error| problem(&path, &error.to_string()))?;
    let mut roots = RootCertStore::empty();
    let (added, _) = roots.add_parsable_certificates(parse(&path, &bytes)?);
    if added == 0 {
        return Err(problem(&path, "no certificate in it"));
    }
    let provider = Arc::new(ring::default_provider());
    let builder =
        ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    let builder = builder.map_err(|error| Error::Invalid(error.to_string()))?;
    Ok(Arc::new(builder.with_root_certificates(roots).with_no_client_auth()))
}

fn trust_store(conf: &Conf) -> Result<PathBuf> {
    let name = conf.get(&keys::HADOOP_SSL_CLIENT_CONF)?;
    let file = match conf.directory() {
        Some(directory) => directory.join(&name),
        None => PathBuf::from(&name),
    };
    let mut ssl = conf.clone();
    if file.exists() {
        ssl.add_file(&file)?;
    }
    let named = ssl.get_raw(TRUST_STORE).filter(|path| !path.trim().is_empty());
    let system =
        || SYSTEM.iter().find(|path| Path::new(path).exists()).map(|path| (*path).to_owned());
    let none =
        || Error::Invalid(format!("no trust store: set {TRUST_STORE} in {}", file.display()));
    named.or_else(system).map(|path| PathBuf::from(path.trim())).ok_or_else(none)
}

fn parse(path: &Path, bytes: &[u8]) -> Result<Vec<CertificateDer<'static>>> {
    if let Some(found) = jks::certificates(bytes) {
        return Ok(found.into_iter().map(CertificateDer::from).collect());
    }
    let found = CertificateDer::pem_slice_iter(bytes).collect::<std::result::Result<Vec<_>, _>>();
    match found {
        Ok(found) if !found.is_empty() => Ok(found),
        _ => Err(problem(
            path,
            "neither PEM nor JKS; write it as PEM: keytool -list -rfc -keystore FILE >FILE.pem",
        )),
    }
}

fn problem(path: &Path, problem: &str) -> Error {
    Error::Invalid(format!("trust store {}: {problem}", path.display()))
}
