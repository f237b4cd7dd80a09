#!/usr/bin/env bash
# Makes the Python package of what cargo has built (`cargo build --profile PROFILE -p zerohop-python`), laid out as pip
# installs its wheel: target/PROFILE/python, a directory for PYTHONPATH. The wheel itself is maturin's, which compiles with
# features of its own; this compiles nothing.
set -euo pipefail
cd "$(dirname "$0")/../.."
profile=${1:-dev}
[ "$profile" != dev ] || profile=debug
built=${CARGO_TARGET_DIR:-target}/$profile
rm -rf "$built/python"
mkdir -p "$built/python"
cp -r bindings/python/python/zerohop "$built/python/"
cp "$built/lib_zerohop.so" "$built/python/zerohop/_zerohop.abi3.so"
python3 - bindings/python/pyproject.toml "$built/python" <<'PYTHON'
import pathlib, sys, tomllib
project = tomllib.loads(pathlib.Path(sys.argv[1]).read_text())["project"]
info = pathlib.Path(sys.argv[2], f"{project['name']}-0.dist-info")
info.mkdir()
(info / "METADATA").write_text(f"Metadata-Version: 2.4\nName: {project['name']}\nVersion: 0\n")
lines = []
for group, names in project["entry-points"].items():
    lines += [f"[{group}]"] + [f"{name} = {value}" for name, value in names.items()]
(info / "entry_points.txt").write_text("\n".join(lines) + "\n")
PYTHON
