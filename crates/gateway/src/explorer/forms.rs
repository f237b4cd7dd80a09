//! The parts of the browser's pages that are no tables.

use super::address::Address;
use askama::Template;
use zerohop_client::FileStatus;

#[derive(Template)]
#[template(path = "explorer_path.html")]
struct Breadcrumb {
    /// Address and name of each directory above, the root first.
    above: Vec<(String, String)>,
    path: String,
    user: String,
}

#[derive(Template)]
#[template(path = "explorer_actions.html")]
struct Actions {
    download: String,
    head: String,
    tail: String,
    blocks: String,
}

#[derive(Template)]
#[template(path = "explorer_forms.html")]
struct Forms {
    /// Where forms are posted to.
    action: String,
    is_directory: bool,
    is_root: bool,
    path: String,
    permission: String,
    owner: String,
    group: String,
    replication: u16,
}

#[derive(Template)]
#[template(path = "explorer_user.html")]
struct AsUser {
    path: String,
    user: String,
}

/// What cannot be rendered is left out; a page says more without it than an error would.
fn html(template: &impl Template) -> String {
    template.render().unwrap_or_else(|error| {
        tracing::warn!("a part of a page is left out: {error}");
        String::new()
    })
}

/// The directories above, and the form for another path or user.
pub(super) fn breadcrumb(address: &Address) -> String {
    let mut above = vec![(address.to("/").to_string(), "root".to_owned())];
    let mut path = String::new();
    for name in address.path.split('/').filter(|name| !name.is_empty()) {
        path = format!("{path}/{name}");
        above.push((address.to(path.as_str()).to_string(), name.to_owned()));
    }
    let user = address.user.clone().unwrap_or_default();
    html(&Breadcrumb { above, path: address.path.clone(), user })
}

pub(super) fn actions(address: &Address) -> String {
    let show = |show| Address { show: Some(show), ..address.reset() }.to_string();
    html(&Actions {
        download: address.download(),
        head: show("head"),
        tail: show("tail"),
        blocks: format!("{}#blocks", address.reset()),
    })
}

pub(super) fn of_directory(address: &Address, status: &FileStatus) -> String {
    forms(address, status)
}

pub(super) fn of_file(address: &Address, status: &FileStatus) -> String {
    forms(address, status)
}

fn forms(address: &Address, status: &FileStatus) -> String {
    html(&Forms {
        action: address.reset().to_string(),
        is_directory: status.is_dir(),
        is_root: address.path == "/",
        path: address.path.clone(),
        permission: format!("{:o}", status.permission),
        owner: status.owner.to_string(),
        group: status.group.to_string(),
        replication: status.replication,
    })
}

/// The form by which another user is named.
pub(super) fn user(address: &Address) -> String {
    html(&AsUser { path: address.path.clone(), user: address.user.clone().unwrap_or_default() })
}
