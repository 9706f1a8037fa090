"""svodc log html: the page of a tuning log, without a browser and in one."""
import json
import random
import sys
import unittest
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parent.parent / folder) for folder in ("cli", "common")]
from browser import PROGRAM, Browser  # noqa: E402
from svodc import ToolTest, main, winner  # noqa: E402

EVIL = ("</script><script>window.owned=1</script>", "\"><img src=x onerror=window.owned=2>", "</title><svg onload=window.owned=3>")


def kernel_line(kernel, name, launches):
    return json.dumps({"svod-tuning": 1, "kernel": kernel, "record": "kernel", "name": name, "text": "", "launches": launches}) + "\n"


def log_text(kernels=12, candidates=60, names=None):
    """Searches that find better lists as they go on, for most kernels."""
    draw = random.Random(7)
    text = ""
    for k in range(kernels):
        kernel = f"{k:032x}"
        name = (names or [])[k] if names and k < len(names) else f"matmul_{k}_rn512xn512x{64 * (k + 1)}_{k:08x}"
        text += kernel_line(kernel, name, 1 + k % 3)
        baseline = best = draw.uniform(1e4, 1e6)
        line = lambda opts, **more: winner(kernel, "znver4", opts, ratio=0, **more)  # noqa: E731
        text += line("vector(n1,16) upcast(n0,4)", outcome="timed", origin="-O1", ns=baseline, predicted=baseline * 0.8, number=1)
        for number in range(2, candidates):
            ns = baseline * draw.uniform(0.97 - 0.4 * number / candidates * (k % 4 > 0), 2)
            opts = f"vector(n1,{draw.choice((4, 8, 16))}) tile(n0,{number}) upcast(n0,{draw.choice((2, 4, 8))})"
            if number % 9 == 0:
                text += line(opts, outcome="crashed" if number % 2 else "too-large", reason=EVIL[1] if number % 2 else "3210 instructions", number=number)
                continue
            text += line(opts, outcome="timed", origin="mutation", ns=ns, predicted=ns * draw.uniform(0.6, 1.5), number=number)
            if ns < best:
                best, opts_of_best = ns, opts
        if best < 0.9 * baseline:
            text += winner(kernel, "znver4", opts_of_best, ns=best, ratio=best / baseline, runs=20, predicted=best, number=1, origin="mutation")
    return text


class Pages(ToolTest):
    def page_of(self, text, name="tuning.log"):
        log = self.folder / name
        log.write_text(text)
        page = self.folder / "page.html"
        self.svodc("log", "html", log, "-o", page)
        return page


