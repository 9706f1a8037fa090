"""--emit web in Chromium, whose adapter is the processor (SwiftShader): modules give what plans of the processor give."""
import base64
import functools
import http.server
import json
import random
import shutil
import struct
import subprocess
import sys
import threading
import time
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
for folder in ("tests/cli", "tests/common", "tests/embed"):
    sys.path.insert(0, str(ROOT / folder))
from browser import PROGRAM, Browser  # noqa: E402
from embedded import ITEMS, PACKED, Model, packed  # noqa: E402
from svodc import ToolTest, main, npy, run  # noqa: E402

DIGITS = ROOT / "examples/digits/digits.svod"
ARRAYS = {"f32": "Float32Array", "f64": "Float64Array", "i8": "Int8Array", "i16": "Int16Array", "i32": "Int32Array", "i64": "BigInt64Array",
          "u16": "Uint16Array", "u32": "Uint32Array", "u64": "BigUint64Array", "f16": "Uint16Array", "bf16": "Uint16Array"}
TYPES = {"Float32Array": "<f4", "Float64Array": "<f8", "Int8Array": "|i1", "Int16Array": "<i2", "Int32Array": "<i4", "BigInt64Array": "<i8",
         "Uint8Array": "|u1", "Uint16Array": "<u2", "Uint32Array": "<u4", "BigUint64Array": "<u8"}


class Quiet(http.server.SimpleHTTPRequestHandler):
    extensions_map = {**http.server.SimpleHTTPRequestHandler.extensions_map, ".mjs": "text/javascript"}

    def log_message(self, *_):
        pass


def tensor(dtype, shape, data, flat=False):
    data = packed(data, PACKED[dtype]) if dtype in PACKED else data
    return {"array": ARRAYS.get(dtype, "Uint8Array"), "shape": None if flat else list(shape), "base64": base64.b64encode(data).decode()}


def floats(values, *shape, flat=False):
    return tensor("f32", shape or [len(values)], struct.pack(f"<{len(values)}f", *values), flat)


def numbers(result, code="f"):
    data = base64.b64decode(result["base64"])
    return list(struct.unpack(f"<{len(data) // struct.calcsize(code)}{code}", data))


def content(path):
    data = Path(path).read_bytes()
    return data[10 + struct.unpack_from("<H", data, 8)[0]:]


