"""Libraries and C files for other machines, made without any tool of theirs: they give the bytes of the plan of this one."""
import json
import re
import shutil
import struct
import subprocess
import unittest

from embedded import CC, ROOT, WARNINGS, Model, ToolTest, build, needs, program
from networks import NETWORKS, write_graph

# With fused multiply-adds, or without, results of transcendental functions differ in their last bits.
FUSED, SEPARATE = "x86-64-v3", "x86-64-v2"
ARM = ["arm-linux-gnueabihf-gcc", "-static", "-std=c11", *WARNINGS]
ARM64 = ["aarch64-linux-gnu-gcc", "-static", "-std=c11", *WARNINGS]

# Programs of RISC-V need no library of it: they start, read and write by calls of the system.
RISCV = ["clang-19", "--target=riscv64-unknown-linux-gnu", "-march=rv64gc", "-mabi=lp64d", "-static", "-nostdlib", "-ffreestanding", "-fuse-ld=lld-19",
         "-O1", "-std=c11", *WARNINGS]
BARE = r"""
#include <stddef.h>
#include "%s/lib/toolchain/headers/memory.h"
static long system_call(long number, long a, long b, long c) {
  register long a0 __asm__("a0") = a, a1 __asm__("a1") = b, a2 __asm__("a2") = c, a7 __asm__("a7") = number;
  __asm__ volatile("ecall" : "+r"(a0) : "r"(a1), "r"(a2), "r"(a7) : "memory");
  return a0;
}
static void all(long number, long file, long at, size_t bytes) {
  while (bytes > 0) {
    const long done = system_call(number, file, at, (long)bytes);
    if (done <= 0) system_call(93, 90, 0, 0);
    at += done, bytes -= (size_t)done;
  }
}
static void give(void* to, size_t bytes) { all(63, 0, (long)to, bytes); }
static void take(const void* from, size_t bytes) { all(64, 1, (long)from, bytes); }
static int strcmp(const char* a, const char* b) {
  while (*a != 0 && *a == *b) ++a, ++b;
  return *a - *b;
}
int main(int argc, char** argv);
__attribute__((used)) static void begin(long* stack) { system_call(93, main((int)stack[0], (char**)(stack + 1)), 0, 0); }
__asm__(".globl _start\n_start:\n  mv a0, sp\n  andi sp, sp, -16\n  tail begin\n");
""" % ROOT


# QEMU 7.2 fails an assertion where a conversion toward zero follows another with no arithmetic of floats between them.
ONE_VECTOR = {("conversions", "rv64gcv"): ["--opts", "a_b=vector(n0,2)", "--opts", "c_e=vector(n0,2)"]}


