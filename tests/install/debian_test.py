"""Debian packages by CPack: what is in each, and a project that is built from the unpacked ones alone."""
import os
import shutil
import unittest

from installed import BIN, InstallTest

BUILD = BIN.parent
HOLDS = {"svod-runtime": {"usr/bin/svod-run", "usr/lib/libsvod-runtime.so.0", "usr/lib/libsvod-cuda.so.0", "usr/lib/libsvod-opencl.so.0", "usr/lib/libsvod-webgpu.so.0", "usr/share/man/man1/svod-run.1.gz"},
         "svod-dev": {"usr/lib/libsvod-runtime.so", "usr/lib/libsvod-runtime.a", "usr/include/svod/runtime.h", "usr/lib/cmake/svod/svodConfig.cmake",
                      "usr/lib/pkgconfig/svod-runtime.pc"},
         "svod": {"usr/bin/svodc", "usr/bin/svod-opt", "usr/share/man/man1/svodc.1.gz"},
         "svod-compiler": {"usr/lib/libsvod-compiler.so.0", "usr/include/svod/compiler.h", "usr/lib/pkgconfig/svod-compiler.pc",
                           "usr/lib/cmake/svod/svodCompilerTargets.cmake"},
         "python3-svod": {"usr/lib/python3/dist-packages/svod/__init__.py", "usr/lib/python3/dist-packages/svod/lib/libsvod-runtime.so.0"}}
NEEDS = {"svod-runtime": ["libc6"], "svod-dev": ["svod-runtime (=", "svod (="], "svod": ["libllvm19"],
         "svod-compiler": ["svod-dev (=", "libllvm19"], "python3-svod": ["python3", "python3-numpy", "libc6"]}


@unittest.skipIf(shutil.which("cpack") is None or shutil.which("dpkg-deb") is None, "needs cpack and dpkg-deb")
class Debian(InstallTest):
    def field(self, package, name):
        return self.command("dpkg-deb", "--field", package, name).strip()

    def test_packages(self):
        self.command("cpack", "-G", "DEB", "-B", self.folder / "debs", "--config", BUILD / "CPackConfig.cmake")
        packages = {self.field(deb, "Package"): deb for deb in (self.folder / "debs").glob("*.deb")}
        if shutil.which("lintian"):
            self.assertNotRegex(self.command("lintian", "--allow-root", *packages.values()), r"(?m)^E: ")
        self.assertEqual(set(packages), set(HOLDS))
        root, seen = self.folder / "root", {}
        for name, deb in packages.items():
            with self.subTest(package=name):
                part = self.folder / name
                self.command("dpkg-deb", "--extract", deb, part)
                paths = {p.relative_to(part) for p in part.rglob("*") if p.is_symlink() or not p.is_dir()}
                notices = (part / f"usr/share/doc/{name}/copyright").read_text()
                for words in ("Apache License", "/usr/share/common-licenses/Apache-2.0", "LLVM Exceptions", "Jean-loup Gailly"):
                    self.assertIn(words, notices)
                for pattern in HOLDS[name]:
                    self.assertTrue(any(path.match(pattern) for path in paths), pattern)
                for path in paths:
                    self.assertNotIn(path, seen, "two packages have this file")
                    seen[path] = name
                depends = self.field(deb, "Depends")
                for needed in NEEDS[name]:
                    self.assertIn(needed, depends)
                self.command("dpkg-deb", "--extract", deb, root)
        project = self.project()
        self.command(root / "usr/bin/svodc", "compile", project / "twice.svod", "-o", project / "p")
        self.command("cc", '-DPLAN="p"', "-I", root / "usr/include", "program.c", "-L", root / "usr/lib", "-lsvod-runtime", "-o", "program", cwd=project)
        self.assertEqual(self.command("./program", cwd=project, LD_LIBRARY_PATH=str(root / "usr/lib")), "2 4 6\n")
        self.check_import(root, project)

    def check_import(self, root, project):
        """The Python of Debian finds the package, and the package finds svodc."""
        script = "import svod; print(*list(svod.compile('twice.svod', 'from_python.plan').inputs))"
        self.assertEqual(self.command("/usr/bin/python3", "-c", script, cwd=project, PYTHONPATH=str(root / "usr/lib/python3/dist-packages"),
                                      PATH=f"{root}/usr/bin:{os.environ['PATH']}"), "x\n")


if __name__ == "__main__":
    unittest.main()