@unittest.skipUnless(PROGRAM, "there is no Chromium here: apt-get install chromium")
class Pages(ToolTest):
    def setUp(self):
        super().setUp()
        self.site = self.folder / "site"
        self.site.mkdir()
        (self.site / "index.html").write_text('<!doctype html><link rel="icon" href="data:,"><body><script type="module" src="page.mjs"></script>')
        (self.site / "page.mjs").write_text((ROOT / "tests/webgpu/page.mjs").read_text())
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(self.site)))
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.addCleanup(self.server.server_close)
        self.addCleanup(self.server.shutdown)
        self.browser = self.enterContext(Browser(webgpu=True))
        self.browser.open(f"http://127.0.0.1:{self.server.server_port}/index.html")
        until = time.monotonic() + 60
        while not self.browser.value("document.body.dataset.ready === 'yes'"):
            self.assertLess(time.monotonic(), until, self.browser.complaints)

    def emit(self, graph, name, *words):
        return self.svodc("compile", graph, "--target", "webgpu", "--emit", f"web={self.site / name}", "--prefix", name, *words)

    def load(self, name, options="{}"):
        self.browser.value(f"load({json.dumps(name)}, {options})")

    def run_page(self, name, inputs, sizes=None):
        return self.browser.value(f"run({json.dumps(name)}, {json.dumps(inputs)}, {json.dumps(sizes or {})})")

    def says(self, action, code, *words):
        error = self.browser.value(f"failure(async () => {{ {action} }})")
        self.assertIsNotNone(error, action)
        self.assertEqual((error["name"], error["code"]), ("SvodError", code), error)
        for word in words:
            self.assertIn(word, error["message"])

    def nothing_was_said(self):
        self.assertEqual(self.browser.complaints, [])

    def matches_plan(self, model, repeat=1):
        """The module of a model gives what its plan for the processor gives, within the errors that svod-run allows."""
        inputs = {name: tensor(dtype, shape, data) for name, dtype, shape, data in model.inputs}
        sizes = {name: value for name, value in model.variables.items() if not any(name == str(dim) for port in model.manifest["inputs"] for dim in port["shape"])}
        for _ in range(repeat):
            outputs = self.run_page(model.prefix, inputs, sizes)
        folder = self.folder / f"{model.prefix}.page"
        folder.mkdir(exist_ok=True)
        words = []
        for name, dtype, shape, data in model.inputs:
            descr = ITEMS[dtype][0] if dtype in ITEMS else "<u2" if dtype == "bf16" else "|i1" if dtype[0] == "i" else "|u1"
            words += ["--input", f"{name}={npy(folder / f'in-{len(words)}.npy', descr, shape, data)}"]
        for port in model.manifest["outputs"]:
            dtype, result = model.dtype(port), outputs[port["name"]]
            data = base64.b64decode(result["base64"])
            if dtype in PACKED:
                bits, per, count = PACKED[dtype], 8 // PACKED[dtype], model.count(port)
                items = [data[i // per] >> (i % per * bits) & ((1 << bits) - 1) for i in range(count)]
                data = bytes((x | -(x >> (bits - 1)) << bits) & 255 if dtype[0] == "i" else x for x in items)
            descr = ITEMS[dtype][0] if dtype in ITEMS else "<u2" if dtype == "bf16" else "|i1" if dtype[0] == "i" else "|u1"
            npy(folder / f"{port['name']}.npy", descr, result["shape"], data)
        for name, value in sizes.items():
            words += ["--var", f"{name}={value}"]
        done = run("svod-run", model.plan, *words, "--reference", folder, "--repeat", repeat)
        self.assertEqual(done.returncode, 0, f"{model.prefix}: {done.stdout}{done.stderr}")

    def test_digits(self):
        self.emit(DIGITS, "digits")
        samples, out = ROOT / "examples/digits/samples.npy", self.folder / "out"
        self.svodc("compile", DIGITS, "-o", self.folder / "plan")
        self.assertEqual(run("svod-run", self.folder / "plan", "--input", f"image={samples}", "--output-dir", out).returncode, 0)
        self.load("digits", "{ progress: (done, total) => { globalThis.progress = [...(globalThis.progress ?? []), [done, total]]; } }")
        steps = self.browser.value("progress")
        self.assertEqual((steps[0][0], steps[-1][0]), (0, (self.site / "digits/digits.bin").stat().st_size))
        result = self.run_page("digits", {"image": tensor("f32", [360, 1, 8, 8], content(samples), flat=True)})
        self.assertEqual((result["digit"]["shape"], result["probability"]["shape"]), ([360], [360, 10]))
        self.assertEqual(base64.b64decode(result["digit"]["base64"]), content(out / "digit.npy"))
        expected = struct.unpack("<3600f", content(out / "probability.npy"))
        self.assertLess(max(abs(a - b) for a, b in zip(numbers(result["probability"]), expected)), 1e-5)
        self.nothing_was_said()

    def match_all(self, folder, repeat=1):
        for graph in sorted((ROOT / folder).glob("*.svod")):
            text, name = self.folder / graph.name, graph.stem.replace("-", "_")
            text.write_text(graph.read_text().replace("f64", "f32"))
            two = "d0" in text.read_text()  # devices
            with self.subTest(graph=graph.stem):
                self.emit(text, name, *(["--device", "d0=webgpu"] if two else []))
                self.load(name)
                self.matches_plan(Model(self, text, name, emit=(), words=["--device", "d0"] if two else []), repeat)
                self.browser.value(f"model({json.dumps(name)}).destroy()")
        self.nothing_was_said()

    def test_every_op(self):
        self.match_all("tests/e2e/ops")

    def test_examples(self):
        self.match_all("examples/graphs", repeat=2)

    def test_graphs_that_were_wrong_once(self):
        self.match_all("tests/e2e/found")

    def test_sizes_change_from_run_to_run(self):
        graphs = {"nearest": (ROOT / "examples/graphs/nearest.svod", "n", (5, 64, 300, 5)), "digits": (DIGITS, "n", (1, 100, 7)),
                  "block": (ROOT / "examples/graphs/transformer_block.svod", "tokens", (1, 17, 128, 2))}
        for name, (graph, variable, sizes) in graphs.items():
            self.emit(graph, name)
            self.load(name)
            for n in sizes:
                with self.subTest(graph=name, n=n):
                    self.matches_plan(Model(self, graph, name, emit=(), variables={variable: n}))
        self.nothing_was_said()

    def test_tokens_see_those_before_them(self):
        """One by one, from states on the device, what attention to all of them at once gives; whether or not runs overlap."""
        tokens, draw = 9, random.Random(5)
        whole = self.graph(f"svod 1\ninput q: f32[8, {tokens}, 64]\ninput k: f32[8, {tokens}, 64]\ninput v: f32[8, {tokens}, 64]\n"
                           "output y = attention(q, k, v, causal=true)\n")
        values = {name: [draw.uniform(-1, 1) for _ in range(8 * tokens * 64)] for name in "qkv"}
        words = [f"{name}={npy(self.folder / f'{name}.npy', '<f4', [8, tokens, 64], struct.pack(f'<{len(of)}f', *of))}" for name, of in values.items()]
        self.svodc("compile", whole, "-o", self.folder / "plan")
        done = run("svod-run", self.folder / "plan", *[word for of in words for word in ("--input", of)], "--output-dir", self.folder / "out")
        self.assertEqual(done.returncode, 0, done.stderr)
        expected = struct.unpack(f"<{8 * tokens * 64}f", content(self.folder / "out/y.npy"))

        def at(of, token):
            return [of[(head * tokens + token) * 64 + i] for head in range(8) for i in range(64)]

        self.emit(ROOT / "examples/graphs/attention.svod", "attention")
        self.load("attention")
        given = [[{name: floats(at(of, t), 8, 1, 64) for name, of in values.items()}, {"at": t}] for t in range(tokens)]
        for together in (False, True):
            results = self.browser.value(f"runAll('attention', {json.dumps(given)})") if together else [self.run_page("attention", *one) for one in given]
            for token, result in enumerate(results):
                difference = max(abs(a - b) for a, b in zip(numbers(result["y"]), at(expected, token)))
                self.assertLess(difference, 1e-5, (together, token))
            keys = numbers(self.browser.value("state('attention', 'keys')"))
            self.assertEqual(keys[64:128], numbers(floats(at(values["k"], 1)))[:64])
            self.browser.value("model('attention').reset()")
            self.assertEqual(set(numbers(self.browser.value("state('attention', 'keys')"))), {0.0})
        self.nothing_was_said()

    def test_memory_grows_while_runs_are_on_their_way(self):
        self.emit(DIGITS, "digits")
        self.load("digits")
        draw = random.Random(3)
        given = [[{"image": floats([draw.random() for _ in range(64 * n)], n, 1, 8, 8)}, {}] for n in (1, 40, 3, 130, 2)]
        together = self.browser.value(f"runAll('digits', {json.dumps(given)})")
        self.assertEqual([result["digit"]["shape"] for result in together], [[1], [40], [3], [130], [2]])
        self.assertEqual([self.run_page("digits", *one) for one in given], together)
        self.nothing_was_said()

    def test_a_device_that_binds_parts_of_its_buffers(self):
        """Kernels touch the keys or the values, 1 MiB each, of a buffer with both."""
        self.emit(ROOT / "examples/graphs/attention.svod", "attention")
        self.load("attention")
        draw, results = random.Random(4), []
        given = [[{name: floats([draw.uniform(-1, 1) for _ in range(512)], 8, 1, 64) for name in "qkv"}, {"at": at}] for at in range(3)]
        for most in (1 << 30, 5 << 18):
            self.browser.value(f"Object.defineProperty(model('attention').device, 'limits', {{ value: {{ maxStorageBufferBindingSize: {most}, maxBufferSize: 2 ** 30 }}, configurable: true }}), 0")
            results.append([self.run_page("attention", *one) for one in given])
            self.assertEqual(self.browser.value("model('attention').kernels.some((kernel) => [...kernel.groups.keys()].some((key) => key.includes('1048576-2097152')))"), most == 5 << 18)
            self.browser.value("model('attention').reset()")
        self.assertEqual(results[0], results[1])
        self.browser.value("Object.defineProperty(model('attention').device, 'limits', { value: { maxStorageBufferBindingSize: 65536, maxBufferSize: 2 ** 30 } }), 0")
        self.says(f"await run('attention', ...{json.dumps(given[0])})", "device-failure", "touches 1048576 bytes of one buffer", "the device binds 65536")
        self.nothing_was_said()

    def test_states_are_read_and_written(self):
        self.emit(self.graph("svod 1\ninput x: f32[3]\nstate s: f32[3] = 2\nstate runs: i64\nassign s = s + x\nassign runs = runs + 1\noutput s\noutput runs\n"), "sum")
        self.load("sum")
        x = {"x": floats([1, 2, 3])}
        for expected in ([3, 4, 5], [4, 6, 8]):
            self.assertEqual(numbers(self.run_page("sum", x)["s"]), expected)
        self.browser.value("model('sum').writeState('s', new Float32Array([10, 20, 30]))")
        result = self.run_page("sum", x)
        self.assertEqual((numbers(result["s"]), numbers(result["runs"], "q")), ([11, 22, 33], [3]))
        self.assertEqual(result["runs"], {"shape": [], "base64": base64.b64encode(struct.pack("<q", 3)).decode(), "array": "BigInt64Array"})
        self.browser.value("model('sum').reset()")
        self.assertEqual(numbers(self.run_page("sum", x)["s"]), [3, 4, 5])
        self.says("await model('sum').readState('t')", "bind-mismatch", "no state 't'", "'s', 'runs'")
        self.says("await model('sum').writeState('s', new Float32Array(4))", "input-mismatch", "state 's' is f32[3]", "4 elements")

    def test_loops_and_branches(self):
        graph = self.graph("""svod 1
var n in [0, 20]
input x: f32[4]
temp acc: f32[4] = 0
temp steps: i32 = 0
loop i < n while any(lt(acc, 9)) {
  assign acc = acc + x
  assign steps = steps + 1
}
output acc
output steps
""")
        self.emit(graph, "loops")
        self.load("loops")
        for n, steps in ((0, 0), (2, 2), (20, 9)):
            given = [{"x": floats([1, 2, 3, 4])}, {"n": n}]
            for result in self.browser.value(f"runAll('loops', {json.dumps([given, given])})"):
                self.assertEqual((numbers(result["acc"]), numbers(result["steps"], "i")), ([steps, 2.0 * steps, 3.0 * steps, 4.0 * steps], [steps]))
        self.nothing_was_said()

    def test_kernels_for_some_sizes(self):
        graph = self.graph("svod 1\nvar n in [1, 64]\ninput a: f32[n, 64]\ninput b: f32[64, 48]\noutput c = matmul(a, b)\n")
        self.emit(graph, "cases", "--specialize", "n=1,16")
        self.assertIn("} else if (n === 16) {", (self.site / "cases/cases.js").read_text())
        self.load("cases")
        for n in (1, 3, 16):
            self.matches_plan(Model(self, graph, "cases", emit=(), variables={"n": n}))

    def test_what_is_given_wrongly(self):
        self.emit(DIGITS, "digits")
        self.load("digits")
        image = "new Float32Array(64)"
        for action, code, *words in (
                ("{}", "missing-input", "input 'image' is f32[n, 1, 8, 8]"),
                (f"{{ image: {image}, pixels: {image} }}", "bind-mismatch", "no input 'pixels'", "there is 'image'"),
                ("{ image: new Float64Array(64) }", "input-mismatch", "input 'image'", "give a Float32Array", "not Float64Array"),
                ("{ image: [1, 2] }", "input-mismatch", "give a Float32Array", "not Array"),
                ("{ image: new Float32Array(65) }", "input-mismatch", "a multiple of 64 elements, and is given 65"),
                (f"{{ image: {{ data: {image}, shape: [1, 64] }} }}", "input-mismatch", "the shape [1,64]"),
                (f"{{ image: {{ data: {image}, shape: [1, 1, 4, 16] }} }}", "input-mismatch", "here [1, 1, 8, 8]", "the shape [1, 1, 4, 16]"),
                (f"{{ image: {image} }}, {{ n: 2 }}", "input-mismatch", "here [2, 1, 8, 8]", "64 elements"),
                (f"{{ image: {image} }}, {{ m: 2 }}", "bind-mismatch", "no size 'm'", "there is 'n'"),
                ("{ image: new Float32Array(0) }", "variable-bounds", "size 'n' is 0", "from 1 to 512"),
                ("{ image: new Float32Array(64 * 513) }", "variable-bounds", "size 'n' is 513")):
            self.says(f"await model('digits').run({action})", code, *words)
        self.assertEqual(self.browser.value(f"model('digits').run({{ image: {image} }}).then(({{ digit }}) => digit.shape)"), [1])
        self.nothing_was_said()

    def test_weights_from_elsewhere(self):
        self.emit(DIGITS, "digits")
        self.emit(DIGITS, "whole", "--weights", "object")
        self.assertEqual({file.name for file in (self.site / "whole").iterdir()}, {"whole.js", "whole.d.ts"})
        (self.site / "elsewhere").write_bytes((self.site / "digits/digits.bin").read_bytes())
        (self.site / "digits/digits.bin").unlink()
        image = {"image": floats([0.5] * 64, flat=True)}
        results = []
        for name, options in (("digits", "{ weights: '/elsewhere' }"), ("digits", "{ weights: await fetch('/elsewhere') }"),
                              ("digits", "{ weights: await fetch('/elsewhere').then((file) => file.arrayBuffer()) }"), ("whole", "{}")):
            self.browser.value(f"(async () => load({json.dumps(name)}, {options}))()")
            results.append(self.run_page(name, image))
        self.assertEqual(results[1:], results[:1] * 3)
        self.says("await load('digits', { weights: new Uint8Array(100) })", "plan-checksum", "are 39296 bytes, not 100")
        self.says("await load('digits', { weights: new Uint8Array(39300) })", "plan-checksum", "not more")
        self.nothing_was_said()
        self.says("await load('digits')", "io", "404")
        self.assertEqual(self.browser.value("failure(() => load('digits', { weights: '/elsewhere', signal: AbortSignal.abort() }))")["name"], "AbortError")

    def test_what_a_device_lacks(self):
        self.emit(DIGITS, "digits")
        self.emit(self.graph("svod 1\ninput x: f32[1024]\noutput y = x + 1\n"), "large", "--cpu", "large", "--opts", "y=local(n0,1024) global(n0)")
        self.says("await load('large')", "cpu-features", "maxComputeInvocationsPerWorkgroup of 1024", "the adapter has 256", "--cpu default")
        self.load("digits")
        self.says("const run = model('digits').run({ image: new Float32Array(64) }); model('digits').device.destroy(); await run; await model('digits').run({ image: new Float32Array(64) })",
                  "device-failure", "the device is lost", "load() gives a new model")
        self.load("digits")
        self.says("model('digits').destroy(); await model('digits').run({ image: new Float32Array(64) })", "device-failure", "digits was destroyed")
        own = "navigator.gpu.requestAdapter().then((adapter) => adapter.requestDevice())"
        self.browser.value(f"(async () => load('digits', {{ device: globalThis.own = await {own} }}))()")
        self.run_page("digits", {"image": floats([0.5] * 64, flat=True)})
        self.assertEqual(self.browser.value("(model('digits').destroy(), globalThis.own.createBuffer({ size: 16, usage: 8 }).size)"), 16)
        self.browser.value("Object.defineProperty(navigator, 'gpu', { value: undefined, configurable: true }), 0")
        self.says("await load('digits')", "no-device", "navigator.gpu is missing")
        self.nothing_was_said()


class Modules(ToolTest):
    """What svodc writes, without a browser."""

    def files(self, graph, *words):
        folder = self.folder / "module"
        self.svodc("compile", graph, "--target", "webgpu", "--emit", f"web={folder}", *words)
        return {file.name: file.read_bytes() for file in folder.iterdir()}

    def test_the_same_bytes_every_time(self):
        first = self.files(DIGITS)
        self.assertEqual(sorted(first), ["digits.bin", "digits.d.ts", "digits.js"])
        self.assertLess(len(first["digits.js"]) + len(first["digits.d.ts"]), 200_000)
        self.assertEqual(self.files(DIGITS, "-j", "1"), first)

    def test_the_syntax_is_that_of_a_module(self):
        if not shutil.which("node"):
            self.skipTest("there is no node here")
        self.files(DIGITS)
        (self.folder / "module.mjs").write_bytes((self.folder / "module/digits.js").read_bytes())
        done = subprocess.run(["node", "--check", self.folder / "module.mjs"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_types_say_what_a_graph_has(self):
        graph = self.graph("svod 1\nvar n in [1, 9]\ninput x: f16[n, 2*n]\ninput delete: bool[3]\nstate s: i64[2]\nassign s = s + 1\noutput y = x * 2\noutput s\n")
        types = self.files(graph)["graph.d.ts"].decode()
        for line in ("  /** f16[n, n*2], as bits */\n  x: Uint16Array | Tensor<Uint16Array>;", "  /** bool[3], 0 or 1 */\n  delete: Uint8Array | Tensor<Uint8Array>;",
                     "  /** from 1 to 9 */\n  n?: number;", "  s: Tensor<BigInt64Array>;", "  /** i64[2] */\n  s: BigInt64Array;"):
            self.assertIn(line, types)

    def test_other_files_stay(self):
        folder = self.folder / "module"
        self.files(DIGITS)
        page = folder / "index.html"
        page.write_text("mine")
        words = ("compile", DIGITS, "--target", "webgpu", "--emit", f"web={folder}")
        self.fails(2, *words[:2], "--emit", f"web={folder}", says="--emit web is for --target webgpu, not cpu")
        self.fails(74, *words, says=["holds 'index.html'", "a folder of its own"])
        page.rename(folder / "page.js")
        self.fails(74, *words, says="holds 'page.js'")
        (folder / "page.js").unlink()
        self.svodc(*words, "--prefix", "other")
        self.assertEqual(sorted(file.name for file in folder.iterdir()), ["other.bin", "other.d.ts", "other.js"])
        written = json.loads(self.svodc(*words, "--json").stdout)["filesWritten"]
        self.assertEqual([Path(file).name for file in written], ["digits.js", "digits.d.ts", "digits.bin"])
        self.fails(2, *words, "--weights", "section=.flash", says="no sections for weights")

    def test_what_a_page_cannot_do(self):
        graph = self.graph("svod 1\ninput x: f32[4]\noutput y = custom(x, function=median, shape=[4])\n")
        self.fails(3, "compile", graph, "--target", "webgpu", "--emit", f"web={self.folder / 'm'}", says=["the function 'median'", "a page has no such thing"])
        self.assertFalse((self.folder / "m").exists())
        graph = self.graph("svod 1\nvar n in [0, 1099511627776]\ninput x: i64[4]\ntemp y = x\nloop i < n * 16384 {\n  assign y = y + 1\n}\noutput y\n")
        self.fails(3, "compile", graph, "--target", "webgpu", "--emit", f"web={self.folder / 'm'}", says=["the size n*16384 might be more than JavaScript counts", "--var N=MIN:MAX"])


if __name__ == "__main__":
    main()
