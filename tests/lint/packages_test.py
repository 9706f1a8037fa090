"""The groups of Debian packages: each package stands in one, with a reason, and building needs few."""
import re
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
MOST_TO_BUILD = 12


def rows(path):
    return [line.split(maxsplit=1) for line in path.read_text().splitlines() if line and not line.startswith("#")]


class Packages(unittest.TestCase):
    def test_each_package_has_one_group_and_a_reason(self):
        seen = {}
        for path in sorted((ROOT / "scripts").glob("packages*.txt")):
            for name, *why in rows(path):
                with self.subTest(path=path.name, name=name):
                    self.assertNotIn(name, seen)
                    self.assertTrue(why)
                    seen[name] = path.name

    def test_a_build_needs_few(self):
        self.assertLessEqual(len(rows(ROOT / "scripts/packages.txt")), MOST_TO_BUILD)

    def test_dev_names_groups_that_exist(self):
        text = (ROOT / "dev").read_text() + (ROOT / "scripts/dev_lib.sh").read_text()
        groups = {group for line in re.findall(r"^ +install_groups ([a-z ]+)$", text, re.M) for group in line.split()}
        files = {path.stem.removeprefix("packages").removeprefix("_") or "build" for path in (ROOT / "scripts").glob("packages*.txt")}
        self.assertEqual(groups, files)


if __name__ == "__main__":
    unittest.main()