class Files(Pages):
    """Without a browser."""

    def test_bytes(self):
        text = log_text()
        first = self.page_of(text).read_text()
        self.assertEqual(first, self.page_of("".join(reversed(text.splitlines(True)))).read_text())
        self.assertNotRegex(first, "https?://|url\\(|@import")
        self.assertIn("default-src 'none'", first)
        places = [first.index(f'id="{key}"') for key in ("gain", "searches", "predictions", "winners", "failed", "details")]
        self.assertEqual(places, sorted(places))
        self.assertLess(len(first), 3e6)

    def test_the_line_of_right_predictions_is_straight(self):
        page = self.page_of(log_text()).read_text()
        predictions = page[page.index('id="predictions"'):page.index('id="winners"')]
        self.assertEqual(predictions.count('class="roof"'), 1)

    def test_decisions(self):
        plan = {"svod-tuning": 1, "graph": "a" * 32, "record": "plan", "target": "cpu x", "machine": "here", "compiler": "c",
                "origin": "every keep", "outcome": "wins", "decisions": ["keep:a=keep", "conv:c=direct"], "ratio": 0.9, "ns": 1e6}
        graph = {"svod-tuning": 1, "graph": "a" * 32, "record": "graph", "name": EVIL[0]}
        lost = plan | {"outcome": "loses", "decisions": [EVIL[1]], "ratio": 1.2, "reason": "with cold caches it takes 130 %"}
        page = self.page_of("".join(json.dumps(r) + "\n" for r in (graph, plan, lost))).read_text()
        for text in ("keep:a=keep conv:c=direct", "with cold caches it takes 130 %", "every keep"):
            self.assertIn(text, page)
        for evil in EVIL[:2]:
            self.assertNotIn(evil, page)

    def test_gains_of_whole_graphs(self):
        """The page says what was timed, and kernels of other plans are in no sum."""
        ours, other = "0" * 32, "1" * 32
        target = "cpu x86_64-unknown-linux-gnu znver4 contract"
        kernels = "".join(kernel_line(kernel, name, 1) + winner(kernel, "znver4", "", outcome="timed", origin="-O1", ns=ns, ratio=0) +
                          winner(kernel, "znver4", "tile(n0,2)", ns=ns / 2)
                          for kernel, name, ns in ((ours, "usual", 1000), (other, "variant", 8e6)))
        graph = {"svod-tuning": 1, "graph": "a" * 32, "record": "graph", "name": EVIL[0], "target": target, "compiler": "c", "launches": {ours: 3}}
        gain = {"svod-tuning": 1, "graph": "a" * 32, "record": "gain", "target": target, "machine": "there", "compiler": "c",
                "kernels": {ours: "tile(n0,2)"}, "usual": 5000, "warm": 0.846, "cold": 0.872}
        page = self.page_of(kernels + "".join(json.dumps(r) + "\n" for r in (graph, gain))).read_text()
        top, rest = page[:page.index('id="gain"')], page[page.index('id="gain"'):]
        for text in ("84.6", "87.2", "there", "3.00 us", "1.50 us"):
            self.assertIn(text, top)
        self.assertNotIn("8.00 ms", top)
        self.assertIn("variant", rest)
        self.assertNotIn(EVIL[0], page)
        page = self.page_of(kernels + json.dumps(graph) + "\n").read_text()
        self.assertIn("not timed with these winners", page)

    def test_little_to_say(self):
        for text in ("", kernel_line("0" * 32, "lonely", 1), winner("0" * 32, "znver4", "", outcome="started", ratio=0),
                     winner("0" * 32, "znver4", "", ns=0), winner("0" * 32, "znver4", "x", outcome="timed", ns=1e-9, origin="-O1", predicted=1e15)):
            with self.subTest(text=text):
                page = self.page_of(text).read_text()
                self.assertNotRegex(page, r"\bnan\b|\binf\b|NaN")

    def test_many_candidates_stay_small(self):
        page = self.page_of(log_text(100, 80)).read_text()
        self.assertLess(page.count("<circle"), 2000)
        self.assertIn("candidates is shown", page)


