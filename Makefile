# One word a task, for people and CI alike.
TARGET := $(or $(CARGO_TARGET_DIR),target)
RELEASE := $(TARGET)/release/zerohop

.PHONY: help demo test torch fio star languages tracing faults fuzz check fix bench compare dist

help: ## Lists the tasks.
	@grep -E '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z]+):.*## /  make \1\t/' | expand -t 18

demo: ## Builds, starts a cluster in a temporary directory, moves 1 GiB through it, stops.
	@cargo build --release -p zerohop-cli
	@$(RELEASE) demo

test: ## Runs everything, the tests beside real Apache Hadoop included; installs what those need.
	@testing/run-tests.sh

torch: ## Tests PyTorch's DataLoader on the Python package; installs PyTorch, which is some gigabytes.
	@testing/torch.sh

fio: ## Builds fio of Debian's source package with libhdfs.so, and has it write and read on a cluster of ours.
	@testing/fio.sh

star: ## Builds and tests the DataFusion crate, then measures a star schema of SCALE=4 million facts on HDFS and on local files.
	@testing/star.sh

languages: ## Measures C and Python beside the Rust client, hdfs-native, local files and a JVM's libhdfs.
	@testing/languages.sh

tracing: ## Builds zerohop with OpenTelemetry into target/tracing and follows a put and a get through client, NameNode and pipeline.
	@testing/tracing.sh

faults: ## Crashes at every point and random kills for MINUTES=10 from SEED on; see docs/reliability.md.
	@testing/faults.sh

fuzz: ## Feeds every decoder of outside bytes with random input for MINUTES=5 from SEED on.
	@testing/fuzz.sh

check: ## Looks at format, lints and the tree's own rules; changes nothing.
	@testing/check.sh

fix: ## Formats, applies the lints' suggestions, writes docs/configuration.md and docs/rest-openapi.json.
	@cargo fmt --all
	@cargo run -q -p zerohop-tidy --bin configuration-page
	@cargo run -q -p zerohop-gateway --example openapi >docs/rest-openapi.json
	@cargo clippy --workspace --all-targets --fix --allow-dirty --allow-staged

bench: ## Measures our own stack beside the machine's raw limits.
	@cargo build --release -p zerohop-cli
	@$(RELEASE) bench

compare: ## Measures ours and Apache Hadoop in the same run.
	@testing/ensure-tools.sh
	@cargo build --release -p zerohop-cli
	@testing/compare/run.sh

dist: ## Fills target/dist with binaries, libhdfs and the wheel for x86-64 and aarch64; tries them in a bare Debian root.
	@packaging/dist.sh
