#!/bin/sh
# The published ONNX backend cases as plans of target cuda on the emulated grid of the tests: scripts/onnx_on_grid.sh
# [OPTION ...], options as for onnx_conformance.sh. SVOD_GRID_DELAY is eager, lazy or random; all of them without it.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
bin=${SVOD_BIN_DIR:-build/test/bin}
case $bin in /*) ;; *) bin=$root/$bin ;; esac
grid=$(cd "$bin/../tests" && pwd)/svod-run-cuda
SVOD_BIN_DIR=$bin exec "$root/scripts/onnx_conformance.sh" --bake-inputs shape \
  --svodc 'svodc compile {model} -o {plan} --target cuda --nvrtc none' \
  --svod-run "$grid {plan} {inputs} --output-dir {outdir}" "$@"
