"""Plans that are built into programs: programs around them, and what the plan itself gives for the same inputs."""
import json
import random
import re
import shutil
import struct
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests/cli"))
from svodc import ToolTest, npy, run  # noqa: E402

WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Werror"]
CC = ["gcc", "-std=c11", *WARNINGS]
# Of a dtype: what .npy calls it, and how struct packs an item. Others travel as the bits of their elements.
ITEMS = {"f32": ("<f4", "f"), "f64": ("<f8", "d"), "f16": ("<f2", "e"), "bool": ("|b1", "?"), "i8": ("|i1", "b"),
         "u8": ("|u1", "B"), "i16": ("<i2", "h"), "u16": ("<u2", "H"), "i32": ("<i4", "i"), "u32": ("<u4", "I"),
         "i64": ("<i8", "q"), "u64": ("<u8", "Q")}
PACKED = {"i2": 2, "u2": 2, "i4": 4, "u4": 4, "f4e2m1": 4}  # bits of an element

COMMON = r"""
#include <stdio.h>
#include <string.h>
static void give(void* to, size_t bytes) { if (fread(to, 1, bytes, stdin) != bytes) fprintf(stderr, "too little input\n"); }
static void take(const void* from, size_t bytes) { fwrite(from, 1, bytes, stdout); }
"""
# Cuts the tiles of a launch in uneven pieces and runs them from the last to the first, as three threads.
THREADS = r"""
static int cuts;
static void pieces(void* user, int64_t tiles, void (*body)(void*, int64_t, int64_t, int32_t), void* task) {
  const int64_t a = tiles / 5, b = tiles - tiles / 3;
  (void)user;
  ++cuts;
  body(task, b, tiles, 2);
  body(task, a, b, 0);
  body(task, 0, a, 1);
}
static const svod_model_threads three = {0, 3, pieces};
"""


