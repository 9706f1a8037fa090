#!/bin/sh
# The published ONNX backend cases against the tools that were built: scripts/onnx_conformance.sh [OPTION ...]
# Options are those of onnx_conformance.py, such as --op Conv, --tier 1, -k REGEX, -v, --bake-inputs shape.
# SVOD_ONNX_TESTS names the archive, by default ../shared/onnx-tests.tar.xz; SVOD_BIN_DIR the tools.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
archive=${SVOD_ONNX_TESTS:-}
if [ -z "$archive" ]; then
  # A worktree may lie deeper than the clone it belongs to.
  for up in .. ../..; do
    [ -f "$root/$up/shared/onnx-tests.tar.xz" ] && archive=$root/$up/shared/onnx-tests.tar.xz && break
  done
fi
if [ ! -f "${archive:-}" ]; then
  echo "skipped: no onnx-tests.tar.xz (set SVOD_ONNX_TESTS)"
  exit 77
fi
bin=${SVOD_BIN_DIR:-$root/build/release/bin}
python=/usr/bin/python3
[ -x "$python" ] || python=python3
PATH=$bin:$PATH exec "$python" "$(dirname "$archive")/tools/onnx_conformance.py" "$archive" "$@"
