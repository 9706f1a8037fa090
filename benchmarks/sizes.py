#!/usr/bin/env python3
"""What svod adds to a program: sizes of the runtime, and of a small network (64 -> 32 -> 10, relu, softmax) as a function.

usage: benchmarks/sizes.py [--bin FOLDER]

Everything is stripped. Of the function on x86-64, code that is not that of its kernels is named apart; the weights have a
section of their own. The Cortex-M4 build is C by clang-19 -Oz for thumbv7em with hardware floats, without a C library.
"""
import argparse
import re
import shutil
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MLP = """svod 1
input x: f32[1, 64]
weight w1: f32[32, 64] = "w1.npy"
weight b1: f32[32] = "b1.npy"
weight w2: f32[10, 32] = "w2.npy"
weight b2: f32[10] = "b2.npy"
hidden = relu(linear(x, w1, b1))
output y = softmax(linear(hidden, w2, b2), axis=-1)
"""
WEIGHTS = {"w1": (32, 64), "b1": (32,), "w2": (10, 32), "b2": (10,)}


def call(*words):
    done = subprocess.run([*map(str, words)], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, words))}\nended with {done.returncode}\n{done.stderr[-2000:]}")
    return done.stdout


def npy(path, shape):
    count = 1
    for n in shape:
        count *= n
    header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}, }}"
    header += " " * (64 - (11 + len(header)) % 64) + "\n"
    data = struct.pack(f"<{count}f", *((i * 37 % 101) / 101 - 0.5 for i in range(count)))
    path.write_bytes(b"\x93NUMPY\1\0" + struct.pack("<H", len(header)) + header.encode() + data)


def sections(file):
    """Bytes of what is in memory, by kind."""
    sizes = {"weights": 0, "code": 0, "data": 0}
    for name, size in re.findall(r"^(\.\S+)\s+(\d+)\s+\d+", call("size", "-A", file), re.M):
        kind = "weights" if name.startswith(".weights") else "code" if name.startswith((".text", ".rodata")) else \
            "data" if name.startswith((".data", ".bss")) else None
        if kind:
            sizes[kind] += int(size)
    return sizes


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=Path, default=ROOT / "build/release/bin")
    options = parser.parse_args()
    library = options.bin.resolve().parent / "runtime-min"
    rows = []
    with tempfile.TemporaryDirectory() as name:
        at = Path(name)
        call("strip", library / "libsvod-runtime.so", "-o", at / "runtime.so")
        rows.append(("`libsvod-runtime.so`", (at / "runtime.so").stat().st_size))
        (at / "empty.c").write_text("int main(void) { return 0; }\n")
        call("cc", "-O2", at / "empty.c", "-o", at / "empty")
        call("cc", "-O2", "-I", ROOT / "runtime-min/include", ROOT / "tests/runtime/example.c", library / "libsvod-runtime.a", "-o", at / "with")
        for file in ("empty", "with"):
            call("strip", at / file)
        rows.append(("a program in C with `libsvod-runtime.a`, beyond an empty one", (at / "with").stat().st_size - (at / "empty").stat().st_size))
        for weight, shape in WEIGHTS.items():
            npy(at / f"{weight}.npy", shape)
        (at / "mlp.svod").write_text(MLP)
        svodc, words = options.bin / "svodc", ("--weights", "section=.weights", "--emit", f"header={at}/mlp.h")
        call(svodc, "compile", at / "mlp.svod", "--cpu", "x86-64-v3", *words, "--emit", f"static-lib={at}/mlp.a", "--emit", f"obj={at}/kernels.o")
        whole, kernels = sections(at / "mlp.a"), sections(at / "kernels.o")
        rows += [("network, x86-64: kernels", kernels["code"]), ("network, x86-64: weights", whole["weights"]),
                 ("network, x86-64: everything else", whole["code"] + whole["data"] - kernels["code"])]
        if shutil.which("clang-19"):
            call(svodc, "compile", at / "mlp.svod", "--target", "c", "--cc", "none", *words, "--emit", f"c={at}/mlp.c")
            call("clang-19", "--target=thumbv7em-none-eabihf", "-mcpu=cortex-m4", "-std=c11", "-Oz", "-ffreestanding", "-fno-math-errno",
                 "-ffunction-sections", "-c", at / "mlp.c", "-o", at / "mlp.o")
            whole = sections(at / "mlp.o")
            rows += [("network, Cortex-M4: all code and tables", whole["code"] + whole["data"]), ("network, Cortex-M4: weights", whole["weights"])]
            arena = re.search(r"MLP_ARENA_BYTES (\d+)", (at / "mlp.h").read_text())[1]
            rows.append(("network, Cortex-M4: arena in RAM", int(arena)))
    print("| | bytes |\n|---|---|")
    for what, size in rows:
        print(f"| {what} | {size:,} |")


if __name__ == "__main__":
    main()
