"""Equal bytes of every kind of artifact, whoever compiles it, where, when, and how; and --reproducible."""
import json
import os
import re
import shutil
import subprocess
import time
import unittest

from svodc import BIN, SMALL, ToolTest, clean_environment, contents, main, npy, run

CPUS = ("--cpu", "x86-64-v3")
NOBODY = 65534
GRAPH = """svod 1
var n in [1, 9]
input x: f32[n, 16]
weight w: f32[16, 8] = "w.npy"
state count: i64 = 3
assign count = count + 1
output y = softmax(matmul(x, w), axis=1)
output count
"""
# The same without a state, and with a function of C that includes a file.
CUSTOM = """svod 1
input x: f32[5, 16]
output y = exp(custom(x, source="twice.c", function=twice, shape=[5, 16], values=[80]))
"""
# Values that are computed when the plan is built, of which C libraries and processors have different last bits.
FOLDED = """svod 1
input x: f64[200]
t = cast(iota(size=200), dtype=f64) * 0.037
output y = x * (tanh(t) + erf(t) + sin(t * 3) + exp(t / 5) + pow(t + 1, 0.7))
"""
# What is compiled, for which graph, with which flags; `{}` stands for where it goes.
HAS_NVRTC = run("svodc", "inspect", "-", "--kernels", "--target", "cuda", stdin=SMALL).returncode == 0
MACHINE_CODE = ["cubin", "ptx", "fatbin"]  # of GPUs, where NVRTC is on this machine
BUILDS = {
    "gpu": (GRAPH, ("--target", "cuda", "--cuda-arch", "sm_80", *(() if HAS_NVRTC else ("--nvrtc", "none"))),
            ["cuda-c", "pack", *(MACHINE_CODE if HAS_NVRTC else [])]),
    "opencl": (GRAPH, ("--target", "opencl"), ["opencl-c", "pack"]),
    "webgpu": (GRAPH, ("--target", "webgpu"), ["wgsl", "pack", "web"]),
    "cpu": (GRAPH, CPUS, ["pack", "obj", "obj-dir", "asm", "llvm-ir", "llvm-bc", "static-lib", "header", "cmake"]),
    "shared": (GRAPH, CPUS, ["plan", "shared-lib", "header"]),
    "c": (GRAPH, ("--target", "c"), ["c", "functions", "header", "pack"]),
    "source": (GRAPH, ("--target", "c", "--cc", "none"), ["pack"]),
    "several": (GRAPH, ("--cpu", "x86-64-v2,x86-64-v3,x86-64-v4"), ["pack", "static-lib", "header", "cmake"]),
    "several-shared": (GRAPH, ("--cpu", "x86-64-v2,x86-64-v3,x86-64-v4"), ["shared-lib", "header"]),
    "folded": (FOLDED, CPUS, ["pack"]),
    "functions": (CUSTOM, CPUS, ["pack", "obj", "obj-dir"]),
    "arm": (GRAPH, ("--triple", "aarch64-unknown-linux-gnu", "--cpu", "armv8-a,armv8.4-a"), ["pack"]),
    "arm-lib": (GRAPH, ("--triple", "armv7-unknown-linux-gnueabihf", "--cpu", "cortex-a7"), ["obj", "static-lib", "header"]),
}


