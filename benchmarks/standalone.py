#!/usr/bin/env python3
"""The networks of networks.py as functions of a program, in portable C and as objects, beside their plans: equal bytes?

usage: benchmarks/standalone.py [--bin FOLDER] [--only TEXT] [--cpu CPU] [--cc COMPILER] [--optimize LEVEL] [--rounds N]

Each network is compiled for this machine and for --target c, with what --emit static-lib and --emit c make of it. A program in
C around each function reads the weights and the input, and writes the output, which is compared with that of svod-run on the
plan of the same compile. Exits with 1 where a byte differs. The best of N rounds is printed.
"""
import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

import networks

FLAGS = ["-std=c11", "-D_POSIX_C_SOURCE=200809L", "-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math"]
PROGRAM = r"""
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include "model.h"
static _Alignas(64) unsigned char weights[MODEL_WEIGHTS_BYTES], arena[MODEL_ARENA_BYTES + 1];
static _Alignas(64) unsigned char input[%(input)d], output[%(output)d];
static int get(const char* path, void* to, size_t bytes) {
  FILE* file = fopen(path, "rb");
  return file != 0 && fread(to, 1, bytes, file) == bytes;
}
static double now(void) { struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return 1e3 * (double)t.tv_sec + 1e-6 * (double)t.tv_nsec; }
int main(int argc, char** argv) {
  double best = 1e30;
  int code = 0;
  if (argc != 4 || !get(argv[1], weights, sizeof weights) || !get(argv[2], input, sizeof input)) return 9;
  for (int i = 0; i < atoi(argv[3]) && code == 0; ++i) {
    const double start = now();
    code = model_run((const void*)input, (void*)output, weights, arena, 0);
    if (now() - start < best) best = now() - start;
  }
  fprintf(stderr, "%%.2f", best);
  fwrite(output, 1, sizeof output, stdout);
  return code;
}
"""


def call(*words):
    """What a program writes: results, and messages."""
    done = subprocess.run([*map(str, words)], capture_output=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, words))}\nended with {done.returncode}\n{done.stderr.decode()[-2000:]}")
    return done.stdout, done.stderr.decode()


def of_plan(options, plan, image, folder):
    """The bytes that the plan gives."""
    names = networks.port_names(plan)
    np.save(folder / "input.npy", image)
    call(f"{options.bin}/svod-run", plan, "--input", f"{names['inputs']}={folder}/input.npy", "--output",
         f"{names['outputs']}={folder}/output.npy")
    return np.load(folder / "output.npy").tobytes()


def of_function(options, plan, image, size, code, folder):
    """The bytes that the function in `code` gives, and the best time in ms."""
    (folder / "program.c").write_text(PROGRAM % {"input": image.nbytes, "output": size})
    call(options.cc, *FLAGS, f"-O{options.optimize}", f"-march={options.cpu}", folder / "program.c", code, "-lm", "-o", folder / "program")
    (folder / "input").write_bytes(image.tobytes())
    return call(folder / "program", plan / "weights.bin", folder / "input", options.rounds)


def compare(options, model, image, kind, target, ending, folder):
    plan, code = folder / f"{target}.plan", folder / f"code{ending}"
    call(f"{options.bin}/svodc", "compile", model, "-o", plan, "--target", target, "--cpu", options.cpu, "--weights", "file", "--prefix", "model",
         "--emit", f"{kind}={code}", "--emit", f"header={folder}/model.h")
    wanted = of_plan(options, plan, image, folder)
    got, time = of_function(options, plan, image, len(wanted), code, folder)
    return wanted == got, len(wanted), code.stat().st_size, float(time)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--bin", default="build/release/bin", help="folder of svodc and svod-run")
    parser.add_argument("--only", default="", help="networks whose name contains this")
    parser.add_argument("--cpu", default="native", help="the processor of svodc and of the C compiler")
    parser.add_argument("--cc", default="gcc", help="compiles the C files")
    parser.add_argument("--optimize", default="1", help="the level of the C compiler")
    parser.add_argument("--rounds", type=int, default=1, help="runs of each function")
    options = parser.parse_args()
    same, archive = True, networks.published_cases()
    for name in networks.NETWORKS:
        if options.only not in name:
            continue
        with tempfile.TemporaryDirectory() as made:
            folder = Path(made)
            model, image, _ = networks.seeded(archive, name, folder)
            for kind, target, ending in (("static-lib", "cpu", ".a"), ("c", "c", ".c")):
                equal, bytes_, size, time = compare(options, model, image, kind, target, ending, folder)
                same = same and equal
                says = "equal" if equal else "DIFFER"
                print(f"{name:16}  {kind:10}  {size / 1024:8.0f} KiB of code  {time:8.2f} ms  {bytes_} bytes {says}", flush=True)
    sys.exit(0 if same else 1)


if __name__ == "__main__":
    main()
