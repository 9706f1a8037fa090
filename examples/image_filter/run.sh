#!/usr/bin/env bash
# Sharpens a photograph: run.sh PHOTO.png [OUT_PREFIX [AMOUNT]]. Without a photograph it draws one first.
# Needs ./dev build, a C compiler (CC, with the flags CFLAGS) and libpng (Debian: libpng-dev).
# SVOD_BUILD names another build folder.
set -euo pipefail
root="$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)"
build="${SVOD_BUILD:-$root/build/release}"
here="$root/examples/image_filter"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT

# shellcheck disable=SC2086 # CFLAGS are words
${CC:-cc} -std=c99 -O2 -Wall -Wextra ${CFLAGS:-} "$here/image_filter.c" -o "$work/image_filter" \
  -I "$root/runtime-min/include" -L "$build/runtime-min" -Wl,-rpath,"$build/runtime-min" -lsvod-runtime -lpng

prefix="${2:-photo}"
photo="${1:-}"
if [[ -z "$photo" ]]; then
  "$build/bin/svodc" compile "$here/scene.svod" -o "$work/scene.plan" >/dev/null
  "$work/image_filter" "$work/scene.plan" - "$prefix"
  photo="$prefix-image.png"
fi
"$build/bin/svodc" compile "$here/photo.svod" -o "$work/photo.plan" >/dev/null
"$work/image_filter" "$work/photo.plan" "$photo" "$prefix" "${3:-1}"
