//! Keys of REST: those of the gateway, which Hadoop has in httpfs-site.xml, and those of WebHDFS.

use std::time::Duration;

use crate::key::keys;

keys! {
    /// Address of the gateway's port.
    HTTPFS_HTTP_HOSTNAME: String = "httpfs.http.hostname", "0.0.0.0", Plain;
    /// The gateway's port; 0 takes any free one.
    HTTPFS_HTTP_PORT: u16 = "httpfs.http.port", "14000", Plain;
    /// What may be done through the gateway: `read-write`, `read-only`, or `write-only`, which still tells what is there.
    HTTPFS_ACCESS_MODE: String = "httpfs.access.mode", "read-write", Plain;
    /// What the name of a user looks like at the gateway, as a regular expression.
    HTTPFS_USER_PROVIDER_USER_PATTERN: String = "httpfs.user.provider.user.pattern", "^[A-Za-z_][A-Za-z0-9._-]*[$]?$", Plain;
    /// How long the gateway keeps a file open after an append, for further ones; 0 closes it before the append is answered.
    ZEROHOP_GATEWAY_APPEND_IDLE_MS: Duration = "zerohop.gateway.append.idle.ms", "1000", Millis;
    /// Users and groups that may see the gateway's protected web pages; if it is empty, `dfs.cluster.administrators` names them.
    HTTPFS_HTTP_ADMINISTRATORS: String = "httpfs.http.administrators", "", Plain;
    /// Whether the gateway speaks HTTPS, with the certificate of zerohop.gateway.tls.certificate.
    HTTPFS_SSL_ENABLED: bool = "httpfs.ssl.enabled", "false", Plain;
    /// The file in PEM format with the gateway's certificate and behind it those of its issuers. It is read again when it has changed.
    ZEROHOP_GATEWAY_TLS_CERTIFICATE: Option<String> = "zerohop.gateway.tls.certificate", "", Plain;
    /// The file in PEM format with the private key of the gateway's certificate, without a password.
    ZEROHOP_GATEWAY_TLS_KEY: Option<String> = "zerohop.gateway.tls.key", "", Plain;
    /// Connections to the gateway at once; more wait until one ends.
    ZEROHOP_GATEWAY_CONNECTIONS_MAX: usize = "zerohop.gateway.connections.max", "2048", Plain;
    /// Connections to the gateway at once from one address; more are closed. 0 means that there is no limit.
    ZEROHOP_GATEWAY_CONNECTIONS_PER_ADDRESS_MAX: usize = "zerohop.gateway.connections.per.address.max", "1024", Plain;
    /// Requests a second that the gateway takes of one user at one address; more are answered with status 429. 0 means that there is no limit.
    ZEROHOP_GATEWAY_REQUESTS_PER_SECOND: u32 = "zerohop.gateway.requests.per.second", "0", Plain;
    /// Bytes a second that a caller of the gateway has to send of a body or take of an answer; the connection of a slower one is closed. 0 means that there is no minimum.
    ZEROHOP_GATEWAY_RATE_MIN: u64 = "zerohop.gateway.rate.min", "1k", Bytes;
    /// How long the gateway waits for a caller's bytes before it compares their rate with zerohop.gateway.rate.min, and then each time again.
    ZEROHOP_GATEWAY_RATE_GRACE_MS: Duration = "zerohop.gateway.rate.grace.ms", "30000", Millis;
    /// Whether NameNodes and DataNodes serve WebHDFS on their HTTP ports.
    DFS_WEBHDFS_ENABLED: bool = "dfs.webhdfs.enabled", "true", Plain;
    /// What the name of a user looks like in requests to WebHDFS, as a regular expression.
    DFS_WEBHDFS_USER_PROVIDER_USER_PATTERN: String = "dfs.webhdfs.user.provider.user.pattern", "^[A-Za-z_][A-Za-z0-9._-]*[$]?$", Plain;
    /// Machines whose data goes through the NameNode when they use its WebHDFS: host names, addresses, CIDR ranges, or `*`; all others are redirected to DataNodes.
    ZEROHOP_WEBHDFS_PROXY_CLIENTS: String = "zerohop.webhdfs.proxy.clients", "", Plain;
    /// What the NameNode's redirects say in place of a DataNode's host: `dn1=gw.example,dn2:9864=gw.example:19864`.
    ZEROHOP_WEBHDFS_REDIRECT_ADDRESSES: String = "zerohop.webhdfs.redirect.addresses", "", Plain;
    /// Whether WebHDFS refuses changes that a browser sends without the header of dfs.webhdfs.rest-csrf.custom-header.
    DFS_WEBHDFS_REST_CSRF_ENABLED: bool = "dfs.webhdfs.rest-csrf.enabled", "false", Plain;
    /// The header that pages of another site cannot have a browser send.
    DFS_WEBHDFS_REST_CSRF_CUSTOM_HEADER: String = "dfs.webhdfs.rest-csrf.custom-header", "X-XSRF-HEADER", Plain;
    /// The methods that change nothing, and need no header.
    DFS_WEBHDFS_REST_CSRF_METHODS_TO_IGNORE: Vec<String> = "dfs.webhdfs.rest-csrf.methods-to-ignore", "GET,OPTIONS,HEAD,TRACE", Plain;
    /// What browsers call themselves, as regular expressions.
    DFS_WEBHDFS_REST_CSRF_BROWSER_USERAGENTS_REGEX: Vec<String> = "dfs.webhdfs.rest-csrf.browser-useragents-regex", "^Mozilla.*,^Opera.*", Plain;
    /// The file with the secret that signs the gateway's cookies; without one it is that of hadoop.http.authentication.signature.secret.file.
    HTTPFS_AUTHENTICATION_SIGNATURE_SECRET_FILE: Option<String> = "httpfs.authentication.signature.secret.file", "", Plain;
    /// The file with the secret that signs cookies; without one cookies count until the process ends.
    HADOOP_HTTP_AUTHENTICATION_SIGNATURE_SECRET_FILE: Option<String> = "hadoop.http.authentication.signature.secret.file", "", Plain;
    /// How long a cookie counts.
    HADOOP_HTTP_AUTHENTICATION_TOKEN_VALIDITY: Duration = "hadoop.http.authentication.token.validity", "36000", Seconds;
    /// The domain that browsers send a cookie to; the host that gave it where none is named.
    HADOOP_HTTP_AUTHENTICATION_COOKIE_DOMAIN: Option<String> = "hadoop.http.authentication.cookie.domain", "", Plain;
    /// What a list of ACL entries looks like in requests to WebHDFS, as a regular expression.
    DFS_WEBHDFS_ACL_PROVIDER_PERMISSION_PATTERN: String = "dfs.webhdfs.acl.provider.permission.pattern", "^(default:)?(user|group|mask|other):[[A-Za-z_][A-Za-z0-9._-]]*:([rwx-]{3})?(,(default:)?(user|group|mask|other):[[A-Za-z_][A-Za-z0-9._-]]*:([rwx-]{3})?)*$", Plain;
}
