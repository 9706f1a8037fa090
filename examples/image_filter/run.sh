#!/usr/bin/env bash
# Sharpens a photograph: run.sh PHOTO.png [OUT_PREFIX [AMOUNT]]. Without a photograph it draws one first.
# Needs ./dev build, a C compiler (CC, with the flags CFLAGS) and libpng (Debian: libpng-dev).
# SVOD_PREFIX names the folder of an installed svod, or of another build.
set -euo pipefail
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
root="$here/../.."
prefix="${SVOD_PREFIX:-$root/build/release}"
include="$prefix/include" libraries="$prefix/lib"
[[ -d "$include" ]] || include="$root/runtime-min/include" libraries="$prefix/runtime-min"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT

# shellcheck disable=SC2086 # CFLAGS are words
${CC:-cc} -std=c99 -O2 -Wall -Wextra ${CFLAGS:-} "$here/image_filter.c" -o "$work/image_filter" \
  -I "$include" -L "$libraries" -Wl,-rpath,"$libraries" -lsvod-runtime -lpng

out="${2:-photo}"
photo="${1:-}"
if [[ -z "$photo" ]]; then
  "$prefix/bin/svodc" compile "$here/scene.svod" -o "$work/scene.plan" >/dev/null
  "$work/image_filter" "$work/scene.plan" - "$out"
  photo="$out-image.png"
fi
"$prefix/bin/svodc" compile "$here/photo.svod" -o "$work/photo.plan" >/dev/null
"$work/image_filter" "$work/photo.plan" "$photo" "$out" "${3:-1}"
