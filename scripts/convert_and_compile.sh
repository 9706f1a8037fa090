#!/bin/sh
# Compiles a model by way of a graph file, and directly: scripts/convert_and_compile.sh MODEL.onnx PLAN [FLAG ...]
# PLAN is the one of the graph file. Both plans must hold the same bytes, and the text must survive JSON. For
# onnx_conformance.sh --svodc 'scripts/convert_and_compile.sh {model} {plan}'.
set -eu
model=$1 plan=$2
shift 2
name=$(basename "$model" .onnx)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
svodc convert "$model" -o "$work/$name.svod"
svodc convert "$work/$name.svod" -o "$work/$name.json"
svodc convert "$work/$name.json" -o - | cmp - "$work/$name.svod"
svodc compile "$work/$name.svod" -o "$plan" "$@"
svodc compile "$model" -o "$work/direct" "$@"
if ! diff -rq "$work/direct" "$plan" >&2; then
  echo "the plan of the graph file differs from that of the model" >&2
  exit 1
fi
