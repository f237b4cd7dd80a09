# What `make dist` builds with.
# shellcheck shell=bash disable=SC2034
dist_python_packages="cargo-zigbuild==0.24.0 ziglang==0.17.0 maturin==1.16.0"
# libhdfs.so and the wheel run where glibc is at least this old: Debian 10, RHEL 8.
oldest_glibc=2.28
