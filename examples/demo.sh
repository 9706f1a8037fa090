#!/usr/bin/env bash
# Compiles a small trained network, runs it on images it never saw and shows what it read: ./dev demo
# usage: demo.sh [FOLDER OF svodc AND svod-run]
set -euo pipefail
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
bin="$(cd "${1:-build/release/bin}" && pwd)"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT

step() { printf '\n$ %s\n' "$*"; }

cd "$here/.."
graph=examples/digits/digits.svod images=examples/digits/samples.npy

step "svodc compile $graph -o digits.plan"
"$bin/svodc" compile "$graph" -o "$work/digits.plan" | sed "s|$work/||"

step "svod-run digits.plan --input image=$images --output-dir out --profile"
"$bin/svod-run" "$work/digits.plan" --input "image=$images" --output-dir "$work/out" --profile

step "examples/digits/show.py out"
python3 examples/digits/show.py "$work/out"

cat <<TEXT

Next:
  $bin/svodc inspect $graph --kernels
  $bin/svodc inspect $graph --html page.html
  examples/README.md
TEXT