def packed(items, bits):
    """Elements of less than a byte as memory holds them."""
    per = 8 // bits
    out = bytearray((len(items) + per - 1) // per)
    for i, item in enumerate(items):
        out[i // per] |= (item & ((1 << bits) - 1)) << (i % per * bits)
    return bytes(out)


class Model:
    """A compiled graph with random inputs."""

    def __init__(self, test, graph, prefix, emit=("c", "header"), words=(), variables=None, repeat=1, seed=7):
        self.test, self.prefix, self.repeat = test, prefix, repeat
        self.plan = test.folder / f"{prefix}.plan"
        self.files = {kind: test.folder / f"{prefix}.{ {'c': 'c', 'header': 'h', 'static-lib': 'a'}[kind] }" for kind in emit}
        flags = [word for kind, path in self.files.items() for word in ("--emit", f"{kind}={path}")]
        target = ["--target", "c", "--cc", ROOT / "tests/e2e/quick_cc"] if "c" in emit else []
        test.svodc("compile", graph, "-o", self.plan, *target, *flags, "--prefix", prefix, *words)
        self.manifest = json.loads((self.plan / "plan.json").read_text())
        free = [v for v in self.manifest["variables"] if v["kind"] == "free"]
        self.variables = {v["name"]: (variables or {}).get(v["name"], v["max"]) for v in free}
        draw = random.Random(seed)
        self.inputs = [(port["name"], self.dtype(port), self.shape(port), self.draw(port, draw)) for port in self.manifest["inputs"]]

    def dtype(self, port):
        return self.manifest["buffers"][port["buffer"]]["dtype"]

    def shape(self, port):
        names = {"max": max, "min": min, "ceildiv": lambda a, b: -(-a // b), **self.variables}
        fixed = {v["name"]: v["value"] for v in self.manifest["variables"] if v["kind"] == "fixed"}
        return [eval(str(dim).replace("`", ""), {}, names | fixed) for dim in port["shape"]]

    def count(self, port):
        count = 1
        for dim in self.shape(port):
            count *= dim
        return count

    def draw(self, port, draw):
        """Items of .npy files."""
        dtype, count = self.dtype(port), self.count(port)
        if dtype == "bf16":
            return b"".join(struct.pack("<f", draw.uniform(-2, 2))[2:] for _ in range(count))
        if dtype not in ITEMS:
            return bytes(draw.randrange(2) for _ in range(count))
        code = ITEMS[dtype][1]
        values = ([draw.randint(-128, 128) / 64 for _ in range(count)] if dtype[0] == "f" else
                  [draw.randint(0, 1 if dtype == "bool" else 3) for _ in range(count)])
        return struct.pack(f"<{count}{code}", *values)

    def expected(self):
        """The outputs of the plan, one after the other, as memory holds them."""
        words = []
        for name, dtype, shape, data in self.inputs:
            descr = ITEMS[dtype][0] if dtype in ITEMS else "<u2" if dtype == "bf16" else "|i1" if dtype[0] == "i" else "|u1"
            words += ["--input", f"{name}={npy(self.test.folder / 'input.npy', descr, shape, data).rename(self.test.folder / f'{len(words)}.npy')}"]
        for name, value in self.variables.items():
            if not any(name == str(dim) for port in self.manifest["inputs"] for dim in port["shape"]):
                words += ["--var", f"{name}={value}"]
        out = self.test.folder / f"{self.prefix}.out"
        done = run("svod-run", self.plan, *words, "--output-dir", out, "--repeat", self.repeat)
        self.test.assertEqual(done.returncode, 0, done.stderr)
        result = b""
        for port in self.manifest["outputs"]:
            data = (out / f"{port['name']}.npy").read_bytes()
            data = data[10 + struct.unpack_from("<H", data, 8)[0]:]
            bits = PACKED.get(self.dtype(port))
            result += packed(data, bits) if bits else data
        return result

    def given(self):
        return b"".join(packed(data, PACKED[dtype]) if dtype in PACKED else data for _, dtype, _, data in self.inputs)

    def functions(self):
        """The names that objects have of what the header declares: plain ones, and those with the tag of the model."""
        return functions(self.files["header"].read_text())

    def caller(self, threads="0"):
        """A function in C that reads the inputs, runs the model and writes the outputs."""
        header = self.files["header"].read_text()
        macro = self.prefix.upper()
        parameters = header.split(f"{self.prefix}_run(")[1].split(")")[0]
        names = [word.split()[-1].lstrip("*") for word in parameters.split(",")]
        lines, after, before = [], [], []
        arguments = []
        ports = [*self.manifest["inputs"], *self.manifest["outputs"]]
        for name, declared in zip(names, parameters.split(",")):
            if declared.strip().startswith("int64_t ") and "*" not in declared:
                arguments.append(str(list(self.variables.values())[len(arguments)]))
            elif name == "threads":
                arguments.append(threads)
            elif name in ("arena", "states"):
                bytes_ = f"{macro}_ARENA_BYTES + 2 * {macro}_THREAD_BYTES" if name == "arena" else f"{macro}_STATES_BYTES"
                lines.append(f"  static _Alignas(64) unsigned char {name}[{bytes_} + 1];")
                arguments.append(name)
                if name == "states":
                    before.append(f"  if ({self.prefix}_reset(states) != 0) return 9;")
            else:
                port = ports[len(lines) if not any("arena" in x for x in lines) else 0]
                kind = declared.replace("const", "").split("*")[0].strip()
                at = len(lines)
                bits = PACKED.get(self.dtype(port))
                count = (self.count(port) * bits + 7) // 8 if bits else self.count(port)
                most = f"{macro}_{name.upper()}_BYTES"
                lines.append(f"  static {kind} p{at}[{most} / sizeof({kind}) + 1];")
                (before if at < len(self.manifest["inputs"]) else after).append(
                    f"  {'give' if at < len(self.manifest['inputs']) else 'take'}(p{at}, {count} * sizeof({kind}));")
                arguments.append(f"p{at}")
        call = f"  for (int i = 0; i < {self.repeat}; ++i) {{\n    const int code = {self.prefix}_run({', '.join(arguments)});\n    if (code != 0) return code;\n  }}"
        return "\n".join([f"static int call_{self.prefix}(void) {{", *lines, *before, call, *after, "  return 0;\n}\n"])


def functions(header):
    return {name for pair in re.findall(r"#define (\w+) (\1_[0-9a-f]{16})$", header, re.M) for name in pair}


def program(test, models, threads=False, cc=CC, objects=None, name="program"):
    """A program that runs the model which its argument names."""
    text = "".join(f'#include "{m.files["header"].name}"\n' for m in models) + COMMON + (THREADS if threads else "")
    text += "\n".join(m.caller("&three" if threads else "0") for m in models)
    text += "int main(int argc, char** argv) {\n  if (argc < 2) return 8;\n"
    text += "".join(f'  if (strcmp(argv[1], "{m.prefix}") == 0) return call_{m.prefix}();\n' for m in models)
    text += "  return 7;\n}\n"
    source = test.folder / f"{name}.c"
    source.write_text(text)
    build(test, [*cc, source, *(objects or [m.files.get("c") or m.files["static-lib"] for m in models]), "-lm", "-o", test.folder / name])
    return test.folder / name


def build(test, words):
    done = subprocess.run([*map(str, words)], capture_output=True, text=True)
    test.assertEqual(done.returncode, 0, " ".join(map(str, words)) + "\n" + done.stderr[:4000])
    return done.stdout


def check(test, path, models, before=()):
    """Every model in the program gives the bytes of its plan."""
    for model in models:
        done = subprocess.run([*before, path, model.prefix], input=model.given(), capture_output=True)
        test.assertEqual((done.returncode, done.stderr), (0, b""), model.prefix)
        test.assertEqual(done.stdout == model.expected(), True, f"{model.prefix}: other bytes than the plan")


def needs(test, *programs):
    for name in programs:
        if shutil.which(name) is None:
            test.skipTest(f"needs {name}")


__all__ = ["ROOT", "CC", "WARNINGS", "Model", "ToolTest", "build", "check", "functions", "needs", "npy", "program", "re", "run"]
