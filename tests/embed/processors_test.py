"""Libraries for several processors: the function takes the code that is best for the machine it runs on."""
import re
import shutil
import subprocess
import unittest

from cross_test import ARM, ARM64, FUSED, Library
from embedded import ROOT, WARNINGS, Model, ToolTest, build, needs, program
from networks import write_graph

NAMES = ("mlp", "attention", "variable")
BAD_PROCESSOR = 4  # SVOD_MODEL_BAD_PROCESSOR
X86 = ["gcc", "-static", "-std=c11", *WARNINGS]


class Processors(ToolTest):
    def program(self, compiler, triple, cpus):
        models = [Library(self, name, triple, cpus, FUSED, "contract") for name in NAMES]
        return models, program(self, models, cc=compiler).rename(self.folder / f"program-{cpus}")

    def given(self, before, path, model):
        done = subprocess.run([*before, path, model.prefix], input=model.given(), capture_output=True, timeout=100)
        return done.returncode, done.stdout

    def check(self, compiler, triple, cpus, machines):
        """On each machine the bytes are those of the library for one processor alone."""
        models, path = self.program(compiler, triple, ",".join(cpus))
        alone = {cpu: self.program(compiler, triple, cpu)[1] for cpu in cpus}
        for before, cpu in machines:
            needs(self, before[0])
            for model in models:
                code, values = self.given(before, path, model)
                if cpu is None:
                    self.assertEqual((code, values), (BAD_PROCESSOR, b""))
                else:
                    self.assertEqual((code, values), self.given(before, alone[cpu], model), f"{model.prefix} on {before}")
        return models, alone

    def differ(self, before, models, alone, one, other):
        """What is given tells which code ran."""
        self.assertTrue(any(self.given(before, alone[one], m) != self.given(before, alone[other], m) for m in models))

    def test_x86(self):
        emulator = "qemu-x86_64-static"
        machines = [([emulator, "-cpu", model], cpu) for model, cpu in (("core2duo", None), ("Nehalem", "x86-64-v2"), ("Haswell", "x86-64-v3"))]
        programs = self.check(X86, "x86_64-unknown-linux-gnu", ["x86-64-v2", "x86-64-v3", "sapphirerapids"], machines)
        self.differ(machines[2][0], *programs, "x86-64-v2", "x86-64-v3")

    def test_armv7(self):
        needs(self, ARM[0])
        emulator = "qemu-arm-static"
        machines = [([emulator, "-cpu", "cortex-a9"], "armv7-a"), ([emulator, "-cpu", "cortex-a7"], "cortex-a7")]
        programs = self.check(ARM, "armv7-unknown-linux-gnueabihf", ["armv7-a", "cortex-a7"], machines)
        self.differ(machines[1][0], *programs, "armv7-a", "cortex-a7")

    def test_aarch64(self):
        needs(self, ARM64[0])
        emulator = "qemu-aarch64-static"
        self.check(ARM64, "aarch64-unknown-linux-gnu", ["neoverse-v1", "generic"],
                   [([emulator, "-cpu", "cortex-a57"], "generic"), ([emulator, "-cpu", "max"], "neoverse-v1")])

    def test_the_table_of_features_is_asked_as_the_runtime_asks_it(self):
        """On this machine the function takes what svod-run takes of the plan of the same compile."""
        model = Model(self, ROOT / "examples/digits/digits.svod", "digits", emit=("static-lib", "header"), variables={"n": 5},
                      words=["--cpu", "x86-64,x86-64-v2,x86-64-v3,x86-64-v4,sapphirerapids"])
        if model.manifest["target"]["triple"].startswith("x86_64"):
            code, values = self.given([], program(self, [model]), model)
            self.assertEqual((code, values == model.expected()), (0, True))

    def objects(self, name, cpu):
        """The code of each kernel by its name."""
        folder = self.folder / f"objects-{cpu}"
        self.svodc("compile", write_graph(self, name), "--triple", "x86_64-unknown-linux-gnu", "--cpu", cpu, "--numerics", "strict",
                   "--emit", f"obj-dir={folder}")
        return {path.stem: path.read_bytes() for path in folder.iterdir()}

    def test_no_kernel_at_all(self):
        graph = self.graph("svod 1\ninput x: f32[8]\noutput y = reshape(x, shape=[2, 4])\n")
        model = Model(self, graph, "turned", emit=("static-lib", "header"), words=["--triple", "x86_64-unknown-linux-gnu", "--cpu", "x86-64,x86-64-v2"])
        self.assertEqual(self.given([], program(self, [model], cc=X86), model), (0, model.expected()))

    def test_equal_kernels_are_there_once_and_nothing_else_is_seen(self):
        def symbols(cpus):
            Library(self, "mlp", "x86_64-unknown-linux-gnu", cpus, FUSED)
            return [line.split()[-2:] for line in build(self, ["nm", self.folder / "mlp.a"]).splitlines() if " " in line]
        alone, same = symbols("haswell"), symbols("haswell,skylake")
        kernels = [name for kind, name in alone if kind == "t" and "_" in name and not name.startswith("svod_")]
        self.assertGreater(len(kernels), 0)
        codes = [self.objects("mlp", cpu) for cpu in ("haswell", "skylake")]
        equal = [name for name in kernels if codes[0][name] == codes[1][name]]
        self.assertGreater(len(equal), 0)
        for name in kernels:  # by itself, and again as that of a variant only where that has other code
            seen = sorted(seen for _, seen in same if seen.split(".v")[0] == name)
            self.assertEqual(seen, [name] if name in equal else [name, name + ".v1"])
        several = symbols("x86-64-v2,x86-64-v4")
        self.assertTrue(any(name.endswith(".v1") for _, name in several))
        self.assertEqual(self.seen(several), {"mlp_run", "mlp_arena_bytes"})

    def seen(self, symbols):
        """The plain names of what others see or are asked for."""
        return {name for kind, name in symbols if kind in "TU" and not re.search("_[0-9a-f]{16}$", name)}

    def test_a_prefix_that_the_code_of_svod_begins_with(self):
        """svod_run is the function that chooses, and not the code for one of the processors."""
        graph = self.graph("svod 1\ninput x: f32[64]\noutput y = x * 3 + 1\n")
        model = Model(self, graph, "svod", emit=("static-lib", "header"),
                      words=["--triple", "x86_64-unknown-linux-gnu", "--cpu", "x86-64-v3,x86-64-v2"])
        seen = [line.split()[-2:] for line in build(self, ["nm", model.files["static-lib"]]).splitlines() if " " in line]
        self.assertEqual(self.seen(seen), {"svod_run", "svod_arena_bytes"})
        needs(self, "qemu-x86_64-static")
        path = program(self, [model], cc=X86)
        for machine, result in (("core2duo", (BAD_PROCESSOR, b"")), ("Nehalem", (0, model.expected())), ("Haswell", (0, model.expected()))):
            self.assertEqual(self.given(["qemu-x86_64-static", "-cpu", machine], path, model), result, machine)

    def test_functions_of_c_files(self):
        (self.folder / "f.c").write_text("#include <string.h>\n#include <stdint.h>\nstatic float last[64];\n"
                                         "void flip(float *y, const float *x, int64_t n) {\n  memcpy(last, x, n * sizeof(float));\n"
                                         "  for (int64_t i = 0; i < n; i++) y[i] = last[n - 1 - i] * 1.5f;\n}\n")
        graph = self.graph('svod 1\ninput x: f32[37]\noutput y = custom(x * 2, source="f.c", function=flip, shape=[37], values=[37]) + 1\n')
        model = Model(self, graph, "flipped", emit=("static-lib", "header"), words=["--cpu", "sapphirerapids,x86-64-v2,x86-64-v3"], repeat=2)
        path = program(self, [model], cc=X86)
        before = ["qemu-x86_64-static", "-cpu", "Nehalem"] if shutil.which("qemu-x86_64-static") else []
        for machine in ([], before):
            self.assertEqual(self.given(machine, path, model), (0, model.expected()))

    def test_shared_library_and_cmake(self):
        files = {"shared-lib": self.folder / "libm.so", "header": self.folder / "m.h", "cmake": self.folder / "m.cmake"}
        self.svodc("compile", self.graph("svod 1\ninput x: f32[9]\noutput y = x * 3 + 1\n"), "--cpu", "x86-64,x86-64-v3", "--prefix", "m",
                   *[word for kind, path in files.items() for word in ("--emit", f"{kind}={path}")])
        self.assertIn("x86-64 and x86-64-v3", files["header"].read_text())
        self.assertIn("libm.so", files["cmake"].read_text())
        (self.folder / "p.c").write_text('#include "m.h"\nint main(void) {\n  static _Alignas(64) unsigned char arena[M_ARENA_BYTES + 1];\n'
                                         "  float x[9] = {2}, y[9] = {0};\n  return m_run(x, y, arena, 0) != 0 || y[0] != 7.0f || y[8] != 1.0f;\n}\n")
        build(self, ["gcc", "-std=c11", self.folder / "p.c", files["shared-lib"], f"-Wl,-rpath,{self.folder}", "-o", self.folder / "p"])
        build(self, [self.folder / "p"])

    def test_what_holds_code_for_one_processor(self):
        graph = self.graph("svod 1\ninput x: f32[9]\noutput y = x * 3\n")
        several = ("--cpu", "x86-64-v2,x86-64-v3")
        for kind in ("obj", "obj-dir", "asm", "llvm-ir", "llvm-bc"):
            self.fails(2, "compile", graph, *several, "--emit", f"{kind}={self.folder}/o", says=[f"--emit {kind} is for one processor", "compile once for each"])
        for kind in ("c", "functions"):
            self.fails(2, "compile", graph, "--target", "c", *several, "--emit", f"{kind}={self.folder}/o", says=f"--emit {kind} is for one processor")
        self.fails(2, "compile", graph, "--target", "c", *several, "--emit", f"header={self.folder}/o.h", says="--emit header of --target c is for one processor")
        self.svodc("compile", graph, "--target", "c", *several, "--emit", f"pack={self.folder}/o.pack")
        self.fails(3, "compile", graph, "--triple", "wasm32-unknown-unknown", "--cpu", "generic,simd128", "--emit", f"static-lib={self.folder}/o",
                   says="WebAssembly")


if __name__ == "__main__":
    unittest.main()
