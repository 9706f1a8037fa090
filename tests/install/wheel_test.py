"""The wheel with everything, as pip installs it: programs that need libc alone, svod.compile, find_package(svod), and pages."""
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import zipfile
from pathlib import Path

from installed import BIN, ROOT, InstallTest

sys.path[:0] = [str(ROOT / "scripts"), str(ROOT / "tests/lint")]
import lint_docs  # noqa: E402
import page_commands  # noqa: E402
from lint_common import Report  # noqa: E402

DIGITS = ROOT / "examples/digits"
MOST = {"svodc": 150_000_000, "svod-run": 3_000_000}  # bytes; the figures stand in docs/build-systems.md
OLDEST = (2, 35)  # glibc, which README.md and docs/python.md name
PIP = ("-m", "pip", "install", "--quiet", "--no-index", "--disable-pip-version-check", "--root-user-action=ignore")
HAS_PIP = subprocess.run([sys.executable, "-m", "pip", "--version"], capture_output=True).returncode == 0
COMPILES = """
import sys, numpy, svod
plan = svod.compile(sys.argv[1], "from_python.plan")
x = numpy.arange(16, dtype=numpy.float32).reshape(2, 8) - 3
print(plan.inputs, {name: array.shape for name, array in plan(x).items()})
"""


@unittest.skipUnless(HAS_PIP, "pip is not installed (Debian: python3-pip)")
class Wheel(InstallTest):
    @classmethod
    def setUpClass(cls):
        holder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(holder.cleanup)
        cls.venv = Path(holder.name) / "venv"
        made = [sys.executable, ROOT / "scripts/make_wheel.py", BIN.parent, holder.name]
        cls.wheel = Path(subprocess.run(made, check=True, stdout=subprocess.PIPE, text=True).stdout.strip())
        # The packages of the system are numpy, and pip.
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", "--system-site-packages", cls.venv], check=True)
        subprocess.run([cls.venv / "bin/python", *PIP, cls.wheel], check=True)
        cls.prefix = Path(subprocess.run([cls.venv / "bin/python", "-m", "svod", "--prefix"], check=True, stdout=subprocess.PIPE, text=True).stdout.strip())

    def run_here(self, name, *words, code=0):
        """A program of the venv, without anything of the caller's environment."""
        done = subprocess.run([self.venv / "bin" / name, *map(str, words)], env={"SVOD_NO_CACHE": "1"}, cwd=self.folder, capture_output=True, text=True)
        self.assertEqual(done.returncode, code, done.stderr)
        return done.stdout

    def test_what_it_needs(self):
        tag = re.fullmatch(r"svod-0\.1\.0-py3-none-manylinux_(\d+)_(\d+)_x86_64\.whl", self.wheel.name)
        self.assertLessEqual((int(tag[1]), int(tag[2])), OLDEST)
        for name, most in MOST.items():
            needed = set(re.findall(r"NEEDED.*\[(.*)\]", self.command("readelf", "-d", self.prefix / "bin" / name)))
            self.assertLessEqual({part.split(".so")[0] for part in needed}, {"libc", "libm", "ld-linux-x86-64"})
            self.assertLess((self.prefix / "bin" / name).stat().st_size, most)

    @unittest.skipUnless(shutil.which("auditwheel"), "auditwheel is not installed")
    def test_auditwheel_agrees(self):
        tag = self.wheel.stem.split("-")[-1]
        self.assertIn(f'following platform tag: "{tag}"', " ".join(self.command("auditwheel", "show", self.wheel).split()))

    def test_what_is_in_it(self):
        names = set(zipfile.ZipFile(self.wheel).namelist())
        for name in ("svod/bin/svodc", "svod/bin/svod-run", "svod/lib/libsvod-runtime.so.0", "svod/lib/libsvod-runtime.a", "svod/lib/libsvod-cuda.so.0", "svod/lib/libsvod-opencl.so.0", "svod/lib/libsvod-webgpu.so.0",
                     "svod/include/svod/runtime.h", "svod/include/svod/runtime.hpp", "svod/lib/cmake/svod/svodConfig.cmake", "svod/share/man/man1/svodc.1",
                     "svod/share/svod/docs/python.md", "svod-0.1.0.dist-info/licenses/LICENSE", "svod-0.1.0.dist-info/licenses/THIRD-PARTY.md"):
            self.assertIn(name, names)
        self.assertFalse([name for name in names if "svod-opt" in name or name.endswith(".whl")])

    def test_tarball(self):
        """The same files, where it is unpacked: programs, the Python package, and what builds need."""
        tarball, = self.wheel.parent.glob("*.tar.gz")
        self.command("tar", "xzf", tarball)
        top = self.folder / "svod-0.1.0"
        for path in self.prefix.rglob("*"):
            name = path.relative_to(self.prefix)
            if path.is_file() and len(name.parts) > 1 and "__pycache__" not in name.parts:
                self.assertEqual((top / name).read_bytes(), path.read_bytes(), name)
        (self.folder / "copy.svod").write_text("svod 1\ninput x: f32[2, 8]\noutput y = relu(x)\n")
        said = self.command(sys.executable, "-c", COMPILES, "copy.svod", PYTHONPATH=str(top / "python"), PATH="/usr/bin:/bin")
        self.assertIn("(2, 8)", said)
        self.assertTrue((top / "LICENSE").exists())

    def test_links_of_its_pages_lead_somewhere(self):
        root, report = self.prefix / "share/svod", Report(self.prefix / "share/svod")
        pages = lint_docs.pages(root)
        self.assertGreater(len(pages), 30)
        for page in pages:
            lint_docs.check_links(root, page.relative_to(root), re.sub(lint_docs.PATH, "", page.read_text()), report)
        self.assertEqual(report.errors, [])

    def test_programs(self):
        for name in MOST:
            self.assertIn("0.1.0", self.run_here(name, "--version"))
        model = self.folder / "model.onnx"
        model.write_bytes(page_commands.onnx_model({"x": ["batch", 8]}, [("Relu", ["x"], ["y"])], {"y": ["batch", 8]}))
        self.run_here("svodc", "compile", model, "-o", "model.plan")
        self.assertIn("x", self.run_here("svod-run", "model.plan", "--random", "--var", "batch=2"))
        said = self.run_here("python", "-c", COMPILES, model)
        self.assertIn("(2, 8)", said)
        self.run_here("svodc", "compile", "nowhere.onnx", "-o", "p", code=74)
        shell = f"'{self.venv}/bin/svodc' --help | head -n 1 >/dev/null; echo ${{PIPESTATUS[0]}}"  # a reader that leaves ends it
        self.assertIn(self.command("bash", "-c", shell).strip(), ("0", "141"))

    def test_plans_are_the_same(self):
        for words in (("--cpu", "x86-64-v3"), ("--cpu", "x86-64-v3", "--target", "c"), ("--triple", "aarch64-unknown-linux-gnu", "--cpu", "generic")):
            with self.subTest(words):
                self.run_here("svodc", "compile", DIGITS / "digits.svod", "-o", "p", *words)
                self.svodc("compile", DIGITS / "digits.svod", "-o", self.folder / "q", *words)
                for file in ("plan.json", "kernels.so", "weights.bin"):
                    self.assertEqual((self.folder / "p" / file).read_bytes(), (self.folder / "q" / file).read_bytes(), file)
        self.run_here("svodc", "compile", DIGITS / "digits.svod", "-o", "r")
        self.run_here("svod-run", "r", "--input", f"image={DIGITS}/samples.npy", "--output-dir", "out")
        self.assertTrue((self.folder / "out/digit.npy").exists())

    def test_cmake(self):
        project, build, place = self.project(), self.folder / "build", self.run_here("python", "-m", "svod", "--cmake-dir").strip()
        self.command("cmake", "-S", project, "-B", build, "-G", "Ninja", f"-Dsvod_DIR={place}", "-DCMAKE_BUILD_TYPE=Release")
        self.command("cmake", "--build", build, "--target", "program", "alone", "embedded_STATIC")
        for program in ("program", "alone", "embedded_STATIC"):
            self.assertEqual(self.command(build / program), "2 4 6\n")
        flags = self.command("pkg-config", "--cflags", "--libs", "svod-runtime", PKG_CONFIG_PATH=self.run_here("python", "-m", "svod", "--pkg-config-dir").strip())
        self.command("cc", '-DPLAN="build/twice.plan"', project / "program.c", *flags.split(), "-o", "by_hand")
        self.assertEqual(self.command("./by_hand", LD_LIBRARY_PATH=str(self.prefix / "lib")), "2 4 6\n")


if __name__ == "__main__":
    unittest.main()
