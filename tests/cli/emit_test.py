"""svodc compile --emit: code of kernels beside the plan, which other linkers, assemblers and compilers take."""
import ctypes
import json
import os
import re
import shutil
import subprocess
import unittest

from svodc import ROOT, ToolTest, contents, main

DIGITS = ROOT / "examples/digits/digits.svod"
GRAPH = "svod 1\ninput x: f32[37]\noutput y = x * 2 + 1\noutput z = sum(x, axes=0)\n"
KINDS = {"obj-dir": ".o", "asm": ".s", "llvm-ir": ".ll", "llvm-bc": ".bc"}


class Emit(ToolTest):
    def emit(self, graph, *kinds, words=()):
        """The plan's description, and the folder with what was emitted as KIND."""
        plan = self.folder / "p"
        flags = [word for kind in kinds for word in ("--emit", f"{kind}={self.folder / kind}")]
        done = self.svodc("compile", graph, "-o", plan, *flags, "--json", *words)
        return json.loads((plan / "plan.json").read_text()), json.loads(done.stdout)

    def build(self, *words):
        done = subprocess.run([*map(str, words)], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def check_kernels(self, plan, library):
        """Runs the launches of GRAPH with the kernels of a shared library."""
        functions = ctypes.CDLL(str(library))
        memory = {i: (ctypes.c_float * 64)() for i in range(len(plan["buffers"]))}
        ports = {port["name"]: memory[port["buffer"]] for port in plan["inputs"] + plan["outputs"]}
        for i in range(37):
            ports["x"][i] = i
        for step in plan["steps"]:
            launch = step["launch"]
            kernel = plan["kernels"][launch["kernel"]]
            buffers = (ctypes.c_void_p * len(launch["buffers"]))(*[ctypes.addressof(memory[b]) for b in launch["buffers"]])
            values = (ctypes.c_int64 * 8)(*launch["values"])
            scratch = ctypes.create_string_buffer(kernel["scratchBytes"] + 64)
            aligned = ctypes.c_void_p((ctypes.addressof(scratch) + 63) // 64 * 64)
            getattr(functions, kernel["symbol"])(buffers, values, ctypes.c_int64(0), ctypes.c_int64(kernel["tiles"]), aligned)
        self.assertEqual(list(ports["y"][:37]), [2 * i + 1 for i in range(37)])
        self.assertEqual(ports["z"][0], 37 * 18)

    def test_every_kind_holds_the_kernels_of_the_plan(self):
        plan, said = self.emit(self.graph(GRAPH), "obj", *KINDS)
        symbols = sorted(kernel["symbol"] for kernel in plan["kernels"])
        for kind, extension in KINDS.items():
            self.assertEqual(sorted(contents(self.folder / kind)), [name + extension for name in symbols])
        self.assertIn(str(self.folder / "obj"), said["filesWritten"])
        self.assertIn(f"{self.folder}/asm/{symbols[0]}.s", said["filesWritten"])
        names = self.build("nm", self.folder / "obj").splitlines()
        self.assertEqual(sorted(line.split()[-1] for line in names if " T " in line), symbols)
        self.assertFalse([line for line in names if " U " in line and "_GLOBAL_OFFSET_TABLE_" not in line])

    def test_objects_run(self):
        plan, _ = self.emit(self.graph(GRAPH), "obj", "obj-dir")
        for name, objects in (("one", [self.folder / "obj"]), ("many", sorted((self.folder / "obj-dir").iterdir()))):
            self.build("ld", "-shared", *objects, "-o", self.folder / f"{name}.so")
            self.check_kernels(plan, self.folder / f"{name}.so")

    def test_assembly_runs(self):
        plan, _ = self.emit(self.graph(GRAPH), "asm")
        self.build("cc", "-shared", "-nostdlib", *sorted((self.folder / "asm").iterdir()), "-o", self.folder / "a.so")
        self.check_kernels(plan, self.folder / "a.so")

    def test_register_tiles_stay_in_registers(self):
        graph = self.graph("svod 1\ninput x: f32[1, 256, 14, 14]\ninput w: f32[256, 256, 3, 3]\noutput y = conv2d(x, w, padding=1)\n")
        tile = ("window(1,k0,k1,k2,n1,n2) pitch(n1,n2,16) vector(p1.k2,16) upcast(n0,13) vector(n1+n2,16) upcast(n1+n2,2) "
                "unroll(k2,3) unroll(k1,3) unroll(k0,2)")  # 26 sums, two vectors and a weight in 32 registers
        for cpu in ("x86-64-v4", "cascadelake", "sapphirerapids", "znver4", "znver5"):
            with self.subTest(cpu):
                self.emit(graph, "asm", words=["--triple", "x86_64-unknown-linux-gnu", "--cpu", cpu, "--opts", f"y={tile}"])
                text = "".join(path.read_text() for path in (self.folder / "asm").iterdir())
                self.assertGreater(text.count("vfmadd"), 300)
                self.assertLess(text.count("(%rsp)"), text.count("vfmadd") / 8)

    @unittest.skipUnless(shutil.which("clang-19"), "needs clang-19")
    def test_llvm_ir_runs(self):
        plan, _ = self.emit(self.graph(GRAPH), "llvm-ir")
        self.build("clang-19", "-Wno-override-module", "-O1", "-march=native", "-fPIC", "-shared", "-nostdlib",
                   *sorted((self.folder / "llvm-ir").iterdir()), "-o", self.folder / "i.so")
        self.check_kernels(plan, self.folder / "i.so")

    def test_the_plan_is_the_same_and_bytes_are_equal(self):
        self.svodc("compile", DIGITS, "-o", self.folder / "q", "--cpu", "x86-64-v3")
        emitted = []
        for jobs in (1, 2):
            self.emit(DIGITS, "obj", *KINDS, words=["--cpu", "x86-64-v3", "-j", jobs])
            emitted.append({kind: contents(self.folder / kind) for kind in KINDS} | {"obj": (self.folder / "obj").read_bytes()})
        self.assertEqual(emitted[0], emitted[1])
        self.assertEqual(contents(self.folder / "p"), contents(self.folder / "q"))

    def test_the_plan_is_a_kind(self):
        graph, plans = self.graph(GRAPH), [self.folder / name for name in "pqr"]
        self.svodc("compile", graph, "-o", plans[0], "--emit", f"plan={plans[1]}")
        said = json.loads(self.svodc("compile", graph, "--emit", f"plan={plans[2]}", "--json", "-MF", self.folder / "d").stdout)
        self.assertEqual(contents(plans[0]), contents(plans[1]))
        self.assertEqual(contents(plans[0]), contents(plans[2]))
        self.assertEqual(sorted(said["filesWritten"]), sorted([f"{self.folder}/d", *(f"{plans[2]}/{name}" for name in contents(plans[2]))]))
        self.assertTrue((self.folder / "d").read_text().startswith(f"{plans[2]}/plan.json:"))
        self.fails(74, "compile", graph, "--emit", f"plan={self.folder}/d", says="not a directory")

    def test_shared_library(self):
        library = self.folder / "libgraph.so"
        self.svodc("compile", self.graph(GRAPH), "--emit", f"shared-lib={library}")
        seen = self.build("nm", "-D", library).splitlines()
        functions = {line.split()[-1] for line in seen if " T " in line}
        self.assertEqual({name for name in functions if not re.search("_[0-9a-f]{16}$", name)}, {"graph_run", "graph_arena_bytes"})
        self.assertEqual(len(functions), 4)
        self.assertLessEqual({line.split()[-1] for line in seen if " U " in line}, {"memmove", "memcpy", "memset"})
        self.assertIn("[libgraph.so]", self.build("readelf", "-d", library))
        self.assertNotIn("NEEDED", self.build("readelf", "-d", library))
        x, y, z = ((ctypes.c_float * n)(*range(n)) for n in (37, 37, 1))
        arena = ctypes.create_string_buffer(1 << 16)
        aligned = ctypes.c_void_p((ctypes.addressof(arena) + 63) // 64 * 64)
        self.assertEqual(ctypes.CDLL(str(library)).graph_run(x, y, z, aligned, None), 0)
        self.assertEqual((list(y), list(z)), ([2 * i + 1 for i in range(37)], [37 * 18]))
        self.fails(3, "compile", self.graph(GRAPH), "--triple", "wasm32-unknown-unknown", "--cpu", "generic", "--emit", f"shared-lib={self.folder}/w.so", says="static-lib")

    def test_a_header_for_each_library(self):
        """In one command, each behind its library; and the command that a message names works."""
        graph = self.graph(GRAPH)
        files = {name: self.folder / name for name in ("m.c", "m.a", "m.so")}
        libraries = [f"--emit={kind}={files[name]}" for kind, name in (("c", "m.c"), ("static-lib", "m.a"), ("shared-lib", "m.so"))]
        said = self.fails(2, "compile", graph, *libraries, f"--emit=header={self.folder}/m.h", says="in C and as machine code").stderr
        words = re.search(r"behind it: (.*)", said)[1].split()
        self.assertEqual(words.count("--emit"), 5)
        self.svodc("compile", graph, *words)
        program = self.folder / "program.c"
        program.write_text("#include HEADER\nstatic _Alignas(64) char arena[GRAPH_ARENA_BYTES];\nint main(void) {\n  float x[37] = {1, 2}, y[37], z[1];\n"
                           "  return graph_run(x, y, z, arena, 0) == 0 && y[1] == 5 && z[0] == 3 ? 0 : 1;\n}\n")
        for name, header in (("m.c", "m.c.h"), ("m.a", "m.a.h"), ("m.so", "m.a.h")):
            self.build("cc", "-std=c11", f'-DHEADER="{self.folder / header}"', program, files[name], "-lm", f"-Wl,-rpath={self.folder}", "-o", self.folder / "program")
            self.build(self.folder / "program")
        self.assertNotEqual((self.folder / "m.c.h").read_bytes(), (self.folder / "m.a.h").read_bytes())
        for order in ([f"--emit=header={self.folder}/n.h", *libraries], [*libraries, f"--emit=header={self.folder}/n.h", f"--emit=header={self.folder}/o.h"]):
            self.fails(2, "compile", graph, *order, says="--emit header=")
        self.fails(2, "compile", graph, f"--emit=functions={self.folder}/f.c", says="--target c --cc none")
        self.svodc("compile", graph, "-o", self.folder / "p", f"--emit=functions={self.folder}/f.c", "--target", "c", "--cc", "none")

    @unittest.skipUnless(shutil.which("cmake") and shutil.which("ninja"), "needs cmake and ninja")
    def test_cmake_fragments(self):
        place = self.folder / "a folder"
        (place / "include").mkdir(parents=True)
        graph, text = self.graph(GRAPH), "cmake_minimum_required(VERSION 3.20)\nproject(user C)\n"
        for kind, ending, words in (("static-lib", "a", ()), ("shared-lib", "so", ()), ("c", "c", ("--target", "c", "--cc", "none"))):
            name = kind.replace("-lib", "") + "_one"
            self.svodc("compile", graph, "--prefix", name, "--emit", f"{kind}={place}/lib{name}.{ending}", "--emit", f"header={place}/include/{name}.h",
                       "--emit", f"cmake={place}/{name}.cmake", *words)
            (self.folder / f"{name}.c").write_text(
                f"#include <{name}.h>\nstatic _Alignas(64) char arena[{name.upper()}_ARENA_BYTES];\nint main(void) {{\n  float x[37] = {{1, 2}}, y[37], z[1];\n"
                f"  return {name}_run(x, y, z, arena, 0) == 0 && y[1] == 5 && z[0] == 3 ? 0 : 1;\n}}\n")
            text += f"include([=[{self.folder}/moved it/{name}.cmake]=])\nadd_executable(p_{name} {name}.c)\ntarget_link_libraries(p_{name} PRIVATE {name})\n"
        self.svodc("compile", graph, "--emit", f"pack={place}/m.pack", "--emit", f"cmake={place}/packed.cmake")
        text += f"include([=[{self.folder}/moved it/packed.cmake]=])\nget_target_property(pack graph SVOD_PACK)\nif(NOT EXISTS ${{pack}})\n  message(FATAL_ERROR none)\nendif()\n"
        (self.folder / "CMakeLists.txt").write_text(text)
        place.rename(self.folder / "moved it")
        self.build("cmake", "-G", "Ninja", "-S", self.folder, "-B", self.folder / "b")
        self.build("cmake", "--build", self.folder / "b")
        for name in ("static_one", "shared_one", "c_one"):
            self.build(self.folder / f"b/p_{name}")
        self.fails(2, "compile", graph, "--emit", f"cmake={self.folder}/x.cmake", says="none")
        self.fails(2, "compile", graph, *(w for k in ("static-lib", "shared-lib", "cmake") for w in ("--emit", f"{k}={self.folder}/{k}")), says="two")

    def test_default_paths_and_times(self):
        plan = self.folder / "p"
        words = ["compile", self.graph(GRAPH), "-o", f"{plan}/", "--emit", "obj", "--emit", "asm"]
        self.svodc(*words)
        files = [self.folder / "p.obj", *(self.folder / "p.asm").iterdir()]
        for path in files:
            os.utime(path, ns=(10**18, 10**18))
        self.svodc(*words)
        self.assertEqual({path.stat().st_mtime_ns for path in files}, {10**18})

    def test_kernels_of_other_devices_are_left_out(self):
        graph = self.graph("svod 1\ninput x: f32[8]\nhere = x + 1\nthere = relu(copy(here, device=near))\noutput y = copy(there, device=cpu)\n")
        plan, _ = self.emit(graph, "obj", *KINDS, words=["--device", "near=emulated"])
        symbols = [kernel["symbol"] for kernel in plan["kernels"] if "grid" not in kernel]
        self.assertTrue(0 < len(symbols) < len(plan["kernels"]))
        for kind, extension in KINDS.items():
            files = contents(self.folder / kind)
            self.assertEqual(sorted(files), [name + extension for name in sorted(symbols)])
            self.assertTrue(all(files.values()))
        self.assertEqual([line.split()[-1] for line in self.build("nm", self.folder / "obj").splitlines() if " T " in line], symbols)
        only = self.graph("svod 1\ninput x: f32[8]\noutput y = copy(relu(copy(x, device=near)), device=cpu)\n", "only.svod")
        for kind in ("obj", *KINDS):
            self.fails(3, "compile", only, "-o", self.folder / "q", "--device", "near=emulated", "--emit", f"{kind}={self.folder}/none", says="no kernels")

    def test_files_of_c_with_one_name_are_several_objects(self):
        call = 'custom({}, source="{}", function={}, shape=[4])'
        for folder, function in (("a", "f"), ("b", "g"), ("c", "h")):
            (self.folder / folder).mkdir()
            name = "memory.c" if folder == "c" else "median.c"
            (self.folder / folder / name).write_text(f"void {function}(float *y, const float *x) {{ for (int i = 0; i < 4; i++) y[i] = x[3 - i]; }}\n")
        text = f'svod 1\ninput x: f32[4]\na = {call.format("x", "a/median.c", "f")}\nb = {call.format("a", "b/median.c", "g")}\noutput y = {call.format("b", "c/memory.c", "h")}\n'
        plan, said = self.emit(self.graph(text), "obj-dir")
        names = {"memory.o", "memory-2.o", "median.o", "median-2.o"}
        self.assertEqual(set(contents(self.folder / "obj-dir")), names | {k["symbol"] + ".o" for k in plan["kernels"] if k["symbol"][0] not in "fgh"})
        self.assertTrue({f"{self.folder}/obj-dir/{name}" for name in names} <= set(said["filesWritten"]))
        self.build("ld", "-shared", *sorted((self.folder / "obj-dir").iterdir()), "-o", self.folder / "all.so")

    def test_another_system(self):
        self.emit(self.graph(GRAPH), "obj", "asm", words=["--triple", "aarch64-unknown-linux-gnu", "--cpu", "neoverse-n1"])
        self.assertIn("AArch64", self.build("readelf", "-h", self.folder / "obj"))

    def test_mistakes(self):
        graph, plan = self.graph(GRAPH), self.folder / "p"
        mine = self.folder / "mine"
        mine.mkdir()
        (mine / "letter.txt").write_text("keep me")
        for emit, code, says in (("objects", 2, "obj"), ("obj=", 2, "needs a path"), (f"obj={graph}", 2, "--emit obj"), (f"asm={plan}", 2, "--emit asm"),
                                 (f"asm={plan}/asm", 2, "part of the plan"), (f"asm={mine}", 74, "beside *.s"),
                                 (f"obj={self.folder}/no/o", 74, "no/o")):
            with self.subTest(emit):
                self.fails(code, "compile", graph, "-o", plan, "--emit", emit, says=says)
        self.fails(2, "compile", graph, "-o", plan, "--emit", "obj", "--target", "cuda", says="--target cpu")
        self.fails(2, "compile", graph, "-o", plan, "--emit", f"obj={mine}x", "--emit", f"asm={mine}x", says="--emit asm")
        self.fails(3, "compile", self.graph("svod 1\ninput x: f32[2]\noutput x\n", "none.svod"), "-o", plan, "--emit", "obj", says="no kernels")
        self.assertFalse(plan.exists())
        self.assertEqual(contents(mine), {"letter.txt": b"keep me"})


if __name__ == "__main__":
    main()
