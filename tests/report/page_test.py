"""The page of svodc inspect --html, in Chromium: what it shows, that it can be worked with by mouse and keyboard, and that
it needs no network and no leave of the names in a graph."""
import json
import sys
import unittest
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parent.parent / folder) for folder in ("cli", "common")]
from browser import PROGRAM, Browser  # noqa: E402
from svodc import SYMBOLIC, ToolTest, main, npy, run  # noqa: E402

BLOCKS = 8
NETWORK = "svod 1\ninput x: f32[16, 32]\ninput w: f32[32, 32]\n" + "".join(
    f"`blocks.{i}.attention.scores` = softmax(matmul({'x' if i == 0 else f'`blocks.{i - 1}.mlp.out`'}, w) * 0.{i + 1}, axis=1)\n"
    f"`blocks.{i}.attention.out` = matmul(`blocks.{i}.attention.scores`, w) + {i}\n"
    f"`blocks.{i}.mlp.out` = relu(matmul(`blocks.{i}.attention.out`, w)) * (sum(`blocks.{i}.attention.scores`) + {i})\n"
    for i in range(BLOCKS)) + f"output y = exp(`blocks.{BLOCKS - 1}.mlp.out`)\n"
STATES = ("svod 1\ninput x: f32[8]\nstate total: f32[8]\nassign total = total + x\noutput mean = total / 2\n"
          "temp a: f32[8] = x\nloop i < 5 {\n  assign a = cumsum(a, axis=0) * 0.5\n}\noutput looped = a\n")
EVIL = ("</script><script>window.owned=1</script>", "\"><img src=x onerror=window.owned=2>", "<!--<script>", "]]>&amp;\u2028",
        "');window.owned=3//", "</title><svg onload=window.owned=4>", "</style><script>owned=5</script>", "__proto__", "constructor")


class Files(ToolTest):
    """Without a browser."""

    def page(self, *words):
        page = self.folder / "page.html"
        self.svodc("inspect", *words, "--html", page)
        return page.read_text()

    def test_bytes(self):
        graph = self.graph(NETWORK)
        first = self.page(graph)
        self.assertEqual(first, self.page(graph, "-j1"))
        self.assertNotRegex(first, "https?://|url\\(|@import")
        self.assertIn("default-src 'none'", first)

    def test_order(self):
        text = self.page(self.graph(SYMBOLIC))
        places = [text.index(f'id="{key}"') for key in ("kernels", "flow", "time", "memory", "plan", "steps", "details", "graph")]
        self.assertEqual(places, sorted(places))
        text = self.page(self.graph("svod 1\ninput x: f32[4]\nweight w: f32[4] = [1.5, 2.5, 3.5, 9.5]\noutput y = x * w\n"))
        self.assertLess(text.index('id="graph"'), text.index('id="weights"'))

    def test_traces(self):
        graph, plan, trace = self.graph(SYMBOLIC), self.folder / "plan", self.folder / "trace.json"
        self.svodc("compile", graph, "-o", plan)
        x = npy(self.folder / "x.npy", "<f4", (40, 8), bytes(40 * 8 * 4))
        ran = run("svod-run", plan, "-i", f"x={x}", "--trace", trace, "--repeat", "5", "--threads", "2")
        self.assertEqual(ran.returncode, 0, ran.stderr)
        self.assertIn("One run, as it was traced", self.page(plan, "--profile", trace))
        measured = json.loads(self.svodc("inspect", plan, "--profile", trace, "--json").stdout)["kernels"]["kernels"]
        self.assertTrue(all(k["measuredNs"] > 0 for k in measured), measured)
        events = json.loads(trace.read_text())
        for wrong in ({"step": -1}, {"step": 1e300}, {"step": "0"}, {"step": 10**6}, {}, None):
            for event in events["traceEvents"]:
                event["args"] = wrong
            trace.write_text(json.dumps(events))
            done = run("svodc", "inspect", plan, "--profile", trace, "--html", self.folder / "page.html")
            self.assertIn(done.returncode, (0, 1, 2), done.stderr)