@unittest.skipUnless(PROGRAM, "there is no Chromium here: apt-get install chromium")
class InChromium(Pages):
    @classmethod
    def setUpClass(cls):
        cls.browser = Browser().__enter__()

    @classmethod
    def tearDownClass(cls):
        cls.browser.__exit__()

    def show(self, text, name="tuning.log"):
        self.browser.complaints.clear(), self.browser.requests.clear()
        self.page = self.page_of(text, name)
        self.browser.set_size(1300, 900)
        self.browser.open(self.page)
        self.addCleanup(self.check_quiet)

    def check_quiet(self):
        self.assertEqual(self.browser.complaints, [])
        self.assertEqual({r.split("#")[0] for r in self.browser.requests}, {self.page.resolve().as_uri()})

    def js(self, expression):
        return self.browser.value(expression)

    def count(self, selector):
        return self.js(f"document.querySelectorAll({json.dumps(selector)}).length")

    def texts(self, selector):
        return self.js(f"[...document.querySelectorAll({json.dumps(selector)})].map(e => e.textContent)")

    def test_drawings(self):
        self.show(log_text())
        self.assertEqual(self.count("#gain rect"), 2 * 12)
        widths = self.js("[...document.querySelectorAll('#gain rect')].map(r => +r.getAttribute('width'))")
        self.assertTrue(all(after <= before for before, after in zip(widths[::2], widths[1::2])), widths)
        saved = [before - after for before, after in zip(widths[::2], widths[1::2])]
        self.assertEqual(saved, sorted(saved, reverse=True))
        self.assertEqual(self.count("#searches path.curve"), 12)
        self.assertEqual(self.count("#searches path.k0"), 1)
        downward = self.js("[...document.querySelectorAll('#searches path')].every(p => { const y = [...p.getAttribute('d')"
                           ".matchAll(/V([\\d.]+)/g)].map(m => +m[1]); return y.every((v, i) => i === 0 || v >= y[i - 1]); })")
        self.assertTrue(downward)
        self.assertGreater(self.count("#predictions circle"), 400)
        self.assertEqual(self.js("document.querySelectorAll('svg').length > 2 && [...document.querySelectorAll('svg')]"
                                 ".every(s => !s.innerHTML.includes('NaN'))"), True)
        self.assertEqual(self.names_overlap(), 0)

    def names_overlap(self):
        return self.js("""(() => {
          const boxes = [...document.querySelectorAll('#searches text.name')].map(t => t.getBoundingClientRect());
          let count = 0;
          for (const [i, a] of boxes.entries()) for (const b of boxes.slice(i + 1))
            count += a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 3 && b.top < a.bottom - 3;
          return count;
        })()""")

    def test_tables_and_links(self):
        self.show(log_text())
        self.assertEqual(self.count("#gain tbody tr:not(.beneath)"), 12)
        rows = {row.split("(")[0]: row for row in self.texts("#winners tbody tr")}
        self.assertEqual(set(rows), {r for r in rows if r.startswith(("tile", "upcast", "vector"))})
        self.assertIn("3210 instructions", "".join(self.texts("#failed td")))
        self.assertEqual(self.count("#details details.part"), 12)
        missing = self.js("[...document.querySelectorAll('a')].map(a => a.getAttribute('href') ?? '').filter(h => "
                          "!h.startsWith('#') || !document.getElementById(h.slice(1)))")
        self.assertEqual(missing, [])
        self.js("document.querySelector('#gain td a').click()")
        self.js("new Promise(done => setTimeout(done, 50))")
        self.assertEqual(self.count("#details details[open].part"), 1)
        self.assertIn("interleaved pairs", "".join(self.texts("#details details[open] dd")))

    def test_two_targets_of_a_kernel_have_places_of_their_own(self):
        self.show(winner("0" * 32, "znver4", "vector(n1,16)") + winner("0" * 32, "cascadelake", "vector(n1,8)"))
        self.assertEqual(self.count("#details details.part"), 2)
        self.assertEqual(self.js("document.querySelectorAll('[id]').length"),
                         self.js("new Set([...document.querySelectorAll('[id]')].map(e => e.id)).size"))

    def test_names_are_only_text(self):
        self.show(log_text(names=EVIL), name="<img src=x onerror=owned=6>.log")
        self.js("document.querySelectorAll('th button').forEach(b => b.click())")
        self.assertEqual(self.js("typeof window.owned"), "undefined")
        self.assertEqual(self.count("img, iframe, object, embed, link, base, form"), 0)
        self.assertIn(EVIL[0], "".join(self.texts("#gain td")))

    def test_dark_and_narrow(self):
        self.show(log_text())
        back = "getComputedStyle(document.body).backgroundColor"
        light = self.js(back)
        self.browser.set_dark(True)
        self.addCleanup(self.browser.set_dark, False)
        self.assertNotEqual(self.js(back), light)
        self.browser.set_size(420, 800)
        self.assertLessEqual(self.js("document.documentElement.scrollWidth"), 420)


if __name__ == "__main__":
    main()
