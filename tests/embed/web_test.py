"""examples/web in Chromium: the networks as WebAssembly and on WebGPU give what their plans give, and what is drawn with the mouse is read."""
import functools
import http.server
import os
import shutil
import struct
import subprocess
import sys
import threading
import time
import unittest
import zlib
from pathlib import Path

from embedded import ROOT, ToolTest
from svodc import BIN, clean_environment, main, run

sys.path.insert(0, str(ROOT / "tests/common"))
from browser import PROGRAM, Browser  # noqa: E402

LINKER = shutil.which("wasm-ld-19") or shutil.which("wasm-ld")
SEVEN = [(70, 60), (170, 60), (150, 110), (130, 190)]  # of a board of 240


class Quiet(http.server.SimpleHTTPRequestHandler):
    extensions_map = {**http.server.SimpleHTTPRequestHandler.extensions_map, ".mjs": "text/javascript", ".wasm": "application/wasm"}

    def log_message(self, *_):
        pass


def numbers(path, code):
    data = Path(path).read_bytes()
    data = data[10 + struct.unpack_from("<H", data, 8)[0]:]
    return struct.unpack(f"<{len(data) // 4}{code}", data)


def picture_facts(picture):
    """Width and height of a PNG file, and how many of its rows are not one color: after the filter of the format some byte of them is not 0."""
    data, at, packed = Path(picture).read_bytes(), 8, b""
    width, height = struct.unpack_from(">2I", data, 16)
    while at < len(data):
        size, kind = struct.unpack_from(">I4s", data, at)
        packed += data[at + 8:at + 8 + size] if kind == b"IDAT" else b""
        at += 12 + size
    raw = zlib.decompress(packed)
    row = len(raw) // height
    return width, height, sum(any(raw[y * row + 1:(y + 1) * row]) for y in range(height))


@unittest.skipUnless(PROGRAM, "there is no Chromium here: apt-get install chromium")
@unittest.skipUnless(LINKER, "needs wasm-ld (Debian: lld-19)")
class Web(ToolTest):
    def setUp(self):
        super().setUp()
        self.site = self.folder / "site"
        done = subprocess.run([ROOT / "examples/web/run.sh", self.site], capture_output=True, text=True,
                              env=clean_environment({"SVOD_PREFIX": str(BIN.parent)}))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(self.site)))
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.addCleanup(self.server.server_close)
        self.addCleanup(self.server.shutdown)

    def open(self, page, webgpu=True):
        self.browser = self.enterContext(Browser(webgpu))
        self.browser.set_size(1100, 1000)
        self.browser.open(f"http://127.0.0.1:{self.server.server_port}/{page}")
        self.wait("document.body.dataset.ready === 'yes'")

    def wait(self, condition):
        until = time.monotonic() + 120
        while not self.browser.value(condition):
            self.assertLess(time.monotonic(), until, self.browser.complaints)
            time.sleep(0.02)

    def choose(self, kind):
        self.browser.value(f"document.querySelector('input[value={kind}]').click()")

    def looks_drawn(self, name):
        picture = Path(os.environ.get("SVOD_PICTURES") or self.folder) / f"{name}.png"
        self.browser.picture(picture)
        width, height, drawn = picture_facts(picture)
        self.assertEqual((width, height), (1100, 1000))
        self.assertGreater(drawn, 300)

    def test_digits(self):
        self.assertIn(b"simd128", (self.site / "digits.wasm").read_bytes())
        plan, out = self.folder / "plan", self.folder / "out"
        self.svodc("compile", ROOT / "examples/digits/digits.svod", "-o", plan)
        ran = run("svod-run", plan, "--input", f"image={ROOT}/examples/digits/samples.npy", "--output-dir", out)
        self.assertEqual(ran.returncode, 0, ran.stderr)
        self.open("index.html")
        for kind, read in self.browser.value("result").items():
            self.assertEqual(tuple(read["digits"]), numbers(out / "digit.npy", "i"), kind)
            expected = numbers(out / "probability.npy", "f")
            self.assertEqual(len(read["probability"]), len(expected))
            self.assertLess(max(abs(a - b) for a, b in zip(read["probability"], expected)), 1e-5)
            self.assertGreater(float(self.browser.value(f"document.querySelector('label:has([value={kind}]) output').dataset.milliseconds")), 0)
        self.assertEqual(list(self.browser.value("result")), ["wasm", "webgpu"])
        self.assertIn("355 of 360 read correctly", self.browser.value("document.getElementById('summary').textContent"))
        self.assertEqual(self.browser.value("document.querySelectorAll('figure.wrong').length"), 5)

        box = self.browser.value("(r => [r.left, r.top])(document.getElementById('board').getBoundingClientRect())")
        points = [(box[0] + x + (u - x) * k / 8, box[1] + y + (v - y) * k / 8) for (x, y), (u, v) in zip(SEVEN, SEVEN[1:]) for k in range(9)]
        for kind in ("wasm", "webgpu"):
            self.choose(kind)
            self.browser.draw(points)
            self.wait("document.getElementById('chances').dataset.digit === '7'")
            if kind == "webgpu":
                self.looks_drawn("web")
            self.browser.value("document.getElementById('clear').click()")
            self.assertEqual(self.browser.value("document.getElementById('chances').dataset.digit"), "-1")
        self.assertEqual(self.browser.complaints, [])

    def test_decoder(self):
        self.open("decoder.html")
        texts = {}
        for kind in ("wasm", "webgpu"):
            self.choose(kind)
            self.browser.value("(delete globalThis.result, document.getElementById('write').click())")
            self.wait("globalThis.result !== undefined")
            result = self.browser.value("result")
            self.assertEqual(result["name"], kind)
            self.assertGreater(result["count"], 100)
            self.assertLess(result["difference"], 1e-4)
            texts[kind] = result["text"]
            shown = self.browser.value("document.getElementById('text').textContent")
            self.assertEqual(shown, result["text"])
            self.assertTrue(shown.startswith("The plan "), shown)
        self.assertEqual(texts["wasm"], texts["webgpu"])
        for kind in texts:
            self.assertRegex(self.browser.value(f"document.querySelector('label:has([value={kind}]) output').textContent"), r"^[\d.]+ (µs|ms) a character$")
        self.looks_drawn("decoder")
        self.assertEqual(self.browser.complaints, [])

    def test_what_a_browser_without_webgpu_shows(self):
        self.open("decoder.html", webgpu=False)
        self.assertRegex(self.browser.value("document.querySelector('label:has([value=webgpu]) output').textContent"), "there is no WebGPU here|WebGPU has no adapter here")
        self.assertTrue(self.browser.value("document.querySelector('input[value=webgpu]').disabled"))
        self.browser.value("document.getElementById('write').click()")
        self.wait("globalThis.result !== undefined")
        self.assertIsNone(self.browser.value("result.difference"))

    def test_modules_are_small(self):
        for name in ("digits", "decoder"):
            written = sum(file.stat().st_size for file in (self.site / name).iterdir() if file.suffix != ".bin")
            self.assertLess(written, 200_000, name)


if __name__ == "__main__":
    main()
