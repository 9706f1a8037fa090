"""`cmake --install`, and what a new user does with what it put there: CMake with Ninja and make, make with pkg-config, plain commands."""
import json
import os
import platform
import re
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

from installed import BIN, ROOT, InstallTest

MANUALS = ("man/man1/{}.1", "bash-completion/completions/{}", "zsh/site-functions/_{}", "fish/vendor_completions.d/{}.fish")
PROGRAMS = ("svodc", "svod-run", "svod-opt")
HEADERS = ("runtime.h", "runtime.hpp", "compiler.h", "compiler.hpp", "compiler_values.hpp", "compiler_ops.hpp")


class Installed(InstallTest):
    @classmethod
    def setUpClass(cls):
        holder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(holder.cleanup)
        cls.prefix = Path(holder.name) / "a prefix"
        subprocess.run(["cmake", "--install", BIN.parent, "--prefix", cls.prefix, "--strip"], check=True, stdout=subprocess.DEVNULL)

    def test_what_is_installed(self):
        names = {re.sub("Targets-\\w+[.]", "Targets-build.", str(p.relative_to(self.prefix))) for p in self.prefix.rglob("*") if not p.is_dir()}
        config = {f"lib/cmake/svod/svod{name}.cmake" for name in ("Config", "ConfigVersion", "AddPlan", "HostTools", "Targets", "Targets-build", "CompilerTargets", "CompilerTargets-build")}
        libraries = {f"lib/libsvod-runtime.{end}" for end in ("a", "so", "so.0", "so.0.1.0")} | {f"lib/libsvod-{kind}.{end}" for kind in ("cuda", "opencl", "webgpu") for end in ("so.0", "so.0.1.0")}
        libraries |= {f"lib/libsvod-compiler.{end}" for end in ("so", "so.0", "so.0.1.0")}
        self.assertEqual(names, {f"bin/{name}" for name in PROGRAMS} | libraries | config |
                         {f"share/svod/{name}" for name in ("README.md", "CHANGELOG.md", "LICENSE", "THIRD-PARTY.md")} |
                         {f"share/svod/docs/{p.name}" for p in (ROOT / "docs").iterdir()} |
                         {f"share/svod/html/docs/{p.stem}.html" for p in (ROOT / "docs").glob("*.md")} |
                         {f"share/svod/html/docs/{p.name}" for p in (ROOT / "docs").glob("*.svg")} |
                         {f"share/svod/html/{name}.html" for name in ("README", "CHANGELOG", "THIRD-PARTY")} | {"share/man/man5/svod-graph.5"} |
                         {f"include/svod/{name}" for name in HEADERS} |
                         {"lib/pkgconfig/svod-runtime.pc", "lib/pkgconfig/svod-compiler.pc",
                          *(f"share/svod/{p.relative_to(ROOT)}" for p in (ROOT / "examples").rglob("*") if p.is_file()),
                          *(f"share/svod/toolchains/{p.name}" for p in (ROOT / "cmake/toolchains").iterdir()),
                          *(f"share/{form.format(name)}" for name in PROGRAMS for form in MANUALS),
                          *(f"share/doc/{name}/{file}" for name in ("svod", "svod-runtime", "svod-dev", "svod-compiler", "python3-svod") for file in ("copyright", "CHANGELOG.md")),
                          f"share/svod/svod-0.1.0-py3-none-linux_{platform.machine()}.whl"})
        for name in PROGRAMS:
            self.assertIn("0.1.0", self.command(self.prefix / "bin" / name, "--version"))

    def test_links_of_html_pages_lead_somewhere(self):
        pages = {page: page.read_text() for page in (self.prefix / "share/svod/html").rglob("*.html")}
        names = {page.resolve(): set(re.findall(r'id="([^"]+)"', text)) for page, text in pages.items()}
        lost = set()
        for page, text in pages.items():
            for path, anchor in re.findall(r'(?:href|src)="([^":#]*)(?:#([^"]*))?"', text):
                target = (page.parent / path if path else page).resolve()
                if not target.exists() or (anchor and target in names and anchor not in names[target]):
                    lost.add((page.name, path, anchor))
        self.assertEqual(lost, set())
        self.assertIn("<table>", pages[self.prefix / "share/svod/html/docs/cli.html"])

    def test_cmake(self):
        for generator, tool in (("Ninja", "ninja"), ("Unix Makefiles", "make")):
            if shutil.which(tool) is None:
                continue
            with self.subTest(generator):
                project, build = self.project(), self.folder / "build"
                self.command("cmake", "-S", project, "-B", build, "-G", generator, f"-DCMAKE_PREFIX_PATH={self.prefix}",
                             "-DCMAKE_BUILD_TYPE=Release")
                self.check_rebuilds(project, build)
                for program in ("program", "alone", "embedded_STATIC", "embedded_SHARED", "embedded_C", "both"):
                    self.assertEqual(self.command(build / program), "6 12 18\n")
                self.assertNotIn("libsvod", self.command("ldd", build / "alone"))
                self.assertTrue((build / "elsewhere/plan.json").exists())
                shutil.rmtree(project)
                shutil.rmtree(build)

    def check_rebuilds(self, project, build):
        def compiled(libraries=5):
            said = self.command("cmake", "--build", build, "--verbose")
            self.assertEqual(said.count("twice.svod --emit"), libraries if "twice.svod -o" in said else 0)
            return {name for name in ("twice", "other") if f"{name}.svod -o" in said}

        self.assertEqual(compiled(), {"twice", "other"})
        self.assertEqual(self.command(build / "program"), "2 4 6\n")
        self.assertEqual(compiled(), set())
        self.touch(project, "w.npy")
        before = (build / "twice.plan/plan.json").stat().st_mtime_ns
        self.assertEqual(compiled(), {"twice"})
        self.assertEqual((build / "twice.plan/plan.json").stat().st_mtime_ns, before)
        self.assertEqual(compiled(), set())
        self.touch(project, "tuning.log")
        self.assertEqual(compiled(), {"other"})
        self.weights(project, 6)
        self.touch(project, "w.npy")
        self.assertEqual(compiled(), {"twice"})
        self.assertEqual(compiled(), set())
        self.command("cmake", "--build", build, "--target", "clean")
        self.assertFalse((build / "twice.plan").exists())
        self.assertEqual(compiled(), {"twice", "other"})
        self.assertEqual(compiled(), set())
        self.command("cmake", "--build", build, "--clean-first")
        self.assertEqual(compiled(), set())
        self.touch(project, "twice.svod")
        self.assertEqual(compiled(), {"twice"})
        self.assertEqual(compiled(), set())
        for left in ("weights.bin", "kernels.so", "plan.json"):  # cleaned by half, by whatever tool or hand
            (build / "twice.plan" / left).unlink()
            (build / "twice.stamp").unlink(missing_ok=True)
            self.assertEqual(compiled(0), {"twice"})
            self.assertTrue((build / "twice.plan" / left).exists())
        for path in [*(build / "twice.plan").iterdir()]:  # emptied
            path.unlink()
        self.assertEqual(compiled(0), {"twice"})
        (build / "twice.pack").unlink()
        self.assertEqual(compiled(0), {"twice"})
        self.assertTrue((build / "twice.pack").exists())
        for left in (build / "first.model").glob("*.[ah]"):
            left.unlink()
            self.assertIn("twice.svod --emit", self.command("cmake", "--build", build, "--verbose"))
            self.assertTrue(left.exists())
        self.assertEqual(compiled(), set())
        if (build / "build.ninja").exists():
            self.command("ninja", "-t", "clean", cwd=build)  # knows nothing of files that it was not told of
            self.assertEqual(compiled(), {"twice", "other"})
            self.assertEqual(compiled(), set())

    def test_cross_builds_with_the_prefix_of_this_machine(self):
        for name, machine, emulator in (("aarch64-linux-gnu", "aarch64-linux-gnu", "qemu-aarch64-static"),
                                        ("armv7-linux-gnueabihf", "arm-linux-gnueabihf", "qemu-arm-static")):
            if shutil.which(f"{machine}-gcc") is None or shutil.which(f"{machine}-g++") is None:
                continue
            with self.subTest(name):
                project, build = self.project(), self.folder / "build"
                words = ("cmake", "-S", project, "-B", build, f"-DCMAKE_PREFIX_PATH={self.prefix}",
                         f"-DCMAKE_TOOLCHAIN_FILE={self.prefix}/share/svod/toolchains/{name}.cmake")
                said = self.command(*words, code=1, PATH="/usr/bin:/bin")
                for part in (f"{self.prefix} is for {platform.machine()}, not for a", "svod::runtime is not there", "-DSVOD_RUNTIME_ONLY=ON",
                             f"-DSVOD_HOST_TOOLS={self.prefix}"):
                    self.assertIn(part, said)
                self.command(*words, "-DWITHOUT_RUNTIME=ON", PATH="/usr/bin:/bin")
                self.command("cmake", "--build", build)
                self.assertEqual(json.loads((build / "elsewhere/plan.json").read_text())["target"]["triple"].split("-")[0], name.split("-")[0])
                if shutil.which(emulator):
                    for program in ("embedded_STATIC", "embedded_C", "both"):
                        self.assertEqual(self.command(emulator, "-L", f"/usr/{machine}", build / program), "2 4 6\n")
                shutil.rmtree(project)
                shutil.rmtree(build)

    @unittest.skipUnless(shutil.which("meson") and shutil.which("ninja"), "needs meson and ninja")
    def test_meson(self):
        project, build, environment = self.project(), self.folder / "build", {"PATH": f"{self.prefix}/bin:{os.environ['PATH']}"}
        self.command("meson", "setup", build, project, f"--pkg-config-path={self.prefix}/lib/pkgconfig", **environment)

        def ran():
            said = self.command("ninja", "-v", "-C", build, **environment)
            return {name for name, word in (("model", "static-lib="), ("pack", "pack="), ("embedded", "-o embedded "), ("program", "-o program "))
                    if word in said}

        self.assertEqual(ran(), {"model", "pack", "embedded", "program"})
        for program in ("embedded", "program"):
            self.assertEqual(self.command(build / program, LD_LIBRARY_PATH=str(self.prefix / "lib")), "2 4 6\n")
        self.assertEqual(ran(), set())
        self.touch(project, "w.npy")
        self.assertEqual(ran(), {"model", "pack"})
        self.assertEqual(ran(), set())
        self.weights(project, 6)
        self.assertEqual(ran(), {"model", "pack", "embedded"})
        self.assertEqual(self.command(build / "embedded"), "6 12 18\n")
        self.command("ninja", "-C", build, "clean", **environment)
        self.assertEqual(ran(), {"model", "pack", "embedded", "program"})
        self.assertEqual(ran(), set())

    @unittest.skipUnless(shutil.which("bazel"), "needs bazel (Debian: bazel-bootstrap)")
    def test_bazel(self):
        """Its rules for C would be fetched from the network, so the compiler is called by hand."""
        project = self.project()

        def ran():
            said = self.command("bazel", "--batch", f"--output_user_root={self.folder}/bazel", "build", "--action_env=PATH", "//:model_files",
                                cwd=project, PATH=f"{self.prefix}/bin:{os.environ['PATH']}", HOME=str(self.folder), USER="user")
            self.command("cc", "-std=c11", "-Ibazel-bin", "embedded.c", "bazel-bin/libmodel.a", "-o", self.folder / "embedded", cwd=project)
            return int(re.search(r"(\d+) total action", said)[1]) > 1, self.command(self.folder / "embedded")

        self.assertEqual(ran(), (True, "2 4 6\n"))
        self.assertEqual(ran(), (False, "2 4 6\n"))
        self.weights(project, 6)
        self.assertEqual(ran(), (True, "6 12 18\n"))

    def test_mistakes_of_a_project_are_explained(self):
        project = self.project()
        for kind in ("plan", "model_library"):
            (project / "CMakeLists.txt").write_text("cmake_minimum_required(VERSION 3.20)\nproject(user C)\nfind_package(svod REQUIRED)\n"
                                                    f"svod_add_{kind}(p twice.svod)\n")
            said = self.command("cmake", "-S", project, "-B", self.folder / "b", f"-DCMAKE_PREFIX_PATH={self.prefix}", code=1)
            self.assertIn("GRAPH is missing", " ".join(said.split()))

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
        self.command(*make, "clean")
        self.assertIn("svodc compile", self.command(*make))
        self.assertEqual(self.command("./program", cwd=project), "2 4 6\n")
        self.assertIn("Nothing to be done", self.command(*make))
        static = self.command("pkg-config", "--static", "--libs", "svod-runtime", PKG_CONFIG_PATH=str(place / "lib/pkgconfig"))
        self.assertIn("-pthread", static)

    def test_program_that_compiles(self):
        """The example of the compiler as a library: by CMake, and by a C++ compiler with pkg-config."""
        example = self.prefix / "share/svod/examples/compile_at_start"
        self.command("cmake", "-S", example, "-B", self.folder / "build", f"-DCMAKE_PREFIX_PATH={self.prefix}")
        self.command("cmake", "--build", self.folder / "build")
        said = self.command(self.folder / "build/compile_at_start", "4")
        self.assertIn("0.00 0.11 0.11 0.11", said)
        place = self.folder / "prefix"
        place.symlink_to(self.prefix)
        flags = self.command("pkg-config", "--cflags", "--libs", "svod-compiler", "svod-runtime", PKG_CONFIG_PATH=str(place / "lib/pkgconfig")).split()
        self.command("c++", "-std=c++20", "-Wall", "-Wextra", "-Werror", example / "compile_at_start.cpp", *flags, f"-Wl,-rpath,{place}/lib", "-o", "start",
                     cwd=self.folder)
        self.assertEqual(self.command("./start", "4", cwd=self.folder), said)

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
