#!/usr/bin/env bash
# Puts pages into a folder that run the networks of examples/digits and examples/decoder as WebAssembly and on WebGPU:
# run.sh FOLDER. Needs ./dev build and wasm-ld (Debian: lld-19). SVOD_PREFIX names the folder of an installed svod, or of
# another build.
set -euo pipefail
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
examples="$here/.."
svodc="${SVOD_PREFIX:-$here/../../build/release}/bin/svodc"
out="${1:?run.sh FOLDER}"
linker="$(command -v wasm-ld-19 || command -v wasm-ld)" || { echo "wasm-ld is missing (Debian: lld-19)" >&2; exit 77; }

# NAME.wasm with the functions of a network, and its sizes for the script, from the header.
wasm() {
  local name="$1" macro="${1^^}" exports=()
  shift
  for function in "$@"; do exports+=(--export="${name}_$function"); done
  "$svodc" compile "$examples/$name/$name.svod" --triple wasm32-unknown-unknown --cpu simd128 \
    --emit static-lib="$out/$name.a" --emit header="$out/$name.h"
  "$linker" --no-entry "${exports[@]}" --export=__heap_base "$out/$name.a" -o "$out/$name.wasm"
  sed -nE "s/^#define ${macro}_([A-Z0-9_]+) ([0-9]+).*/export const \1 = \2;/p" "$out/$name.h" > "$out/$name.sizes.mjs"
  rm "$out/$name.a" "$out/$name.h"
}

mkdir -p "$out"
wasm digits run
wasm decoder run reset
for name in digits decoder; do
  "$svodc" compile "$examples/$name/$name.svod" --target webgpu --emit web="$out/$name"
done
cp "$here"/*.html "$here"/*.mjs "$here"/*.css "$examples/digits/samples.npy" "$examples/digits/labels.txt" "$out"
echo "python3 -m http.server --directory $out      # and open http://localhost:8000"
