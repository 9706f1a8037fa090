"""Plans of released versions: the runtime reads them and gives the results that they gave then.

tests/golden/VERSION/NAME.pack was made by that version from NAME.svod, and NAME/ holds inputs and the outputs of the second of two runs. Files of a
version that CHANGELOG.md calls released never change; SVOD_UPDATE=1 writes those of the other one again."""
import os
import re
import shutil
import struct
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/cli"))

from svodc import ToolTest, contents, main, npy, run  # noqa: E402

HERE = ROOT / "tests/golden"
KEPT = 2  # versions before the one under work, whose plans are read
SECTION = re.compile(r"^## (\d+\.\d+\.\d+), (not released yet|\d{4}-\d\d-\d\d)$", re.M)
INPUTS = {"mixed": {"x": ("<f4", (5, 8), struct.pack("<40f", *(i / 8 - 1 for i in range(40)))),
                    "codes": ("|i1", (5,), struct.pack("5b", 1, -2, 3, -8, 7))}}


def versions():
    """(version, whether it is released), newest first."""
    return [(name, state != "not released yet") for name, state in SECTION.findall((ROOT / "CHANGELOG.md").read_text())]


def words(name, folder, out, *more):
    inputs = [word for port in INPUTS[name] for word in ("--input", f"{port}={folder / name / port}.npy")]
    return ["svod-run", folder / f"{name}.pack", *inputs, "--output-dir", out, "--repeat", "2", *more]


def write(folder):
    for graph in folder.glob("*.svod"):
        name = graph.stem
        shutil.rmtree(folder / name, ignore_errors=True)
        (folder / name / "results").mkdir(parents=True)
        for port, array in INPUTS[name].items():
            npy(folder / name / f"{port}.npy", *array)
        plan = folder / "plan"
        done = run("svodc", "compile", graph, "-o", plan, "--numerics", "strict", "--cpu", "x86-64,x86-64-v3", "--emit", f"pack={folder / name}.pack")
        shutil.rmtree(plan, ignore_errors=True)
        done = run(*words(name, folder, folder / name / "results")) if done.returncode == 0 else done
        if done.returncode != 0:
            raise RuntimeError(done.stderr)


class Golden(ToolTest):
    def test_each_version_has_its_section_and_its_plans(self):
        project = re.search(r"project\(svod VERSION (\S+)", (ROOT / "CMakeLists.txt").read_text())[1]
        self.assertEqual(versions()[0][0], project)
        self.assertTrue(all(released for _, released in versions()[1:]))
        for version, _ in versions():
            self.assertTrue(list((HERE / version).glob("*.pack")), version)

    def test_plans_run_and_give_what_they_gave(self):
        if os.environ.get("SVOD_UPDATE") and not versions()[0][1]:
            write(HERE / versions()[0][0])
        for version, _ in versions()[:1 + KEPT]:
            for pack in sorted((HERE / version).glob("*.pack")):
                for cpu in ([], ["--cpu", "x86-64"]):
                    with self.subTest(version=version, plan=pack.name, cpu=cpu):
                        out = self.folder / f"{version}-{pack.stem}-{len(cpu)}"
                        done = run(*words(pack.stem, pack.parent, out, *cpu))
                        self.assertEqual(done.returncode, 0, done.stderr + "\nA version that is not released: SVOD_UPDATE=1 writes its plans again.")
                        self.assertEqual(contents(out), contents(pack.parent / pack.stem / "results"))


if __name__ == "__main__":
    main()
