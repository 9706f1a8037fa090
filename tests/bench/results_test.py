"""What becomes of the results of ./dev bench: the picture of the roofline and the table of docs/performance.md."""
import copy
import json
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree as xml
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "benchmarks"))

import results as tables  # noqa: E402
import roofline  # noqa: E402
from labels import Labels  # noqa: E402

SVG = "{http://www.w3.org/2000/svg}"


def row(case, group, flops, size, ours, peer=None, theirs=None):
    seconds = {"svod": [2 * ours, ours]} | ({peer: [theirs, 3 * theirs]} if peer else {})
    ratio = {"ratio": theirs / ours, "low": 0.5, "high": 1.5} if peer else {}
    return {"case": case, "group": group, "flops": flops, "bytes": size, "seconds": seconds, "peer": peer} | ratio


RESULTS = {
    "machine": "A <fast> processor", "threads": 1, "versions": {"OpenBLAS": "0.3"},
    "roofs": {"compute": {"f32 multiply-add": 1e11}, "memory": {"memory, read": 1e10, "memory, copy": 8e9}},
    "results": [row("gemm 64x64x64", "gemm", 2 * 64 ** 3, 3 * 4 * 64 ** 2, 8e-6, "OpenBLAS", 9e-6),
                row("gemm 64x64x64 weight", "gemm", 2 * 64 ** 3, 3 * 4 * 64 ** 2, 7e-6, "oneDNN", 9e-6),
                row("transpose 4096x4096", "rows", 0, 8 * 2 ** 24, 1.5e-2, "oneDNN", 3e-2),
                row("relu(a*b+c)*d & more", "stream", 4 * 2 ** 24, 20 * 2 ** 24, 3e-2, "bandwidth", 3e-2),
                row("attention 8x512x64", "attention", 5e8, 4e6, 8e-3)],
}


class Picture(unittest.TestCase):
    def setUp(self):
        self.root = xml.fromstring(roofline.picture(RESULTS))
        self.rows = [g for g in self.root.iter(f"{SVG}g") if g.get("class") == "row"]

    def marks(self, group, kind):
        return [m for m in group if m.get("class") == kind]

    def test_every_row_is_a_point_and_its_peer_another_at_the_same_intensity(self):
        self.assertEqual(len(self.rows), len(RESULTS["results"]))
        for group, result in zip(self.rows, RESULTS["results"]):
            with self.subTest(case=result["case"]):
                (ours,), theirs = self.marks(group, "svod"), self.marks(group, "peer")
                self.assertIn(result["case"] + ": svod", ours.find(f"{SVG}title").text)
                self.assertEqual(len(theirs), 1 if result["peer"] else 0)
                self.assertEqual(ours.tag, f"{SVG}circle" if result["flops"] else f"{SVG}rect")
                if theirs and result["flops"]:
                    self.assertEqual(ours.get("cx"), theirs[0].get("cx"))

    def test_points_are_where_their_figures_are(self):
        """The fastest round counts; a faster one stands higher, and twice as many flops per byte further right."""
        title = self.marks(self.rows[0], "svod")[0].find(f"{SVG}title").text
        self.assertEqual(title, "gemm 64x64x64: svod 0.008 ms, 65.5 GFLOP/s, 6.1 GB/s")
        height = [float(self.marks(g, "svod")[0].get("cy")) for g in self.rows[:2]]
        self.assertGreater(height[0], height[1])
        axes = roofline.Axes(roofline.points_of(RESULTS["results"]), 100)
        (x1, y1), (x2, y2), (x4, y4) = (axes.place(v, v) for v in (1, 2, 4))
        self.assertAlmostEqual(x2 - x1, x4 - x2)
        self.assertAlmostEqual(y2 - y1, y4 - y2)
        self.assertLess(y2, y1)

    def test_everything_is_within_the_page(self):
        for shape in self.root.iter():
            for name in ("x", "cx", "x1", "x2"):
                self.assertTrue(0 <= float(shape.get(name, 0)) <= roofline.WIDTH, shape.attrib)
            for name in ("y", "cy", "y1", "y2"):
                self.assertTrue(0 <= float(shape.get(name, 0)) <= roofline.HEIGHT, shape.attrib)

    def test_variants_share_a_name_and_equal_sizes_are_named_once(self):
        names = [t.text for t in self.root.iter(f"{SVG}text") if t.get("class") == "name"]
        self.assertEqual(sorted(names), ["attention 8x512x64", "gemm 64", "relu(a*b+c)*d & more", "transpose 4096x4096"])

    def test_roofs_have_names_and_rates(self):
        words = [t.text for t in self.root.iter(f"{SVG}text")]
        for name in ("f32 multiply-add 100 GFLOP/s", "memory, read 10.0 GB/s", "memory, copy 8.0 GB/s",
                     "A <fast> processor, 1 thread"):
            self.assertIn(name, words)

    def test_it_stands_alone_and_knows_dark_pages(self):
        text = roofline.picture(RESULTS)
        self.assertEqual(text.count("http"), 1)  # the namespace
        self.assertNotIn("<script", text)
        self.assertIn("prefers-color-scheme:dark", text)

    def test_equal_results_give_equal_bytes(self):
        self.assertEqual(roofline.picture(RESULTS), roofline.picture(copy.deepcopy(RESULTS)))

    def test_nothing_measured_is_a_picture_too(self):
        self.assertEqual([], [g for g in xml.fromstring(roofline.picture(RESULTS | {"results": []})).iter(f"{SVG}g")])


