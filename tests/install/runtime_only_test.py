"""-DSVOD_RUNTIME_ONLY=ON: the runtime without LLVM and third-party packages, for this machine and for ARM from it."""
import shutil
import struct
import subprocess
import sys
import unittest
from pathlib import Path

from installed import BIN, ROOT, InstallTest

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "embed"))
from embedded import Model  # noqa: E402
from networks import NETWORKS, write_graph  # noqa: E402

# Of what svod-run is built with besides.
HAS_HEADERS = all(Path("/usr/include", name).exists() for name in ("CLI/CLI.hpp", "nlohmann/json.hpp"))
# With fused multiply-adds, or without, results of transcendental functions differ in their last bits.
FUSED, SEPARATE = "x86-64-v3", "x86-64-v2"
# Of a toolchain file: the compiler, the emulator, the triple, and processors: a model of the emulator for each, and one of this
# machine that gives the same bytes.
TARGETS = {"aarch64-linux-gnu": ("aarch64-linux-gnu", "qemu-aarch64-static", "aarch64-unknown-linux-gnu",
                                 {"armv8-a": ("cortex-a57", FUSED), "armv8.4-a": ("neoverse-n1", FUSED)}),
           "armv7-linux-gnueabihf": ("arm-linux-gnueabihf", "qemu-arm-static", "armv7-unknown-linux-gnueabihf",
                                     {"armv7-a": ("cortex-a9", SEPARATE), "cortex-a7": ("cortex-a7", FUSED)})}


