#!/usr/bin/env bash
# PyTorch's DataLoader with workers on the Python package. On PyPI PyTorch comes with CUDA's libraries, some gigabytes, so
# that `make test` does without it; it goes into target/interop/torch.
set -euo pipefail
cd "$(dirname "$0")/.."
testing/ensure-tools.sh
target=$(realpath -m "${CARGO_TARGET_DIR:-target}")
python=$target/interop/torch/bin/python
[ -x "$python" ] || python3 -m venv "$target/interop/torch"
"$python" -m pip install -q --only-binary :all: torch==2.15.0 numpy==2.4.6 fsspec==2026.9.0 pytest==9.2.0
cargo build -p zerohop-cli -p zerohop-python
bindings/python/build.sh
PYTHONPATH=$target/debug/python "$target/debug/zerohop" up --port=0 --http-port=0 --rest-port=0 --datanodes 3 \
  --exec "'$python' -m pytest -q -p no:cacheprovider bindings/python/tests/torch_loader.py"
