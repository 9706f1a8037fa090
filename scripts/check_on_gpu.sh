#!/bin/sh
# What a GPU does with svod's plans, in at most eight minutes, the most important first:
#   scripts/check_on_gpu.sh --pack [--archs sm_90a,sm_80]   on a machine that can build svod: fills build/gpu-pack
#   scripts/check_on_gpu.sh [--only STEP,..]                on a machine with a GPU, a driver, and python3 with numpy and torch
#   scripts/check_on_gpu.sh --pack --grid; scripts/check_on_gpu.sh --grid   the same on the driver and grid of the tests
# The second needs this checkout and build/gpu-pack, and builds nothing. It ends with a table and writes
# benchmarks/gpu/DEVICE-DATE.json. Exit code 1: something is wrong; 77: there is no GPU.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
export PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1
what=check
for word; do
  if [ "$word" = --pack ]; then what=pack; fi
done
exec "${SVOD_PYTHON:-python3}" "$root/scripts/gpu_check/$what.py" "$@"
