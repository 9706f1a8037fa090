#!/usr/bin/env bash
# Builds a program around examples/digits and runs it: run.sh c|cpp|firmware [SHADES].
# Needs ./dev build; c and cpp need CC and CXX; firmware needs clang-19, lld-19 and qemu-system-arm (Debian: qemu-system-arm).
# SVOD_PREFIX names the folder of an installed svod, or of another build.
set -euo pipefail
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
svodc="${SVOD_PREFIX:-$here/../../build/release}/bin/svodc"
graph="$here/../digits/digits.svod"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT

case "${1:-c}" in
  c)
    # The network as C, beside a program in C.
    "$svodc" compile "$graph" -o "$work/digits.plan" --target c --emit c="$work/digits.c" --emit header="$work/digits.h" >/dev/null
    "${CC:-cc}" -std=c11 -O2 -Wall -Wextra -I "$work" "$here/digits.c" "$work/digits.c" -o "$work/digits"
    "$work/digits" "${2:-}"
    ;;
  cpp)
    # The network as machine code, beside a program in C++.
    "$svodc" compile "$graph" -o "$work/digits.plan" --emit static-lib="$work/digits.a" --emit header="$work/digits.h" >/dev/null
    "${CXX:-c++}" -std=c++17 -O2 -Wall -Wextra -pthread -I "$work" "$here/threads.cpp" "$work/digits.a" -o "$work/digits"
    "$work/digits"
    ;;
  firmware)
    # One image at a time, so that all sizes are known and the arena is small.
    "$svodc" compile "$graph" -o "$work/digits.plan" --var n=1 --target c --weights section=.weights \
      --emit c="$work/digits.c" --emit header="$work/digits.h" >/dev/null
    clang-19 --target=thumbv7em-none-eabihf -mcpu=cortex-m4 -std=c11 -Oz -ffreestanding -fno-math-errno -Wall -Wextra \
      -ffunction-sections -nostdlib -fuse-ld=lld-19 -Wl,--gc-sections -T "$here/firmware.ld" -I "$work" \
      "$here/firmware.c" "$work/digits.c" -o "$work/firmware.elf"
    size -A "$work/firmware.elf" | grep -E '^\.(text|weights|data|bss)'
    if ! command -v qemu-system-arm >/dev/null; then
      echo "qemu-system-arm is missing: the firmware was built and not run"
      exit 77
    fi
    timeout 60 qemu-system-arm -M mps2-an386 -nographic -monitor none -serial none \
      -semihosting-config enable=on,target=native -kernel "$work/firmware.elf" 2>&1 # which semihosting writes to
    ;;
  *)
    echo "run.sh c|cpp|firmware" >&2
    exit 2
    ;;
esac
