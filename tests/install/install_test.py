"""`cmake --install`, and what a new user does with what it put there: CMake with Ninja and make, make with pkg-config, plain commands."""
import platform
import re
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

from installed import BIN, InstallTest

MANUALS = ("man/man1/{}.1", "bash-completion/completions/{}", "zsh/site-functions/_{}", "fish/vendor_completions.d/{}.fish")
PROGRAMS = ("svodc", "svod-run", "svod-opt")


class Installed(InstallTest):
    @classmethod
    def setUpClass(cls):
        holder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(holder.cleanup)
        cls.prefix = Path(holder.name) / "a prefix"
        subprocess.run(["cmake", "--install", BIN.parent, "--prefix", cls.prefix, "--strip"], check=True, stdout=subprocess.DEVNULL)

    def test_what_is_installed(self):
        names = {re.sub("Targets-.*", "Targets-build.cmake", str(p.relative_to(self.prefix))) for p in self.prefix.rglob("*") if not p.is_dir()}
        config = {f"lib/cmake/svod/svod{name}.cmake" for name in ("Config", "ConfigVersion", "AddPlan", "Targets", "Targets-build")}
        libraries = {f"lib/libsvod-runtime.{end}" for end in ("a", "so", "so.0", "so.0.1.0")} | {"lib/libsvod-cuda.so.0", "lib/libsvod-cuda.so.0.1.0"}
        self.assertEqual(names, {f"bin/{name}" for name in PROGRAMS} | libraries | config |
                         {"include/svod/runtime.h", "include/svod/runtime.hpp", "lib/pkgconfig/svod-runtime.pc",
                          *(f"share/{form.format(name)}" for name in PROGRAMS for form in MANUALS),
                          f"share/svod/svod-0.1.0-py3-none-linux_{platform.machine()}.whl"})
        for name in PROGRAMS:
            self.assertIn("0.1.0", self.command(self.prefix / "bin" / name, "--version"))

    def test_cmake(self):
        for generator, tool in (("Ninja", "ninja"), ("Unix Makefiles", "make")):
            if shutil.which(tool) is None:
                continue
            with self.subTest(generator):
                project, build = self.project(), self.folder / "build"
                self.command("cmake", "-S", project, "-B", build, "-G", generator, f"-DCMAKE_PREFIX_PATH={self.prefix}",
                             "-DCMAKE_BUILD_TYPE=Release")
                self.check_rebuilds(project, build)
                for program in ("program", "alone"):
                    self.assertEqual(self.command(build / program), "6 12 18\n")
                self.assertNotIn("libsvod", self.command("ldd", build / "alone"))
                self.assertTrue((build / "elsewhere/plan.json").exists())
                shutil.rmtree(project)
                shutil.rmtree(build)

    def check_rebuilds(self, project, build):
        def compiled():
            said = self.command("cmake", "--build", build, "--verbose")
            return {name for name in ("twice", "other") if f"{name}.svod -o" in said}

        self.assertEqual(compiled(), {"twice", "other"})
        self.assertEqual(self.command(build / "program"), "2 4 6\n")
        self.assertEqual(compiled(), set())
        self.touch(project, "w.npy")
        before = (build / "twice.plan/plan.json").stat().st_mtime_ns
        self.assertEqual(compiled(), {"twice"})
        self.assertEqual((build / "twice.plan/plan.json").stat().st_mtime_ns, before)
        self.assertEqual(compiled(), set())
        self.weights(project, 6)
        self.touch(project, "w.npy")
        self.assertEqual(compiled(), {"twice"})
        self.assertEqual(compiled(), set())

    def test_mistakes_of_a_project_are_explained(self):
        project = self.project()
        (project / "CMakeLists.txt").write_text("cmake_minimum_required(VERSION 3.20)\nproject(user C)\nfind_package(svod REQUIRED)\n"
                                                "svod_add_plan(p twice.svod)\n")
        self.assertIn("GRAPH is missing", self.command("cmake", "-S", project, "-B", self.folder / "b", f"-DCMAKE_PREFIX_PATH={self.prefix}", code=1))

    @unittest.skipUnless(shutil.which("make") and shutil.which("pkg-config"), "needs make and pkg-config")
    def test_make_with_pkg_config(self):
        place = self.folder / "prefix"  # make knows no blanks
        place.symlink_to(self.prefix)
        project = self.project()
        make = ("make", "-C", project, f"PREFIX={place}")
        self.command(*make)
        self.assertEqual(self.command("./program", cwd=project), "2 4 6\n")
        self.assertIn("Nothing to be done", self.command(*make))
        self.touch(project, "w.npy")
        said = self.command(*make)
        self.assertIn("svodc compile", said)
        self.assertNotIn("program.c", said)
        static = self.command("pkg-config", "--static", "--libs", "svod-runtime", PKG_CONFIG_PATH=str(place / "lib/pkgconfig"))
        self.assertIn("-pthread", static)

    def test_plain_commands(self):
        project = self.project()
        self.command(self.prefix / "bin/svodc", "compile", "twice.svod", "-o", "twice.plan", cwd=project)
        words = ("cc", "-std=c99", "-Wall", "-Wextra", "-Werror", '-DPLAN="twice.plan"', "-I", self.prefix / "include", "program.c")
        self.command(*words, "-o", "shared", "-L", self.prefix / "lib", "-lsvod-runtime", f"-Wl,-rpath,{self.prefix}/lib", cwd=project)
        self.command(*words, "-o", "static", self.prefix / "lib/libsvod-runtime.a", cwd=project)
        for program in ("shared", "static"):
            self.assertEqual(self.command(f"./{program}", cwd=project), "2 4 6\n")
        self.assertIn("libsvod-runtime.so.0 =>", self.command("ldd", "./shared", cwd=project))
        self.command(self.prefix / "bin/svod-run", "twice.plan", "--input", "x=w.npy", cwd=project)


if __name__ == "__main__":
    unittest.main()
