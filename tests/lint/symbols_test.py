"""No two rooms define one name: the linker would take either, and nothing would say so."""
import collections
import os
from pathlib import Path
import subprocess
import unittest

BUILD = Path(os.environ.get("SVOD_BIN_DIR", "build/dev/bin")).parent


def places(names):
    """Of the lines of `nm -A`, the rooms that define each function of the project: ours, strong and of all rooms."""
    found = collections.defaultdict(set)
    for line in names.splitlines():
        place, _, rest = line.partition(".a:")
        fields = rest.split()
        if len(fields) == 3 and fields[1] == "T" and fields[2].startswith("_ZN"):
            found[fields[2]].add(Path(place).name)
    return found


def clashes(found):
    return {name: sorted(rooms) for name, rooms in found.items() if len(rooms) > 1}


def archives():
    """Of the rooms as they are built; a room that was moved leaves its archive behind."""
    rules = (BUILD / "build.ninja").read_text()
    return [a for a in sorted(BUILD.glob("lib/**/libsvod_*.a")) if f"build {a.relative_to(BUILD)}:" in rules]


class Symbols(unittest.TestCase):

    def test_no_name_has_two_rooms(self):
        rooms = archives()
        self.assertGreater(len(rooms), 20)
        done = subprocess.run(["nm", "-A", *rooms], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        found = places(done.stdout)
        self.assertGreater(len(found), 1000)
        self.assertEqual(clashes(found), {})

    def test_a_clash_is_seen(self):
        line = "lib/{0}/libsvod_{0}.a:x.cpp.o:0000 T _ZN4svod8bufferOfENS_3UOpE\n"
        self.assertEqual(clashes(places(line.format("facts") + line.format("frontend"))),
                         {"_ZN4svod8bufferOfENS_3UOpE": ["libsvod_facts", "libsvod_frontend"]})


if __name__ == "__main__":
    unittest.main()
