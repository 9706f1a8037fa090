#!/bin/sh
# The published ONNX backend cases as plans of target webgpu on the first adapter of WebGPU of this machine:
# scripts/onnx_on_webgpu.sh [OPTION ...], options as for onnx_conformance.sh.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
bin=${SVOD_BIN_DIR:-build/test/bin}
case $bin in /*) ;; *) bin=$root/$bin ;; esac
if ! said=$("$bin/svod-run" --list-devices --webgpu-library libwgpu_native.so 2>&1); then
  echo "skipped: $said"
  exit 77
fi
SVOD_BIN_DIR=$bin exec "$root/scripts/onnx_conformance.sh" --bake-inputs shape \
  --svodc 'svodc compile {model} -o {plan} --target webgpu' \
  --svod-run 'svod-run {plan} {inputs} --output-dir {outdir}' "$@"