class RuntimeOnly(InstallTest):
    def build(self, *flags, has_program=HAS_HEADERS):
        """The prefix into which it was installed."""
        build, prefix = self.folder / "build", self.folder / "prefix"
        said = self.command("cmake", "-S", ROOT, "-B", build, "-DSVOD_RUNTIME_ONLY=ON", "-DSVOD_WERROR=ON",
                            "-DSVOD_UNITY=ON", *flags)
        self.assertNotIn("LLVM", said)
        self.command("cmake", "--build", build, "-j", "2")
        self.command("cmake", "--install", build, "--prefix", prefix, "--strip")
        names = {str(p.relative_to(prefix)) for p in prefix.rglob("*") if not p.is_dir()}
        self.assertLessEqual({"lib/libsvod-runtime.so.0", "lib/libsvod-runtime.a", "include/svod/runtime.h", "lib/cmake/svod/svodConfig.cmake"}, names)
        for kind in ("cuda", "opencl", "webgpu"):
            self.assertEqual(f"lib/libsvod-{kind}.so.0" in names, not any("armv7" in str(flag) for flag in flags))
        self.assertEqual([p.name for p in (prefix / "bin").iterdir()] if (prefix / "bin").exists() else [], ["svod-run"] if has_program else [])
        return prefix

    def test_this_machine(self):
        # Without the two packages of headers, as if they were not there: those for other machines have svod-run.
        prefix, project = self.build("-DSVOD_CLI11=OFF", "-DSVOD_JSON=OFF", has_program=False), self.project()
        self.svodc("compile", project / "twice.svod", "-o", project / "p")
        self.command("cc", '-DPLAN="p"', "-I", prefix / "include", "program.c", prefix / "lib/libsvod-runtime.a", "-o", "program", cwd=project)
        self.assertEqual(self.command("./program", cwd=project), "2 4 6\n")
        if shutil.which("musl-gcc"):
            self.command("musl-gcc", '-DPLAN="p"', "-I", prefix / "include", "program.c", prefix / "lib/libsvod-runtime.a", "-o", "other", cwd=project)
            self.assertEqual(self.command("./other", cwd=project), "2 4 6\n")

    def cross(self, name):
        compiler, emulator, triple, processors = TARGETS[name]
        if shutil.which(f"{compiler}-g++") is None:
            self.skipTest(f"needs {compiler}-g++ (Debian: g++-{compiler})")
        # Compilers for other machines are not what is tested: with few optimizations they take half as long.
        prefix = self.build(f"-DCMAKE_TOOLCHAIN_FILE={ROOT}/cmake/toolchains/{name}.cmake", "-DCMAKE_CXX_FLAGS_RELEASE=-O1 -DNDEBUG")
        project = self.project()
        for kind, words in (("shared", ["-L", prefix / "lib", "-lsvod-runtime"]), ("static", [prefix / "lib/libsvod-runtime.a"])):
            self.command(f"{compiler}-gcc", '-DPLAN="p"', "-I", prefix / "include", "program.c", *words, "-o", kind, cwd=project)
        if shutil.which(emulator) is None:
            self.skipTest(f"needs {emulator} to run it (Debian: qemu-user-static)")
        emulated = [emulator, "-L", f"/usr/{compiler}"]
        self.assertIn("[io]", self.command(*emulated, "./static", cwd=project, code=74))
        self.command(f"{compiler}-gcc", "-std=c99", "-Wall", "-Wextra", "-Werror", "-I", prefix / "include", ROOT / "tests/install/runner.c",
                     prefix / "lib/libsvod-runtime.a", "-o", self.folder / "runner")
        for network in NETWORKS:
            self.check_plan(network, emulated, triple, processors)
        self.check_project(name, prefix, emulated)

    def check_project(self, name, prefix, emulated):
        """One find_package: libraries and svod-run of the other machine, svodc of this one."""
        project, build = self.folder / "project", self.folder / "cross"
        words = ("cmake", "-S", project, "-G", "Unix Makefiles", f"-DCMAKE_TOOLCHAIN_FILE={prefix}/share/svod/toolchains/{name}.cmake",
                 f"-DCMAKE_PREFIX_PATH={prefix}")
        said = self.command(*words, "-B", self.folder / "without", code=1, PATH="/usr/bin:/bin")
        self.assertIn("SVOD_HOST_TOOLS", said)
        known = f"-DPROCESSOR={next(iter(TARGETS[name][3]))}"
        for where, environment in ((f"-DSVOD_HOST_TOOLS={BIN}", {"PATH": "/usr/bin:/bin"}), (known, {"PATH": f"{BIN}:/usr/bin:/bin"})):
            shutil.rmtree(build, ignore_errors=True)
            self.command(*words, "-B", build, where, **environment)
            self.command("cmake", "--build", build, **environment)
            for program in ("program", "alone", "embedded_STATIC", "embedded_C", "both"):
                self.assertEqual(self.command(*emulated, "-E", f"LD_LIBRARY_PATH={prefix}/lib", build / program), "2 4 6\n")
        if HAS_HEADERS:
            out = self.folder / "out"
            self.command(*emulated, prefix / "bin/svod-run", build / "twice.plan", "--input", f"x={project}/w.npy", "--output-dir", out)
            self.assertEqual((out / "y.npy").read_bytes()[-12:], struct.pack("<3f", 4, 4, 4))

    def check_plan(self, network, emulated, triple, processors):
        """A plan for all the processors, folder and pack, gives on each of them the bytes of plans of this machine."""
        graph, plan = write_graph(self, network), self.folder / f"{network}.cross"
        self.svodc("compile", graph, "-o", plan, "--triple", triple, "--cpu", ",".join(processors), "--numerics", "strict", "--emit", "pack")
        for cpu, (model, same) in processors.items():
            here = Model(self, graph, network, emit=(), words=["--cpu", same, "--numerics", "strict"], variables=NETWORKS[network][1], repeat=NETWORKS[network][2])
            shapes = ["x".join(map(str, shape)) or "-" for _, _, shape, _ in here.inputs]
            for path in (plan, f"{plan}.pack"):
                done = subprocess.run([*emulated, "-cpu", model, self.folder / "runner", path, str(here.repeat), *shapes], input=here.given(), capture_output=True)
                self.assertEqual((done.returncode, done.stderr.decode()), (0, f"{cpu}\n"), (network, model))
                self.assertTrue(done.stdout == here.expected(), f"{network}: other bytes on {model}")

    def test_64_bit_arm(self):
        self.cross("aarch64-linux-gnu")

    def test_32_bit_arm(self):
        self.cross("armv7-linux-gnueabihf")


if __name__ == "__main__":
    unittest.main()
