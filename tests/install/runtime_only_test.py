"""-DSVOD_RUNTIME_ONLY=ON: the runtime without LLVM and third-party packages, for this machine and for ARM from it."""
import shutil
import unittest

from installed import ROOT, InstallTest

TARGETS = {"aarch64-linux-gnu": ("aarch64-linux-gnu", "qemu-aarch64-static", ["--triple", "aarch64-unknown-linux-gnu", "--cpu", "neoverse-n1"]),
           "armv7-linux-gnueabihf": ("arm-linux-gnueabihf", "qemu-arm-static", None)}


class RuntimeOnly(InstallTest):
    def build(self, *flags):
        """The prefix into which it was installed."""
        build, prefix = self.folder / "build", self.folder / "prefix"
        said = self.command("cmake", "-S", ROOT, "-B", build, "-DSVOD_RUNTIME_ONLY=ON", "-DSVOD_WERROR=ON",
                            *flags)
        self.assertNotIn("LLVM", said)
        self.command("cmake", "--build", build, "-j", "2")
        self.command("cmake", "--install", build, "--prefix", prefix, "--strip")
        names = {str(p.relative_to(prefix)) for p in prefix.rglob("*") if not p.is_dir()}
        self.assertLessEqual({"lib/libsvod-runtime.so.0", "lib/libsvod-runtime.a", "include/svod/runtime.h", "lib/cmake/svod/svodConfig.cmake"}, names)
        self.assertEqual("lib/libsvod-cuda.so.0" in names, not any("armv7" in str(flag) for flag in flags))
        self.assertFalse((prefix / "bin").exists())
        return prefix

    def test_this_machine(self):
        prefix, project = self.build(), self.project()
        self.svodc("compile", project / "twice.svod", "-o", project / "p")
        self.command("cc", '-DPLAN="p"', "-I", prefix / "include", "program.c", prefix / "lib/libsvod-runtime.a", "-o", "program", cwd=project)
        self.assertEqual(self.command("./program", cwd=project), "2 4 6\n")

    def cross(self, name):
        compiler, emulator, flags = TARGETS[name]
        if shutil.which(f"{compiler}-g++") is None:
            self.skipTest(f"needs {compiler}-g++ (Debian: g++-{compiler})")
        prefix, project = self.build(f"-DCMAKE_TOOLCHAIN_FILE={ROOT}/cmake/toolchains/{name}.cmake"), self.project()
        for kind, words in (("shared", ["-L", prefix / "lib", "-lsvod-runtime"]), ("static", [prefix / "lib/libsvod-runtime.a"])):
            self.command(f"{compiler}-gcc", '-DPLAN="p"', "-I", prefix / "include", "program.c", *words, "-o", kind, cwd=project)
        if shutil.which(emulator) is None:
            self.skipTest(f"needs {emulator} to run it (Debian: qemu-user-static)")
        run = (emulator, "-L", f"/usr/{compiler}", "./static")
        self.assertIn("[io]", self.command(*run, cwd=project, code=74))
        if flags is not None:
            self.svodc("compile", project / "twice.svod", "-o", project / "p", *flags)
            self.assertEqual(self.command(*run, cwd=project), "2 4 6\n")

    def test_64_bit_arm(self):
        self.cross("aarch64-linux-gnu")

    def test_32_bit_arm(self):
        self.cross("armv7-linux-gnueabihf")


if __name__ == "__main__":
    unittest.main()