class Names(unittest.TestCase):
    def test_names_of_one_crowd_keep_clear_of_each_other(self):
        points = {f"a name {i}": (400.0 + 3 * i, 200.0 + 5 * (i % 3)) for i in range(12)}
        labels = Labels(list(points.values()), (0, 1000, 0, 1000))
        placed = list(labels.place(points))
        self.assertEqual(len(placed), 12)
        for i, (first, last, above) in enumerate(labels.taken):
            for begin, end, other in labels.taken[:i]:
                self.assertTrue(end < first or last < begin or abs(above - other) >= Labels.LINE)

    def test_a_name_without_room_is_left_out(self):
        self.assertEqual(list(Labels([], (0, 50, 0, 50)).place({"a long name": (25.0, 25.0)})), [])


class Table(unittest.TestCase):
    def test_rows_with_a_peer(self):
        lines = tables.table(RESULTS)
        self.assertEqual(lines[2], "| gemm 64x64x64 | 0.008 | OpenBLAS | 0.009 | 1.12 | 0.50-1.50 |")
        self.assertEqual(len(lines), 2 + 4)

    def test_other_threads_stand_beside(self):
        beside = copy.deepcopy(RESULTS) | {"threads": 2}
        del beside["results"][1]
        lines = tables.table(RESULTS, beside)
        self.assertTrue(lines[0].endswith("| 2 threads: svod ms | ratio | quartiles |"))
        self.assertTrue(lines[2].endswith("| 0.50-1.50 | 0.008 | 1.12 | 0.50-1.50 |"))
        self.assertEqual({line.count("|") for line in lines}, {10})

    def test_a_page_keeps_what_stands_around_the_table(self):
        with tempfile.TemporaryDirectory() as folder:
            page = Path(folder) / "page.md"
            page.write_text(f"# Before\n{tables.BEGIN}\nold\n{tables.END}\nafter\n")
            for _ in range(2):
                tables.write(RESULTS, None, page)
                text = page.read_text()
                self.assertTrue(text.startswith(f"# Before\n{tables.BEGIN}\nA <fast> processor; OpenBLAS 0.3. "), text)
                self.assertTrue(text.endswith(f"| 0.50-1.50 |\n{tables.END}\nafter\n"), text)
                self.assertNotIn("old", text)
            page.write_text(f"{tables.BEGIN}\nold\n")
            with self.assertRaises(RuntimeError):
                tables.write(RESULTS, None, page)

    def test_the_page_of_figures_has_a_place_for_it(self):
        text = (ROOT / "docs/performance.md").read_text()
        self.assertLess(text.index(tables.BEGIN), text.index("| work | svod ms |"))
        self.assertLess(text.index("| work | svod ms |"), text.index(tables.END))


class Networks(unittest.TestCase):
    def test_the_picture_is_that_of_the_page(self):
        done = subprocess.run([sys.executable, ROOT / "benchmarks/networks_picture.py", "--check"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_the_readme_shows_the_same_figures(self):
        import networks_picture
        readme = (ROOT / "README.md").read_text()
        for name, mine, peer, *_ in networks_picture.rows_of((ROOT / "docs/performance.md").read_text()):
            self.assertIn(f"| {name} | {mine} | {peer} |", readme)

    def test_faster_networks_stand_above(self):
        import networks_picture
        page = networks_picture.HEAD + "\n|---|---|---|---|---|\n| a<b | 2 ms | 1 ms | 1 ms | 1 ms |\n| c | 1 ms | 3 ms | 1 ms | 1 ms |\n"
        drawn = networks_picture.picture(networks_picture.rows_of(page))
        self.assertLess(drawn.index(">c</text>"), drawn.index(">a&lt;b</text>"))
        with self.assertRaises(RuntimeError):
            networks_picture.rows_of("no table")


class Program(unittest.TestCase):
    def test_it_draws_from_a_file_of_results(self):
        with tempfile.TemporaryDirectory() as folder:
            program = [sys.executable, ROOT / "benchmarks/roofline.py"]
            done = subprocess.run([*program, "missing"], capture_output=True, text=True)
            self.assertEqual(done.returncode, 1)
            self.assertIn("usage:", done.stderr)
            source, target = Path(folder) / "r.json", Path(folder) / "r.svg"
            source.write_text(json.dumps(RESULTS))
            subprocess.run([*program, source, target], check=True)
            self.assertEqual(target.read_text(), roofline.picture(RESULTS))


if __name__ == "__main__":
    unittest.main()
