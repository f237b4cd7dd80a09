//! The judge: client, NameNode and DataNodes, each ours or Apache's, pass the same script.

use zerohop_interop::Kind::{Apache, Ours};
use zerohop_interop::script::run;

#[test]
fn matrix_client_apache_namenode_apache_datanode_apache() {
    run(Apache, Apache, Apache);
}

#[test]
fn matrix_client_apache_namenode_apache_datanode_ours() {
    run(Apache, Apache, Ours);
}

#[test]
fn matrix_client_apache_namenode_ours_datanode_apache() {
    run(Apache, Ours, Apache);
}

#[test]
fn matrix_client_apache_namenode_ours_datanode_ours() {
    run(Apache, Ours, Ours);
}

#[test]
fn matrix_client_ours_namenode_apache_datanode_apache() {
    run(Ours, Apache, Apache);
}

#[test]
fn matrix_client_ours_namenode_apache_datanode_ours() {
    run(Ours, Apache, Ours);
}

#[test]
fn matrix_client_ours_namenode_ours_datanode_apache() {
    run(Ours, Ours, Apache);
}

#[test]
fn matrix_client_ours_namenode_ours_datanode_ours() {
    run(Ours, Ours, Ours);
}
