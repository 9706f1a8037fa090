#!/bin/sh
# Prints the path of the archive of published ONNX cases: what SVOD_ONNX_TESTS names, else ../shared/onnx-tests.tar.xz.
# Ends with 1 if there is none.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
if [ -n "${SVOD_ONNX_TESTS:-}" ]; then
  set -- "$SVOD_ONNX_TESTS"
else  # a worktree may lie deeper than the clone it belongs to
  set -- "$root/../shared/onnx-tests.tar.xz" "$root/../../shared/onnx-tests.tar.xz"
fi
for archive; do
  if [ -f "$archive" ]; then exec realpath "$archive"; fi
done
echo "no onnx-tests.tar.xz (set SVOD_ONNX_TESTS)" >&2
exit 1
