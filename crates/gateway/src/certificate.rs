//! The certificate of the gateway's port, where `httpfs.ssl.enabled` asks for TLS.

use std::path::{Path, PathBuf};
use zerohop_conf::{Conf, ConfError, Key, keys};
use zerohop_daemon::http::{Tls, TlsError, TlsVersions};

const CERTIFICATE: &Key<Option<String>> = &keys::ZEROHOP_GATEWAY_TLS_CERTIFICATE;
const SECRET: &Key<Option<String>> = &keys::ZEROHOP_GATEWAY_TLS_KEY;
/// Where HttpFS finds its keystore.
const SSL_FILE: &str = "ssl-server.xml";
const KEYSTORE: &str = "ssl.server.keystore.location";

/// Why there is no certificate.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CertificateError {
    /// The configuration.
    #[error(transparent)]
    Conf(#[from] ConfError),
    /// A file is wrong.
    #[error("{key}: {error}")]
    File {
        /// The key that names the file.
        key: &'static str,
        /// What is wrong with it.
        error: TlsError,
    },
    /// No file is named.
    #[error(
        "httpfs.ssl.enabled is true, and {key} names no file in PEM format. A keystore becomes two of them by
    openssl pkcs12 -in {keystore} -nokeys -out certificate.pem
    openssl pkcs12 -in {keystore} -nocerts -nodes -out key.pem
and one in Java's own format (JKS) is made such a keystore by
    keytool -importkeystore -srckeystore {keystore} -destkeystore keystore.p12 -deststoretype PKCS12"
    )]
    Missing {
        /// The key that should name it.
        key: &'static str,
        /// HttpFS's keystore as ssl-server.xml names it, or a word for it.
        keystore: String,
    },
}

/// The certificate; none where TLS is not asked for.
///
/// # Errors
/// If it is asked for, and a file is not named, cannot be read or holds something else.
pub(crate) fn certificate(conf: &Conf) -> Result<Option<Tls>, CertificateError> {
    if !conf.get(&keys::HTTPFS_SSL_ENABLED)? {
        return Ok(None);
    }
    let file = |key: &Key<Option<String>>| match conf.get(key)? {
        Some(path) => Ok(PathBuf::from(path)),
        None => Err(CertificateError::Missing { key: key.name, keystore: keystore(conf) }),
    };
    let tls = Tls::from_files(file(CERTIFICATE)?, file(SECRET)?, versions(conf)?);
    tls.map(Some).map_err(|error| {
        let key = match &error {
            TlsError::Key { .. } => SECRET.name,
            _ => CERTIFICATE.name,
        };
        CertificateError::File { key, error }
    })
}

/// Returns the versions of TLS that `hadoop.ssl.enabled.protocols` names. Like Apache Hadoop's server, the gateway speaks TLS 1.3,
/// too, if the key is not set.
fn versions(conf: &Conf) -> Result<TlsVersions, ConfError> {
    let key = &keys::HADOOP_SSL_ENABLED_PROTOCOLS;
    if !conf.is_set(key.name) {
        return Ok(TlsVersions::ALL);
    }
    let expected = "a list with TLSv1.2 or TLSv1.3, beside which older protocols are left out";
    conf.get_as(key, expected, |names| TlsVersions::of_names(&names))
}

/// The keystore of ssl-server.xml beside core-site.xml.
fn keystore(conf: &Conf) -> String {
    let named = |directory: &Path| {
        let mut ssl = Conf::new();
        ssl.add_file(directory.join(SSL_FILE)).ok()?;
        ssl.get_raw(KEYSTORE)
    };
    conf.directory().and_then(named).unwrap_or_else(|| "KEYSTORE".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_is_said_with_the_commands_that_make_it() {
        let directory = tempfile::tempdir().unwrap();
        let ssl = "<configuration><property><name>ssl.server.keystore.location</name>\
                   <value>/etc/gw.jks</value></property></configuration>";
        std::fs::write(directory.path().join(SSL_FILE), ssl).unwrap();
        let mut conf = Conf::load(directory.path()).unwrap();
        assert!(certificate(&conf).unwrap().is_none());
        conf.set("httpfs.ssl.enabled", "true");
        let missing = certificate(&conf).err().unwrap().to_string();
        assert!(missing.contains("zerohop.gateway.tls.certificate names no file"), "{missing}");
        assert!(missing.contains("openssl pkcs12 -in /etc/gw.jks -nokeys"), "{missing}");
        conf.set("zerohop.gateway.tls.certificate", "/none/c.pem");
        let missing = certificate(&conf).err().unwrap().to_string();
        assert!(missing.contains("zerohop.gateway.tls.key names no file"), "{missing}");
        conf.set("zerohop.gateway.tls.key", "/none/k.pem");
        let wrong = certificate(&conf).err().unwrap().to_string();
        assert!(wrong.starts_with("zerohop.gateway.tls.certificate: /none/c.pem: "), "{wrong}");
        conf.set("hadoop.ssl.enabled.protocols", "TLSv1.1");
        let old = certificate(&conf).err().unwrap().to_string();
        assert!(old.starts_with("hadoop.ssl.enabled.protocols: `TLSv1.1' from "), "{old}");
    }
}