class Reproducible(ToolTest):
    def sources(self, folder):
        folder.mkdir(parents=True)
        npy(folder / "w.npy", "<f4", [16, 8], bytes(i * 37 % 120 for i in range(16 * 8 * 4)))
        (folder / "g.svod").write_text(GRAPH)
        (folder / "custom.svod").write_text(CUSTOM)
        (folder / "folded.svod").write_text(FOLDED)
        (folder / "two.h").write_text("#define TWO 2\n")
        (folder / "twice.c").write_text('#include <stdint.h>\n#include "two.h"\nvoid twice(float* y, const float* x, int64_t n) {\n'
                                        "  for (int64_t i = 0; i < n; i++) y[i] = TWO * x[i];\n}\n")
        return folder

    def build(self, name, folder, *words, env=None, user=None, emulator=(), relative=True):
        """The bytes of all that a row of BUILDS writes."""
        graph, flags, kinds = BUILDS[name]
        out = folder / name
        out.mkdir()
        if user is not None:
            os.chown(out, user, user)
        file = {GRAPH: "g.svod", CUSTOM: "custom.svod", FOLDED: "folded.svod"}[graph]
        emit = [word for kind in kinds for word in ("--emit", f"{kind}={out}/{kind}{'.d' if kind.endswith('dir') or kind in ('asm', 'llvm-ir', 'llvm-bc') else ''}")]
        command = [*emulator, str(BIN / "svodc"), "compile", file if relative else str(folder / file), *([] if "plan" in kinds else ["-o", str(out / "plan")]), *flags, *emit, *words]
        done = subprocess.run(command, cwd=folder if relative else "/", env=clean_environment(env), capture_output=True, text=True, timeout=600, user=user)
        self.assertEqual(done.returncode, 0, f"{' '.join(command)}\n{done.stderr}")
        return contents(out)

    def same(self, name, first, second):
        self.assertEqual(sorted(first), sorted(second), name)
        different = [path for path in first if first[path] != second[path]]
        self.assertEqual(different, [], name)

    def test_the_builds_have_every_kind(self):
        said = self.fails(2, "compile", self.graph(), "--emit", "nothing=x").stderr
        kinds = set(re.findall(r"[a-z-]+", said.split("choices are")[1])) - {"or"} - set([] if HAS_NVRTC else MACHINE_CODE)
        self.assertEqual(kinds, {kind for _, _, kinds in BUILDS.values() for kind in kinds})

    def test_folder_time_jobs_locale_and_environment(self):
        here = self.sources(self.folder / "a")
        first = {name: self.build(name, here, "-j", "1") for name in BUILDS}
        time.sleep(1.1)  # another second, for formats that hold one
        there = self.sources(self.folder / "another folder, mit Ümläuten" / "b")
        (there / "tmp").mkdir()
        other = {"LC_ALL": "de_DE.UTF-8", "LANG": "tr_TR.UTF-8", "LANGUAGE": "fr", "TZ": "Pacific/Kiritimati", "USER": "other", "LOGNAME": "other",
                 "HOME": str(there / "home"), "TMPDIR": str(there / "tmp"), "SOURCE_DATE_EPOCH": "7", "CPATH": "/usr/include", "CFLAGS": "-O0"}
        mask = os.umask(0o027)
        self.addCleanup(os.umask, mask)
        for name, built in first.items():
            self.same(name, built, self.build(name, there, "-j", "3", "--reproducible", env=other, relative=False))

    @unittest.skipUnless(os.getuid() == 0, "needs root, to be another user")
    def test_user(self):
        here = self.sources(self.folder / "a")
        there = self.sources(self.folder / "b")
        for folder in (self.folder, here, there):
            folder.chmod(0o755)
        for name in ("cpu", "c"):
            self.same(name, self.build(name, here), self.build(name, there, user=NOBODY, env={"HOME": "/nonexistent"}))

    @unittest.skipUnless(shutil.which("qemu-x86_64-static"), "needs qemu-x86_64-static (Debian: qemu-user-static)")
    def test_processor_of_the_machine_that_compiles(self):
        here, there = self.sources(self.folder / "a"), self.sources(self.folder / "b")
        for name in ("several", "folded"):
            self.same(name, self.build(name, here), self.build(name, there, "-j", "1", emulator=("qemu-x86_64-static", "-cpu", "Nehalem")))

    def test_what_depends_on_the_machine_is_refused(self):
        graph, out = self.graph(), ("-o", self.folder / "p", "--reproducible")
        for words in ((), ("--cpu", "native"), ("--cpu", "x86-64,native")):
            self.fails(2, "compile", graph, *out, *words, says=["would be for the processor of this machine", "--cpu x86-64-v3"])
        self.fails(2, "compile", graph, *out, "--target", "emulated", "--device", "near=cpu", says="--device near=cpu:x86-64-v3")
        self.fails(2, "compile", graph, *out, "--target", "c", "--cc", "cc", says="--cc none")
        self.assertFalse((self.folder / "p").exists())
        for words in (("--cpu", "x86-64-v2"), ("--target", "c"), ("--target", "c", "--cc", "none")):
            self.svodc("compile", graph, *out, *words)
        self.svodc("compile", graph, *out, env={"SVOD_CPU": "x86-64-v2"})
        self.fails(2, "compile", graph, "-o", self.folder / "q", env={"SVOD_REPRODUCIBLE": "1"}, says="--reproducible")

    def test_compile_says_when_a_plan_is_for_this_machine(self):
        graph, out = self.graph(), ("-o", self.folder / "p")
        native = " (native: this machine) on "
        for words, env, is_native in (((), None, True), (("--cpu", "native"), None, True), (("--cpu", "x86-64-v2"), None, False),
                                      ((), {"SVOD_CPU": "x86-64-v2"}, False), (("--target", "c"), None, False), (("--target", "c", "--cpu", "native"), None, True)):
            self.assertEqual(native in self.svodc("compile", graph, *out, *words, env=env).stdout, is_native, words)
            said = json.loads(self.svodc("compile", graph, *out, *words, "--json", env=env).stdout)
            self.assertEqual(said["native"], is_native)


if __name__ == "__main__":
    main()
