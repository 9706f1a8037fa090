#!/usr/bin/env bash
# Puts a page into a folder that reads digits with the network of examples/digits as WebAssembly: run.sh FOLDER.
# Needs ./dev build and wasm-ld (Debian: lld-19). SVOD_PREFIX names the folder of an installed svod, or of another build.
set -euo pipefail
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
digits="$here/../digits"
svodc="${SVOD_PREFIX:-$here/../../build/release}/bin/svodc"
out="${1:?run.sh FOLDER}"
linker="$(command -v wasm-ld-19 || command -v wasm-ld)" || { echo "wasm-ld is missing (Debian: lld-19)" >&2; exit 77; }

mkdir -p "$out"
"$svodc" compile "$digits/digits.svod" --triple wasm32-unknown-unknown --cpu simd128 \
  --emit static-lib="$out/digits.a" --emit header="$out/digits.h"
"$linker" --no-entry --export=digits_run --export=__heap_base "$out/digits.a" -o "$out/digits.wasm"
# Sizes for the script, from the header.
sed -nE 's/^#define DIGITS_([A-Z0-9_]+) ([0-9]+).*/export const \1 = \2;/p' "$out/digits.h" > "$out/sizes.mjs"
rm "$out/digits.a" "$out/digits.h"
cp "$here/index.html" "$here/page.mjs" "$here/model.mjs" "$digits/samples.npy" "$digits/labels.txt" "$out"
echo "python3 -m http.server --directory $out      # and open http://localhost:8000"
