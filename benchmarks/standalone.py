#!/usr/bin/env python3
"""The networks of networks.py as functions of a program, in portable C and as objects, beside their plans: equal bytes?

usage: benchmarks/standalone.py [--bin FOLDER] [--only TEXT]

Each network is compiled for this machine and for --target c, with what --emit static-lib and --emit c make of it. A program in
C around each function reads the weights and the input, and writes the output, which is compared with that of svod-run on the
plan of the same compile. Exits with 1 where a byte differs.
"""
import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

import networks

COMPILER = ["gcc", "-std=c11", "-O1", "-ffp-contract=off", "-fno-math-errno"]
PROGRAM = r"""
#include <stdio.h>
#include "model.h"
static _Alignas(64) unsigned char weights[MODEL_WEIGHTS_BYTES], arena[MODEL_ARENA_BYTES + 1];
static _Alignas(64) unsigned char input[%(input)d], output[%(output)d];
static int get(const char* path, void* to, size_t bytes) {
  FILE* file = fopen(path, "rb");
  return file != 0 && fread(to, 1, bytes, file) == bytes;
}
int main(int argc, char** argv) {
  if (argc != 3 || !get(argv[1], weights, sizeof weights) || !get(argv[2], input, sizeof input)) return 9;
  const int code = model_run((const void*)input, (void*)output, weights, arena, 0);
  fwrite(output, 1, sizeof output, stdout);
  return code;
}
"""


def call(*words):
    done = subprocess.run([*map(str, words)], capture_output=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, words))}\nended with {done.returncode}\n{done.stderr.decode()[-2000:]}")
    return done.stdout


def of_plan(options, plan, image, folder):
    """The bytes that the plan gives."""
    names = networks.port_names(plan)
    np.save(folder / "input.npy", image)
    call(f"{options.bin}/svod-run", plan, "--input", f"{names['inputs']}={folder}/input.npy", "--output",
         f"{names['outputs']}={folder}/output.npy")
    return np.load(folder / "output.npy").tobytes()


def of_function(plan, image, size, code, folder):
    """The bytes that the function in `code` gives."""
    (folder / "program.c").write_text(PROGRAM % {"input": image.nbytes, "output": size})
    call(*COMPILER, folder / "program.c", code, "-lm", "-o", folder / "program")
    (folder / "input").write_bytes(image.tobytes())
    return call(folder / "program", plan / "weights.bin", folder / "input")


def compare(options, model, image, kind, target, ending, folder):
    plan, code = folder / f"{target}.plan", folder / f"code{ending}"
    call(f"{options.bin}/svodc", "compile", model, "-o", plan, "--target", target, "--weights", "file", "--prefix", "model",
         "--emit", f"{kind}={code}", "--emit", f"header={folder}/model.h")
    wanted = of_plan(options, plan, image, folder)
    return wanted == of_function(plan, image, len(wanted), code, folder), len(wanted), code.stat().st_size


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--bin", default="build/release/bin", help="folder of svodc and svod-run")
    parser.add_argument("--only", default="", help="networks whose name contains this")
    options = parser.parse_args()
    same, archive = True, networks.published_cases()
    for name in networks.NETWORKS:
        if options.only not in name:
            continue
        with tempfile.TemporaryDirectory() as made:
            folder = Path(made)
            model, image, _ = networks.seeded(archive, name, folder)
            for kind, target, ending in (("static-lib", "cpu", ".a"), ("c", "c", ".c")):
                equal, bytes_, size = compare(options, model, image, kind, target, ending, folder)
                same = same and equal
                says = "equal" if equal else "DIFFER"
                print(f"{name:16}  {kind:10}  {size / 1024:8.0f} KiB of code  {bytes_} bytes {says}", flush=True)
    sys.exit(0 if same else 1)


if __name__ == "__main__":
    main()
