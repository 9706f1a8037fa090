#!/usr/bin/env python3
"""A chain of products of 16 x 16 matrices, whose steps cost little but their start: the time of a step in every artifact.

usage: benchmarks/chain.py [--bin FOLDER] [--cpu CPU] [--cc COMPILER] [--steps N] [--rounds N]

The chain is compiled once for each target; a program in C runs it as a plan in a folder, as a pack, with the kernels in a
table of the program, and as one function without the runtime, from machine code and from C. The best round counts. Every result
is compared with that of the plan. Where a run of the runtime allocates memory, the program says so and ends with 1.
"""
import argparse
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TIMER = r"""
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
static float x[256], w[256], y[256];
static double now(void) { struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return 1e9 * (double)t.tv_sec + (double)t.tv_nsec; }
static void fill(void) { for (int i = 0; i < 256; ++i) x[i] = (float)(i % 7) / 3 - 1, w[i] = (float)(i % 11) / 16 - 0.3f; }
static int run(void);
static long allocations;
static int measure(int rounds) {
  double best = 1e30;
  if (run() != 0) return 9;
  const long before = allocations;
  for (int i = 0; i < rounds; ++i) { const double start = now(); if (run() != 0) return 9; const double t = now() - start; if (t < best) best = t; }
  if (allocations != before) { fprintf(stderr, "%ld allocations in %d runs\n", allocations - before, rounds); return 1; }
  printf("%.0f", best);
  for (int i = 0; i < 256; ++i) { unsigned bits; memcpy(&bits, &y[i], 4); printf(" %08x", bits); }
  printf("\n");
  return 0;
}
"""
RUNTIME = TIMER + r"""
#include <svod/runtime.h>
extern void* __libc_malloc(size_t);
void* malloc(size_t bytes) { ++allocations; return __libc_malloc(bytes); }
#ifdef TABLE
extern const svod_function_table chain_functions;
#endif
static svod_instance* instance;
static int run(void) { return svod_execute(instance, NULL, NULL); }
int main(int argc, char** argv) {
  svod_plan* plan = NULL;
  svod_error error;
  const uint64_t shape[] = {16, 16};
  fill();
  if (argc != 3) return 2;
#ifdef TABLE
  int code = svod_plan_load_static(argv[1], &chain_functions, NULL, &plan, &error);
#else
  int code = svod_plan_load(argv[1], NULL, &plan, &error);
#endif
  if (code == 0) code = svod_instance_create(plan, NULL, &instance, &error);
  if (code == 0) code = svod_bind_input(instance, svod_plan_find(plan, SVOD_INPUT, "x"), "f32", shape, 2, x, &error);
  if (code == 0) code = svod_bind_input(instance, svod_plan_find(plan, SVOD_INPUT, "w"), "f32", shape, 2, w, &error);
  if (code == 0) code = svod_bind_output(instance, svod_plan_find(plan, SVOD_OUTPUT, "y"), y, sizeof y, &error);
  if (code != 0) { fprintf(stderr, "%s\n", error.message); return code; }
  return measure(atoi(argv[2]));
}
"""
FUNCTION = TIMER + r"""
#include "chain.h"
static _Alignas(64) unsigned char arena[CHAIN_ARENA_BYTES];
static int run(void) { return chain_run(x, w, y, arena, 0); }
int main(int argc, char** argv) { fill(); return argc != 3 ? 2 : measure(atoi(argv[2])); }
"""


def call(*words):
    done = subprocess.run([*map(str, words)], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, words))}\nended with {done.returncode}\n{done.stderr[-2000:]}")
    return done.stdout


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=Path, default=ROOT / "build/release/bin")
    parser.add_argument("--cpu", default="native", help="the processor of svodc and of the C compiler")
    parser.add_argument("--cc", default="gcc", help="compiles the C files")
    parser.add_argument("--steps", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=2000)
    options = parser.parse_args()
    library = options.bin.resolve().parent / "runtime-min"
    with tempfile.TemporaryDirectory() as name:
        at = Path(name)
        lines = [f"v{i} = matmul({f'v{i - 1}' if i else 'x'}, w)" for i in range(options.steps)]
        graph = at / "chain.svod"
        graph.write_text("\n".join(["svod 1", "input x: f32[16, 16]", "input w: f32[16, 16]", *lines, f"output y = v{options.steps - 1}", ""]))
        svodc = options.bin / "svodc"
        call(svodc, "compile", graph, "-o", at / "plan", "--cpu", options.cpu, "--emit", f"pack={at}/pack", "--emit", f"static-lib={at}/code.a",
             "--emit", f"shared-lib={at}/libchain.so", "--emit", f"header={at}/chain.h")
        call(svodc, "compile", graph, "-o", at / "c.plan", "--target", "c", "--cpu", options.cpu, "--cc", "none",
             "--emit", f"functions={at}/functions.c", "--emit", f"c={at}/chain.c")
        (at / "runtime.c").write_text(RUNTIME)
        (at / "function.c").write_text(FUNCTION)
        cc = (options.cc, "-std=gnu11", "-O3", f"-march={options.cpu}", "-I", at, "-I", ROOT / "runtime-min/include")
        dynamic = ("-L", library, "-lsvod-runtime", f"-Wl,-rpath,{library}")
        programs = (("folder of a plan", [at / "runtime.c", *dynamic], at / "plan"), ("pack", [at / "runtime.c", *dynamic], at / "pack"),
                    ("pack, static runtime", [at / "runtime.c", library / "libsvod-runtime.a"], at / "pack"),
                    ("table of functions", ["-DTABLE", at / "runtime.c", at / "functions.c", *dynamic], at / "c.plan"),
                    ("static-lib", [at / "function.c", at / "code.a"], "-"), ("shared-lib", [at / "function.c", at / "libchain.so", f"-Wl,-rpath,{at}"], "-"),
                    ("c", [at / "function.c", at / "chain.c", "-lm"], "-"))
        expected = {}
        print("| artifact | ns per step |\n|---|---|")
        for kind, words, plan in programs:
            call(*cc, *words, "-o", at / "program")
            time, *values = call(at / "program", plan, options.rounds).split()
            of_c = "table" in kind or kind == "c"
            if values != expected.setdefault(of_c, values):
                sys.exit(f"{kind}: other bytes")
            print(f"| {kind} | {int(time) / options.steps:.0f} |", flush=True)
        plan = (at / "plan/plan.json").read_text()
        print(f"\n{len(re.findall('launch', plan))} launches")


if __name__ == "__main__":
    main()