class Library(Model):
    """A network as a library for another machine, beside the plan of this one."""

    def __init__(self, test, name, triple, cpu, host, numerics="strict"):
        graph, (_, variables, repeat) = write_graph(test, name), NETWORKS[name]
        super().__init__(test, graph, name, emit=(), words=["--cpu", host, "--numerics", numerics], variables=variables, repeat=repeat)
        self.files = {"static-lib": test.folder / f"{name}.a", "header": test.folder / f"{name}.h"}
        test.svodc("compile", graph, "--triple", triple, *(["--cpu", cpu] if cpu else []), "--numerics", numerics, "--prefix", name,
                   *ONE_VECTOR.get((name, cpu), []),
                   *[word for kind, path in self.files.items() for word in ("--emit", f"{kind}={path}")])

    def constant(self, name):
        return int(re.search(rf"#define {self.prefix.upper()}_{name} (\d+)", self.files["header"].read_text())[1])

    def calls(self):
        """What a script needs to know to call the function of a WebAssembly module: parameters in their order."""
        words = [word.split()[-1].lstrip("*") for word in self.files["header"].read_text().split(f"{self.prefix}_run(")[1].split(")")[0].split(",")]
        inputs = {name: len(data) for name, _, _, data in self.inputs}
        outputs = {port["name"]: port for port in self.manifest["outputs"]}
        calls, given = [], list(self.variables.values())
        for name in words:
            plain = name.rstrip("_")
            if name == "threads":
                calls.append({"kind": "null"})
            elif name in ("arena", "states"):
                calls.append({"kind": name, "bytes": self.constant(f"{name.upper()}_BYTES")})
            elif plain in inputs:
                calls.append({"kind": "input", "bytes": inputs[plain]})
            elif plain in outputs:
                bytes_ = self.constant(f"{name.upper()}_BYTES")
                most = 1
                for axis in range(self.constant(f"{name.upper()}_RANK")):
                    most *= self.constant(f"{name.upper()}_DIM{axis}")
                calls.append({"kind": "output", "bytes": bytes_ // max(most, 1) * self.count(outputs[plain]), "most": bytes_})
            else:
                calls.append({"kind": "number", "value": given.pop(0)})
        return {"prefix": self.prefix, "repeat": self.repeat, "parameters": calls}


class Cross(ToolTest):
    def run_program(self, before, path, model):
        done = subprocess.run([*map(str, before), path, model.prefix], input=model.given(), capture_output=True, timeout=100)
        self.assertEqual((done.returncode, done.stderr), (0, b""), model.prefix)
        return done.stdout

    def check_machine(self, compiler, emulator, triple, cpus, text=None):
        needs(self, compiler[0], emulator[0])
        for cpu, host, words in cpus:
            with self.subTest(cpu):
                models = [Library(self, name, triple, cpu, host) for name in NETWORKS]
                path = self.program(models, compiler, text)
                for model in models:
                    self.assertTrue(self.run_program([*emulator, *words], path, model) == model.expected(), f"{model.prefix}: other bytes than the plan")
                self.check_symbols(models)

    def program(self, models, compiler, text):
        if text is None:
            return program(self, models, cc=compiler)
        source = "".join(f'#include "{m.files["header"].name}"\n' for m in models) + text + "\n".join(m.caller() for m in models)
        source += "int main(int argc, char** argv) {\n  if (argc < 2) return 8;\n"
        source += "".join(f'  if (strcmp(argv[1], "{m.prefix}") == 0) return call_{m.prefix}();\n' for m in models) + "  return 7;\n}\n"
        (self.folder / "program.c").write_text(source)
        build(self, [*compiler, self.folder / "program.c", *[m.files["static-lib"] for m in models], "-o", self.folder / "program"])
        return self.folder / "program"

    def check_symbols(self, models):
        """The library needs functions of memory at most."""
        for model in models:
            lines = build(self, ["llvm-nm-19" if shutil.which("llvm-nm-19") else "nm", model.files["static-lib"]]).splitlines()
            needed = {line.split()[-1] for line in lines if " U " in line} - {"_GLOBAL_OFFSET_TABLE_"}
            self.assertTrue(all(re.fullmatch(r"(__aeabi_)?mem(cpy|move|set|clr)[48]?", name) for name in needed), needed)

    def test_aarch64(self):
        self.check_machine(ARM64, ["qemu-aarch64-static"], "aarch64-unknown-linux-gnu", [("generic", FUSED, []), ("neoverse-v1", FUSED, ["-cpu", "max"])])

    def test_armv7(self):
        self.check_machine(ARM, ["qemu-arm-static"], "armv7-unknown-linux-gnueabihf", [("armv7-a", SEPARATE, ["-cpu", "cortex-a9"]), ("cortex-a7", FUSED, ["-cpu", "cortex-a7"])])

    def test_riscv64(self):
        needs(self, "ld.lld-19")
        self.check_machine(RISCV, ["qemu-riscv64-static"], "riscv64-unknown-linux-gnu",
                           [("rv64gc", FUSED, ["-cpu", "rv64,v=false"]), ("rv64gcv", FUSED, ["-cpu", "rv64,v=true,vext_spec=v1.0,vlen=256"])], BARE)

    def test_wasm32(self):
        needs(self, "wasm-ld-19", "node")
        for cpu, host in (("generic", SEPARATE), ("simd128", SEPARATE)):
            with self.subTest(cpu):
                models = [Library(self, name, "wasm32-unknown-unknown", cpu, host) for name in NETWORKS]
                module = self.folder / "models.wasm"
                functions = [f"--export={m.prefix}_{f}" for m in models for f in ("run", "reset") if f"{m.prefix}_{f}(" in m.files["header"].read_text()]
                build(self, ["wasm-ld-19", "--no-entry", "--fatal-warnings", *functions, "--export=__heap_base", *[m.files["static-lib"] for m in models], "-o", module])
                (self.folder / "calls.json").write_text(json.dumps([m.calls() for m in models]))
                given = b"".join(m.given() for m in models)
                done = subprocess.run(["node", ROOT / "tests/embed/run_wasm.mjs", module, self.folder / "calls.json"], input=given, capture_output=True, timeout=100)
                self.assertEqual((done.returncode, done.stderr), (0, b""))
                rest = done.stdout
                for m in models:
                    wanted = m.expected()
                    self.assertTrue(rest[:len(wanted)] == wanted, f"{m.prefix}: other bytes than the plan")
                    rest = rest[len(wanted):]
                self.assertEqual(rest, b"")

    def test_vectors_of_armv7_where_subnormal_numbers_may_be_zero(self):
        """NEON is used with fast numerics only, and within rounding of them."""
        needs(self, ARM[0], "qemu-arm-static")
        models = [Library(self, name, "armv7-unknown-linux-gnueabihf", "cortex-a7", FUSED, "fast") for name in ("mlp", "convnet", "attention")]
        path = program(self, models, cc=ARM)
        for model in models:
            got, wanted = self.run_program(["qemu-arm-static", "-cpu", "cortex-a7"], path, model), model.expected()
            self.assertEqual(len(got), len(wanted))
            for a, b in zip(struct.iter_unpack("<f", got), struct.iter_unpack("<f", wanted)):
                self.assertAlmostEqual(a[0], b[0], delta=1e-5 * max(1, abs(b[0])))
        for numerics, has_vectors in (("fast", True), ("contract", False)):
            self.svodc("compile", write_graph(self, "mlp"), "--triple", "armv7-unknown-linux-gnueabihf", "--cpu", "cortex-a7", "--numerics", numerics,
                       "--emit", f"asm={self.folder}/{numerics}")
            text = "".join(path.read_text() for path in (self.folder / numerics).iterdir())
            self.assertEqual(bool(re.search(r"\bv(mul|add|mla|fma)\.f32\s+q", text)), has_vectors)

    def test_portable_c(self):
        """One file of C gives the bytes of the plan with the compilers of other machines."""
        machines = [(ARM64, ["qemu-aarch64-static"]), (ARM, ["qemu-arm-static"])]
        needs(self, *[word for cc, emulator in machines for word in (cc[0], *emulator)])
        for cc, emulator in machines:
            triple = "aarch64-unknown-linux-gnu" if cc is ARM64 else "armv7-unknown-linux-gnueabihf"
            models = []
            for name, (_, variables, repeat) in NETWORKS.items():
                models.append(Model(self, write_graph(self, name), name, words=["--numerics", "strict"], variables=variables, repeat=repeat))
                self.svodc("compile", write_graph(self, name), "-o", self.folder / "q", "--target", "c", "--cc", "none", "--triple", triple, "--numerics", "strict",
                           "--prefix", name, "--emit", f"c={models[-1].files['c']}", "--emit", f"header={models[-1].files['header']}")
            path = program(self, models, cc=[*cc, "-O1", "-ffp-contract=off"])
            for model in models:
                self.assertTrue(self.run_program(emulator, path, model) == model.expected(), f"{model.prefix}: other bytes than the plan")

    def test_any_triple_of_portable_c(self):
        graph = write_graph(self, "mlp")
        for triple in ("thumbv7em-none-eabi", "mips64-unknown-linux-gnu", "pdp11-dec-ultrix", "wasm32-unknown-unknown"):
            plan = self.folder / triple
            self.svodc("compile", graph, "-o", plan, "--target", "c", "--triple", triple, "--emit", f"c={self.folder}/m.c")
            self.assertEqual(json.loads((plan / "plan.json").read_text())["target"]["triple"], triple)
            self.assertFalse((plan / "kernels.so").exists())
            build(self, [*CC, "-c", self.folder / "m.c", "-o", self.folder / "m.o"])

    def test_mistakes(self):
        graph = write_graph(self, "mlp")
        wasm = ["--triple", "wasm32-unknown-unknown", "--cpu", "simd128"]
        self.fails(3, "compile", graph, "-o", self.folder / "p", *wasm, says="no runtime loads a plan")
        self.fails(2, "compile", graph, *wasm, says="needs -o PLAN")
        self.fails(2, "compile", graph, *wasm, "--emit", "static-lib", says="needs a path")
        self.fails(2, "compile", graph, *wasm, "--emit", f"obj={self.folder}/o", "-MD", says="-MF FILE")
        self.fails(3, "compile", graph, *wasm[:2], "--cpu", "native", "--emit", f"obj={self.folder}/o", says="simd128")
        (self.folder / "f.c").write_text("void f(float *y, const float *x) { y[0] = x[0]; }\n")
        custom = self.graph('svod 1\ninput x: f32[1]\noutput y = custom(x, source="f.c", function=f, shape=[1]) + 1\n')
        self.fails(3, "compile", custom, *wasm, "--emit", f"static-lib={self.folder}/m.a", says="functions of C files")

    def test_objects_without_a_plan(self):
        graph = write_graph(self, "mlp")
        done = self.svodc("compile", graph, "--triple", "wasm32-unknown-unknown", "--cpu", "simd128", "--emit", f"obj={self.folder}/o", "-MF", self.folder / "d", "--json")
        written = json.loads(done.stdout)["filesWritten"]
        self.assertEqual(written, [f"{self.folder}/o", f"{self.folder}/d"])
        self.assertEqual((self.folder / "o").read_bytes()[:4], b"\0asm")
        self.assertTrue((self.folder / "d").read_text().startswith(f"{self.folder}/o:"))
        self.assertEqual(sorted(p.name for p in self.folder.iterdir()), ["d", "graph_mlp", "o"])


if __name__ == "__main__":
    unittest.main()
