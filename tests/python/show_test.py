"""What people look at: plans, profiles and inspections, as text and as tables of a notebook."""
import html
import os
import re
import unittest
from html.parser import HTMLParser

from package import BIN, FOLDER, svod  # first: it skips where numpy is not there
import numpy

os.environ.update(SVOD_CACHE_DIR=str(FOLDER / "cache"), PATH=f"{BIN}:{os.environ['PATH']}")
GRAPH = """svod 1
input x: f32[64, 64]
input k: i32[3]
h = matmul(x, x)
output `<y>` = softmax(h)
output z = k * 2
"""
SIZED = "svod 1\nvar n in [1, 64]\ninput x: f32[n, 4]\nstate s: f32[4] = 0\nassign s = sum(x, axes=[0])\noutput y = s + 0\n"


class Balanced(HTMLParser):
    """Tags close in the order in which they opened."""

    def __init__(self, text):
        super().__init__()
        self.open, self.cells = [], []
        self.feed(text)
        assert self.open == [], self.open

    def handle_starttag(self, tag, attributes):
        self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.cells.append(data)


class Show(unittest.TestCase):
    def test_a_plan_is_a_table(self):
        plan = svod.compile(GRAPH)
        cells = Balanced(plan._repr_html_()).cells
        for each in ("input", "x", "f32[64, 64]", "output", "<y>", "stdin"):
            self.assertIn(each, cells)
        cells = Balanced(svod.compile(SIZED)._repr_html_()).cells
        for each in ("state", "variable", "1 to 64", "f32[n, 4]"):
            self.assertIn(each, cells)

    def test_profiles(self):
        plan = svod.compile(GRAPH)
        profile = plan.profile(repeat=5)
        self.assertEqual({each.calls for each in profile}, {5})
        self.assertEqual(len(profile), plan.steps)
        self.assertGreater(profile.wall_ns, 0)
        lines = str(profile).splitlines()
        self.assertRegex(lines[0], rf"^stdin: {plan.steps} steps, .* in each of 5 runs$")
        self.assertEqual(lines[1].split(), ["step", "kind", "calls", "time", "share", "flop/s", "B/s"])
        shares = [float(re.search(r"([\d.]+)%", line)[1]) for line in lines[2:]]
        self.assertEqual(shares, sorted(shares, reverse=True))
        self.assertAlmostEqual(sum(shares), 100, delta=1)
        self.assertEqual(Balanced(profile._repr_html_()).cells[0], lines[0])
        given = plan.profile(numpy.ones((64, 64), numpy.float32), k=[1, 2, 3], repeat=2, pool=svod.Pool(2))
        self.assertEqual({each.calls for each in given}, {2})
        self.assertEqual(list(plan.instance().profile()), [])
        self.assertIn("0 steps", str(plan.instance().profile()))

    def test_profiles_need_arrays_where_a_run_gives_sizes(self):
        plan = svod.compile(SIZED)
        with self.assertRaisesRegex(svod.SvodError, "help: add x=array"):
            plan.profile()
        self.assertEqual({each.calls for each in plan.profile(numpy.ones((3, 4), numpy.float32), repeat=3)}, {3})

    def test_numbers_are_short(self):
        from svod._html import counted, sized, timed
        self.assertEqual([counted(n) for n in (0, 7, 999, 1000, 13_824, 2.5e9, 1e15)], ["0", "7", "999", "1 k", "13.8 k", "2.5 G", "1 P"])
        self.assertEqual([timed(n) for n in (0, 12, 1500, 2e6, 3.25e9)], ["0 ns", "12 ns", "1.5 us", "2 ms", "3.25 s"])
        self.assertEqual([sized(n) for n in (0, 1023, 1536, 3 << 20, 5 << 30)], ["0 B", "1023 B", "1.5 KiB", "3 MiB", "5 GiB"])

    def test_inspections(self):
        plan, graph = svod.compile(GRAPH), svod.Graph("net")
        graph.output("y", graph.input("x", "f32", (4, 4)) + 1)
        for model, name in ((plan, "stdin"), (plan.path, "stdin"), (GRAPH, "stdin"), (graph, "net")):
            found = svod.inspect(model)
            self.assertIn("name" if name == "net" else "kernels", found.data)
            self.assertTrue(str(found).strip() and repr(found) == str(found))
            page = FOLDER / "page.html"
            found.save(page)
            self.assertIn("<svg", page.read_text())
            shown = re.fullmatch(r'<iframe srcdoc="([^"]*)" .*></iframe>', found._repr_html_())
            self.assertEqual(html.unescape(shown[1]), page.read_text())
        self.assertEqual(svod.inspect(plan).data["name"], "stdin")
        steps = svod.inspect(plan, steps=True)
        self.assertIn("longest chain", str(steps))
        self.assertNotIn("longest chain", str(svod.inspect(plan, kernels=True)))
        self.assertIn("x86-64-v3" if plan.triple.startswith("x86") else "", str(svod.inspect(GRAPH, cpu="x86-64-v3" if plan.triple.startswith("x86") else "native")))

    def test_inspections_that_fail(self):
        with self.assertRaises(svod.SvodError) as caught:
            svod.inspect("svod 1\ninput x: f32[3]\noutput y = no(x)\n")
        self.assertEqual((caught.exception.code, caught.exception.line), ("unknown-op", 3))
        with self.assertRaisesRegex(svod.SvodError, "cannot take a int"):
            svod.inspect(3)


if __name__ == "__main__":
    unittest.main()
