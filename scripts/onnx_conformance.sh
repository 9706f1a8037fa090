#!/bin/sh
# The published ONNX backend cases against the tools that were built: scripts/onnx_conformance.sh [OPTION ...]
# Options are those of onnx_conformance.py, such as --op Conv, --tier 1, -k REGEX, -v, --bake-inputs shape.
# SVOD_ONNX_TESTS names the archive, by default ../shared/onnx-tests.tar.xz; SVOD_BIN_DIR the tools.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
if ! archive=$("$root/scripts/onnx_archive.sh" 2>&1); then
  echo "skipped: $archive"
  exit 77
fi
bin=${SVOD_BIN_DIR:-$root/build/release/bin}
python=/usr/bin/python3
[ -x "$python" ] || python=python3
PATH=$bin:$PATH exec "$python" "$(dirname "$archive")/tools/onnx_conformance.py" "$archive" "$@"