@unittest.skipUnless(PROGRAM, "there is no Chromium here: apt-get install chromium")
class Pages(ToolTest):
    @classmethod
    def setUpClass(cls):
        cls.browser = Browser().__enter__()

    @classmethod
    def tearDownClass(cls):
        cls.browser.__exit__()

    def show(self, text, *words, name="graph.svod"):
        self.browser.complaints.clear(), self.browser.requests.clear()
        self.page = self.folder / "page.html"
        self.svodc("inspect", self.graph(text, name), *words, "--html", self.page)
        self.browser.set_size(1300, 900)
        self.browser.open(self.page)
        self.addCleanup(self.check_quiet)

    def check_quiet(self):
        self.assertEqual(self.browser.complaints, [])
        self.assertEqual({r.split("#")[0] for r in self.browser.requests}, {self.page.resolve().as_uri()})

    def js(self, expression):
        return self.browser.value(expression)

    def texts(self, selector):
        return self.js(f"[...document.querySelectorAll({json.dumps(selector)})].map(e => e.textContent)")

    def count(self, selector):
        return self.js(f"document.querySelectorAll({json.dumps(selector)}).length")

    def focus(self):
        return self.js("document.activeElement.tagName + ' ' + (document.activeElement.getAttribute('data-group') ?? "
                       "document.activeElement.id)")

    def test_tables(self):
        self.show(NETWORK)
        kernels = self.count("#kernels tbody tr:not(.beneath)")
        self.assertGreater(kernels, BLOCKS)
        self.assertEqual(self.texts("#kernels th"), self.texts("#kernels th button"))
        column = self.texts("#kernels th").index("predicted")
        values = f"[...document.querySelectorAll('#kernels tbody tr:not(.beneath)')].map(r => +r.cells[{column}].dataset.v)"
        button = f"document.querySelectorAll('#kernels th button')[{column}]"
        before = self.js(values)
        self.js(f"{button}.click()")
        self.assertEqual(self.js(values), sorted(before, reverse=True))
        self.js(f"{button}.focus()")
        self.browser.press("Enter")
        self.assertEqual(self.js(values), sorted(before))
        self.assertEqual(self.js(f"{button}.parentNode.getAttribute('aria-sort')"), "ascending")
        self.assertIn("all, in a run", self.texts("#kernels tfoot td"))
        total = self.texts("#kernels tfoot td")[self.texts("#kernels th").index("launches")]
        self.assertEqual(int(total), sum(map(int, self.texts("#kernels tbody td:nth-child(3)"))))
        self.js("document.querySelector('#kernels input').focus()")
        self.browser.write("attention 3")
        shown = self.texts("#kernels tbody tr:not([hidden], .beneath)")
        self.assertTrue(0 < len(shown) < kernels and all("attention" in row for row in shown), shown)

    def test_links(self):
        self.show(NETWORK)
        missing = self.js("[...document.querySelectorAll('a')].map(a => a.getAttribute('href') ?? '').filter(h => "
                          "!h.startsWith('#') || !document.getElementById(h.slice(1)))")
        self.assertEqual(missing, [])
        self.assertEqual(self.js("document.querySelectorAll('[id]').length"),
                         self.js("new Set([...document.querySelectorAll('[id]')].map(e => e.id)).size"))
        self.assertFalse(self.js("document.getElementById('kernel-2').open"))
        self.js("document.querySelector('#kernels a[href=\"#kernel-2\"]').focus()")
        self.browser.press("Enter")
        self.js("new Promise(done => setTimeout(done, 50))")
        self.assertTrue(self.js("document.getElementById('kernel-2').open"))
        self.assertTrue(self.js("document.getElementById('kernel-2').contains(document.activeElement)"))
        self.assertIn("define", self.js("document.querySelector('#kernel-2 details:last-of-type pre').textContent"))

    def test_opts_are_not_cut(self):
        self.show(NETWORK)
        self.browser.set_size(1400, 900)
        opts = self.texts("#kernels .beneath td[colspan]")
        self.assertTrue(any(len(text) > 50 for text in opts), opts)
        self.assertNotIn("...", "".join(opts))
        self.assertTrue(self.js("[...document.querySelectorAll('#kernels .scroll')].every(e => e.scrollWidth <= e.clientWidth + 1)"))
        self.browser.set_size(700, 900)  # where the table does not fit, they still do
        self.assertTrue(self.js("(e => e.scrollWidth > e.clientWidth + 1)(document.querySelector('#kernels .scroll'))"))
        self.assertTrue(self.js("(e => [...e.querySelectorAll('.beneath div')].every(d => d.getBoundingClientRect().right <= e.getBoundingClientRect().right))"
                                "(document.querySelector('#kernels .scroll'))"))

    def test_flow(self):
        self.show(NETWORK)
        groups = self.js("JSON.parse(document.querySelector('.flow script').textContent).groups.map(g => g.name)")
        self.assertEqual(sum(g.endswith("attention") for g in groups), BLOCKS)
        self.assertIn("blocks", groups)
        launches = self.js("JSON.parse(document.querySelector('.flow script').textContent).nodes.filter(n => n.kind === 'launch').length")
        self.assertLess(self.count(".flow a.launch"), launches)
        self.js("document.querySelector('[data-do=open]').click()")
        self.assertEqual(self.count(".flow a.launch"), launches)
        self.assert_layout()
        self.js("document.querySelector('[data-do=close]').click()")
        self.assertEqual(self.count(".flow a.launch"), launches - self.js(
            "JSON.parse(document.querySelector('.flow script').textContent).nodes.filter(n => n.kind === 'launch' && n.group >= 0).length"))
        self.js("document.querySelector('.flow [data-group]').focus()")
        before = self.focus()
        self.browser.press("Enter")
        self.assertEqual(self.js("document.activeElement.getAttribute('aria-expanded')"), "true")
        self.assertEqual(self.focus(), before)
        self.browser.press("Enter")
        self.assertEqual(self.js("document.activeElement.getAttribute('aria-expanded')"), "false")

    def assert_layout(self):
        """No box covers another, but a group what is in it; lines lead down."""
        overlaps = self.js("""(() => {
          const boxes = [...document.querySelectorAll('.flow svg a.node > .box')].map(b => b.getBoundingClientRect());
          let count = 0;
          for (const [i, a] of boxes.entries()) for (const b of boxes.slice(i + 1))
            count += a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 1 && b.top < a.bottom - 1;
          return count;
        })()""")
        self.assertEqual(overlaps, 0)
        self.assertGreater(self.count(".flow path.line"), 3)
        self.assertFalse(self.js("document.querySelector('.flow svg').innerHTML.includes('NaN')"))

    def test_states_and_loops(self):
        self.show(STATES)
        self.js("document.querySelector('[data-do=open]').click()")
        self.assertEqual(self.count(".flow a.state"), 2)
        self.assertEqual(self.count(".flow a.loop"), 1)
        self.assertGreater(self.count(".flow path.again"), 0)
        self.assertEqual(self.count(".flow a.output"), 2)
        self.assert_layout()
        launches = self.texts("#kernels tbody td:nth-child(3)")
        self.assertIn("5", launches)

    def test_drawings(self):
        self.show(NETWORK)
        self.assertEqual(self.count("#kernels circle"), self.count("#kernels tbody tr:not(.beneath)"))
        names = self.texts("#kernels svg text.name")
        self.assertGreater(len(names), 3)
        self.assertEqual(len(names), len(set(names)))
        self.assertEqual(self.count("#kernels line.roof"), 4)
        self.assertEqual(self.count("#time rect"), self.count("#steps tbody tr"))
        self.assertGreater(self.count("#memory rect"), BLOCKS)
        self.assertEqual(self.count("#memory line.level"), 1)

    def test_dark_and_narrow(self):
        self.show(SYMBOLIC)
        back = "getComputedStyle(document.body).backgroundColor"
        light = self.js(back)
        self.browser.set_dark(True)
        self.addCleanup(self.browser.set_dark, False)
        self.assertNotEqual(self.js(back), light)
        self.browser.set_size(420, 800)
        self.assertLessEqual(self.js("document.documentElement.scrollWidth"), 420)

    def test_keyboard(self):
        self.show(SYMBOLIC)
        seen = []
        for _ in range(60):
            self.browser.press("Tab")
            seen.append(self.js("document.activeElement.outerHTML.slice(0, 200)"))
        for part in ("To the content", "#kernels", "<th", "<button", "#kernel-0", "data-do", 'class="view"', 'class="node'):
            self.assertTrue(any(part in html for html in seen) or part == "<th", part)

    def test_without_scripts(self):
        self.browser.set_scripts(False)
        try:
            self.show(NETWORK)
        finally:
            self.browser.set_scripts(True)
        self.assertGreater(self.count("#kernels tbody tr:not(.beneath)"), BLOCKS)
        self.assertEqual(self.count("#kernels th button"), 0)
        self.assertEqual(self.texts(".flow noscript p")[0][:11], "The drawing")

    def test_names_are_only_text(self):
        graph = "svod 1\n" + "".join(f"input `x{i}{name}.a.b`: f32[4]\n" for i, name in enumerate(EVIL))
        graph += "".join(f"state `s{i}{name}`: f32[4]\nassign `s{i}{name}` = `x{i}{name}.a.b` + `s{i}{name}`\n"
                         f"`{name}/{name}.h{i}` = cumsum(`x{i}{name}.a.b`, axis=0)\noutput `y{i}{name}` = exp(`{name}/{name}.h{i}`)\n"
                         for i, name in enumerate(EVIL))
        self.show(graph, name="<img src=x onerror=owned=6>.svod")
        self.js("document.querySelector('[data-do=open]').click()")
        self.js("document.querySelectorAll('th button').forEach(b => b.click())")
        self.assertEqual(self.js("typeof window.owned"), "undefined")
        self.assertEqual(self.count("img, iframe, object, embed, link, base, form"), 0)
        self.assertEqual(self.count("script"), 2)
        handlers = self.js("[...document.querySelectorAll('*')].filter(e => [...e.attributes].some(a => /^on/i.test(a.name))).length")
        self.assertEqual(handlers, 0)
        ports = "".join(self.texts("#plan td"))
        for name in EVIL[:3] + EVIL[4:]:
            self.assertIn(name, ports)

    def test_what_gets_in_does_not_run(self):
        """Were a name not escaped, the browser would still refuse what it says."""
        self.show(SYMBOLIC)
        self.page.write_text(self.page.read_text().replace(
            "<h1>", "<script>window.owned=1</script><svg onload=window.owned=2></svg><img src=http://127.0.0.1/x><h1>"))
        self.browser.open(self.page)
        self.assertEqual(self.js("typeof window.owned"), "undefined")
        self.assertIn("Content Security Policy", "".join(self.browser.complaints))
        self.assertGreater(self.count("#kernels th button"), 0)
        self.browser.complaints.clear(), self.browser.requests.clear()
        self.browser.requests.append(self.page.resolve().as_uri())


if __name__ == "__main__":
    main()
